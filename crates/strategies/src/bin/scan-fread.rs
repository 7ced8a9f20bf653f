//! fopen(3), setvbuf(3) if asked for, then fread(3) until the end of the file.

use std::io;
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::{Result, c_path};
use strategies::scan::{self, Args, Scan};
use strategies::stdio::{self, StdioBuffer};

const ABOUT: &str = "fread(3) into one buffer of 16 pages, used again for every call";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[stdio::FLAG], run)
}

fn run(args: &Args) -> Result<()> {
    let stdio_buffer: StdioBuffer = args.line.get(stdio::FLAG.name)?.unwrap_or_default();
    let mut scan = Scan::start(args)?;
    let mut buffer = buffer::allocate(args.buffer(), scan.path())?;
    let path = c_path(scan.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(scan.cannot_open(&io::Error::last_os_error()));
    }
    // SAFETY: nothing has been read from the stream yet.
    unsafe { stdio_buffer.apply(stream, scan.path())? };
    scan.opened();
    loop {
        // SAFETY: the buffer takes as many bytes as it has; the stream is open.
        let n = unsafe { libc::fread(buffer.as_mut_ptr().cast(), 1, buffer.len(), stream) };
        scan.update(&buffer[..n])?;
        if n < buffer.len() {
            // SAFETY: the stream is open.
            if unsafe { libc::feof(stream) } != 0 {
                break;
            }
            scan.again_if_interrupted("fread", scan.bytes())?;
        }
    }
    scan.finish()
}
