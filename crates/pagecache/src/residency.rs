//! How much of a file is in the page cache, and which state that is.

use std::{fmt, fs::File, io, iter::Sum};

use bytesize::ByteSize;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::sys;

/// How residency was learned, from the most to the least telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// cachestat(2), Linux 6.5 on.
    Cachestat,
    /// mincore(2) over a mapping that is never touched. It doesn't tell dirty pages, nor those
    /// whose read is in flight.
    Mincore,
    /// Nothing here tells.
    Unknown,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Method::Cachestat => "cachestat",
            Method::Mincore => "mincore",
            Method::Unknown => "unknown",
        })
    }
}

/// What of a file is in the page cache. Bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Residency {
    /// The file's size. "bytes" in JSON, as in the prepare line.
    #[serde(rename = "bytes")]
    pub total: u64,
    /// In the page cache; none where that can't be told.
    pub resident: Option<u64>,
    /// Changed in memory and not yet on the device; none where that can't be told.
    pub dirty: Option<u64>,
    /// How this was learned.
    pub by: Method,
    /// Why nothing could be learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_unknown: Option<String>,
}

impl Residency {
    pub(crate) fn unknown(total: u64, why: String) -> Residency {
        Residency {
            total,
            resident: None,
            dirty: None,
            by: Method::Unknown,
            why_unknown: Some(why),
        }
    }

    /// The resident share of the file, 0 to 1; none if unknown, or if the file is empty.
    pub fn share(&self) -> Option<f64> {
        let resident = self.resident?;
        (self.total > 0).then(|| resident as f64 / self.total as f64)
    }

    /// Whether the file is in `state`; none if that can't be told. An empty file is in all.
    pub fn holds(&self, state: State) -> Option<bool> {
        if self.total == 0 {
            return Some(true);
        }
        let (resident, total) = (u128::from(self.resident?), u128::from(self.total));
        Some(match state {
            State::Cold => resident * 100 <= total,
            State::Warm | State::WarmRandom => resident * 100 >= total * 99,
            State::AsIs => true,
        })
    }
}

/// Of several files together: what is unknown of one is unknown of all.
impl Sum for Residency {
    fn sum<I: Iterator<Item = Residency>>(files: I) -> Residency {
        let nothing = Residency {
            total: 0,
            resident: Some(0),
            dirty: Some(0),
            by: Method::Cachestat,
            why_unknown: None,
        };
        files.fold(nothing, |sum, file| Residency {
            total: sum.total + file.total,
            resident: sum.resident.zip(file.resident).map(|(a, b)| a + b),
            dirty: sum.dirty.zip(file.dirty).map(|(a, b)| a + b),
            by: sum.by.max(file.by),
            why_unknown: sum.why_unknown.or(file.why_unknown),
        })
    }
}

impl fmt::Display for Residency {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.resident {
            Some(resident) => write!(f, "{} of {} resident", size(resident), size(self.total)),
            None => write!(f, "{}, residency unknown", size(self.total)),
        }
    }
}

/// A page-cache state to bring about before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// At most 1 % resident
    Cold,
    /// At least 99 % resident, filled by readahead where it has to be filled
    Warm,
    /// At least 99 % resident, filled page by page in random order where it has to be filled
    WarmRandom,
    /// Whatever it is
    AsIs,
}

/// How much of `file` is in the page cache now.
///
/// Where the system can't tell, that is a value ([`Method::Unknown`]), not an error; fails only as
/// fstat(2), fstatfs(2) and mmap(2) do. A GiB costs about
/// 0.1 ms in large folios and 17 ms in small ones.
pub fn residency(file: &File) -> io::Result<Residency> {
    let total = file.metadata()?.len();
    let filesystem = sys::filesystem_of(file)?;
    if !filesystem.residency_known {
        let why = format!(
            "{} has a cache of its own, which can't be looked into",
            filesystem.name
        );
        return Ok(Residency::unknown(total, why));
    }
    sys::residency(file, total, &filesystem)
}

/// Bytes for people, in the units of the command line.
pub(crate) fn size(bytes: u64) -> String {
    ByteSize::b(bytes).display().iec().to_string()
}
