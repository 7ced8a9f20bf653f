//! open(2) with `O_DIRECT`, then pread(2) of the pages that a visit needs, into a buffer that begins
//! at a page.

use std::fs::{File, OpenOptions};
use std::io;
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
    let mut direct = Direct {
        file,
        page: page as u64,
        buffer,
        start: 0,
        filled: 0,
    };
    seek.visit("pread with O_DIRECT", &mut direct)
}

struct Direct {
    file: File,
    page: u64,
    buffer: MmapMut,
    /// What the buffer has: so many bytes of the file, from there on.
    start: u64,
    filled: usize,
}

impl Source for Direct {
    fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        if !(self.start..self.start + self.filled as u64).contains(&offset) {
            // Address, length and offset must be multiples of the device's block; pages always are.
            self.start = offset / self.page * self.page;
            let end = (offset + want as u64).next_multiple_of(self.page);
            let most = self.buffer.len().min((end - self.start) as usize);
            self.filled = 0;
            let to = self.buffer.as_mut_ptr().cast();
            let start = self.start as libc::off_t;
            // SAFETY: the buffer takes `most` bytes.
            match unsafe { libc::pread(self.file.as_raw_fd(), to, most, start) } {
                n @ 0.. => self.filled = n as usize,
                _ => return Err(io::Error::last_os_error()),
            }
        }
        let skip = (offset - self.start) as usize;
        Ok(self.buffer[..self.filled].get(skip..).unwrap_or_default())
    }
}
