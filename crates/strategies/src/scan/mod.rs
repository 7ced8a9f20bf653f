//! The family `scan`: every byte of the file once, in order.

pub mod kernels;
mod work;

use std::process::ExitCode;

pub use work::Work;

use crate::args::{self, Flag, Size};
use crate::exit::{self, Result};
use crate::run::{Run, Work as _};
use crate::sys;

/// The flags of every scan.
const FLAGS: &[Flag] = &[
    Flag {
        name: "work",
        value: "WORK",
        help: "xor (default), sum, newlines, newlines-u32, newlines-u64, crc32 or touch",
    },
    Flag {
        name: "buffer",
        value: "SIZE",
        help: "of the buffer or chunk, where the strategy has one: 4096, 64KiB, 1MiB",
    },
];

/// The `main` of every scan. `program` is `env!("CARGO_BIN_NAME")`, `about` one line that says what
/// the strategy is, `flags` its own.
pub fn main(
    program: &'static str,
    about: &str,
    flags: &[Flag],
    run: fn(&Args) -> Result<()>,
) -> ExitCode {
    exit::main(program, || {
        match args::Args::parse(about, &[FLAGS, flags])? {
            Some(line) => run(&Args::new(line)?),
            None => Ok(()),
        }
    })
}

/// The arguments of a scan.
pub struct Args {
    work: Work,
    buffer: Option<Size>,
    /// The command line, for the strategy's own flags.
    pub line: args::Args,
}

impl Args {
    fn new(line: args::Args) -> Result<Args> {
        let works = Work::all().map(|work| (work.name(), work));
        Ok(Args {
            work: line.choice("work", &works)?,
            buffer: line.get("buffer")?,
            line,
        })
    }

    /// Bytes of the buffer or chunk: what was asked for, else 16 pages.
    pub fn buffer(&self) -> usize {
        self.buffer_or(16 * sys::page_size())
    }

    /// Bytes of the buffer or chunk: what was asked for, else `default`.
    pub fn buffer_or(&self, default: usize) -> usize {
        self.buffer.map_or(default, |Size(bytes)| bytes)
    }
}

/// A scan that is under way.
pub type Scan = Run<Work>;

impl Scan {
    /// Checks the file and starts the clock.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn start(args: &Args) -> Result<Scan> {
        Run::new(&args.line, args.work.clone())
    }

    /// Does the work on the next bytes of the file.
    ///
    /// # Errors
    /// [`Exit::Changed`](exit::Exit::Changed) where the file has more bytes than when the run
    /// began: it could grow for ever.
    pub fn update(&mut self, bytes: &[u8]) -> Result<()> {
        self.work.update(self.bytes, bytes);
        self.bytes += bytes.len() as u64;
        match self.bytes > self.size() {
            true => Err(self.changed("grew")),
            false => Ok(()),
        }
    }

    /// Stops the clock, and logs and prints what is to be told of the run.
    ///
    /// # Errors
    /// The file changed during the run, or the outcome can't be written.
    pub fn finish(self) -> Result<()> {
        if self.bytes < self.size() {
            return Err(self.changed("shrank"));
        }
        self.deliver()
    }
}
