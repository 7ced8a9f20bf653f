//! Which stretches of the file are visited, and in which order.

/// A stretch of the file that one visit reads, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
}

/// Stretches in the order in which they are visited; to begin with, that of the file.
#[derive(Debug, Default)]
pub struct Places {
    list: Vec<Place>,
}

impl Places {
    /// The next stretch begins at `offset`, where the one before it ends.
    pub fn begin(&mut self, offset: u64) {
        self.end(offset);
        self.list.push(Place { offset, len: 0 });
    }

    /// The last stretch ends at `offset`.
    pub fn end(&mut self, offset: u64) {
        if let Some(last) = self.list.last_mut() {
            last.len = offset - last.offset;
        }
    }

    /// Keeps the first `count` of the file's order, or of the shuffled order that `seed` names,
    /// which is the same on every machine. Each stretch is in it once.
    pub fn arrange(&mut self, seed: Option<u64>, count: usize) {
        let len = self.list.len();
        if let Some(seed) = seed {
            // Fisher and Yates: each from those that aren't taken yet.
            let mut random = Random(seed);
            for i in 0..count.min(len) {
                self.list.swap(i, i + random.below(len - i));
            }
        }
        self.list.truncate(count);
    }

    /// The stretches.
    pub fn list(&self) -> &[Place] {
        &self.list
    }

    /// Bytes of the longest stretch.
    pub fn longest(&self) -> u64 {
        self.list.iter().map(|place| place.len).max().unwrap_or(0)
    }
}

/// `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014),
/// spelled out because the order of a seed must never change, as it may in a crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`, by the upper half of a 128-bit product. Its bias is below `n` / 2^64.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(count: u64) -> Places {
        let mut places = Places::default();
        for i in 0..count {
            places.begin(10 * i);
        }
        places.end(10 * count);
        places
    }

    fn offsets(places: &Places) -> Vec<u64> {
        places.list().iter().map(|place| place.offset).collect()
    }

    /// The first outputs for seed 1234567 of the reference implementation
    /// (<https://prng.di.unimi.it/splitmix64.c>).
    #[test]
    fn random_numbers_are_those_of_the_reference_implementation() {
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert_eq!(random.next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn a_shuffled_order_has_every_place_once_and_depends_on_the_seed_alone() {
        let shuffled = |seed| {
            let mut places = places(1000);
            places.arrange(Some(seed), usize::MAX);
            offsets(&places)
        };
        let serial = offsets(&places(1000));
        let mut sorted = shuffled(1);
        assert_ne!(sorted, serial);
        sorted.sort_unstable();
        assert_eq!(sorted, serial);
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
    }

    #[test]
    fn the_first_visits_of_an_order_are_the_same_however_many_there_are() {
        for seed in [None, Some(7)] {
            let mut all = places(100);
            all.arrange(seed, 100);
            for count in [1, 10, 99] {
                let mut some = places(100);
                some.arrange(seed, count);
                assert_eq!(some.list(), &all.list()[..count]);
            }
        }
    }

    #[test]
    fn every_order_of_three_comes_up_about_equally_often() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let mut places = places(3);
            places.arrange(Some(seed), 3);
            *seen.entry(offsets(&places)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        // Five standard deviations of a binomial count of 6000 at 1/6.
        assert!(
            seen.values().all(|count| (856..=1144).contains(count)),
            "{seen:?}"
        );
    }
}
