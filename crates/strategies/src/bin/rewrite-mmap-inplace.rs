//! open(2) for reading and writing, mmap(2) shared; then one is added to each byte where it is.

use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::{ptr, slice};

use libc::{MAP_SHARED, PROT_READ, PROT_WRITE};
use strategies::exit::Result;
use strategies::rewrite::{self, Args, CHUNK, Rewrite, SYNC};

const ABOUT: &str = "mmap(2) of one file, add one to each byte in place";

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[CHUNK, SYNC], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let target = rewrite.open_target()?;
    let (size, fd) = (rewrite.size() as usize, target.file.as_raw_fd());
    let failed = |call| target.failed(call, None, &io::Error::last_os_error());
    rewrite.opened();
    // An empty file can't be mapped.
    if size > 0 {
        let access = PROT_READ | PROT_WRITE;
        // SAFETY: a new map, at an address that the kernel chooses.
        let map = unsafe { libc::mmap(ptr::null_mut(), size, access, MAP_SHARED, fd, 0) };
        if map == libc::MAP_FAILED {
            return Err(failed("mmap"));
        }
        target.catch_sigbus(map.cast(), size);
        // SAFETY: the map has `size` bytes and stays. It is of our own copy, which no other program
        // has a reason to write.
        let bytes = unsafe { slice::from_raw_parts_mut(map.cast::<u8>(), size) };
        for chunk in bytes.chunks_mut(args.chunk) {
            rewrite.add_one(chunk)?;
        }
        // SAFETY: the map has `size` bytes.
        if args.sync && unsafe { libc::msync(map, size, libc::MS_SYNC) } != 0 {
            return Err(failed("msync"));
        }
    }
    rewrite.finish(&target)
}
