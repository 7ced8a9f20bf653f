//! The family `seek`: a file visited place by place, in its order or in a shuffled one.
//!
//! What takes time before the visits, to find out where they go, is the phase `arrive` of the
//! record; the visits alone are `seconds_visit`.

mod boxes;
pub mod index;
mod latency;
mod places;
mod rows;
mod work;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

pub use work::Work;

use self::places::Place;
use crate::args::{self, Flag, Size};
use crate::exit::{self, Error, Result};
use crate::memory;
use crate::run::Run;

/// The flags of every strategy.
const FLAGS: &[Flag] = &[
    Flag {
        name: "work",
        value: "WORK",
        help: "blocks (default), rows (of a CSV file) or boxes (of an MP4 file)",
    },
    Flag {
        name: "block",
        value: "SIZE",
        help: "of the blocks, 16KiB by default: 4096, 64KiB, 1MiB",
    },
    Flag {
        name: "order",
        value: "ORDER",
        help: "serial (default) or shuffled, of blocks and rows",
    },
    Flag {
        name: "seed",
        value: "NUMBER",
        help: "which shuffled order, 1 by default",
    },
    Flag {
        name: "visits",
        value: "COUNT",
        help: "the first so many of the order, all by default",
    },
    Flag {
        name: "index",
        value: "PATH",
        help: "where rows begin, made by row-index; else the file is read for that, before the visits",
    },
    Flag {
        name: "latency",
        value: "",
        help: "time each visit: min, mean, p50, p99 and max",
    },
];

/// The `main` of every strategy. `program` is `env!("CARGO_BIN_NAME")`, `about` one line that says
/// what the strategy is, `flags` its own.
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

/// The arguments of a strategy.
pub struct Args {
    kind: Kind,
    block: usize,
    /// Of the shuffled order; `None` for the order of the file.
    seed: Option<u64>,
    visits: usize,
    index: Option<PathBuf>,
    latency: bool,
    /// The command line, for the strategy's own flags.
    pub line: args::Args,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Blocks,
    Rows,
    Boxes,
}

impl Args {
    fn new(line: args::Args) -> Result<Args> {
        let kinds = [
            ("blocks", Kind::Blocks),
            ("rows", Kind::Rows),
            ("boxes", Kind::Boxes),
        ];
        let kind = line.choice("work", &kinds)?;
        let shuffled = line.choice("order", &[("serial", false), ("shuffled", true)])?;
        let seed = line.get("seed")?.unwrap_or(1);
        if shuffled && kind == Kind::Boxes {
            let why = "where a box is, is in the one before it";
            return Err(args::invalid("order", "shuffled", why));
        }
        Ok(Args {
            kind,
            block: line.get("block")?.map_or(16 << 10, |Size(bytes)| bytes),
            seed: shuffled.then_some(seed),
            visits: line.get("visits")?.map_or(usize::MAX, NonZeroUsize::get),
            index: line.path("index"),
            latency: line.has("latency"),
            line,
        })
    }
}

/// How a strategy gets at the bytes of a file, wherever they are.
pub trait Source {
    /// Bytes of the file from `offset` on: `want` of them if they are there, or some of them. (More
    /// are ignored.) None only at the end of the file.
    ///
    /// # Errors
    /// They can't be read. After [`io::ErrorKind::Interrupted`] they are asked for again.
    fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]>;
}

/// A file that is mapped.
impl Source for &[u8] {
    fn at(&mut self, offset: u64, _want: usize) -> io::Result<&[u8]> {
        Ok(self.get(offset as usize..).unwrap_or_default())
    }
}

/// Visits that are under way.
pub type Seek = Run<Work>;

impl Seek {
    /// Checks the file and starts the clock.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn start(args: &Args) -> Result<Seek> {
        Run::new(&args.line, Work::new(args))
    }

    /// The file is open: finds out where the visits go.
    ///
    /// # Errors
    /// The row index is missing, or not one of this file; without one, the file can't be read or
    /// has a quote that is never closed.
    pub fn prepare(&mut self, args: &Args) -> Result<()> {
        self.opened();
        // Of the list of places, and of rows.
        memory::limit(self.path(), self.size());
        let metadata = self.metadata().clone();
        let prepared = self.work.prepare(args, args.line.file(), &metadata);
        prepared.map_err(|error| self.unless_changed(error))
    }

    /// The most bytes that a visit reads.
    pub fn longest(&self) -> usize {
        self.work.longest() as usize
    }

    /// Makes the visits, then logs and prints what is to be told of the run. `call` is what
    /// `source` calls.
    ///
    /// # Errors
    /// The file can't be read, isn't what the work reads, or changed during the run; or the outcome
    /// can't be written.
    pub fn visit(mut self, call: &str, source: &mut dyn Source) -> Result<()> {
        self.arrived();
        match self.visit_all(call, source) {
            Ok(()) => self.deliver(),
            Err(error) => Err(self.unless_changed(error)),
        }
    }

    fn visit_all(&mut self, call: &str, source: &mut dyn Source) -> Result<()> {
        while let Some(place) = self.work.place()? {
            let begin = self.work.latencies().is_some().then(Instant::now);
            self.read(place, call, source)?;
            self.work.end(place)?;
            if let (Some(begin), Some(latencies)) = (begin, self.work.latencies()) {
                latencies.add(begin.elapsed());
            }
        }
        Ok(())
    }

    fn read(&mut self, place: Place, call: &str, source: &mut dyn Source) -> Result<()> {
        let (mut offset, end) = (place.offset, place.offset + place.len);
        while offset < end {
            let want = (end - offset) as usize;
            match source.at(offset, want) {
                Ok([]) => return Err(self.changed("shrank")),
                Ok(bytes) => {
                    let bytes = &bytes[..bytes.len().min(want)];
                    self.work.update(bytes);
                    offset += bytes.len() as u64;
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(self.failed(call, Some(offset), &cause)),
            }
        }
        self.bytes += place.len;
        Ok(())
    }

    /// What to tell: the error, or that the file changed, which it comes from then.
    fn unless_changed(&self, error: Error) -> Error {
        self.check_unchanged().err().unwrap_or(error)
    }
}
