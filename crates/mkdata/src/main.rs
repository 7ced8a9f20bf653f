//! Makes the test data of the benchmarks: the same seed gives the same bytes on every machine.
//!
//! No floating point, no hash map's order and no native byte order has a part in what is written.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Common, Kind};
use error::{Error, Result};
use output::Output;
use rng::Rng;
use sink::{Limit, Sink};

mod args;
mod blocks;
mod csv;
mod error;
mod measurements;
mod mp4;
mod output;
mod padded;
mod rng;
mod sink;
mod sys;
mod text;

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
            let _ = writeln!(io::stderr(), "mkdata: {message}"); // as above
            ExitCode::from(code)
        }
        Err(Error::Interrupted(signal)) => sys::die_by(signal),
    }
}

fn run(kind: &Kind) -> Result<()> {
    match kind {
        Kind::Measurements(args) => rows(args, measurements::MEAN_ROW, measurements::write),
        Kind::Csv(args) => rows(args, csv::MEAN_ROW, csv::write),
        Kind::Text(args) => text(args),
        Kind::Mp4(args) => mp4(args),
        Kind::Zeros(args) => file(&args.common, args.size, |sink| {
            blocks::write_zeros(sink, args.size)?;
            Ok(String::new())
        }),
        Kind::Random(args) => file(&args.common, args.size, |sink| {
            blocks::write_random(sink, args.size, &mut Rng::new(args.common.seed))?;
            Ok(String::new())
        }),
    }
}

fn rows(
    args: &args::Rows,
    mean_row: u64,
    write: impl Fn(&mut Sink, Limit, u64) -> Result<u64>,
) -> Result<()> {
    let limit = args.limit();
    file(&args.common, limit.expected_bytes(mean_row), |sink| {
        let rows = write(sink, limit, args.common.seed)?;
        Ok(format!("{rows} rows  "))
    })
}

fn mp4(args: &args::Block) -> Result<()> {
    let (size, least) = (args.size, mp4::least_size());
    if (1..least).contains(&size) {
        let cause = format!("an MP4 file takes at least {least} bytes; raise --size");
        return Err(Error::usage(&args.common.path, cause));
    }
    file(&args.common, size, |sink| {
        // Nothing at all is an empty file here too.
        let boxes = match size {
            0 => 0,
            _ => mp4::write(sink, size, args.common.seed)?,
        };
        Ok(format!("{boxes} boxes  "))
    })
}

/// Makes a file of about `bytes` bytes; `fill` returns what they are, with two blanks after it.
fn file(common: &Common, bytes: u64, fill: impl FnOnce(&mut Sink) -> Result<String>) -> Result<()> {
    let output = Output::file(common, bytes)?;
    let (what, bytes) = output.write_file(fill)?;
    report(common, bytes, &what)
}

fn text(args: &args::Text) -> Result<()> {
    let plans = text::plan(args.limit(), args.files, args.width, args.common.seed);
    let expected = plans.iter().map(text::Plan::expected_bytes);
    let expected = expected.fold(0, u64::saturating_add);
    let output = Output::folder(&args.common, expected)?;
    let (lines, bytes) =
        output.write_folder(plans.len(), |index, sink| text::write(sink, &plans[index]))?;
    let what = format!("{lines} lines  {} files  ", plans.len());
    report(&args.common, bytes, &what)
}

/// The line at the end: path, bytes, what they are, seed.
fn report(common: &Common, bytes: u64, what: &str) -> Result<()> {
    if common.quiet {
        return Ok(());
    }
    let (path, seed) = (common.path.display(), common.seed);
    writeln!(io::stdout(), "{path}  {bytes} bytes  {what}seed {seed}").map_err(|error| {
        Error::Failed {
            code: 74,
            message: format!("stdout: {error}"),
        }
    })
}
