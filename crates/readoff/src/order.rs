//! In which order the entries of a round run, so that no entry profits from its place or its neighbour,
//! and so that the order can't be in step with what the machine does.

use fastrand::Rng;

/// From so many entries on the orders are balanced; with fewer, each is drawn anew.
///
/// In a balanced set of few orders the next one is all but known from those before. With two entries
/// the last of a round is the first of the next: where a machine's noise lasts from one run to the
/// next, both runs share it, and the differences of neighbouring rounds are no longer independent.
/// Simulated, that gave 7 % false winners with two entries and 5.4 % with four; from five on it gave
/// less than 5 % (see docs/METHODOLOGY.md).
const FEWEST_BALANCED: usize = 5;

/// The order of round `number` (from 1) of a race of `n` entries: a permutation of `0..n`, drawn by
/// chance from `seed`. The same arguments always give the same order, so that a race can be resumed.
///
/// From five entries on, rounds come in sets of n (2n for odd n) in which each entry stands in each
/// place equally often and follows each other one equally often; who is who in the set is drawn. With
/// fewer entries every order of every round is equally likely, whatever was before.
pub fn order(n: usize, number: u32, seed: u64) -> Vec<usize> {
    let set = if n < FEWEST_BALANCED {
        vec![(0..n).collect()]
    } else {
        balanced(n)
    };
    let round = number.saturating_sub(1) as usize;
    let mut rng = Rng::with_seed(seed);
    let mut drawn: Vec<usize> = (0..n).collect();
    for _ in 0..=round / set.len() {
        rng.shuffle(&mut drawn);
    }
    set[round % set.len()]
        .iter()
        .map(|entry| drawn[*entry])
        .collect()
}

/// Balanced orders of `n` entries, each a permutation of `0..n`: n orders for even n, 2n for odd n.
///
/// Over all orders each entry stands in each place equally often, and each entry follows each other
/// one equally often (once for even n, twice for odd n).
///
/// The construction is that of E. J. Williams, "Experimental designs balanced for the estimation of
/// residual effects of treatments", Australian Journal of Scientific Research A 2 (1949) 149–168.
fn balanced(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n-1, 2, n-2, …: for even n the steps between neighbours are all different modulo n, so
    // its n cyclic shifts hold each ordered pair of neighbours exactly once.
    let first: Vec<usize> = (0..n)
        .map(|place| {
            if place % 2 == 1 {
                place / 2 + 1
            } else {
                (n - place / 2) % n
            }
        })
        .collect();
    let mut orders: Vec<Vec<usize>> = (0..n)
        .map(|shift| first.iter().map(|entry| (entry + shift) % n).collect())
        .collect();
    // For odd n each step comes twice or not at all; the same orders backwards supply the others.
    if n % 2 == 1 {
        let backwards: Vec<Vec<usize>> = orders
            .iter()
            .map(|order| order.iter().rev().copied().collect())
            .collect();
        orders.extend(backwards);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders of the rounds of the second set, so that the first draw isn't the only one seen.
    fn second_set(n: usize) -> (Vec<Vec<usize>>, usize) {
        let times = if n.is_multiple_of(2) { 1 } else { 2 };
        let rounds = (n * times) as u32;
        let orders = (rounds + 1..=2 * rounds).map(|number| order(n, number, 7));
        (orders.collect(), times)
    }

    #[test]
    fn in_a_set_every_entry_stands_in_every_place_equally_often() {
        for n in FEWEST_BALANCED..=24 {
            let (orders, times) = second_set(n);
            for entry in 0..n {
                for place in 0..n {
                    let seen = orders.iter().filter(|order| order[place] == entry).count();
                    assert_eq!(seen, times, "n {n}: entry {entry} in place {place}");
                }
            }
        }
    }

    #[test]
    fn in_a_set_every_entry_follows_every_other_equally_often() {
        for n in FEWEST_BALANCED..=24 {
            let (orders, times) = second_set(n);
            let mut follows = vec![vec![0; n]; n];
            for order in &orders {
                for pair in order.windows(2) {
                    follows[pair[0]][pair[1]] += 1;
                }
            }
            for (before, row) in follows.iter().enumerate() {
                for (after, &seen) in row.iter().enumerate() {
                    let expected = if before == after { 0 } else { times };
                    assert_eq!(seen, expected, "n {n}: {after} after {before}");
                }
            }
        }
    }

    #[test]
    fn with_few_entries_every_order_is_equally_likely_after_every_other() {
        let mut seen = std::collections::BTreeMap::new();
        for number in 1..=36_001 {
            let pair = (
                order(3, number, number.into()),
                order(3, number + 1, number.into()),
            );
            *seen.entry(pair).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 36);
        // 1000 each are expected; six standard deviations.
        assert!(
            seen.values().all(|count| (810..=1190).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        assert_eq!(order(12, 30, 1), order(12, 30, 1));
        assert_ne!(order(12, 30, 1), order(12, 30, 2));
        assert_ne!(order(12, 1, 1), order(12, 13, 1), "sets are drawn anew");
    }

    #[test]
    fn no_entries_have_an_empty_order_and_one_entry_has_one() {
        assert_eq!(order(0, 1, 1), [] as [usize; 0]);
        assert_eq!(order(1, 5, 1), [0]);
    }
}
