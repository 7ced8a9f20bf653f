//! The work on the bytes: one compiled function, the same machine code for every strategy.

/// Bytes that are worked on in one step: two AVX2 vectors.
const LANES: usize = 64;

/// Blocks whose bytes are added up in 16 bits: 257 times 255 is the most that fits.
const BLOCKS: usize = 257;

/// The loop. Each place of a block has a sum of 16 bits, which is added up before it could
/// overflow: in a core's cache, in chunks of 1 KiB, 64 GB/s, where one sum of 32 bits gave 16.
#[inline(always)]
fn add_one_in_lanes(bytes: &mut [u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks_mut::<LANES>();
    let mut total = 0;
    for group in blocks.chunks_mut(BLOCKS) {
        let mut sums = [0_u16; LANES];
        for block in group {
            for (sum, byte) in sums.iter_mut().zip(block) {
                *byte = byte.wrapping_add(1);
                *sum += u16::from(*byte);
            }
        }
        total += sums.iter().map(|&sum| u64::from(sum)).sum::<u64>();
    }
    for byte in rest {
        *byte = byte.wrapping_add(1);
        total += u64::from(*byte);
    }
    total
}

/// Adds 1 to each byte (255 becomes 0), and returns the sum of what they are then.
#[inline(never)]
pub fn add_one(bytes: &mut [u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2(bytes: &mut [u8]) -> u64 {
            add_one_in_lanes(bytes)
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { avx2(bytes) };
        }
    }
    add_one_in_lanes(bytes)
}
