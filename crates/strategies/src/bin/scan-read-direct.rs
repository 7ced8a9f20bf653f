//! open(2) with `O_DIRECT`, then read(2) in whole pages into a buffer that begins at a page.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};
use strategies::{buffer, sys};

const ABOUT: &str =
    "read(2) from the device, past the page cache: O_DIRECT and an aligned buffer of 1 MiB";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    // Address, length and offset must be multiples of the device's block; pages always are.
    let page = sys::page_size();
    let needed = (scan.size() as usize).max(1).next_multiple_of(page);
    let size = args.buffer_or(1 << 20).next_multiple_of(page).min(needed);
    let mut buffer = buffer::allocate(size, scan.path())?;
    // btrfs reads through the page cache into a buffer that has no memory yet.
    buffer.fill(0);
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(sys::O_DIRECT);
    let file = options
        .open(scan.path())
        .map_err(|cause| match cause.raw_os_error() {
            Some(libc::EINVAL) => scan.unavailable("this filesystem has no O_DIRECT"),
            _ => scan.cannot_open(&cause),
        })?;
    // For macOS, which has no O_DIRECT.
    sys::no_cache(file.as_raw_fd()).map_err(|cause| scan.failed("F_NOCACHE", None, &cause))?;
    scan.opened();
    // The last read asks for a whole block and gets what is left. None follows it: its offset would
    // be no multiple.
    while scan.bytes() < scan.size() {
        let most = buffer.len().min(sys::READ_MAX / page * page);
        // SAFETY: the buffer takes `most` bytes.
        let n = unsafe { libc::read(file.as_raw_fd(), buffer.as_mut_ptr().cast(), most) };
        match n {
            0 => break,
            1.. => scan.update(&buffer[..n as usize])?,
            _ => scan.again_if_interrupted("read with O_DIRECT", scan.bytes())?,
        }
    }
    scan.finish()
}
