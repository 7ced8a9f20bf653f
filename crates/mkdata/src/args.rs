//! The command line.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand};

use crate::output::Limit;

/// What is made where neither a size nor a count is given, bytes.
const DEFAULT_SIZE: u64 = 64 << 20;

/// Make test data: the same seed gives the same bytes on every machine.
#[derive(Parser)]
#[command(name = "mkdata", version)]
pub struct Cli {
    /// What to make.
    #[command(subcommand)]
    pub kind: Kind,
}

/// What to make.
#[derive(Subcommand)]
pub enum Kind {
    /// The one-billion-row text: a city, a semicolon, a temperature a line (about 13.8 bytes a row)
    Measurements {
        /// How much.
        #[command(flatten)]
        limit: RowLimit,
        /// Seed and output.
        #[command(flatten)]
        common: Common,
    },
}

/// What every kind takes.
#[derive(Args)]
pub struct Common {
    /// Another seed gives other data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Replace the output where it exists
    #[arg(long)]
    pub force: bool,
    /// No progress bar, no line at the end
    #[arg(short, long)]
    pub quiet: bool,
    /// What to make; it must not exist yet
    #[arg(value_name = "OUTPUT")]
    pub path: PathBuf,
}

/// How much of a kind that has rows.
#[derive(Args)]
pub struct RowLimit {
    /// At most so many bytes, such as 64KiB, 1GB or 4096: as many whole rows as fit [default: 64MiB]
    #[arg(long, value_parser = size, conflicts_with = "rows")]
    size: Option<u64>,
    /// Exactly so many rows
    #[arg(long)]
    rows: Option<u64>,
}

impl RowLimit {
    /// The limit that was chosen.
    pub fn get(&self) -> Limit {
        match self.rows {
            Some(rows) => Limit::Rows(rows),
            None => Limit::Bytes(self.size.unwrap_or(DEFAULT_SIZE)),
        }
    }
}

/// Bytes from a text such as `64KiB`.
fn size(text: &str) -> Result<u64, String> {
    match text.parse::<ByteSize>()?.as_u64() {
        // What doesn't fit is saturated by the parser.
        u64::MAX => Err("more than a file can hold".to_owned()),
        bytes => Ok(bytes),
    }
}
