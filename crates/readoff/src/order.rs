//! In which order the entries of a round run, so that no entry profits from its place or its neighbour,
//! and so that the order can't be in step with what the machine does.

use fastrand::Rng;

/// The order of round `number` (from 1) of a race of `n` entries: a permutation of `0..n`, drawn from
/// `seed`. The same arguments always give the same order, so that a race can be resumed.
///
/// Every order is equally likely in every round, whatever was before (R. A. Fisher, "The Design of
/// Experiments", 1935). So each entry is as likely as each other one to stand in a place or to follow
/// a third, and between two entries that are the same a round's difference is as likely to be
/// positive as negative, however the machine drifts, sticks or jumps: what the tests of
/// [`crate::stats`] and [`crate::sequential`] take for granted holds by construction.
///
/// Orders in sets that are balanced exactly, such as Williams designs, can't have that: what is left of
/// a set is known in part from what was. They were tried, and made false winners (docs/METHODOLOGY.md).
pub fn order(n: usize, number: u32, seed: u64) -> Vec<usize> {
    let mut rng = Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for _ in 0..number {
        rng.shuffle(&mut order);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_order_is_equally_likely_after_every_other() {
        let mut seen = BTreeMap::new();
        for seed in 0..36_000 {
            *seen
                .entry((order(3, 4, seed), order(3, 5, seed)))
                .or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 36);
        // 1000 each are expected; six standard deviations.
        assert!(
            seen.values().all(|count| (810..=1190).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn over_many_rounds_places_and_predecessors_are_balanced() {
        let (mut places, mut follows) = ([[0; 12]; 12], [[0; 12]; 12]);
        for number in 1..=12_000 {
            let order = order(12, 1 + number % 7, u64::from(number));
            order
                .iter()
                .enumerate()
                .for_each(|(place, entry)| places[*entry][place] += 1);
            order
                .windows(2)
                .for_each(|pair| follows[pair[0]][pair[1]] += 1);
        }
        // 1000 in each place, and 12,000 · 11 / 132 after each other one.
        let near = |count: &i32| (810..=1190).contains(count);
        assert!(places.as_flattened().iter().all(near), "{places:?}");
        let others = |a: usize| (0..12).filter(move |b| *b != a).map(move |b| (a, b));
        assert!(
            (0..12).flat_map(others).all(|(a, b)| near(&follows[a][b])),
            "{follows:?}"
        );
    }

    #[test]
    fn the_seed_and_the_number_decide_and_nothing_else() {
        assert_eq!(order(12, 30, 1), order(12, 30, 1));
        assert_ne!(order(12, 30, 1), order(12, 30, 2));
        assert_ne!(order(12, 30, 1), order(12, 31, 1));
    }

    #[test]
    fn no_entries_have_an_empty_order_and_one_entry_has_one() {
        assert_eq!(order(0, 1, 1), [] as [usize; 0]);
        assert_eq!(order(1, 5, 1), [0]);
    }
}
