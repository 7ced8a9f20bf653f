//! `readoff`: which way of reading this file is fastest here?

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use clap::Parser;
use clap::error::ErrorKind;

use readoff::cli::{Cli, Command};
use readoff::error::{Code, code_of};
use readoff::output::say;
use readoff::process::INTERRUPTED;
use readoff::{env, list, run, selftest};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(answer(&error)),
    };
    match act(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("readoff: {error:#}"));
            ExitCode::from(code_of(&error))
        }
    }
}

/// Shows what was asked for, or says in one line what is wrong with the command line; gives the exit
/// code. clap's own is 2 for all of this; scripts here know sysexits(3).
fn answer(error: &clap::Error) -> u8 {
    let nothing_asked = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if nothing_asked || !error.use_stderr() {
        let _ = error.print();
        return if nothing_asked { Code::Usage as u8 } else { 0 };
    }
    // The last paragraphs are the usage and where help is.
    let text = error.to_string();
    let words: Vec<&str> = text
        .trim_start_matches("error: ")
        .split("\n\n")
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"))
        .flat_map(str::split_whitespace)
        .collect();
    say(&format!("readoff: {} (--help tells more)", words.join(" ")));
    Code::Usage as u8
}

/// SIGINT, SIGTERM and SIGHUP set a flag; but a SIGHUP that was ignored for us (nohup) stays ignored.
/// A file over the limit of RLIMIT_FSIZE is an error of write(2), not the end.
fn catch_signals() -> Result<()> {
    // SAFETY: SIG_IGN is no function of ours, and no other thread runs yet.
    let hangup = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::signal(libc::SIGHUP, libc::SIG_IGN)
    };
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .context("can't listen for signals")?;
    if hangup == libc::SIG_IGN {
        // SAFETY: as above; the thread that ctrlc has started handles no signal itself.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
    Ok(())
}

fn act(command: &Command) -> Result<()> {
    catch_signals()?;
    match command {
        Command::Run(args) => run::run(args),
        Command::Check(args) => list::check_file(args),
        Command::List(args) => list::list(args),
        Command::Suites => list::suites(),
        Command::Selftest(args) => selftest::selftest(args),
        Command::Env(args) => env::env(args),
    }
}
