//! fopen(3), then fgets(3) until the end of the file, and where what it read ends.

use std::ffi::{c_char, c_int};
use std::io;
use std::process::ExitCode;

use libc::FILE;
use strategies::buffer;
use strategies::exit::{Result, c_path};
use strategies::lines::{self, Args, Lines};

const ABOUT: &str = "fgets(3), at most 1 KiB a call; how much it read has to be found out";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[lines::BUFFER], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    let size = args.buffer_or(1 << 10, &lines);
    buffer::check(size, lines.path())?;
    let path = c_path(lines.path())?;
    // SAFETY: both strings end with NUL.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if stream.is_null() {
        return Err(lines.cannot_open(&io::Error::last_os_error()));
    }
    lines.opened();
    // One byte more than the file has, to meet its end.
    let all = lines.size() as usize + 1;
    let room = if lines.splits() { all } else { all.min(size) };
    let mut text = Vec::<u8>::with_capacity(room + 1);
    loop {
        if !lines.splits() {
            text.clear();
        }
        let most = size.min(room - text.len()).min(c_int::MAX as usize - 1);
        // SAFETY: the text has room for `most` bytes and a NUL; the stream is open.
        let length = unsafe {
            let at = text.as_mut_ptr().add(text.len()).cast();
            if libc::fgets(at, most as c_int + 1, stream).is_null() {
                if libc::feof(stream) != 0 {
                    break;
                }
                lines.again_if_interrupted("fgets", lines.bytes())?;
                continue;
            }
            let length = length(at, most, stream, lines.bytes());
            text.set_len(text.len() + length);
            length
        };
        lines.part(length)?;
        if text.last() == Some(&b'\n') {
            lines.end_line();
            lines::end_with_nul(&mut text);
        }
    }
    lines.finish(vec![text.leak()])
}

/// Bytes that fgets has put at `at`, at most `most`. It tells only by the NUL behind them, but they
/// may have NULs too: then the stream knows, which stood at `offset` before.
///
/// # Safety
/// fgets has succeeded.
unsafe fn length(at: *const c_char, most: usize, stream: *mut FILE, offset: u64) -> usize {
    // SAFETY: what fgets puts there ends with NUL.
    unsafe {
        let first_nul = libc::strlen(at);
        let full = first_nul == most;
        if full || first_nul > 0 && *at.add(first_nul - 1) == b'\n' as c_char {
            first_nul
        } else {
            (libc::ftello(stream) as u64 - offset) as usize
        }
    }
}
