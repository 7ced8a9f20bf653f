//! `pagecache`: looks at, evicts, fills and prepares the page cache of files.

mod args;
mod commands;
mod walk;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    // A reader of our output that goes away ends us quietly, as it does every other tool.
    // SAFETY: SIG_DFL is no function of ours, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // A copy over the limit of RLIMIT_FSIZE is an error of write(2), not the end.
    // SAFETY: as above, of SIG_IGN.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 64 } else { 0 };
            // Nothing is left to do about a closed stderr.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let code = match args.command {
        Command::Status { paths, json } => commands::status(&paths, json),
        Command::Evict { paths, system } => commands::evict(&paths, system),
        Command::Fill { paths, how } => commands::fill(&paths, how),
        Command::Prepare(prepare) => commands::prepare(&prepare),
        Command::RemoveScratch { folder } => commands::remove_scratch(&folder),
    };
    ExitCode::from(code)
}
