//! fopen(3) of the file, fdopen(3) of the second one; then fread(3), add one, fwrite(3).

use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::{Result, c_path};
use strategies::rewrite::{self, Args, CHUNK, Rewrite, SYNC, TARGET};

const ABOUT: &str = "fread(3), add one to each byte, fwrite(3) to a second file";

fn main() -> ExitCode {
    rewrite::main(env!("CARGO_BIN_NAME"), ABOUT, &[CHUNK, SYNC, TARGET], run)
}

fn run(args: &Args) -> Result<()> {
    let mut rewrite = Rewrite::start(args)?;
    let mut buffer = buffer::allocate(args.chunk, rewrite.path())?;
    let path = c_path(rewrite.path())?;
    // SAFETY: both strings end with NUL.
    let source = unsafe { libc::fopen(path.as_ptr(), c"r".as_ptr()) };
    if source.is_null() {
        return Err(rewrite.cannot_open(&io::Error::last_os_error()));
    }
    let target = rewrite.create_target(args)?;
    let failed = |call| target.failed(call, None, &io::Error::last_os_error());
    // SAFETY: the descriptor is open for writing, and the mode ends with NUL.
    let copy = unsafe { libc::fdopen(target.file.as_raw_fd(), c"w".as_ptr()) };
    if copy.is_null() {
        return Err(failed("fdopen"));
    }
    rewrite.opened();
    loop {
        // SAFETY: the buffer takes as many bytes as it has; the stream is open.
        let n = unsafe { libc::fread(buffer.as_mut_ptr().cast(), 1, buffer.len(), source) };
        rewrite.add_one(&mut buffer[..n])?;
        // SAFETY: the buffer has n bytes; the stream is open.
        if unsafe { libc::fwrite(buffer.as_ptr().cast(), 1, n, copy) } < n {
            return Err(failed("fwrite"));
        }
        if n < buffer.len() {
            // SAFETY: the stream is open.
            if unsafe { libc::feof(source) } != 0 {
                break;
            }
            rewrite.again_if_interrupted("fread", rewrite.bytes())?;
        }
    }
    // Not fclose(3), which would take the descriptor from `target`.
    // SAFETY: the stream is open.
    if unsafe { libc::fflush(copy) } != 0 {
        return Err(failed("fflush"));
    }
    if args.sync {
        let synced = target.file.sync_data();
        synced.map_err(|cause| target.failed("fdatasync", None, &cause))?;
    }
    rewrite.finish(&target)
}
