//! In which order the entries of a round run, so that no entry profits from its place or its neighbour.

/// Balanced orders of `n` entries, each a permutation of `0..n`: n orders for even n, 2n for odd n.
///
/// Over all orders each entry stands in each place equally often, and each entry follows each other
/// one equally often (once for even n, twice for odd n). A race walks through them and begins again
/// at the end. With 0 entries there is no order, with 1 there is one.
///
/// The construction is that of E. J. Williams, "Experimental designs balanced for the estimation of
/// residual effects of treatments", Australian Journal of Scientific Research A 2 (1949) 149–168.
pub fn orders(n: usize) -> Vec<Vec<usize>> {
    if n < 2 {
        return (0..n).map(|entry| vec![entry]).collect();
    }
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

    #[test]
    fn every_entry_stands_in_every_place_equally_often() {
        for n in 1..=24 {
            let orders = orders(n);
            let times = orders.len() / n;
            assert_eq!(orders.len(), n * times);
            for entry in 0..n {
                for place in 0..n {
                    let seen = orders.iter().filter(|order| order[place] == entry).count();
                    assert_eq!(seen, times, "n {n}: entry {entry} in place {place}");
                }
            }
        }
    }

    #[test]
    fn every_entry_follows_every_other_equally_often() {
        for n in 2..=24 {
            let orders = orders(n);
            let mut follows = vec![vec![0; n]; n];
            for order in &orders {
                for pair in order.windows(2) {
                    follows[pair[0]][pair[1]] += 1;
                }
            }
            let times = if n % 2 == 0 { 1 } else { 2 };
            for (before, row) in follows.iter().enumerate() {
                for (after, &seen) in row.iter().enumerate() {
                    let expected = if before == after { 0 } else { times };
                    assert_eq!(seen, expected, "n {n}: {after} after {before}");
                }
            }
        }
    }

    #[test]
    fn no_entries_have_no_order_and_one_entry_has_one() {
        assert!(orders(0).is_empty());
        assert_eq!(orders(1), [[0]]);
    }
}
