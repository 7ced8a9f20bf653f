//! fopen(3), then getline(3) until the end of the file.

use std::io;
use std::process::ExitCode;

use strategies::exit::{Result, c_path};
use strategies::lines::{self, Args, Lines};

const ABOUT: &str = "getline(3): line by line; to keep them, each in memory of its own";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    let path = c_path(lines.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(lines.cannot_open(&io::Error::last_os_error()));
    }
    lines.opened();
    // SAFETY: the stream is open.
    unsafe { lines::getlines(lines, stream) }
}
