//! Schema 1: hyperfine 1.x.

use super::{Run, Statistics};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Export {
    pub(super) results: Vec<Entry>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// One command's results; times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub(super) command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// Since 1.20.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<Option<i32>>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl Entry {
    pub(super) fn runs(&self) -> Vec<Run> {
        let run = |(index, &seconds)| Run {
            seconds,
            user: Some(self.user),
            system: Some(self.system),
            peak_memory: self
                .memory_usage_byte
                .as_ref()
                .and_then(|bytes| bytes.get(index).copied()),
            exit_code: self.exit_codes.get(index).copied().flatten(),
        };
        self.times.iter().enumerate().map(run).collect()
    }

    /// Adds another entry's runs. The user and system time of single runs are not known: their mean
    /// over all runs is that of the two means, weighted by their runs.
    pub(super) fn append(&mut self, more: Entry) {
        let (ours, theirs) = (self.times.len() as f64, more.times.len() as f64);
        let mean = |our: f64, their: f64| (our * ours + their * theirs) / (ours + theirs);
        self.user = mean(self.user, more.user);
        self.system = mean(self.system, more.system);
        self.times.extend(more.times);
        self.exit_codes.extend(more.exit_codes);
        self.memory_usage_byte = match (self.memory_usage_byte.take(), more.memory_usage_byte) {
            (Some(mut ours), Some(theirs)) => {
                ours.extend(theirs);
                Some(ours)
            }
            // One value a run or none at all.
            _ => None,
        };
    }

    pub(super) fn summarize(&mut self) {
        if self.times.is_empty() {
            return;
        }
        let statistics = Statistics::of(&self.times);
        self.mean = statistics.mean;
        self.median = statistics.median;
        self.min = statistics.min;
        self.max = statistics.max;
        self.stddev = statistics.stddev();
    }
}
