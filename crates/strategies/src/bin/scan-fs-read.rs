//! `std::fs::read`: opens the file, allocates by its size, and reads it to its end.

use std::fs;
use std::mem;
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::Result;
use strategies::scan::{self, Args, Scan};

const ABOUT: &str = "Rust's std::fs::read: the whole file into a Vec; the bytes are touched after";

fn main() -> ExitCode {
    scan::main(env!("CARGO_BIN_NAME"), ABOUT, &[], run)
}

fn run(args: &Args) -> Result<()> {
    let mut scan = Scan::start(args)?;
    buffer::check(scan.size() as usize, scan.path())?;
    let bytes = fs::read(scan.path()).map_err(|cause| scan.failed("fs::read", None, &cause))?;
    scan.arrived();
    scan.update(&bytes)?;
    // To unmap it would take longer than to end the process.
    mem::forget(bytes);
    scan.finish()
}
