//! open(2), fstat(2), mmap(2) with `MAP_SHARED`; then every place is a slice.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::ptr;
use std::slice;

use strategies::exit::Result;
use strategies::seek::{self, Args, Seek};

const ABOUT: &str = "mmap(2), shared: every place as it faults";

fn main() -> ExitCode {
    seek::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut seek = Seek::start(args)?;
    let file = File::open(seek.path()).map_err(|cause| seek.cannot_open(&cause))?;
    let size = file
        .metadata()
        .map_err(|cause| seek.cannot_open(&cause))?
        .len() as usize;
    let fd = file.as_raw_fd();
    seek.prepare(args)?;
    let mut bytes: &[u8] = &[];
    // An empty file can't be mapped.
    if size > 0 {
        // SAFETY: a new map, at an address that the kernel chooses.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(seek.failed("mmap", None, &io::Error::last_os_error()));
        }
        seek.catch_sigbus(fd);
        // SAFETY: the map has `size` bytes and stays. If another process writes to the file, the
        // bytes change under us: the run is void then, as visit() sees by its size and times.
        bytes = unsafe { slice::from_raw_parts(map.cast(), size) };
    }
    seek.visit("mmap", &mut bytes)
}
