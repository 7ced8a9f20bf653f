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
}
