//! fopen(3), setvbuf(3) if asked for, then fread(3) into a buffer for the whole file.

use std::io;
use std::mem;
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::{Result, c_path};
use strategies::scan::{self, Args, Scan};
use strategies::stdio::{self, StdioBuffer};

const ABOUT: &str = "fread(3) into one buffer as large as the file; the bytes are touched after";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[stdio::FLAG], run)
}

fn run(args: &Args) -> Result<()> {
    let stdio_buffer: StdioBuffer = args.line.get(stdio::FLAG.name)?.unwrap_or_default();
    let mut scan = Scan::start(args)?;
    let path = c_path(scan.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(scan.cannot_open(&io::Error::last_os_error()));
    }
    // SAFETY: nothing has been read from the stream yet.
    unsafe { stdio_buffer.apply(stream, scan.path())? };
    scan.opened();
    let mut buffer = buffer::allocate(scan.size() as usize, scan.path())?;
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: the rest of the buffer takes as many bytes as it has; the stream is open.
        filled += unsafe { libc::fread(rest.as_mut_ptr().cast(), 1, rest.len(), stream) };
        if filled < buffer.len() {
            // SAFETY: the stream is open.
            if unsafe { libc::feof(stream) } != 0 {
                break;
            }
            scan.again_if_interrupted("fread", filled as u64)?;
        }
    }
    scan.arrived();
    scan.update(&buffer[..filled])?;
    // To unmap it would take longer than to end the process.
    mem::forget(buffer);
    scan.finish()
}
