//! `readoff run`: a file, a folder of files, a suite of parts, or an interrupted race.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::budget::Count;
use crate::cli::{Competition, LEAST_MEMORY, RunArgs};
use crate::contest::{Driver, Effort};
use crate::data::Maker;
use crate::directory::race_directory;
use crate::dry_run::dry_run;
use crate::error::{Code, failure};
use crate::hyperfine::Hyperfine;
use crate::input::{Input, plain};
use crate::plan::{Choice, Order, Plan, State};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::race_lock::RaceLock;
use crate::results::Folder;
use crate::suite::{Loaded, Suite};

/// The budget where none is asked for, in seconds.
const BUDGET: f64 = 120.0;

/// The budget of `--quick`, in seconds.
const QUICK_BUDGET: f64 = 30.0;

/// Runs a race, or goes on with one, and prints its verdict.
///
/// # Errors
/// See the exit codes; finished rounds are published in every case.
pub fn run(args: &RunArgs) -> Result<()> {
    let driver = driver(args.hyperfine.as_deref(), args.quiet)?;
    if let Some(folder) = &args.resume {
        let folder = Folder::find(folder)?;
        let _lock = RaceLock::take_for(&folder, args.wait, &driver.progress)?;
        let folder = Folder::open(&folder)?;
        return driver.resume(&folder)?.tell(&folder);
    }
    let suites = driver.programs.suites()?;
    let mut lock = None;
    match Loaded::load(&suites, &args.competition.suite)? {
        Loaded::Suite(suite) => run_suite(&driver, args, &suite, &mut lock),
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
                run_suite(&driver, args, &Suite::load(&suites, &part)?, &mut lock)?;
            }
            Ok(())
        }
    }
}

/// What every race needs: our programs, and the hyperfine that is asked for or found.
///
/// # Errors
/// One of them isn't there: exit code 69.
pub(crate) fn driver(hyperfine: Option<&Path>, quiet: bool) -> Result<Driver> {
    let programs = Programs::find()?;
    let installed: Vec<PathBuf> = programs.installed_hyperfine().into_iter().collect();
    let hyperfine = Hyperfine::find(hyperfine, &installed)
        .map_err(|error| failure(Code::Unavailable, format!("{error:#}")))?;
    Ok(Driver {
        programs,
        hyperfine,
        progress: Progress::new(quiet),
    })
}

/// Races a suite. The lock is taken before the first race, and kept for those after it.
fn run_suite(
    driver: &Driver,
    args: &RunArgs,
    suite: &Suite,
    lock: &mut Option<RaceLock>,
) -> Result<()> {
    if args.scale.is_some() && (args.file.is_some() || suite.data.is_none()) {
        let what = "--scale is for data that a suite makes, and here it makes none";
        return Err(failure(Code::Usage, what));
    }
    let maker = Maker {
        programs: &driver.programs,
        progress: &driver.progress,
        dry_run: args.dry_run,
    };
    let file = match (&args.file, &suite.data) {
        (Some(file), _) => file.clone(),
        (None, Some(data)) => maker.suite_data(data, args.scale)?,
        (None, None) => maker.sample()?,
    };
    let choice = choice(args, suite)?;
    let order = choice.order.unwrap_or(suite.order);
    if (order, args.rounds) == (Order::Grouped, Some(Count::UntilSettled)) {
        let what = "--rounds auto needs rounds: grouped order has none (--order balanced)";
        return Err(failure(Code::Usage, what));
    }
    // A budget that is asked for goes before the suite's rounds.
    let of_suite = suite
        .rounds
        .filter(|_| args.budget.is_none() && !args.quick);
    let effort = Effort {
        rounds: args.rounds.or(of_suite.map(Count::Fixed)),
        budget: if args.quick {
            QUICK_BUDGET
        } else {
            args.budget.map_or(BUDGET, |budget| budget.as_secs_f64())
        },
    };
    let root = results_root(args)?;
    if file.is_dir() && args.dry_run {
        let what = format!("{}: a dry run shows one race: name a file", file.display());
        return Err(failure(Code::Usage, what));
    }
    if file.is_dir() {
        hold(lock, &root, args, driver)?;
        return race_directory(driver, suite, &choice, effort, &file, &root);
    }
    let input = Input::open(&file)?;
    let plan = Plan::new(suite, &choice, &driver.programs, &input)?;
    if args.dry_run {
        return dry_run(
            plan,
            args.rounds.map_or(suite.rounds, Count::fixed),
            &input,
            &driver.programs,
            &driver.hyperfine,
            &root.join("RACE"),
        );
    }
    hold(lock, &root, args, driver)?;
    let (outcome, folder) = driver.race(plan, effort, &input, &root, true)?;
    outcome.tell(&folder)
}

fn hold(lock: &mut Option<RaceLock>, root: &Path, args: &RunArgs, driver: &Driver) -> Result<()> {
    if lock.is_none() {
        *lock = Some(RaceLock::take(root, args.wait, &driver.progress)?);
    }
    Ok(())
}

/// The absolute path of the folder in which races get theirs.
fn results_root(args: &RunArgs) -> Result<PathBuf> {
    let from_env = || env::var_os("READOFF_RESULTS").filter(|folder| !folder.is_empty());
    let root = args
        .results
        .clone()
        .or_else(|| from_env().map(PathBuf::from))
        .unwrap_or_else(|| "results".into());
    let cannot = |e| {
        format!(
            "{}: can't be the results' folder: {}",
            root.display(),
            plain(&e)
        )
    };
    std::path::absolute(&root).map_err(|e| failure(Code::CantCreate, cannot(e)))
}

fn choice(args: &RunArgs, suite: &Suite) -> Result<Choice> {
    let states = args.state.as_ref().map(|names| {
        let states = names.iter().map(|name| State::parse(name));
        states.collect::<Result<Vec<_>>>()
    });
    let data_scale = suite
        .data
        .as_ref()
        .map_or(1.0, |data| args.scale.unwrap_or(data.scale));
    let suite_memory = suite
        .memory
        .map(|bytes| ((bytes as f64 * data_scale) as u64).max(LEAST_MEMORY));
    Ok(Choice {
        states: states.transpose()?,
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
