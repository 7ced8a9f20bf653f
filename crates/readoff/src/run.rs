//! `readoff run`: a file, a folder of files, a suite of parts, or an interrupted race.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::cli::{Competition, RunArgs};
use crate::contest::{Driver, Effort};
use crate::data::{sample, suite_data};
use crate::directory::race_directory;
use crate::error::{Code, failure};
use crate::family::control_work;
use crate::hyperfine::{Hyperfine, quote};
use crate::input::Input;
use crate::plan::{Choice, Order, Plan, State};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::report;
use crate::results::Folder;
use crate::rounds::{call, fill_command};
use crate::suite::{Loaded, Suite};

/// The budget where none is asked for, in seconds.
const BUDGET: f64 = 120.0;

/// The budget of `--quick`, in seconds.
const QUICK_BUDGET: f64 = 30.0;

/// Rounds that `--dry-run` shows where the check would have to tell how many fit.
const DRY_ROUNDS: u32 = 6;

/// Runs a race, or goes on with one, and prints its verdict.
///
/// # Errors
/// See the exit codes; finished rounds are published in every case.
pub fn run(args: &RunArgs) -> Result<()> {
    let programs = Programs::find()?;
    let installed: Vec<PathBuf> = programs.installed_hyperfine().into_iter().collect();
    let hyperfine = Hyperfine::find(args.hyperfine.as_deref(), &installed)?;
    let driver = Driver {
        programs,
        hyperfine,
        progress: Progress::new(args.quiet),
    };
    if let Some(folder) = &args.resume {
        let folder = Folder::open(folder)?;
        let race = driver.resume(&folder)?;
        return report::print(&report::terminal(&race), &folder);
    }
    let suites = driver.programs.suites()?;
    match Loaded::load(&suites, &args.competition.suite)? {
        Loaded::Suite(suite) => run_suite(&driver, args, &suite),
        Loaded::Parts { parts, .. } => {
            if args.file.is_some() {
                let what = format!(
                    "each part of {:?} makes its own data; race a file with one of {}",
                    args.competition.suite,
                    parts.join(", ")
                );
                return Err(failure(Code::Usage, what));
            }
            for part in parts {
                driver.progress.note(&format!("part {part}"));
                run_suite(&driver, args, &Suite::load(&suites, &part)?)?;
            }
            Ok(())
        }
    }
}

fn run_suite(driver: &Driver, args: &RunArgs, suite: &Suite) -> Result<()> {
    let file = match (&args.file, &suite.data) {
        (Some(file), _) => file.clone(),
        (None, Some(data)) => suite_data(data, args.scale, &driver.programs, &driver.progress)?,
        (None, None) => sample(&driver.programs, &driver.progress)?,
    };
    let choice = choice(args, suite)?;
    let effort = Effort {
        // A budget that is asked for goes before the suite's rounds.
        rounds: args.rounds.or(suite
            .rounds
            .filter(|_| args.budget.is_none() && !args.quick)),
        budget: if args.quick {
            QUICK_BUDGET
        } else {
            args.budget.map_or(BUDGET, |budget| budget.as_secs_f64())
        },
    };
    if file.is_dir() && !args.dry_run {
        return race_directory(driver, suite, &choice, effort, &file, &results_root(args));
    }
    let input = Input::open(&file)?;
    let plan = Plan::new(suite, &choice, &driver.programs, &input)?;
    if args.dry_run {
        return dry_run(plan, args, &input, driver);
    }
    let (race, folder) = driver.race(plan, effort, &input, &results_root(args))?;
    report::print(&report::terminal(&race), &folder)
}

fn results_root(args: &RunArgs) -> PathBuf {
    let from_env = || env::var_os("READOFF_RESULTS").map(PathBuf::from);
    args.results
        .clone()
        .or_else(from_env)
        .unwrap_or_else(|| "results".into())
}

fn choice(args: &RunArgs, suite: &Suite) -> Result<Choice> {
    let mut states = Vec::new();
    for name in args.state.iter().flatten() {
        let state = State::parse(name)?;
        if !states.contains(&state) {
            states.push(state);
        }
    }
    let data_scale = suite
        .data
        .as_ref()
        .map_or(1.0, |data| args.scale.unwrap_or(data.scale));
    let suite_memory = suite.memory.map(|bytes| (bytes as f64 * data_scale) as u64);
    Ok(Choice {
        states: args.state.as_ref().map(|_| states),
        order: args.order,
        reference: args.reference.clone(),
        purge: args.purge,
        core_only: args.quick,
        memory: args.memory.or(suite_memory.filter(|_| args.file.is_none())),
        ..Choice::from(&args.competition)
    })
}

impl From<&Competition> for Choice {
    fn from(competition: &Competition) -> Choice {
        Choice {
            entries: competition.entries.clone(),
            work: competition.work.clone(),
            buffer: competition.buffer.clone(),
            ..Choice::default()
        }
    }
}

/// Prints every command that a race would run.
fn dry_run(mut plan: Plan, args: &RunArgs, input: &Input, driver: &Driver) -> Result<()> {
    plan.rounds = match plan.order {
        Order::Grouped => 1,
        Order::Balanced => args.rounds.unwrap_or(DRY_ROUNDS),
    };
    println!("# check: all must agree");
    for entry in plan.entries.iter().filter(|entry| entry.external.is_none()) {
        let work = control_work(&plan.family, &plan.work);
        println!("{} --json", quote(&entry.with_work(work)));
    }
    if args.rounds.is_none() && plan.order == Order::Balanced {
        println!("# the check tells how many rounds fit into the budget; {DRY_ROUNDS} are shown");
    }
    let folder = std::path::absolute(results_root(args))?.join("RACE");
    for state in &plan.states {
        if let Some(fill) = fill_command(*state, &driver.programs)? {
            println!(
                "# {}\n{} {}",
                state.name(),
                quote(&fill),
                quote(&[input.argument().into()])
            );
        }
        for number in 1..=plan.rounds {
            println!("# {} round {number}", state.name());
            let call = call(&plan, *state, number, &driver.programs, input, &folder)?;
            println!("{}", call.shell_line(&driver.hyperfine));
        }
    }
    Ok(())
}
