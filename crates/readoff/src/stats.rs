//! The statistics behind the verdict: two entries compared, paired by round.

use serde::Serialize;

/// How one entry's time compares with another's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Rounds in which both have a time.
    pub rounds: usize,
    /// Geometric mean of the rounds' time ratios: 2 is twice as long, 0.5 half as long.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio; none where there are too few rounds for one.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
    /// Two-sided p value of "there is no difference".
    pub p: f64,
    /// Sample standard deviation of the log ratios; none for one round.
    pub sd: Option<f64>,
}

/// Compares by log ratios, one a round; `None` without a round.
pub fn compare(_log_ratios: &[f64]) -> Option<Comparison> {
    todo!()
}

/// Rounds that show a difference of `effect` (0.05: 5 %) with a power of 80 %.
pub fn rounds_to_show(_sd: f64, _effect: f64) -> Option<usize> {
    todo!()
}

/// The smallest difference (0.05: 5 %) that `rounds` rounds show with a power of 80 %.
pub fn smallest_difference(_sd: f64, _rounds: usize) -> Option<f64> {
    todo!()
}
