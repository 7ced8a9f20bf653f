//! fopen(3), then getline(3) until the end of the file.

use std::io;
use std::process::ExitCode;
use std::ptr;
use std::slice;

use strategies::exit::{Result, c_path};
use strategies::scan::{self, Args, Scan};

const ABOUT: &str =
    "getline(3): line by line, each into the same buffer, which grows to the longest";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let path = c_path(scan.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(scan.cannot_open(&io::Error::last_os_error()));
    }
    scan.opened();
    let mut line = ptr::null_mut();
    let mut capacity = 0;
    loop {
        // SAFETY: the stream is open; getline allocates the line and keeps its capacity.
        let n = unsafe { libc::getline(&mut line, &mut capacity, stream) };
        if n >= 0 {
            // SAFETY: the line has n bytes, its newline included.
            scan.update(unsafe { slice::from_raw_parts(line.cast(), n as usize) })?;
        // SAFETY: the stream is open.
        } else if unsafe { libc::feof(stream) } != 0 {
            break;
        } else {
            scan.again_if_interrupted("getline", scan.bytes())?;
        }
    }
    scan.finish()
}
