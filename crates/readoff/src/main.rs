//! `readoff`: which way of reading this file is fastest here?

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use clap::Parser;

use readoff::cli::{Cli, Command};
use readoff::error::code_of;
use readoff::process::INTERRUPTED;
use readoff::{list, run};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            // clap's own code is 2; scripts here know sysexits(3).
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    match act(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("readoff: {}", format!("{error:#}").replace('\n', " "));
            ExitCode::from(code_of(&error))
        }
    }
}

fn act(command: &Command) -> Result<()> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .context("can't listen for signals")?;
    match command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => list::check_file(args),
        Command::List(args) => list::list(args),
        Command::Suites => list::suites(),
    }
}
