//! One call of hyperfine: a block of runs of every contestant.

use super::{Export, Hyperfine};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What competes in a call.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// Its name in the export.
    pub name: String,
    /// Program and arguments; they arrive as they are here, whatever is in them.
    pub command: Vec<String>,
    /// Program and arguments of the step before every run; empty for none.
    pub prepare: Vec<String>,
}

/// One call of hyperfine.
#[derive(Debug, Clone)]
pub struct Call {
    /// In the order in which they run.
    pub contestants: Vec<Contestant>,
    /// Runs before the timed ones.
    pub warmup: usize,
    /// Timed runs, at least 1.
    pub runs: usize,
    /// The export's file, relative to `dir`.
    pub export: String,
    /// Where hyperfine and all that it starts run; may be a path that is no UTF-8.
    pub dir: PathBuf,
    /// Set for hyperfine and all that it starts.
    pub env: Vec<(OsString, OsString)>,
}

/// Why a call gave no full export.
#[derive(Debug)]
pub enum Failure {
    /// hyperfine could not be started, or is not to be called like this.
    NotStarted(String),
    /// hyperfine ended with an error; where known, at which contestant.
    Failed {
        /// Index into the call's contestants.
        contestant: Option<usize>,
        /// One line.
        message: String,
    },
    /// A signal that we didn't send ended hyperfine.
    Killed(i32),
    /// The flag was set; all processes of the call are gone.
    Interrupted,
    /// The deadline passed; all processes of the call are gone.
    Overdue {
        /// Index of the contestant that was running.
        contestant: usize,
        /// One line.
        message: String,
    },
    /// hyperfine ended well, with an export that is not what was asked for.
    BadExport(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

impl std::error::Error for Failure {}

impl Call {
    /// The arguments of hyperfine.
    pub fn arguments(&self) -> Vec<String> {
        todo!()
    }

    /// The call as one line for a shell, with the folder and the environment.
    pub fn shell_line(&self, _hyperfine: &Hyperfine) -> String {
        todo!()
    }

    /// Runs it and reads its export.
    pub fn run(&self, _hyperfine: &Hyperfine, _interrupted: &AtomicBool, _deadline: Option<Instant>) -> Result<Export, Failure> {
        todo!()
    }
}
