//! Comparing two entries after every round, and stopping as soon as the question is settled.
//!
//! A test that is right once is wrong far more often when it is looked at after every round. This one
//! is right at every moment, whoever decides to stop and why.
//!
//! If neither entry is faster, a round's log ratio d is as likely +|d| as −|d|, whatever was before.
//! Then the factor 2 / (1 + exp(−2λd)) = exp(λd) / cosh(λd) has mean 1 for every λ, and the product of
//! the rounds' factors, the *evidence* that d's centre is above 0, is a nonnegative martingale that
//! begins at 1: it ever reaches 40 with a probability of at most 1/40 (J. Ville, "Étude critique de la
//! notion de collectif", 1939). Each direction has 2.5 %, both together 5 %. A weighted mean over some
//! λ is such a martingale too. The factor is at most 2, so six rounds are the fewest that can separate:
//! 2⁵ < 40.
//!
//! The factor is that of A. Ramdas, J. Ruf, M. Larsson and W. M. Koolen, "Admissible anytime-valid
//! sequential inference must rely on nonnegative martingales" (2020, arXiv:2009.03167); it is never
//! below exp(λd − λ²d²/2), that of V. H. de la Peña, "A general class of exponential inequalities for
//! martingales and ratios", Annals of Probability 27 (1999) 537–564. docs/METHODOLOGY.md has what else
//! was tried.

use crate::stats::{ALPHA, Comparison, FEWEST_ROUNDS, log_ratios, mean};
use crate::verdict::ranked;

/// λ and its weight. Each λ is quick to see differences of about 1/λ and slow to see others; these
/// cover leads from 20 % down to 1 %. Fixed beforehand, so they know nothing of the data. Each λ is
/// three times the one before.
pub const RATES: [(f64, f64); 4] = [
    (5.0, 1.0 / 6.0),
    (15.0, 2.0 / 6.0),
    (45.0, 2.0 / 6.0),
    (135.0, 1.0 / 6.0),
];

/// The evidence that separates, in one direction of two.
pub const ENOUGH: f64 = 2.0 / ALPHA;

/// Differences proved to be smaller than this (2 %) are not worth another round.
pub const NEGLIGIBLE: f64 = 0.02;

/// Compares two entries' times by round, as [`crate::stats::compare`] does, but so that p and the
/// interval hold whenever one looks. `p` is below 5 % exactly where the interval leaves out 1. The
/// ratio is the rounds' geometric mean, or the end of the interval next to it: a few wild rounds move
/// the mean and hardly move the interval.
pub fn compare(times: &[Option<f64>], others: &[Option<f64>]) -> Option<Comparison> {
    let log_ratios = log_ratios(times, others);
    if log_ratios.is_empty() {
        return None;
    }
    let mirrored: Vec<f64> = log_ratios.iter().map(|d| -d).collect();
    let interval = (log_ratios.len() >= FEWEST_ROUNDS)
        .then(|| (lower_end(&log_ratios), -lower_end(&mirrored)));
    let strongest = evidence_above(&log_ratios, 0.0).max(evidence_above(&mirrored, 0.0));
    let p = (2.0 / strongest).min(1.0);
    let mean = mean(&log_ratios);
    let centre = interval.map_or(mean, |(low, high)| mean.max(low).min(high));
    Some(Comparison::new(&log_ratios, centre, p, interval))
}

/// Whether more rounds have nothing left to tell: one entry is separated from all others, or the
/// fastest and those not separated from it are all proved to be less than [`NEGLIGIBLE`] apart.
/// `medians` are as for [`crate::verdict::Verdict::new`].
pub fn settled(labels: &[String], medians: &[Vec<Option<f64>>]) -> bool {
    let (entries, _) = ranked(labels, medians);
    let Some(fastest) = entries.first() else {
        return false;
    };
    let leaders: Vec<&[Option<f64>]> = entries
        .iter()
        .map(|entry| entry.medians)
        .filter(|medians| evidence_above(&log_ratios(medians, fastest.medians), 0.0) <= ENOUGH)
        .collect();
    leaders.len() == 1 || negligible(&leaders)
}

/// Whether all are proved to be less than [`NEGLIGIBLE`] apart, pair by pair.
pub(crate) fn negligible(medians: &[&[Option<f64>]]) -> bool {
    let most = NEGLIGIBLE.ln_1p();
    let mut pairs = (0..medians.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    // More than −most, and seen from the other side also.
    let above = |times, others| evidence_above(&log_ratios(times, others), -most) > ENOUGH;
    pairs.all(|(a, b)| above(medians[a], medians[b]) && above(medians[b], medians[a]))
}

/// The evidence that the centre of log ratios is above `centre`; it falls as `centre` grows. More
/// than [`ENOUGH`] separates.
pub fn evidence_above(values: &[f64], centre: f64) -> f64 {
    let mut evidence = RATES.map(|(_, weight)| weight);
    for value in values {
        // exp(−2λd) for the first λ; each next one is its cube.
        let mut power = (-2.0 * RATES[0].0 * (value - centre)).exp();
        for product in &mut evidence {
            // 2¹⁰²⁴ is too large for a number, and 10³⁰⁰ is evidence enough.
            *product = (*product * 2.0 / (1.0 + power)).min(1e300);
            power = power * power * power;
        }
    }
    evidence.iter().sum()
}

/// The largest centre above which the values' centre is proved to be, to 10⁻⁹. Of at least
/// [`FEWEST_ROUNDS`] values.
fn lower_end(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    // At the lower end each factor is all but 2, at the upper one none is above 1.
    let (mut low, mut high) = (least - 4.0, values.iter().copied().fold(least, f64::max));
    while high - low > 1e-9 * high.abs().max(1.0) {
        let middle = (low + high) / 2.0;
        if evidence_above(values, middle) > ENOUGH {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some(times: &[f64]) -> Vec<Option<f64>> {
        times.iter().copied().map(Some).collect()
    }

    fn compare_with_one(ratios: &[f64]) -> Comparison {
        compare(&some(ratios), &vec![Some(1.0); ratios.len()]).expect("there are rounds")
    }

    #[test]
    fn the_weights_are_a_mean_and_the_rates_are_cubes() {
        assert!((RATES.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(RATES.windows(2).all(|pair| pair[1].0 == 3.0 * pair[0].0));
    }

    #[test]
    fn evidence_is_the_weighted_mean_of_the_products_of_the_paper() {
        let values: [f64; 3] = [0.02, -0.01, 0.3];
        let product = |rate: f64| -> f64 {
            values
                .iter()
                .map(|d| (rate * d).exp() / (rate * d).cosh())
                .product()
        };
        let expected: f64 = RATES
            .iter()
            .map(|(rate, weight)| weight * product(*rate))
            .sum();
        assert!((evidence_above(&values, 0.0) - expected).abs() < 1e-12);
    }

    /// Over all signs of the same sizes the mean is 1: a martingale, whatever the sizes are.
    #[test]
    fn under_every_choice_of_signs_the_evidence_has_mean_one() {
        let sizes = [0.001, 0.02, 0.05, 0.7, 3.0];
        let signed = |signs: u32| -> Vec<f64> {
            let sign = |round: usize| if signs >> round & 1 == 1 { -1.0 } else { 1.0 };
            sizes
                .iter()
                .enumerate()
                .map(|(round, size)| sign(round) * size)
                .collect()
        };
        let mean = (0..32)
            .map(|signs| evidence_above(&signed(signs), 0.0))
            .sum::<f64>()
            / 32.0;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn five_rounds_never_separate_and_six_can() {
        assert!(!compare_with_one(&[2.0; 5]).slower());
        let six = compare_with_one(&[2.0; 6]);
        assert!(six.slower() && six.p < ALPHA, "{six:?}");
        assert!(compare_with_one(&[0.5; 6]).faster());
        assert!(!compare_with_one(&[1.0; 900]).slower());
    }

    #[test]
    fn a_race_is_settled_by_a_winner_or_by_a_proof_that_none_is_worth_naming() {
        let labels: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let steady = |seconds: f64, rounds: usize| some(&vec![seconds; rounds]);
        let race = |rounds| {
            [
                steady(1.0, rounds),
                steady(1.2, rounds),
                steady(1.3, rounds),
            ]
        };
        assert!(!settled(&labels, &race(5)) && settled(&labels, &race(7)));
        let tie = |rounds| {
            [
                steady(1.0, rounds),
                steady(1.001, rounds),
                steady(1.3, rounds),
            ]
        };
        assert!(!settled(&labels, &tie(6)) && settled(&labels, &tie(60)));
        assert!(!settled(&labels, &[vec![], vec![], vec![]]));
        assert!(
            settled(&labels[..1], &[steady(1.0, 1)]),
            "nothing to compare it with"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_interval_leaves_out_one_exactly_where_p_is_below_five_percent(
            log_ratios in prop::collection::vec(-0.1..0.1f64, 1..40),
            shift in -0.1..0.1f64,
        ) {
            let ratios: Vec<f64> = log_ratios.iter().map(|d| (d + shift).exp()).collect();
            let compared = compare_with_one(&ratios);
            prop_assert_eq!(compared.faster() || compared.slower(), compared.p < ALPHA, "{:?}", compared);
            if let (Some(low), Some(high)) = (compared.low, compared.high) {
                prop_assert!(low <= compared.ratio && compared.ratio <= high, "{:?}", compared);
            }
        }

        #[test]
        fn the_other_way_round_is_the_mirror_image(times in prop::collection::vec((0.5..2.0f64, 0.5..2.0f64), 6..30)) {
            let (a, b): (Vec<_>, Vec<_>) = times.into_iter().map(|(a, b)| (Some(a), Some(b))).unzip();
            let (there, back) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
            prop_assert!((there.p - back.p).abs() < 1e-9);
            prop_assert!((there.low.unwrap() * back.high.unwrap() - 1.0).abs() < 1e-6);
        }
    }
}
