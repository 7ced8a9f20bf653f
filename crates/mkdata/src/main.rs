//! Makes the test data of the benchmarks: the same seed gives the same bytes on every machine.
//!
//! No floating point, no hash map's order and no native byte order has a part in what is written.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Kind};
use error::{Error, Result};
use output::Output;

mod args;
mod error;
mod measurements;
mod output;
mod rng;
mod sys;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be done if that can't be printed.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    sys::catch_signals();
    match run(&cli.kind) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed { code, message }) => {
            eprintln!("mkdata: {message}");
            ExitCode::from(code)
        }
        Err(Error::Interrupted(signal)) => sys::die_by(signal),
    }
}

fn run(kind: &Kind) -> Result<()> {
    match kind {
        Kind::Measurements { limit, common } => {
            let limit = limit.get();
            let bytes = limit.expected_bytes(measurements::MEAN_ROW);
            let output = Output::file(&common.path, bytes, common.force, common.quiet)?;
            let (rows, bytes) =
                output.write_file(|sink| measurements::write(sink, limit, common.seed))?;
            report(common, bytes, &format!("{rows} rows"))
        }
    }
}

/// The line at the end: path, bytes, what they are, seed.
fn report(common: &args::Common, bytes: u64, what: &str) -> Result<()> {
    if common.quiet {
        return Ok(());
    }
    let path = common.path.display();
    writeln!(
        io::stdout(),
        "{path}  {bytes} bytes  {what}  seed {}",
        common.seed
    )
    .map_err(|error| Error::Failed {
        code: 74,
        message: format!("stdout: {error}"),
    })
}
