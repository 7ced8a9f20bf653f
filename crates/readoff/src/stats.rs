//! The statistics behind the verdict: two entries compared, paired by round.
//!
//! The unit is a round's log ratio d = ln(time of one / time of the other): what the machine does
//! to both in a round cancels. If neither is faster, d is as likely to be positive as negative, and
//! so is each sum of them with signs changed: the sign-flip (randomization) test of Fisher (1935).
//!
//! Changing the signs of a subset S of the rounds lowers the sum of d − θ exactly where the mean of
//! d over S is above θ. So the means over all 2^n − 1 nonempty subsets hold both the test and its
//! inversion: θ is as likely in each of the 2^n intervals between them (J. A. Hartigan, "Using
//! subsample values as typical values", Journal of the American Statistical Association 64 (1969)
//! 1303–1317). It assumes rounds that are independent and symmetric about θ, and nothing else: no
//! normal distribution, no equal variance.

use serde::Serialize;

/// The error rate of the test and of the interval (95 %).
pub(crate) const ALPHA: f64 = 0.05;

/// With fewer rounds p can't fall below 5 %: the smallest is 2 / 2^n.
pub const FEWEST_ROUNDS: usize = 6;

/// Up to here every subset is looked at: 65,535 of them.
const MOST_EXACT: usize = 16;

/// Random subsets beyond that: at p = 5 % their standard error is 0.2 %.
const SAMPLES: usize = 20_000;

/// Same subsets in every comparison: a verdict on the same data never changes.
const SEED: u64 = 0x5eed;

/// z(97.5 %) + z(80 %) of the standard normal distribution: a two-sided test at 5 % that finds the
/// difference in 80 % of races.
const Z_POWER_80: f64 = 1.959_963_985 + 0.841_621_234;

/// How one entry's time compares with another's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Rounds in which both have a time.
    pub rounds: usize,
    /// Geometric mean of the rounds' time ratios: 2 is twice as long, 0.5 half as long.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio; none under [`FEWEST_ROUNDS`]. The interval
    /// leaves out 1 exactly where `p` is below 5 %.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Two-sided p value of "there is no difference".
    pub p: f64,
    /// Sample standard deviation of the log ratios; none for one round.
    pub sd: Option<f64>,
}

impl Comparison {
    /// What a test found in the log ratios: their centre, p, and the interval of the centre.
    pub(crate) fn new(
        log_ratios: &[f64],
        centre: f64,
        p: f64,
        interval: Option<(f64, f64)>,
    ) -> Comparison {
        Comparison {
            rounds: log_ratios.len(),
            ratio: centre.exp(),
            low: interval.map(|(low, _)| low.exp()),
            high: interval.map(|(_, high)| high.exp()),
            p,
            sd: standard_deviation(log_ratios),
        }
    }

    /// Whether the first is separated from the second as faster.
    pub fn faster(&self) -> bool {
        self.high.is_some_and(|high| high < 1.0)
    }

    /// Whether the first is separated from the second as slower.
    pub fn slower(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0)
    }
}

/// Compares two entries' times by round, in any unit. A round counts where both have a time that is
/// finite and above zero; without one there is no comparison.
pub fn compare(times: &[Option<f64>], others: &[Option<f64>]) -> Option<Comparison> {
    let log_ratios = log_ratios(times, others);
    if log_ratios.is_empty() {
        return None;
    }
    let (p, interval) = test_and_interval(&mut subset_means(&log_ratios));
    Some(Comparison::new(&log_ratios, mean(&log_ratios), p, interval))
}

/// The log ratios of the rounds in which both have a possible time.
pub(crate) fn log_ratios(times: &[Option<f64>], others: &[Option<f64>]) -> Vec<f64> {
    let log_ratio = |(time, other): (&Option<f64>, &Option<f64>)| {
        let log_ratio = possible(*time)?.ln() - possible(*other)?.ln();
        log_ratio.is_finite().then_some(log_ratio)
    };
    times.iter().zip(others).filter_map(log_ratio).collect()
}

/// A time that a program can have taken; anything else is as good as missing.
pub fn possible(time: Option<f64>) -> Option<f64> {
    time.filter(|time| time.is_finite() && *time > 0.0)
}

/// The means over subsets of the values: of all that are not empty, or of a random sample of them.
fn subset_means(values: &[f64]) -> Vec<f64> {
    let tables: Vec<Vec<f64>> = values.chunks(8).map(subset_sums).collect();
    let mean_of = |subset: &[u8]| {
        let count: u32 = subset.iter().map(|bits| bits.count_ones()).sum();
        let sum: f64 = tables
            .iter()
            .zip(subset)
            .map(|(sums, &bits)| sums[usize::from(bits)])
            .sum();
        (count > 0).then(|| sum / f64::from(count))
    };
    if values.len() <= MOST_EXACT {
        return (1..1u64 << values.len())
            .filter_map(|bits| mean_of(&bits.to_le_bytes()))
            .collect();
    }
    let mut rng = fastrand::Rng::with_seed(SEED);
    let mut subset = vec![0u8; tables.len()];
    let random_mean = || {
        rng.fill(&mut subset);
        for (bits, sums) in subset.iter_mut().zip(&tables) {
            // The last table has fewer than 8 values.
            *bits &= (sums.len() - 1) as u8;
        }
        mean_of(&subset)
    };
    // An empty subset (1 in 2^17 at most) has no mean; another one is drawn.
    std::iter::repeat_with(random_mean)
        .flatten()
        .take(SAMPLES)
        .collect()
}

/// The sums over all subsets of at most 8 values; bit i of the index is value i.
fn subset_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums.extend_from_within(..);
        let half = sums.len() / 2;
        sums[half..].iter_mut().for_each(|sum| *sum += value);
    }
    sums
}

/// Two-sided p value of "the centre is 0" and the 95 % interval of the centre, from the same means:
/// p is below [`ALPHA`] exactly where the interval leaves out 0. The one added stands for the data
/// as they are (B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", 2010).
fn test_and_interval(means: &mut [f64]) -> (f64, Option<(f64, f64)>) {
    let total = (means.len() + 1) as f64;
    let below = means.iter().filter(|mean| **mean <= 0.0).count();
    let above = means.iter().filter(|mean| **mean >= 0.0).count();
    let p = (2.0 * (1 + below.min(above)) as f64 / total).min(1.0);
    // The most means that may lie on the far side of 0: p < ALPHA means below + 1 <= tail.
    let tail = (ALPHA / 2.0 * total).ceil() as usize - 1;
    if tail == 0 {
        return (p, None);
    }
    let last = means.len() - tail;
    let low = *means.select_nth_unstable_by(tail - 1, f64::total_cmp).1;
    let high = *means.select_nth_unstable_by(last, f64::total_cmp).1;
    (p, Some((low, high)))
}

/// Rounds that find a difference of `effect` (0.05: one takes 5 % longer) in 80 % of races, at log
/// ratios with standard deviation `sd`: (z₉₇.₅ + z₈₀)² · sd² / ln(1 + effect)², the usual sample
/// size of a paired comparison, and never under [`FEWEST_ROUNDS`].
pub fn rounds_to_show(sd: f64, effect: f64) -> usize {
    let rounds = (Z_POWER_80 * sd / effect.ln_1p()).powi(2).ceil();
    (rounds as usize).max(FEWEST_ROUNDS)
}

/// The smallest difference (0.05: one takes 5 % longer) that `rounds` rounds find in 80 % of races;
/// none under [`FEWEST_ROUNDS`]. The inverse of [`rounds_to_show`].
pub fn smallest_difference(sd: f64, rounds: usize) -> Option<f64> {
    (rounds >= FEWEST_ROUNDS).then(|| (Z_POWER_80 * sd / (rounds as f64).sqrt()).exp_m1())
}

/// The 95 % interval of a probability from `successes` in `trials` (C. J. Clopper and E. S. Pearson,
/// "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26
/// (1934) 404–413): each end is where so many or so few are seen in 2.5 % of series.
pub fn binomial_interval(successes: u32, trials: u32) -> (f64, f64) {
    // At most `most` successes become less likely as the probability grows.
    let where_at_most = |most: u32, share: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if at_most(most, trials, middle) > share {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let low = match successes {
        0 => 0.0,
        _ => where_at_most(successes - 1, 1.0 - ALPHA / 2.0),
    };
    let high = if successes >= trials {
        1.0
    } else {
        where_at_most(successes, ALPHA / 2.0)
    };
    (low, high)
}

/// How likely at most `most` successes are in `trials`, each with the same `probability` in (0, 1).
pub fn at_most(most: u32, trials: u32, probability: f64) -> f64 {
    let odds = (probability / (1.0 - probability)).ln();
    let mut log_exactly = f64::from(trials) * (-probability).ln_1p();
    let mut sum = log_exactly.exp();
    for successes in 0..most.min(trials) {
        log_exactly += (f64::from(trials - successes) / f64::from(successes + 1)).ln() + odds;
        sum += log_exactly.exp();
    }
    sum.min(1.0)
}

/// Arithmetic mean of at least one value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample standard deviation (n − 1); none for fewer than two values.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares times of which the second are all 1 second.
    fn compare_with_one(ratios: &[f64]) -> Comparison {
        let times: Vec<Option<f64>> = ratios.iter().copied().map(Some).collect();
        compare(&times, &vec![Some(1.0); times.len()]).expect("there are rounds")
    }

    /// The test as the textbook has it: each of the 2^n ways to change signs, counted where its sum
    /// is as far out as that of the data.
    fn sign_flip_p(log_ratios: &[f64]) -> f64 {
        let sum: f64 = log_ratios.iter().sum();
        let sums: Vec<f64> = (0..1u32 << log_ratios.len())
            .map(|flips| {
                let signed = |(round, value): (usize, &f64)| {
                    if flips >> round & 1 == 1 {
                        -value
                    } else {
                        *value
                    }
                };
                log_ratios.iter().enumerate().map(signed).sum()
            })
            .collect();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let up = sums
            .iter()
            .filter(|other| **other > sum || near(**other, sum))
            .count();
        let down = sums
            .iter()
            .filter(|other| **other < sum || near(**other, sum))
            .count();
        (2.0 * up.min(down) as f64 / sums.len() as f64).min(1.0)
    }

    #[test]
    fn five_rounds_never_separate_and_six_can() {
        let five = compare_with_one(&[2.0, 2.1, 2.2, 2.3, 2.4]);
        assert_eq!((five.p, five.low, five.slower()), (2.0 / 32.0, None, false));
        let six = compare_with_one(&[2.0, 2.1, 2.2, 2.3, 2.4, 2.5]);
        assert_eq!(six.p, 2.0 / 64.0);
        assert!(six.slower() && !six.faster());
        // With six rounds the interval is from the smallest to the largest ratio.
        let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
        assert!(close(six.low, 2.0) && close(six.high, 2.5), "{six:?}");
    }

    #[test]
    fn equal_times_are_no_difference() {
        for rounds in [1, 6, 40] {
            let same = compare_with_one(&vec![1.0; rounds]);
            assert_eq!((same.p, same.ratio), (1.0, 1.0));
            assert!(!same.faster() && !same.slower());
        }
    }

    #[test]
    fn missing_and_impossible_times_are_left_out() {
        let times = [
            Some(2.0),
            None,
            Some(0.0),
            Some(f64::NAN),
            Some(f64::INFINITY),
            Some(-1.0),
            Some(2.0),
        ];
        let compared = compare(&times, &[Some(1.0); 7]).unwrap();
        assert_eq!((compared.rounds, compared.sd), (2, Some(0.0)));
        assert!((compared.ratio - 2.0).abs() < 1e-12);
        assert_eq!(compare(&[Some(0.0), None], &[Some(1.0), Some(1.0)]), None);
        assert_eq!(compare(&[], &[]), None);
        // The smallest and the largest number there is.
        assert!(compare(&[Some(5e-324)], &[Some(f64::MAX)]).unwrap().ratio >= 0.0);
    }

    #[test]
    fn rounds_and_smallest_difference_are_each_others_inverse() {
        // (1.96 + 0.84)² · 0.03² / ln(1.05)² = 2.97, and ln(1.02): 18.01.
        assert_eq!(rounds_to_show(0.03, 0.05), FEWEST_ROUNDS);
        assert_eq!(rounds_to_show(0.03, 0.02), 19);
        assert_eq!(rounds_to_show(0.0, 0.02), FEWEST_ROUNDS);
        let effect = smallest_difference(0.1, 50).unwrap();
        assert_eq!(rounds_to_show(0.1, effect + 1e-9), 50);
        assert_eq!(smallest_difference(0.1, 5), None);
    }

    #[test]
    fn the_interval_of_a_probability_is_that_of_the_tables() {
        let near = |(low, high): (f64, f64), expected: (f64, f64)| {
            assert!(
                (low - expected.0).abs() < 5e-5 && (high - expected.1).abs() < 5e-5,
                "{low} {high}"
            );
        };
        near(binomial_interval(0, 10), (0.0, 0.3085));
        near(binomial_interval(5, 10), (0.1871, 0.8129));
        near(binomial_interval(10, 10), (0.6915, 1.0));
        near(binomial_interval(4, 100), (0.0110, 0.0993));
        assert!((at_most(1, 3, 0.5) - 0.5).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn p_is_that_of_the_textbook_test(log_ratios in prop::collection::vec(-0.3..0.3f64, 1..11)) {
            let ratios: Vec<f64> = log_ratios.iter().map(|d| d.exp()).collect();
            let exact: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
            prop_assert!((compare_with_one(&ratios).p - sign_flip_p(&exact)).abs() < 1e-12);
        }

        #[test]
        fn the_interval_leaves_out_one_exactly_where_p_is_below_five_percent(
            log_ratios in prop::collection::vec(-0.1..0.1f64, 1..40),
            shift in -0.1..0.1f64,
        ) {
            let ratios: Vec<f64> = log_ratios.iter().map(|d| (d + shift).exp()).collect();
            let compared = compare_with_one(&ratios);
            prop_assert_eq!(compared.faster() || compared.slower(), compared.p < ALPHA, "{:?}", compared);
            prop_assert!(compared.p > 0.0 && compared.p <= 1.0);
            if let (Some(low), Some(high)) = (compared.low, compared.high) {
                prop_assert!(low <= compared.ratio && compared.ratio <= high, "{:?}", compared);
            }
        }

        #[test]
        fn the_other_way_round_is_the_mirror_image(times in prop::collection::vec((0.5..2.0f64, 0.5..2.0f64), 1..30)) {
            let (a, b): (Vec<_>, Vec<_>) = times.into_iter().map(|(a, b)| (Some(a), Some(b))).unzip();
            let (there, back) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
            prop_assert_eq!(there.p, back.p);
            prop_assert_eq!(there.faster(), back.slower());
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
            if let (Some(low), Some(high)) = (there.low, back.high) {
                prop_assert!((low * high - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn what_a_round_does_to_both_cancels(times in prop::collection::vec((0.5..2.0f64, 0.5..2.0f64, 0.1..10.0f64), 6..20)) {
            let both = |drift: bool| {
                let at = |time: f64, factor: f64| Some(if drift { time * factor } else { time });
                let a: Vec<_> = times.iter().map(|(a, _, factor)| at(*a, *factor)).collect();
                let b: Vec<_> = times.iter().map(|(_, b, factor)| at(*b, *factor)).collect();
                compare(&a, &b).unwrap()
            };
            let (still, drifting) = (both(false), both(true));
            prop_assert!((still.ratio - drifting.ratio).abs() < 1e-9);
            prop_assert!((still.p - drifting.p).abs() < 0.001);
        }

        #[test]
        fn a_sample_of_subsets_comes_near_all_of_them(log_ratios in prop::collection::vec(-0.1..0.12f64, MOST_EXACT..=MOST_EXACT)) {
            // One more round than is looked at exactly, all of its subsets taken by hand.
            let mut longer = log_ratios;
            longer.push(0.01);
            let mut all: Vec<f64> = Vec::new();
            let sums: [Vec<f64>; 2] = [subset_sums(&longer[..8]), subset_sums(&longer[8..])];
            for (i, first) in sums[0].iter().enumerate() {
                for (j, second) in sums[1].iter().enumerate().filter(|(j, _)| i + j > 0) {
                    all.push((first + second) / f64::from(i.count_ones() + j.count_ones()));
                }
            }
            let (p, _) = test_and_interval(&mut all);
            let (sampled, _) = test_and_interval(&mut subset_means(&longer));
            // Four standard errors.
            prop_assert!((p - sampled).abs() < 4.0 * (p.max(0.001) / SAMPLES as f64).sqrt() * 2f64.sqrt() + 0.0002, "{p} {sampled}");
        }
    }
}
