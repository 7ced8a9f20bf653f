//! `BufReader`: look at what is in its buffer, work on it in place, say how much was used.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};

const ABOUT: &str = "Rust's BufReader: fill_buf() and consume() on a buffer of 16 pages";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    // BufReader aborts where it can't allocate.
    buffer::check(args.buffer(), scan.path())?;
    let file = File::open(scan.path()).map_err(|cause| scan.cannot_open(&cause))?;
    let mut reader = BufReader::with_capacity(args.buffer(), file);
    scan.opened();
    loop {
        let n = match reader.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => {
                scan.update(bytes)?;
                bytes.len()
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            Err(cause) => return Err(scan.failed("fill_buf", Some(scan.bytes()), &cause)),
        };
        reader.consume(n);
    }
    scan.finish()
}
