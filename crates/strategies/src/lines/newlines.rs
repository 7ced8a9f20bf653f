//! The search for newlines.

use std::cell::Cell;

/// Bytes looked at in one step: as many as a mask has bits.
const STEP: usize = 64;

/// Calls `found` with the place of each newline of `text`, in order.
///
/// As memchr(3) searches, but all newlines of a step are found at once: with a call of memchr a
/// line, text of 8 or 74 bytes a line took twice the CPU time.
#[inline(always)]
pub fn each_newline(text: &[Cell<u8>], found: impl FnMut(usize)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { search_avx2(text, found) };
    }
    search(text, mask, found);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn search_avx2(text: &[Cell<u8>], found: impl FnMut(usize)) {
    search(text, |step| mask_avx2(step), found);
}

#[inline(always)]
fn search(
    text: &[Cell<u8>],
    mask: impl Fn(&[Cell<u8>; STEP]) -> u64,
    mut found: impl FnMut(usize),
) {
    let (steps, rest) = text.as_chunks();
    for (step, bytes) in steps.iter().enumerate() {
        let mut newlines = mask(bytes);
        while newlines != 0 {
            found(step * STEP + newlines.trailing_zeros() as usize);
            newlines &= newlines - 1;
        }
    }
    for (at, byte) in rest.iter().enumerate() {
        if byte.get() == b'\n' {
            found(steps.len() * STEP + at);
        }
    }
}

/// One bit a byte, the lowest for the first: whether it is a newline. Written so that the compiler
/// makes SIMD of it on any processor.
#[inline(always)]
fn mask(bytes: &[Cell<u8>; STEP]) -> u64 {
    let mut flags = [0; STEP];
    for (flag, byte) in flags.iter_mut().zip(bytes) {
        *flag = u8::from(byte.get() == b'\n');
    }
    let (words, _) = flags.as_chunks();
    let words = words.iter().map(|&word| u64::from_le_bytes(word));
    if words.clone().fold(0, |any, word| any | word) == 0 {
        return 0;
    }
    // The product has the eight flags of a word, each 0 or 1, in its highest eight bits.
    let gathered = words.map(|word| word.wrapping_mul(0x0102_0408_1020_4080) >> 56);
    gathered.rev().fold(0, |mask, bits| mask << 8 | bits)
}

/// The same with AVX2, which has an instruction that gathers the bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn mask_avx2(bytes: &[Cell<u8>; STEP]) -> u64 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };
    let [low, high] = [0, 32].map(|half| {
        // SAFETY: each half has 32 bytes.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(half).cast()) };
        let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8));
        u64::from(_mm256_movemask_epi8(equal) as u32)
    });
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mask_has_a_bit_for_each_newline_and_for_nothing_else() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let expected = random.u64(..) & random.u64(..);
            let mut bytes: [u8; STEP] = std::array::from_fn(|at| match expected >> at & 1 {
                1 => b'\n',
                _ => random
                    .choice([0, b'\n' - 1, b'\n' + 1, b'\n' | 0x80, b'a'])
                    .unwrap(),
            });
            let (steps, _) = Cell::from_mut(&mut bytes[..])
                .as_slice_of_cells()
                .as_chunks();
            let bytes = &steps[0];
            assert_eq!(mask(bytes), expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                assert_eq!(unsafe { mask_avx2(bytes) }, expected);
            }
        }
    }
}
