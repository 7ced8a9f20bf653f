//! mmap(2) of both files, shared, the second made as large as the first by ftruncate(2); memcpy(3),
//! then one is added to each byte of the copy.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::{ptr, slice};

use libc::{MAP_SHARED, PROT_READ, PROT_WRITE};
use strategies::exit::Result;
use strategies::rewrite::{self, Args, CHUNK, Rewrite, SYNC, TARGET};

const ABOUT: &str = "mmap(2) of both files, memcpy(3), then add one to each byte of the copy";

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[CHUNK, SYNC, TARGET], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let source = File::open(rewrite.path()).map_err(|cause| rewrite.cannot_open(&cause))?;
    let target = rewrite.create_target(args)?;
    let size = rewrite.size();
    let failed = |call| target.failed(call, None, &io::Error::last_os_error());
    // A hole, unless it has its blocks already.
    let enlarged = target.file.set_len(size);
    enlarged.map_err(|cause| target.failed("ftruncate", None, &cause))?;
    rewrite.opened();
    // An empty file can't be mapped.
    if size > 0 {
        let size = size as usize;
        let map = |access, fd| {
            // SAFETY: a new map, at an address that the kernel chooses.
            unsafe { libc::mmap(ptr::null_mut(), size, access, MAP_SHARED, fd, 0) }
        };
        let from = map(PROT_READ, source.as_raw_fd());
        if from == libc::MAP_FAILED {
            return Err(rewrite.failed("mmap", None, &io::Error::last_os_error()));
        }
        let to = map(PROT_READ | PROT_WRITE, target.file.as_raw_fd());
        if to == libc::MAP_FAILED {
            return Err(failed("mmap"));
        }
        rewrite.catch_sigbus(source.as_raw_fd());
        target.catch_sigbus(to.cast(), size);
        // SAFETY: both maps have `size` bytes, stay, and are of different files.
        let bytes = unsafe {
            libc::memcpy(to, from, size);
            slice::from_raw_parts_mut(to.cast::<u8>(), size)
        };
        rewrite.arrived();
        for chunk in bytes.chunks_mut(args.chunk) {
            rewrite.add_one(chunk)?;
        }
        // SAFETY: the map has `size` bytes.
        if args.sync && unsafe { libc::msync(to, size, libc::MS_SYNC) } != 0 {
            return Err(failed("msync"));
        }
    }
    rewrite.finish(&target)
}
