//! open(2), then read(2) in chunks; what is left of a line is carried over to the next chunk.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::exit::Result;
use strategies::lines::{self, Args, Chunks, Lines};
use strategies::sys;

const ABOUT: &str = "read(2) in chunks of 256 KiB, an unfinished line carried over to the next";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[lines::BUFFER], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    let mut chunks = Chunks::new(args.buffer_or(256 << 10, &lines), &lines)?;
    let file = File::open(lines.path()).map_err(|cause| lines.cannot_open(&cause))?;
    lines.opened();
    loop {
        let room = chunks.room(&lines);
        let most = room.len().min(sys::READ_MAX);
        // SAFETY: the room takes `most` bytes.
        let n = unsafe { libc::read(file.as_raw_fd(), room.as_mut_ptr().cast(), most) };
        match n {
            0 => break,
            // SAFETY: read wrote n bytes.
            1.. => unsafe { chunks.arrived(n as usize, &mut lines)? },
            _ => lines.again_if_interrupted("read", lines.bytes())?,
        }
    }
    chunks.finish(lines)
}
