//! open(2) of both files; then read(2), add one, write(2), until read(2) returns 0.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::rewrite::{self, Args, CHUNK, Rewrite, SYNC, TARGET};
use strategies::{buffer, sys};

const ABOUT: &str = "read(2), add one to each byte, write(2) to a second file";

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[CHUNK, SYNC, TARGET], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let mut buffer = buffer::allocate(args.chunk, rewrite.path())?;
    let source = File::open(rewrite.path()).map_err(|cause| rewrite.cannot_open(&cause))?;
    let target = rewrite.create_target(args)?;
    let (from, to) = (source.as_raw_fd(), target.file.as_raw_fd());
    rewrite.opened();
    loop {
        let most = buffer.len().min(sys::READ_MAX);
        let offset = rewrite.bytes();
        // SAFETY: the buffer takes `most` bytes.
        let n = match unsafe { libc::read(from, buffer.as_mut_ptr().cast(), most) } {
            0 => break,
            n @ 1.. => n as usize,
            _ => {
                rewrite.again_if_interrupted("read", offset)?;
                continue;
            }
        };
        rewrite.add_one(&mut buffer[..n])?;
        let mut written = 0;
        while written < n {
            let rest = &buffer[written..n];
            // SAFETY: the rest has as many bytes.
            match unsafe { libc::write(to, rest.as_ptr().cast(), rest.len()) } {
                n @ 0.. => written += n as usize,
                _ => target.again_if_interrupted("write", offset + written as u64)?,
            }
        }
    }
    if args.sync {
        let synced = target.file.sync_data();
        synced.map_err(|cause| target.failed("fdatasync", None, &cause))?;
    }
    rewrite.finish(&target)
}
