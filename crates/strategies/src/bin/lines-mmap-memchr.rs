//! open(2), fstat(2), mmap(2); then a search for newlines goes over the map. To split lines, the map
//! is private and writable: each page is copied when the first NUL is written to it.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::ptr;
use std::slice;

use strategies::exit::Result;
use strategies::lines::{self, Args, Lines};

const ABOUT: &str =
    "mmap(2) and a search for newlines; to split lines, NULs in the map (copy-on-write)";

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
    let protection = match lines.splits() {
        true => libc::PROT_READ | libc::PROT_WRITE,
        false => libc::PROT_READ,
    };
    let fd = file.as_raw_fd();
    // SAFETY: a new map, at an address that the kernel chooses.
    let map = unsafe { libc::mmap(ptr::null_mut(), size, protection, libc::MAP_PRIVATE, fd, 0) };
    if map == libc::MAP_FAILED {
        return Err(lines.failed("mmap", None, &io::Error::last_os_error()));
    }
    lines.catch_sigbus(fd);
    // SAFETY: the map has `size` bytes and stays; it is written to only if lines are split. If
    // another process writes to the file, the bytes change under us: the run is void then, as
    // finish() sees by its size and times.
    let text = unsafe { slice::from_raw_parts(map.cast::<Cell<u8>>(), size) };
    lines.text(text)?;
    // SAFETY: as above, and nothing is written any more.
    lines.finish(vec![unsafe { slice::from_raw_parts(map.cast(), size) }])
}
