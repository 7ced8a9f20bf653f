//! open(2), then pread(2): one call a visit, of just the bytes that it needs.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use memmap2::MmapMut;
use strategies::exit::Result;
use strategies::seek::{self, Args, Seek, Source};
use strategies::{buffer, sys};

const ABOUT: &str = "pread(2), one call a visit, of just the bytes that it needs: the reference";

fn main() -> ExitCode {
    seek::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut seek = Seek::start(args)?;
    let file = File::open(seek.path()).map_err(|cause| seek.cannot_open(&cause))?;
    seek.prepare(args)?;
    let buffer = buffer::allocate(seek.longest(), seek.path())?;
    seek.visit("pread", &mut Pread { file, buffer })
}

struct Pread {
    file: File,
    buffer: MmapMut,
}

impl Source for Pread {
    fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        let most = want.min(self.buffer.len()).min(sys::READ_MAX);
        let to = self.buffer.as_mut_ptr().cast();
        // SAFETY: the buffer takes `most` bytes.
        match unsafe { libc::pread(self.file.as_raw_fd(), to, most, offset as libc::off_t) } {
            n @ 0.. => Ok(&self.buffer[..n as usize]),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
