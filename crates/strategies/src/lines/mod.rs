//! The family `lines`: where every line of the file begins, or its lines kept in memory.
//!
//! A line is what getline(3) says it is: all up to a newline, which is part of it, or up to the end
//! of the file. `\r` and NUL are bytes like others.

mod chunks;
mod getline;
mod newlines;
mod work;

use std::cell::Cell;
use std::process::ExitCode;
use std::str::FromStr;

pub use chunks::Chunks;
pub use getline::getlines;
pub use newlines::each_newline;
pub use work::{Kind, Work};

use crate::args::{self, Flag, Size};
use crate::exit::{self, Result};
use crate::run::Run;
use crate::{buffer, memory};

/// The flag of every strategy.
const WORK: Flag = Flag {
    name: "work",
    value: "WORK",
    help: "index (default): where lines begin; split: keep them, NULs over newlines; count",
};

/// The flag of strategies that have a buffer.
pub const BUFFER: Flag = Flag {
    name: "buffer",
    value: "SIZE",
    help: "of the buffer or chunk: 4096, 64KiB, 1MiB, or file for one as large as the file",
};

/// The `main` of every strategy. `program` is `env!("CARGO_BIN_NAME")`, `about` one line that says
/// what the strategy is, `flags` its own.
pub fn main(
    program: &'static str,
    about: &str,
    flags: &[Flag],
    run: fn(&Args) -> Result<()>,
) -> ExitCode {
    exit::main(program, || {
        match args::Args::parse(about, &[&[WORK], flags])? {
            Some(line) => run(&Args::new(line)?),
            None => Ok(()),
        }
    })
}

/// The arguments of a strategy.
pub struct Args {
    kind: Kind,
    buffer: Option<Buffer>,
    line: args::Args,
}

impl Args {
    fn new(line: args::Args) -> Result<Args> {
        Ok(Args {
            kind: line.choice(WORK.name, &Kind::ALL.map(|kind| (kind.name(), kind)))?,
            buffer: line.get(BUFFER.name)?,
            line,
        })
    }

    /// Bytes of the buffer or chunk: what was asked for, else `default`.
    pub fn buffer_or(&self, default: usize, lines: &Lines) -> usize {
        match self.buffer {
            None => default,
            Some(Buffer::Bytes(bytes)) => bytes,
            Some(Buffer::File) => (lines.size() as usize).max(1),
        }
    }
}

/// The value of [`BUFFER`].
#[derive(Clone, Copy)]
enum Buffer {
    Bytes(usize),
    File,
}

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Buffer, String> {
        match text {
            "file" => Ok(Buffer::File),
            _ => match text.parse() {
                Ok(Size(bytes)) => Ok(Buffer::Bytes(bytes)),
                Err(why) => Err(format!("neither file nor a size: {why}")),
            },
        }
    }
}

/// A reading of lines that is under way.
pub type Lines = Run<Work>;

impl Lines {
    /// Checks the file and starts the clock.
    ///
    /// # Errors
    /// As [`Run::new`]; or the lines are to be kept, and are more than the memory available.
    pub fn start(args: &Args) -> Result<Lines> {
        let lines = Run::new(&args.line, Work::new(args.kind))?;
        memory::limit(lines.path(), lines.size());
        if lines.splits() {
            buffer::check(lines.size() as usize, lines.path())?;
        }
        Ok(lines)
    }

    /// Whether lines are to be kept, with a NUL written over each newline: the work `split`.
    #[inline]
    pub fn splits(&self) -> bool {
        self.work.kind() == Kind::Split
    }

    /// The next line of the file has `length` bytes, its newline included.
    ///
    /// # Errors
    /// As [`Lines::part`].
    #[inline]
    pub fn line(&mut self, length: usize) -> Result<()> {
        self.part(length)?;
        self.end_line();
        Ok(())
    }

    /// The next `length` bytes of the file, which belong to one line, have arrived.
    ///
    /// # Errors
    /// [`Exit::Changed`](exit::Exit::Changed) where the file has more bytes than when the run
    /// began: it could grow for ever.
    #[inline]
    pub fn part(&mut self, length: usize) -> Result<()> {
        self.bytes += length as u64;
        match self.bytes > self.size() {
            true => Err(self.changed("grew")),
            false => Ok(()),
        }
    }

    /// With what has arrived, a line ends.
    #[inline]
    pub fn end_line(&mut self) {
        self.work.end_line(self.bytes);
    }

    /// Bytes that have arrived of a line that hasn't ended.
    pub fn unfinished(&self) -> usize {
        (self.bytes - self.work.begin()) as usize
    }

    /// The next bytes of the file, with any number of lines that end in them. Writes the NULs, if
    /// lines are split.
    ///
    /// # Errors
    /// As [`Lines::part`].
    #[inline(never)]
    pub fn text(&mut self, text: &[Cell<u8>]) -> Result<()> {
        let (offset, splits) = (self.bytes, self.splits());
        each_newline(text, |at| {
            if splits {
                text[at].set(0);
            }
            self.work.end_line(offset + at as u64 + 1);
        });
        self.part(text.len())
    }

    /// Stops the clock, and logs and prints what is to be told of the run. `kept` is the contents of
    /// the lines, one after the other, as they were kept; it is looked at if lines are split. It is
    /// for ever: to free 300 MB in many pieces or one costs more than to end the process (one: 8 %
    /// of the CPU time of `lines-read --work split`).
    ///
    /// # Errors
    /// The file changed during the run, or the outcome can't be written.
    pub fn finish(mut self, kept: Vec<&'static [u8]>) -> Result<()> {
        if self.bytes < self.size() {
            return Err(self.changed("shrank"));
        }
        if self.unfinished() > 0 {
            self.end_line();
        }
        self.work.prove(kept);
        self.deliver()
    }
}

/// Writes a NUL over the newline at the end of `line`, if there is one.
pub fn end_with_nul(line: &mut [u8]) {
    if let Some(last @ b'\n') = line.last_mut() {
        *last = 0;
    }
}
