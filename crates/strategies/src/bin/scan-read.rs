//! open(2), then read(2) until it returns 0, each time into the same buffer.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};
use strategies::{buffer, sys};

const ABOUT: &str = "read(2) into one buffer of 16 pages, used again for every call: the reference";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let mut buffer = buffer::allocate(args.buffer(), scan.path())?;
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    let fd = file.as_raw_fd();
    scan.opened();
    loop {
        let most = buffer.len().min(sys::READ_MAX);
        // SAFETY: the buffer takes `most` bytes.
        let n = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), most) };
        match n {
            0 => break,
            1.. => scan.update(&buffer[..n as usize])?,
            _ => scan.again_if_interrupted("read", scan.bytes())?,
        }
    }
    scan.finish()
}
