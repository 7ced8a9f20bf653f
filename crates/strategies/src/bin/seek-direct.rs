//! open(2) with `O_DIRECT`, then pread(2) of the pages that a visit needs, into a buffer that begins
//! at a page.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use memmap2::MmapMut;
use strategies::exit::Result;
use strategies::seek::{self, Args, Seek, Source};
use strategies::{buffer, sys};

const ABOUT: &str =
    "pread(2) from the device, past the page cache: O_DIRECT, the pages that a visit needs";

fn main() -> ExitCode {
    seek::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut seek = Seek::start(args)?;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(sys::O_DIRECT);
    let file = options
        .open(seek.path())
        .map_err(|cause| match cause.raw_os_error() {
            Some(libc::EINVAL) => seek.unavailable("this filesystem has no O_DIRECT"),
            _ => seek.cannot_open(&cause),
        })?;
    // For macOS, which has no O_DIRECT.
    sys::no_cache(file.as_raw_fd()).map_err(|cause| seek.failed("F_NOCACHE", None, &cause))?;
    seek.prepare(args)?;
    let page = sys::page_size();
    // A visit may begin at the end of a page.
    let size = (page + seek.longest()).next_multiple_of(page);
    let mut buffer = buffer::allocate(size, seek.path())?;
    // btrfs reads through the page cache into a buffer that has no memory yet.
    buffer.fill(0);
    let held = 0..0;
    seek.visit("pread with O_DIRECT", &mut Direct { file, buffer, held })
}

struct Direct {
    file: File,
    buffer: MmapMut,
    /// Which bytes of the file the buffer has.
    held: Range<u64>,
}

impl Source for Direct {
    fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        if !self.held.contains(&offset) {
            // Address, length and offset must be multiples of the device's block; pages always are.
            let page = sys::page_size();
            let start = offset / page as u64 * page as u64;
            let needed = ((offset - start) as usize + want).next_multiple_of(page);
            let most = needed
                .min(self.buffer.len())
                .min(sys::READ_MAX / page * page);
            let to = self.buffer.as_mut_ptr().cast();
            self.held = 0..0;
            // SAFETY: the buffer takes `most` bytes.
            match unsafe { libc::pread(self.file.as_raw_fd(), to, most, start as libc::off_t) } {
                n @ 0.. => self.held = start..start + n as u64,
                _ => return Err(io::Error::last_os_error()),
            }
        }
        let Range { start, end } = self.held;
        let bytes = &self.buffer[..(end - start) as usize];
        Ok(bytes.get((offset - start) as usize..).unwrap_or_default())
    }
}
