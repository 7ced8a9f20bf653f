//! The search for newlines.

use std::cell::Cell;

/// Bytes looked at in one step: as many as a mask has bits.
const STEP: usize = 64;

/// Calls `found` with the place of each newline of `text`, in order.
///
/// As memchr(3) searches, but all newlines of a step are found at once: with a call of memchr a
/// line, text of 8 bytes a line took twice the CPU time, of 74 bytes 1.1 times.
#[inline(always)]
pub fn each_newline(text: &[Cell<u8>], mut found: impl FnMut(usize)) {
    let (steps, rest) = text.as_chunks::<STEP>();
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
