//! The loops over the bytes: one compiled function each, the same machine code for every strategy.
//!
//! The plain loop stands first and says what is computed. On x86-64 it is compiled a second time
//! with AVX2, which is chosen where the processor has it. (On AArch64, NEON is always there.)
//!
//! Not inlined into strategies: the same XOR loop, inlined into two of them, was seen to run ten
//! times slower in one.

/// Defines a kernel: the plain loop, and beside it the same loop for AVX2.
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident($bytes:ident) -> $output:ty, $plain:ident $body:block) => {
        /// The loop as written.
        #[inline(always)]
        fn $plain($bytes: &[u8]) -> $output $body

        $(#[$doc])*
        #[inline(never)]
        pub fn $name($bytes: &[u8]) -> $output {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($bytes: &[u8]) -> $output {
                    $plain($bytes)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    return unsafe { avx2($bytes) };
                }
            }
            $plain($bytes)
        }
    };
}

kernel! {
    /// XOR of all bytes.
    xor(bytes) -> u8, xor_plain {
        bytes.iter().fold(0, |xor, byte| xor ^ byte)
    }
}

kernel! {
    /// Sum of all bytes. In blocks whose sum fits 32 bits: twice as many lanes to add in.
    sum(bytes) -> u64, sum_plain {
        let block_sum = |block: &[u8]| block.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        bytes.chunks(1 << 16).map(|block| u64::from(block_sum(block))).sum()
    }
}

/// Bytes that [`newlines`] looks at in one step: four AVX2 vectors.
const LANES: usize = 128;

kernel! {
    /// Newlines. Each place of a block has a counter of 8 bits, as wide as what is compared, and is
    /// added up before it could overflow. On a warm map this is as fast as memory (36 GB/s, as
    /// `xor`), where memchr's count gave 31.
    newlines(bytes) -> u64, newlines_plain {
        let is_newline = |byte: u8| u8::from(byte == b'\n');
        let (blocks, rest) = bytes.as_chunks::<LANES>();
        let mut total: u64 = rest.iter().map(|&byte| u64::from(is_newline(byte))).sum();
        for group in blocks.chunks(u8::MAX as usize) {
            let mut counts = [0; LANES];
            for block in group {
                for (count, &byte) in counts.iter_mut().zip(block) {
                    *count += is_newline(byte);
                }
            }
            total += counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        }
        total
    }
}

kernel! {
    /// Newlines, counted in 32 bits; in blocks, since the count of a larger slice may not fit.
    newlines_u32(bytes) -> u64, newlines_u32_plain {
        let mut total = 0;
        for block in bytes.chunks(1 << 30) {
            let mut count: u32 = 0;
            for &byte in block {
                if byte == b'\n' {
                    count += 1;
                }
            }
            total += u64::from(count);
        }
        total
    }
}

kernel! {
    /// Newlines, counted in 64 bits.
    newlines_u64(bytes) -> u64, newlines_u64_plain {
        let mut count: u64 = 0;
        for &byte in bytes {
            if byte == b'\n' {
                count += 1;
            }
        }
        count
    }
}

/// Bytes from one touched byte to the next. A constant, so that machines with other pages agree.
pub const TOUCH_STEP: usize = 4096;

/// Sum of the bytes at multiples of [`TOUCH_STEP`] in the file, of which `bytes` stand at `offset`.
#[inline(never)]
pub fn touch(offset: u64, bytes: &[u8]) -> u64 {
    let first = (offset.next_multiple_of(TOUCH_STEP as u64) - offset) as usize;
    bytes
        .iter()
        .skip(first)
        .step_by(TOUCH_STEP)
        .map(|&byte| u64::from(byte))
        .sum()
}
