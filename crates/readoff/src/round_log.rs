//! A round's log: what the prepare step and the strategies wrote about each run.

use std::fs;
use std::path::Path;

use anyhow::Result;
use pagecache::Prepared;
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure};

/// One line of a round's log.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Prepare(Prepared),
    Record(Record),
}

/// What a strategy says about its own run. Times in seconds, sizes in bytes.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Record {
    /// The program's name.
    pub strategy: String,
    /// The work done.
    pub work: String,
    /// What it computed.
    pub answer: String,
    /// Bytes read.
    pub bytes: u64,
    /// Seconds to open.
    pub seconds_open: f64,
    /// Seconds until the whole file had arrived, where that is a phase of its own.
    pub seconds_arrive: Option<f64>,
    /// Seconds to work on it after that.
    pub seconds_touch: Option<f64>,
    /// Both together, where they can't be told apart.
    pub seconds_arrive_touch: Option<f64>,
    /// Seconds of the visits alone (family `seek`).
    pub seconds_visit: Option<f64>,
    /// Each visit's time, where it was measured.
    pub latency: Option<Latency>,
    /// Seconds in all.
    pub seconds: f64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that waited for the device.
    pub major_faults: u64,
    /// Bytes read from the device.
    pub device_bytes: Option<u64>,
    /// Context switches that the process asked for.
    pub voluntary_switches: u64,
    /// Context switches forced on it.
    pub involuntary_switches: u64,
    /// Its largest resident set.
    pub peak_rss: Option<u64>,
    /// CPU time in user mode.
    pub user: f64,
    /// CPU time in the kernel.
    pub system: f64,
}

/// Times of single visits, in seconds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Latency {
    /// How many visits.
    pub visits: u64,
    /// Shortest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 in 100 are shorter.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

/// One run: the proof of the state before it, and what it said of itself (externals say nothing).
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The last prepare line before it.
    pub prepared: Prepared,
    /// Its record.
    pub record: Option<Record>,
}

/// Reads a round's log: a run belongs to the last prepare line before it.
///
/// # Errors
/// A line that can't be understood, or a record with no prepare line before it.
pub fn read(path: &Path) -> Result<Vec<Run>> {
    let broken = |line: usize, what: String| {
        failure(
            Code::Software,
            format!("{}: line {line}: {what}", path.display()),
        )
    };
    let text = fs::read_to_string(path)
        .map_err(|e| failure(Code::Io, format!("{}: {e}", path.display())))?;
    let mut runs: Vec<Run> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        match serde_json::from_str(text).map_err(|e| broken(number, e.to_string()))? {
            Line::Prepare(prepared) => runs.push(Run {
                prepared,
                record: None,
            }),
            Line::Record(record) => match runs.last_mut() {
                Some(run) if run.record.is_none() => run.record = Some(record),
                _ => return Err(broken(number, "a record without its prepare step".into())),
            },
        }
    }
    Ok(runs)
}
