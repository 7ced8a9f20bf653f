//! open(2), one buffer for the whole file, then read(2) until it is full: one call reads at most
//! `READ_MAX` bytes.

use std::fs::File;
use std::mem;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};
use strategies::{buffer, sys};

const ABOUT: &str =
    "read(2) into one buffer as large as the file until it is full; the bytes are touched after";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    scan.opened();
    let mut buffer = buffer::allocate(scan.size() as usize, scan.path())?;
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        let most = rest.len().min(sys::READ_MAX);
        // SAFETY: the rest of the buffer takes `most` bytes.
        let n = unsafe { libc::read(file.as_raw_fd(), rest.as_mut_ptr().cast(), most) };
        match n {
            0 => break,
            1.. => filled += n as usize,
            _ => scan.again_if_interrupted("read", filled as u64)?,
        }
    }
    scan.arrived();
    scan.update(&buffer[..filled])?;
    // To unmap it would take longer than to end the process.
    mem::forget(buffer);
    scan.finish()
}
