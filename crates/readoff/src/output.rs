//! Writing to the terminal, or to whatever stands in its place: a full disk, a pipe that nobody reads.

use std::io::{self, ErrorKind, Write};

use anyhow::Result;

use crate::error::{Code, failure};
use crate::format::printable;
use crate::input::plain;

/// Prints to standard output. A reader that has gone away (`readoff list | head -1`) has seen enough.
///
/// # Errors
/// Standard output can't be written: exit code 74.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let what = format!("standard output can't be written: {}", plain(&error));
            Err(failure(Code::Io, what))
        }
        _ => Ok(()),
    }
}

/// One line on standard error. Nothing is left to do where that can't be written.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}
