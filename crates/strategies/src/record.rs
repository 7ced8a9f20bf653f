//! What a strategy says about its own run.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::exit::{Error, Exit, Result};

/// The environment variable that names the file to append the record to.
pub const LOG: &str = "READOFF_RECORD";

/// One run of one strategy. Times are seconds, sizes bytes; faults, switches and CPU times are those
/// of the run, not of starting the process. `None` is what this system doesn't tell.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename = "record")]
pub struct Record {
    /// The program.
    pub strategy: &'static str,
    /// What was done with the bytes.
    pub work: &'static str,
    /// What that gave.
    pub answer: String,
    /// Bytes worked on.
    pub bytes: u64,
    /// From the start until the file was open; 0 where one call opens and reads.
    pub seconds_open: f64,
    /// From then until the whole file had arrived, for a strategy with two phases.
    pub seconds_arrive: Option<f64>,
    /// From then until the work was done, for a strategy with two phases.
    pub seconds_touch: Option<f64>,
    /// From opening until the work was done, for a strategy that works as it reads.
    pub seconds_arrive_touch: Option<f64>,
    /// The whole run.
    pub seconds: f64,
    /// Page faults served without the device.
    pub minor_faults: u64,
    /// Page faults that waited for the device.
    pub major_faults: u64,
    /// Bytes fetched from the device for this process.
    pub device_bytes: Option<u64>,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time was up.
    pub involuntary_switches: u64,
    /// The largest resident size of the process, mapped pages of files included.
    pub peak_rss: Option<u64>,
    /// CPU time in user mode.
    pub user: f64,
    /// CPU time in the kernel.
    pub system: f64,
    /// The visits alone, for a strategy that makes some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_visit: Option<f64>,
    /// How long single visits took, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// How long single visits took: seconds, to three digits. Each has the time of reading the clock in
/// it.
#[derive(Debug, Serialize)]
pub struct Latency {
    /// How many visits there were.
    pub visits: u64,
    /// The shortest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// So long or shorter are 99 % of them.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Record {
    /// Appends the record to the file that [`LOG`] names, if it does, and prints it: as JSON, or
    /// the answer as `xor 5c  13795429575 bytes`, with a line on latencies if there are some.
    ///
    /// # Errors
    /// The log or stdout can't be written.
    pub fn deliver(&self, json: bool) -> Result<()> {
        let line = serde_json::to_string(self).expect("a record is plain data") + "\n";
        if let Some(log) = std::env::var_os(LOG) {
            append(Path::new(&log), &line)?;
        }
        if json {
            crate::exit::print(&line)
        } else {
            let Record {
                work,
                answer,
                bytes,
                ..
            } = self;
            let latency = self.latency.as_ref().map(Latency::line);
            let latency = latency.unwrap_or_default();
            crate::exit::print(&format!("{work} {answer}  {bytes} bytes\n{latency}"))
        }
    }
}

impl Latency {
    /// As a line of text.
    fn line(&self) -> String {
        let [min, mean, p50, p99, max] =
            [self.min, self.mean, self.p50, self.p99, self.max].map(Duration::from_secs_f64);
        format!(
            "a visit: min {min:.2?}  mean {mean:.2?}  p50 {p50:.2?}  p99 {p99:.2?}  max {max:.2?}\n"
        )
    }
}

/// Appends `line` in one write(2), so that lines of processes that share the log never mix.
fn append(log: &Path, line: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(log)
        .map_err(|cause| failed(log, Exit::CannotCreate, cause))?;
    match file.write(line.as_bytes()) {
        Ok(written) if written == line.len() => Ok(()),
        Ok(_) => Err(failed(log, Exit::Io, "the disk is full")),
        Err(cause) => Err(failed(log, Exit::Io, cause)),
    }
}

fn failed(log: &Path, exit: Exit, cause: impl std::fmt::Display) -> Error {
    Error::of(
        log,
        exit,
        format_args!("can't append the record ({LOG}): {cause}"),
    )
}
