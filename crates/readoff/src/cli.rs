//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::budget::Count;
use crate::plan::{Order, Purge};

/// Which way of reading this file is fastest here?
#[derive(Debug, Parser)]
#[command(name = "readoff", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race the ways of reading FILE and publish the result
    Run(RunArgs),
    /// See that all entries give the same answer on FILE; nothing is timed
    Check(CheckArgs),
    /// List the entries of a suite: what each is, and whether it can run here
    List(ListArgs),
    /// List the suites
    Suites,
    /// Race one strategy against itself: how often is a winner named, how often a planted lead found?
    Selftest(SelftestArgs),
    /// Show the machine, and what of it can spoil a measurement
    Env(EnvArgs),
}

/// Who competes, on what.
#[derive(Args, Debug)]
pub struct Competition {
    /// The suite, by name or as a TOML file
    #[arg(long, default_value = "scan")]
    pub suite: String,
    /// Only these entries, by label
    #[arg(long, value_delimiter = ',', value_name = "LABEL,…")]
    pub entries: Option<Vec<String>>,
    /// What is done with the bytes: xor, sum, newlines, newlines-u32, newlines-u64, crc32, touch
    #[arg(long)]
    pub work: Option<String>,
    /// Buffer size of the strategies that have one
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
}

/// Options of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The file, or a folder of files; without one, the suite's data or a sample is made
    pub file: Option<PathBuf>,
    /// Who competes.
    #[command(flatten)]
    pub competition: Competition,
    /// States of the page cache: cold, warm, warm-random, as-is
    #[arg(long, value_delimiter = ',', value_name = "STATE,…")]
    pub state: Option<Vec<String>>,
    /// Rounds in each state, instead of as many as the budget has room for; in grouped order, so many
    /// times the runs; `auto`: until the question is settled or the budget is spent
    #[arg(long, value_name = "N|auto", value_parser = rounds)]
    pub rounds: Option<Count>,
    /// Time for all rounds: 90s, 2m, 1h [default: 2m, or the suite's own number of rounds]
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// The suite's core entries, in a budget of 30 s
    #[arg(long, conflicts_with_all = ["budget", "rounds"])]
    pub quick: bool,
    /// In rounds, or each entry's repetitions in a row
    #[arg(long, value_enum)]
    pub order: Option<Order>,
    /// What is dropped before a cold run: the file's pages, or the whole machine's (root)
    #[arg(long, value_enum, default_value = "file")]
    pub purge: Purge,
    /// How much data a suite makes, where no file is named: 1 is the source's size
    #[arg(long, value_parser = scale)]
    pub scale: Option<f64>,
    /// Memory that the whole race may use, page cache included, by a cgroup: 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// The entry that the others are compared with
    #[arg(long, value_name = "LABEL")]
    pub reference: Option<String>,
    /// The folder in which the race gets one of its own [default: $READOFF_RESULTS, or results]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Go on with an interrupted race, from its folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "suite", "entries", "work", "buffer",
        "state", "rounds", "budget", "quick", "order", "purge", "reference", "results", "dry_run", "scale", "memory"])]
    pub resume: Option<PathBuf>,
    /// The hyperfine to use
    #[arg(long, value_name = "PATH")]
    pub hyperfine: Option<PathBuf>,
    /// Wait for another race into the same results folder to end, instead of giving up
    #[arg(long)]
    pub wait: bool,
    /// Print every command that would be run, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Print the verdict and nothing else
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The file
    pub file: PathBuf,
    /// Who competes.
    #[command(flatten)]
    pub competition: Competition,
}

/// Options of `selftest`.
#[derive(Args, Debug)]
pub struct SelftestArgs {
    /// The file; without one, 16 MiB are made
    pub file: Option<PathBuf>,
    /// Races in each of both series
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub races: u32,
    /// The hyperfine to use
    #[arg(long, value_name = "PATH")]
    pub hyperfine: Option<PathBuf>,
    /// Print the table and nothing else
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// The file that each is tried on; by default this very program
    pub file: Option<PathBuf>,
    /// The suite, by name or as a TOML file
    #[arg(long, default_value = "scan")]
    pub suite: String,
}

/// Options of `env`.
#[derive(Args, Debug)]
pub struct EnvArgs {
    /// A file or folder: what it lies on is shown too
    pub file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A number of rounds, or `auto`.
fn rounds(text: &str) -> Result<Count, String> {
    if text == "auto" {
        return Ok(Count::UntilSettled);
    }
    let rounds = text
        .parse()
        .ok()
        .filter(|rounds| (1..=10_000).contains(rounds));
    let wrong = || "must be auto, or a number from 1 to 10000".to_string();
    rounds.map(Count::Fixed).ok_or_else(wrong)
}

/// `90s`, `2m`, `1h`, `1.5m`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let factor = match &text[end..] {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("not a time; write 90s, 2m or 1h".into()),
    };
    let number: f64 = text[..end]
        .parse()
        .map_err(|_| "not a time; write 90s, 2m or 1h")?;
    let seconds = number * factor;
    if !(1.0..=864_000.0).contains(&seconds) {
        return Err("must be between 1s and 240h".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A factor over 0 and up to 1.
fn scale(text: &str) -> Result<f64, String> {
    let scale = text
        .parse()
        .ok()
        .filter(|scale| *scale > 0.0 && *scale <= 1.0);
    scale.ok_or_else(|| "must be over 0 and at most 1".into())
}

/// The least memory, in bytes, in which the driver and hyperfine still run.
pub const LEAST_MEMORY: u64 = 32 << 20;

/// Bytes from a size such as `64KiB`; the driver and hyperfine must fit in, too.
fn memory(text: &str) -> Result<u64, String> {
    let bytes = text.parse::<bytesize::ByteSize>()?.as_u64();
    if bytes < LEAST_MEMORY {
        Err("must be at least 32MiB".into())
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        for bad in ["", "m", "2x", "0", "-1s", "1.2.3m", "1e9h", "99999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rounds_are_a_number_or_auto() {
        assert_eq!(rounds("auto"), Ok(Count::UntilSettled));
        assert_eq!(rounds("10000"), Ok(Count::Fixed(10_000)));
        for bad in ["0", "10001", "-1", "many", ""] {
            assert!(rounds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
