//! Makes the file that tells `seek-* --work rows --index` where the rows of a CSV file begin.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use strategies::args::usage;
use strategies::exit::{self, Result};
use strategies::seek::index::{self, Made};

const HELP: &str = "\
Writes where the rows of a CSV file begin, for --index of the seek strategies

Usage: row-index FILE INDEX

INDEX is left alone if it is the index of FILE as it is now.
";

fn main() -> ExitCode {
    exit::main(env!("CARGO_BIN_NAME"), run)
}

fn run() -> Result<()> {
    let mut args = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next().map_err(usage)? {
        match arg {
            lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => return exit::print(HELP),
            lexopt::Arg::Value(path) => args.push(path),
            other => return Err(usage(other.unexpected())),
        }
    }
    let [file, index] = &args[..] else {
        return Err(usage("which FILE and which INDEX?"));
    };
    let Made { rows, found } = index::make(Path::new(file), Path::new(index))?;
    let found = if found { ", as before" } else { "" };
    exit::print(&format!("{rows} rows{found}\n"))
}
