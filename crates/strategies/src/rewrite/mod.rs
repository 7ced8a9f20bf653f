//! The family `rewrite`: every byte plus one, in a second file or in place.
//!
//! The user's file is only read. What is written is `copy` in a scratch folder: see [`Target`].

pub mod kernel;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;

pub use target::{Space, Target};

use crate::args::{self, Flag, Size};
use crate::exit::{self, Error, Exit, Result};
use crate::run::{self, Run};
use crate::sys;

/// The flags of the whole family.
const FLAGS: &[Flag] = &[
    Flag {
        name: "work",
        value: "WORK",
        help: "add-one: the only one, and the default",
    },
    Flag {
        name: "scratch",
        value: "DIR",
        help: "the folder to write to, which `pagecache prepare --scratch DIR` has made",
    },
];

/// The flag for the bytes that are worked on at a time.
pub const CHUNK: Flag = Flag {
    name: "chunk",
    value: "SIZE",
    help: "bytes worked on at a time: 1KiB (default), 64KiB, 1MiB",
};

/// The flag for whether the run ends on the device.
pub const SYNC: Flag = Flag {
    name: "sync",
    value: "WHAT",
    help: "what must be on the device at the end: none (default) or data",
};

/// The flag for how a copy begins.
pub const TARGET: Flag = Flag {
    name: "target",
    value: "HOW",
    help: "how the second file begins: hole (no blocks, default) or allocated (all of them)",
};

/// The `main` of every rewrite. `program` is `env!("CARGO_BIN_NAME")`, `about` one line that says
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

/// The arguments of a rewrite.
pub struct Args {
    /// Bytes worked on at a time.
    pub chunk: usize,
    /// Whether the data must be on the device at the end.
    pub sync: bool,
    space: Space,
    work: AddOne,
    line: args::Args,
}

impl Args {
    fn new(line: args::Args) -> Result<Args> {
        let scratch = line.path("scratch").ok_or_else(|| {
            let what = format!("--scratch DIR is missing: {}", target::MAKE_IT);
            Error::new(Exit::Usage, what)
        })?;
        let Size(chunk) = line.get(CHUNK.name)?.unwrap_or(Size(1024));
        let spaces = [("hole", Space::Hole), ("allocated", Space::Allocated)];
        Ok(Args {
            chunk,
            sync: line.choice(SYNC.name, &[("none", false), ("data", true)])?,
            space: line.choice(TARGET.name, &spaces)?,
            work: line.choice("work", &[("add-one", AddOne { scratch, sum: 0 })])?,
            line,
        })
    }
}

/// The work: every byte plus one, written to a file in the scratch folder.
#[derive(Clone, Debug)]
pub struct AddOne {
    scratch: PathBuf,
    /// Of the new bytes so far.
    sum: u64,
}

impl run::Work for AddOne {
    fn name(&self) -> &'static str {
        "add-one"
    }

    /// The sum of the new bytes, from the same pass. It sees no order: `verify-rewrite` looks at
    /// the bytes themselves.
    fn answer(&self) -> String {
        self.sum.to_string()
    }
}

/// A rewrite that is under way.
pub type Rewrite = Run<AddOne>;

impl Rewrite {
    /// Checks the file and starts the clock.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn start(args: &Args) -> Result<Rewrite> {
        sys::ignore_sigxfsz();
        Run::new(&args.line, args.work.clone())
    }

    /// The second file, empty or with its blocks allocated. What was there before is gone.
    ///
    /// # Errors
    /// It can't be created, has no space, or the scratch folder is none.
    pub fn create_target(&self, args: &Args) -> Result<Target> {
        Target::create(&self.work.scratch, self.metadata(), args.space)
    }

    /// The copy of the file that is to be rewritten in place.
    ///
    /// # Errors
    /// It is missing or no copy of the file, or the scratch folder is none.
    pub fn open_target(&self) -> Result<Target> {
        Target::open(&self.work.scratch, self.metadata())
    }

    /// Adds one to each of the next bytes of the file.
    ///
    /// # Errors
    /// [`Exit::Changed`] where the file has more bytes than when the run began: it could grow for
    /// ever.
    pub fn add_one(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.work.sum += kernel::add_one(bytes);
        self.bytes += bytes.len() as u64;
        match self.bytes > self.size() {
            true => Err(self.changed("grew")),
            false => Ok(()),
        }
    }

    /// Stops the clock, and logs and prints what is to be told of the run.
    ///
    /// # Errors
    /// The file or the target changed its size during the run, or the outcome can't be written.
    pub fn finish(self, target: &Target) -> Result<()> {
        // The file first: where it shrank, the target may be short for its sake.
        self.check_unchanged()?;
        target.check_size(self.size())?;
        if self.bytes < self.size() {
            return Err(self.changed("shrank"));
        }
        self.deliver()
    }
}
