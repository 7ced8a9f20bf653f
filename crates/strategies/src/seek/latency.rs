//! How long single visits take.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record;

/// Latencies are told to so many digits.
const DIGITS: u8 = 3;

/// Longer visits count as this long, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// The visits so far, by how long they took.
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// None yet.
    pub fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS);
        Latencies(histogram.expect("the bounds are in order and there are at most five digits"))
    }

    /// One more visit.
    pub fn add(&mut self, visit: Duration) {
        let nanoseconds = visit.as_nanos().try_into().unwrap_or(u64::MAX);
        self.0.saturating_record(nanoseconds);
    }

    /// What is told of them; nothing where there was none.
    pub fn summary(&self) -> Option<record::Latency> {
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        (!self.0.is_empty()).then(|| record::Latency {
            visits: self.0.len(),
            min: seconds(self.0.min()),
            mean: self.0.mean() / 1e9,
            p50: seconds(self.0.value_at_quantile(0.5)),
            p99: seconds(self.0.value_at_quantile(0.99)),
            max: seconds(self.0.max()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_tells_a_thousand_visits_to_three_digits() {
        let mut latencies = Latencies::new();
        assert!(latencies.summary().is_none());
        for microseconds in 1..=1000 {
            latencies.add(Duration::from_micros(microseconds));
        }
        let summary = latencies.summary().unwrap();
        assert_eq!(summary.visits, 1000);
        for (told, exact) in [
            (summary.min, 1e-6),
            (summary.mean, 500.5e-6),
            (summary.p50, 500e-6),
            (summary.p99, 990e-6),
            (summary.max, 1000e-6),
        ] {
            assert!((told / exact - 1.0).abs() < 1e-3, "{summary:?}");
        }
    }
}
