//! open(2), posix_fadvise(2) twice, then read(2) until it returns 0.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};
use strategies::{buffer, sys};

const ABOUT: &str =
    "read(2), after posix_fadvise(2) has said that reading is sequential and begins soon";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let mut buffer = buffer::allocate(args.buffer(), scan.path())?;
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    let fd = file.as_raw_fd();
    scan.opened();
    for advice in [sys::POSIX_FADV_SEQUENTIAL, sys::POSIX_FADV_WILLNEED] {
        // Offset 0, length 0: the whole file. It returns the error instead of setting errno.
        // SAFETY: advice on an open file.
        let error = unsafe { sys::posix_fadvise(fd, 0, 0, advice) };
        if error != 0 {
            let cause = io::Error::from_raw_os_error(error);
            return Err(scan.failed("posix_fadvise", None, &cause));
        }
    }
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
