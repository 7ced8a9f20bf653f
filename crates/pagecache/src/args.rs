//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use pagecache::{Fill, Purge, State};

/// Shows, evicts and fills the page cache of single files; no root needed.
///
/// Of a folder, every regular file below it is meant. Exit codes: 64 usage, 66 no such input, 69 not
/// possible here, 74 I/O error, 75 not reached now (the reason is on stderr).
#[derive(Parser)]
#[command(version)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Show how much of each file is resident, how much of it dirty, and how that was learned
    Status {
        /// Print one JSON document, sizes in bytes
        #[arg(long)]
        json: bool,
        #[arg(value_name = "FILE|DIR", required = true)]
        paths: Vec<PathBuf>,
    },
    /// Write dirty pages back, drop all, and check that at most 1 % is left
    Evict {
        /// Purge the whole machine first (Linux: drop_caches, macOS: purge); needs root
        #[arg(long)]
        system: bool,
        #[arg(value_name = "FILE|DIR", required_unless_present = "system")]
        paths: Vec<PathBuf>,
    },
    /// Evict, read everything in a known way, and check that at least 99 % is resident
    Fill {
        #[arg(long, value_enum, default_value_t = Fill::Readahead)]
        how: Fill,
        #[arg(value_name = "FILE|DIR", required = true)]
        paths: Vec<PathBuf>,
    },
    /// Bring files into a state, prove it, and log it to $READOFF_RECORD; what holds is only checked
    Prepare(Prepare),
    /// Remove a scratch folder: its copy, its marker and itself, nothing else
    RemoveScratch {
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(clap::Args)]
pub struct Prepare {
    #[arg(long, value_enum)]
    pub state: State,
    /// The program to be timed: its pages are read, so that loading it isn't timed
    #[arg(long, value_name = "PATH")]
    pub executable: Option<PathBuf>,
    /// What is evicted for a cold state
    #[arg(long, value_enum, default_value_t = Purge::File)]
    pub purge: Purge,
    /// The folder that the program will write to: made if missing, its old copy removed
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Make DIR/copy, a copy of the file, and bring it into the state too
    #[arg(long, requires = "scratch")]
    pub copy: bool,
    #[arg(value_name = "FILE|DIR", required = true)]
    pub paths: Vec<PathBuf>,
}
