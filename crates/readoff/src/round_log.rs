//! A round's log: what the prepare step and the strategies wrote about each run, and what the machine
//! did meanwhile.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use pagecache::Prepared;
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure};
use crate::input::plain;
use crate::watch::Watch;

/// One line of a round's log.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Prepare(Prepared),
    Record(Record),
    Watch(Box<Watch>),
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
    let mut runs: Vec<Run> = Vec::new();
    for (number, line) in (1..).zip(lines(path)?) {
        match line {
            Line::Watch(_) => {}
            Line::Prepare(prepared) => runs.push(Run {
                prepared,
                record: None,
            }),
            Line::Record(record) => match runs.last_mut() {
                Some(run) if run.record.is_none() => run.record = Some(record),
                _ => return Err(broken(path, number, "a record without its prepare step")),
            },
        }
    }
    Ok(runs)
}

/// What was watched during the round; none in the log of an earlier version.
///
/// # Errors
/// A line that can't be understood.
pub fn watch(path: &Path) -> Result<Option<Watch>> {
    let mut watches = lines(path)?.into_iter().filter_map(|line| match line {
        Line::Watch(watch) => Some(*watch),
        _ => None,
    });
    Ok(watches.next())
}

/// Appends what was watched, in one write.
///
/// # Errors
/// The log can't be written.
pub fn append_watch(path: &Path, watch: &Watch) -> Result<()> {
    let mut line = serde_json::to_value(watch)?;
    line["kind"] = "watch".into();
    let append = || {
        let mut log = OpenOptions::new().append(true).create(true).open(path)?;
        log.write_all(format!("{line}\n").as_bytes())
    };
    append().map_err(|e| failure(Code::Io, format!("{}: {}", path.display(), plain(&e))))
}

fn lines(path: &Path) -> Result<Vec<Line>> {
    let text = fs::read_to_string(path)
        .map_err(|e| failure(Code::Io, format!("{}: {e}", path.display())))?;
    let parse = |(number, line)| {
        serde_json::from_str(line).map_err(|e| broken(path, number, &e.to_string()))
    };
    (1..).zip(text.lines()).map(parse).collect()
}

fn broken(path: &Path, line: usize, what: &str) -> anyhow::Error {
    let what = format!("{}: line {line}: {what}", path.display());
    failure(Code::Software, what)
}
