//! open(2) for reading and writing; then pread(2), add one, pwrite(2) to the same place.

use std::os::fd::AsRawFd;
use std::process::ExitCode;

use libc::off_t;
use strategies::exit::Result;
use strategies::rewrite::{self, Args, CHUNK, Rewrite, SYNC};
use strategies::{buffer, sys};

const ABOUT: &str = "pread(2), add one to each byte, pwrite(2) to the same place of one file";

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[CHUNK, SYNC], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let mut buffer = buffer::allocate(args.chunk, rewrite.path())?;
    let target = rewrite.open_target()?;
    let fd = target.file.as_raw_fd();
    rewrite.opened();
    loop {
        let most = buffer.len().min(sys::READ_MAX);
        let offset = rewrite.bytes();
        // SAFETY: the buffer takes `most` bytes.
        let n = unsafe { libc::pread(fd, buffer.as_mut_ptr().cast(), most, offset as off_t) };
        let n = match n {
            0 => break,
            1.. => n as usize,
            _ => {
                target.again_if_interrupted("pread", offset)?;
                continue;
            }
        };
        rewrite.add_one(&mut buffer[..n])?;
        let mut written = 0;
        while written < n {
            let (rest, at) = (&buffer[written..n], offset + written as u64);
            // SAFETY: the rest has as many bytes.
            match unsafe { libc::pwrite(fd, rest.as_ptr().cast(), rest.len(), at as off_t) } {
                n @ 0.. => written += n as usize,
                _ => target.again_if_interrupted("pwrite", at)?,
            }
        }
    }
    if args.sync {
        let synced = target.file.sync_data();
        synced.map_err(|cause| target.failed("fdatasync", None, &cause))?;
    }
    rewrite.finish(&target)
}
