//! open(2), fstat(2), mmap(2), madvise(2); then the file is a slice, taken chunk by chunk.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::ptr;
use std::slice;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};

const ABOUT: &str = "mmap(2) and MADV_SEQUENTIAL, worked on in chunks of 16 pages";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    let size = file
        .metadata()
        .map_err(|cause| scan.cannot_open(&cause))?
        .len() as usize;
    let fd = file.as_raw_fd();
    scan.opened();
    // An empty file can't be mapped.
    if size > 0 {
        // SAFETY: a new map, at an address that the kernel chooses.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                fd,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(scan.failed("mmap", None, &io::Error::last_os_error()));
        }
        scan.catch_sigbus(fd);
        // SAFETY: advice on the map.
        if unsafe { libc::madvise(map, size, libc::MADV_SEQUENTIAL) } != 0 {
            return Err(scan.failed("madvise", None, &io::Error::last_os_error()));
        }
        // SAFETY: the map has `size` bytes and stays. If another process writes to the file, the
        // bytes change under us: the run is void then, as finish() sees by its size and times.
        let bytes = unsafe { slice::from_raw_parts(map.cast::<u8>(), size) };
        for chunk in bytes.chunks(args.buffer()) {
            scan.update(chunk)?;
        }
    }
    scan.finish()
}
