//! The random numbers behind every kind of data.

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
///
/// It is spelled out here because the bytes of a data set must never change: a crate may change its
/// generator between minor versions (fastrand 2.1.0 did).
pub struct Rng(u64);

impl Rng {
    /// A generator whose numbers are fixed by `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`, by the upper half of a 128-bit product; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Appends `count` random bytes, 64 bits at a time in little-endian order.
    pub fn append_bytes(&mut self, out: &mut Vec<u8>, count: usize) {
        self.append_words(out, count, |word| word);
    }

    /// Appends `count` random characters of `?` to `~`: the letters and some punctuation, no blank.
    #[inline]
    pub fn append_chars(&mut self, out: &mut Vec<u8>, count: usize) {
        // Six random bits a byte, so no byte of the sum carries into the next.
        self.append_words(out, count, |word| {
            (word & 0x3f3f_3f3f_3f3f_3f3f) + 0x3f3f_3f3f_3f3f_3f3f
        });
    }

    #[inline]
    fn append_words(&mut self, out: &mut Vec<u8>, count: usize, map: impl Fn(u64) -> u64) {
        let end = out.len() + count;
        while out.len() < end {
            out.extend_from_slice(&map(self.next()).to_le_bytes());
        }
        out.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567 of the reference implementation
    /// (<https://prng.di.unimi.it/splitmix64.c>).
    #[test]
    fn gives_the_numbers_of_the_reference_implementation() {
        let mut rng = Rng::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| rng.next()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn below_stays_below() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[rng.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn characters_are_printable_and_as_many_as_asked_for() {
        for count in [0, 1, 7, 8, 9, 1000] {
            let mut out = vec![b'x'];
            Rng::new(1).append_chars(&mut out, count);
            assert_eq!(out.len(), 1 + count);
            assert!(out[1..].iter().all(|c| (b'?'..=b'~').contains(c)));
        }
    }
}
