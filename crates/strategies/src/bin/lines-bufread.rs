//! `BufReader` and `read_until`, Rust's own getline.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::mem;
use std::process::ExitCode;

use strategies::buffer;
use strategies::exit::Result;
use strategies::lines::{self, Args, Lines};

const ABOUT: &str = "Rust's BufRead::read_until(); to keep the lines, each in memory of its own";

fn main() -> ExitCode {
    lines::main(env!("CARGO_BIN_NAME"), ABOUT, &[lines::BUFFER], run)
}

fn run(args: &Args) -> Result<()> {
    let mut lines = Lines::start(args)?;
    // Rust's own default.
    let size = args.buffer_or(8 << 10, &lines);
    buffer::check(size, lines.path())?;
    let file = File::open(lines.path()).map_err(|cause| lines.cannot_open(&cause))?;
    let mut reader = BufReader::with_capacity(size, file);
    lines.opened();
    let mut line = Vec::new();
    let mut kept = Vec::new();
    loop {
        let n = reader
            .read_until(b'\n', &mut line)
            .map_err(|cause| lines.failed("read_until", Some(lines.bytes()), &cause))?;
        if n == 0 {
            break;
        }
        lines.line(n)?;
        if lines.splits() {
            lines::end_with_nul(&mut line);
            kept.push(&*mem::take(&mut line).leak());
        } else {
            line.clear();
        }
    }
    lines.finish(kept)
}
