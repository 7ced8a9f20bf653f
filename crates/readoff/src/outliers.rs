//! How an entry's runs are spread, and those far from the others. None is ever dropped: what a reader
//! should know of, and not what the verdict leaves out.

use serde::Serialize;

/// How far beyond the quartiles, in interquartile ranges, a run is an outlier (J. W. Tukey,
/// "Exploratory Data Analysis", 1977).
const FENCE: f64 = 1.5;

/// The middle half of an entry's runs and what lies far from it. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// A quarter of the runs is shorter.
    pub lower_quartile: f64,
    /// A quarter of the runs is longer.
    pub upper_quartile: f64,
    /// Runs further than 1.5 interquartile ranges beyond the quartiles. All of them count.
    pub outliers: usize,
    /// The one that is furthest away.
    pub furthest: Option<Timed>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timed {
    /// Its round, from 1.
    pub round: u32,
    /// The run within its block, from 1.
    pub run: usize,
    /// What it took.
    pub seconds: f64,
}

/// The spread of runs, of which there is at least one.
pub fn spread(runs: &[Timed]) -> Spread {
    let mut times: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    times.sort_by(f64::total_cmp);
    let (lower, upper) = (quantile(&times, 0.25), quantile(&times, 0.75));
    let beyond = |run: &Timed| (lower - run.seconds).max(run.seconds - upper);
    let outliers = || {
        let far = |run: &&Timed| beyond(run) > FENCE * (upper - lower);
        runs.iter().filter(far)
    };
    let furthest = outliers().max_by(|a, b| beyond(a).total_cmp(&beyond(b)));
    Spread {
        lower_quartile: lower,
        upper_quartile: upper,
        outliers: outliers().count(),
        furthest: furthest.copied(),
    }
}

/// A quantile of sorted values, of which there is at least one, interpolated as numpy and
/// hyperfine's scripts do it (type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
/// packages", 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(times: &[f64]) -> Spread {
        let timed = |(round, seconds): (u32, &f64)| Timed {
            round,
            run: 1,
            seconds: *seconds,
        };
        spread(&(1..).zip(times).map(timed).collect::<Vec<_>>())
    }

    #[test]
    fn quartiles_are_those_of_numpy() {
        let spread = spread_of(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.lower_quartile, spread.upper_quartile), (1.75, 3.25));
        assert_eq!((spread.outliers, spread.furthest), (0, None));
        assert_eq!(spread_of(&[2.0]).upper_quartile, 2.0);
    }

    #[test]
    fn what_is_far_from_the_others_is_counted_and_the_furthest_named() {
        let spread = spread_of(&[1.0, 1.1, 1.2, 1.3, 0.2, 1.1, 9.0, 1.2, 2.0]);
        assert_eq!(spread.outliers, 3);
        let furthest = Timed {
            round: 7,
            run: 1,
            seconds: 9.0,
        };
        assert_eq!(spread.furthest, Some(furthest));
    }
}
