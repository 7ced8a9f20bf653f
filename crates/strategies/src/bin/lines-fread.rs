//! fopen(3), then fread(3) in chunks; what is left of a line is carried over to the next chunk.

use std::io;
use std::process::ExitCode;

use strategies::exit::{Result, c_path};
use strategies::lines::{self, Args, Chunks, Lines};

const ABOUT: &str = "fread(3) in chunks of 256 KiB, an unfinished line carried over to the next";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[lines::BUFFER], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    let mut chunks = Chunks::new(args.buffer_or(256 << 10, &lines), &lines)?;
    let path = c_path(lines.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(lines.cannot_open(&io::Error::last_os_error()));
    }
    lines.opened();
    loop {
        let room = chunks.room(&lines);
        let most = room.len();
        // SAFETY: the room takes `most` bytes; the stream is open.
        let n = unsafe { libc::fread(room.as_mut_ptr().cast(), 1, most, stream) };
        // SAFETY: fread wrote n bytes.
        unsafe { chunks.arrived(n, &mut lines)? };
        if n < most {
            // SAFETY: the stream is open.
            if unsafe { libc::feof(stream) } != 0 {
                break;
            }
            lines.again_if_interrupted("fread", lines.bytes())?;
        }
    }
    chunks.finish(lines)
}
