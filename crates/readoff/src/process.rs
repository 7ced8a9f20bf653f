//! Running a program for what it prints, so that it can be interrupted and can't outlive us.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::hyperfine::process::{Ended, Group};

/// Set by Ctrl-C, SIGTERM or SIGHUP; every wait looks at it.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What is read of a program's output: an answer is short, but an external may print anything.
const MOST_OUTPUT: u64 = 1 << 20;

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// The last line of standard error, which is where a program says why it failed.
    pub fn cause(&self) -> &str {
        let mut lines = self.stderr.lines().rev();
        lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it said nothing")
    }

    /// Whether it ended by itself, and well.
    pub fn succeeded(&self) -> bool {
        self.code() == Some(0)
    }

    /// Its exit code, if it ended by itself and by no signal.
    pub fn code(&self) -> Option<i32> {
        match self.ended {
            Ended::Itself(status) => status.code(),
            _ => None,
        }
    }
}

/// Runs a program to its end, at most as long as `limit`. Its output goes through files, so that no
/// pipe can fill up.
///
/// # Errors
/// It can't be started, or there is no room for its output.
pub fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<Finished> {
    let mut stdout = scratch()?;
    command.stdout(stdout.try_clone()?);
    let finished = run_for_status(command, limit)?;
    Ok(Finished {
        stdout: beginning(&mut stdout)?,
        ..finished
    })
}

/// As [`run`], for a program whose standard output goes where the caller has said, if it is as long
/// as its input, say.
pub fn run_for_status(command: &mut Command, limit: Option<Duration>) -> io::Result<Finished> {
    let mut stderr = scratch()?;
    command
        .stdin(Stdio::null())
        .stderr(stderr.try_clone()?)
        // Only timed runs are logged.
        .env_remove("READOFF_RECORD");
    let deadline = limit.map(|limit| Instant::now() + limit);
    let ended = Group::start(command)?.wait(&INTERRUPTED, deadline)?;
    Ok(Finished {
        ended,
        stdout: String::new(),
        stderr: beginning(&mut stderr)?,
    })
}

/// A file without a name.
fn scratch() -> io::Result<File> {
    tempfile::tempfile().map_err(|e| {
        let folder = std::env::temp_dir();
        let what = format!("no temporary file in {} (TMPDIR): {e}", folder.display());
        io::Error::new(e.kind(), what)
    })
}

fn beginning(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
