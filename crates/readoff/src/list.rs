//! `readoff list`, `readoff suites` and `readoff check`: what there is, and whether it works here.

use std::env;

use anyhow::{Context, Result};

use crate::check::check;
use crate::cli::{CheckArgs, ListArgs};
use crate::family::{self, control_work};
use crate::format::Table;
use crate::input::Input;
use crate::output::print;
use crate::plan::{Choice, Entry, Plan};
use crate::process;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::suite::{Loaded, Suite};

/// Prints the suites and the question that each answers.
pub fn suites() -> Result<()> {
    let folder = Programs::find()?.suites()?;
    let mut table = Table {
        head: vec!["suite".into(), "about".into()],
        rows: vec![],
    };
    for name in Suite::names(&folder)? {
        let about = match Loaded::load(&folder, &name)? {
            Loaded::Suite(suite) => suite.about,
            Loaded::Parts { about, .. } => about,
        };
        table.rows.push(vec![name, about]);
    }
    print_rows(&table)
}

/// Prints the entries of a suite: what each is, and whether it can run here, tried on a file.
pub fn list(args: &ListArgs) -> Result<()> {
    let programs = Programs::find()?;
    let suite = Suite::load(&programs.suites()?, &args.suite)?;
    let file = args.file.clone().map_or_else(env::current_exe, Ok)?;
    let input = Input::open(&file)?;
    let plan = Plan::new(&suite, &Choice::default(), &programs, &input)?;
    let mut table = Table {
        head: vec![],
        rows: vec![],
    };
    for entry in &plan.entries {
        let (about, verdict) = match &entry.external {
            Some(_) => (entry.command.join(" "), "installed".to_string()),
            None => (about(entry, &programs), can_run(entry, &plan)?),
        };
        table.rows.push(vec![entry.name.clone(), verdict, about]);
    }
    for skipped in &plan.skipped {
        table.rows.push(vec![
            skipped.name.clone(),
            "no".into(),
            skipped.reason.clone(),
        ]);
    }
    print_rows(&table)
}

/// What its program says of itself, and the options that make it another entry.
fn about(entry: &Entry, programs: &Programs) -> String {
    let program = entry.command[0].rsplit('/').next().unwrap_or_default();
    let about = programs
        .help(program)
        .map_or_else(|reason| reason, |h| h.about().to_string());
    let options: Vec<&str> = entry.command[1..]
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--work")
        .collect();
    if options.is_empty() {
        about
    } else {
        format!("{about} ({})", options.join(" "))
    }
}

fn can_run(entry: &Entry, plan: &Plan) -> Result<String> {
    let command = entry.with_work(control_work(&plan.family, &plan.work));
    let mut run = std::process::Command::new(&command[0]);
    let finished = process::run(run.args(&command[1..]), None).context("can't start it")?;
    Ok(match finished.code() {
        Some(0) => "yes".into(),
        Some(69) => format!("no: {}", finished.cause()),
        // It wants another kind of file, or what a race sets up for it.
        _ => "not tried on this file".into(),
    })
}

/// Runs every entry once and says whether all agree.
pub fn check_file(args: &CheckArgs) -> Result<()> {
    let programs = Programs::find()?;
    let input = Input::open(&args.file)?;
    let suite = Suite::load(&programs.suites()?, &args.competition.suite)?;
    // Nothing is timed, so no state is brought about.
    let mut plan = Plan::new(&suite, &Choice::from(&args.competition), &programs, &input)?;
    plan.states.clear();
    let folder = tempfile::tempdir()?;
    input.link_in(folder.path())?;
    family::set_up(&plan, &input, &programs, folder.path())?;
    let checked = check(
        &mut plan,
        &input,
        &programs,
        folder.path(),
        &Progress::new(true),
    )?;
    for skipped in &plan.skipped {
        print(&format!("left out: {}: {}\n", skipped.name, skipped.reason))?;
    }
    let work = control_work(&plan.family, &plan.work);
    print(&format!(
        "{} entries agree: {work} {}\n",
        plan.entries.len(),
        checked.control
    ))
}

/// Columns without a head, left-aligned.
fn print_rows(table: &Table) -> Result<()> {
    let columns = table.rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        table
            .rows
            .iter()
            .map(|row| row[column].chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for row in &table.rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    print(&text)
}
