//! open(2), fstat(2), mmap(2) with `MAP_POPULATE`; then the file is a slice that doesn't fault.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::ptr;
use std::slice;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};
use strategies::sys;
use strategies::watchdog::Watchdog;

const ABOUT: &str =
    "mmap(2) with MAP_POPULATE: all pages are mapped by that call; the bytes are touched after";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    let Some(populate) = sys::MAP_POPULATE else {
        return Err(scan.unavailable("this system's mmap(2) has no MAP_POPULATE"));
    };
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    let size = file
        .metadata()
        .map_err(|cause| scan.cannot_open(&cause))?
        .len() as usize;
    let fd = file.as_raw_fd();
    scan.opened();
    // An empty file can't be mapped.
    if size > 0 {
        let watchdog = Watchdog::start(scan.path())?;
        // SAFETY: a new map, at an address that the kernel chooses.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ,
                libc::MAP_PRIVATE | populate,
                fd,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(scan.failed("mmap", None, &io::Error::last_os_error()));
        }
        drop(watchdog);
        scan.catch_sigbus(fd);
        scan.arrived();
        // SAFETY: the map has `size` bytes and stays. If another process writes to the file, the
        // bytes change under us: the run is void then, as finish() sees by its size and times.
        let bytes = unsafe { slice::from_raw_parts(map.cast::<u8>(), size) };
        scan.update(bytes)?;
    }
    scan.finish()
}
