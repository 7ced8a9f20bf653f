//! open(2), fstat(2), mmap(2), fmemopen(3); then getline(3) reads the map as a stream.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::ptr;

use strategies::exit::Result;
use strategies::lines::{self, Args, Lines};

const ABOUT: &str = "mmap(2), fmemopen(3) on the map, and getline(3) on that";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    let file = File::open(lines.path()).map_err(|cause| lines.cannot_open(&cause))?;
    let size = file
        .metadata()
        .map_err(|cause| lines.cannot_open(&cause))?
        .len() as usize;
    lines.opened();
    // An empty file can't be mapped.
    if size == 0 {
        return lines.finish(vec![]);
    }
    let (protection, fd) = (libc::PROT_READ, file.as_raw_fd());
    // SAFETY: a new map, at an address that the kernel chooses.
    let map = unsafe { libc::mmap(ptr::null_mut(), size, protection, libc::MAP_PRIVATE, fd, 0) };
    if map == libc::MAP_FAILED {
        return Err(lines.failed("mmap", None, &io::Error::last_os_error()));
    }
    lines.catch_sigbus(fd);
    // "r": "a+" would end at the first NUL.
    // SAFETY: the map has `size` bytes and stays; the stream only reads it.
    let stream = unsafe { libc::fmemopen(map, size, c"r".as_ptr()) };
    if stream.is_null() {
        return Err(lines.failed("fmemopen", None, &io::Error::last_os_error()));
    }
    // SAFETY: the stream is open.
    unsafe { lines::getlines(lines, stream) }
}
