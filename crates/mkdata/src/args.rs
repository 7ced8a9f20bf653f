//! The command line.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand};

use crate::sink::Limit;

/// What is made where neither a size nor a count is given.
const DEFAULT_SIZE: &str = "64MiB";

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
    Measurements(Rows),
    /// A folder of files with random lines, F_01.txt and so on, of very different line counts and widths
    Text(Text),
    /// Zeros, all of them written: the file is no hole
    Zeros(Block),
    /// A CSV file (RFC 4180) with a header and quoted fields, some with newlines (about 150 bytes a row)
    Csv(Rows),
    /// An MP4 video of thousands of boxes, uncompressed and random, that players accept
    Mp4(Block),
    /// Random bytes, which no compression makes smaller
    Random(Block),
}

/// Arguments of a kind that has rows.
#[derive(Args)]
pub struct Rows {
    /// At most so many bytes, such as 64KiB, 1GB or 4096: as many whole rows as fit
    #[arg(long, value_parser = size, default_value = DEFAULT_SIZE, conflicts_with = "rows")]
    size: u64,
    /// Exactly so many rows, whatever they take
    #[arg(long)]
    rows: Option<u64>,
    /// Seed and output.
    #[command(flatten)]
    pub common: Common,
}

impl Rows {
    /// How much to make.
    pub fn limit(&self) -> Limit {
        self.rows.map_or(Limit::Bytes(self.size), Limit::Rows)
    }
}

/// Arguments of `text`.
#[derive(Args)]
pub struct Text {
    /// Exactly so many bytes in all files together, such as 64KiB, 1GB or 4096; last lines are cut to fit
    #[arg(long, value_parser = size, default_value = DEFAULT_SIZE, conflicts_with = "lines")]
    size: u64,
    /// Line limit: each file has between one line and so many
    #[arg(long)]
    lines: Option<u64>,
    /// Line width limit: each file has its own, between one character and so many
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub width: u64,
    /// Number of files
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub files: u64,
    /// Seed and output.
    #[command(flatten)]
    pub common: Common,
}

impl Text {
    /// How much to make.
    pub fn limit(&self) -> Limit {
        self.lines.map_or(Limit::Bytes(self.size), Limit::Rows)
    }
}

/// Arguments of a kind without rows.
#[derive(Args)]
pub struct Block {
    /// Exactly so many bytes, such as 64KiB, 1GB or 4096
    #[arg(long, value_parser = size, default_value = DEFAULT_SIZE)]
    pub size: u64,
    /// Seed and output.
    #[command(flatten)]
    pub common: Common,
}

/// What every kind takes.
#[derive(Args)]
pub struct Common {
    /// Another seed gives other data (but zeros stay zeros)
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
    /// No progress bar, no line at the end
    #[arg(short, long)]
    pub quiet: bool,
    /// What to make; it must not be there yet
    #[arg(value_name = "OUTPUT")]
    pub path: PathBuf,
}

/// Bytes from a text such as `64KiB`.
fn size(text: &str) -> Result<u64, String> {
    match text.parse::<ByteSize>()?.as_u64() {
        // What doesn't fit is saturated by the parser.
        u64::MAX => Err("more than a file can hold".to_owned()),
        bytes => Ok(bytes),
    }
}
