//! What the families need that is not the same for all: the one place where the driver tells them
//! apart. Everything they need beside the file lies in the race's folder, where they run, and is
//! removed at the end.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::error::{Code, failure};
use crate::hyperfine::process::Ended;
use crate::input::Input;
use crate::plan::{Entry, Plan};
use crate::process;
use crate::programs::Programs;

/// Where rows begin (`seek`, work `rows`), made once and untimed.
const ROW_INDEX: &str = "./rows.index";

/// Where rewritten copies go (`rewrite`): the user's file is never written.
const SCRATCH: &str = "./scratch";

/// The work with which a family is checked: one that sees order, where the family has one. XOR
/// doesn't, and cancels on repeated blocks.
pub fn control_work<'a>(family: &str, work: &'a str) -> &'a str {
    match family {
        "scan" => "crc32",
        "lines" => "index",
        _ => work,
    }
}

/// What a family's strategies are told beside the work and the file.
pub fn arguments(family: &str, work: &str) -> Vec<String> {
    let words: &[&str] = match (family, work) {
        ("seek", "rows") => &["--index", ROW_INDEX],
        ("rewrite", _) => &["--scratch", SCRATCH],
        _ => &[],
    };
    words.iter().map(|word| word.to_string()).collect()
}

/// What the prepare step is told beside the state. A strategy whose name ends in `-inplace` finds
/// a fresh copy of the file; every other one writes its own.
pub fn prepare_arguments(family: &str, program: &str) -> Vec<String> {
    let words: &[&str] = match family {
        "rewrite" if program.ends_with("-inplace") => &["--scratch", SCRATCH, "--copy"],
        "rewrite" => &["--scratch", SCRATCH],
        _ => &[],
    };
    words.iter().map(|word| word.to_string()).collect()
}

/// What must be resident at once in a warm state, in bytes: a rewritten copy takes as much as its file.
pub fn resident_bytes(family: &str, bytes: u64) -> u64 {
    match family {
        "rewrite" => bytes.saturating_mul(2),
        _ => bytes,
    }
}

/// Makes, once and untimed, what all of a family's strategies need.
///
/// # Errors
/// The program that makes it fails; its own words and exit code.
pub fn set_up(plan: &Plan, input: &Input, programs: &Programs, folder: &Path) -> Result<()> {
    if (plan.family.as_str(), plan.work.as_str()) != ("seek", "rows") {
        return Ok(());
    }
    let mut command = Command::new(programs.path("row-index")?);
    run(command.args([input.argument(), ROW_INDEX]), folder)
}

/// What the prepare step does for an entry beside the cache's state, for a run that isn't timed.
///
/// # Errors
/// As [`set_up`].
pub fn prepare(
    plan: &Plan,
    entry: &Entry,
    input: &Input,
    programs: &Programs,
    folder: &Path,
) -> Result<()> {
    let arguments = prepare_arguments(&plan.family, &entry.command[0]);
    if arguments.is_empty() {
        return Ok(());
    }
    let mut command = Command::new(programs.path("pagecache")?);
    command
        .args(["prepare", "--state", "as-is"])
        .args(arguments)
        .arg(input.argument());
    run(&mut command, folder)
}

/// Compares what a rewriting entry wrote with the file, byte for byte.
///
/// # Errors
/// They differ: exit code 65.
pub fn verify(
    plan: &Plan,
    entry: &str,
    input: &Input,
    programs: &Programs,
    folder: &Path,
) -> Result<()> {
    if plan.family != "rewrite" {
        return Ok(());
    }
    let mut command = Command::new(programs.path("verify-rewrite")?);
    run(
        command.args(["--scratch", SCRATCH, input.argument()]),
        folder,
    )
    .map_err(|error| failure(Code::Data, format!("the race is void: {entry}: {error:#}")))
}

/// Removes what [`set_up`] and the prepare steps made.
pub fn clear(plan: &Plan, programs: &Programs, folder: &Path) {
    let _ = std::fs::remove_file(folder.join(ROW_INDEX));
    if plan.family == "rewrite"
        && let Ok(pagecache) = programs.path("pagecache")
    {
        // What is no scratch folder, it leaves alone. We may have been interrupted, so nobody waits
        // for that flag here.
        let _ = Command::new(pagecache)
            .current_dir(folder)
            .args(["remove-scratch", SCRATCH])
            .output();
    }
}

fn run(command: &mut Command, folder: &Path) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let finished = process::run(command.current_dir(folder), None).context(program)?;
    match (finished.succeeded(), &finished.ended) {
        (true, _) => Ok(()),
        (_, Ended::Interrupted) => Err(failure(
            Code::Interrupted,
            "interrupted before the first round",
        )),
        _ if finished.code() == Some(65) => Err(failure(Code::Data, finished.cause())),
        _ => Err(failure(Code::Io, finished.cause())),
    }
}
