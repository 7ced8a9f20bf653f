//! `readoff run`: suite → plan → check → rounds → verdict → results.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::budget::{fit, race_seconds};
use crate::check::check;
use crate::cli::{Competition, RunArgs};
use crate::dry_run::dry_run;
use crate::environment::Environment;
use crate::error::{Code, code_of, failure};
use crate::format::{printable, seconds, size};
use crate::hyperfine::Hyperfine;
use crate::input::{Input, plain};
use crate::output::print;
use crate::plan::{Choice, Plan, State};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::race::{HyperfineUsed, Race, SCHEMA, Status};
use crate::report;
use crate::results::Folder;
use crate::rounds::{Rounds, StateGivenUp};
use crate::sample::sample;
use crate::suite::Suite;
use crate::tally::{runs_csv, tally};

/// The budget of `--quick`, in seconds.
const QUICK_BUDGET: f64 = 30.0;

/// Runs a race, or goes on with one.
///
/// # Errors
/// See the exit codes; finished rounds are published in every case.
pub fn run(args: &RunArgs) -> Result<()> {
    let programs = Programs::find()?;
    let hyperfine = find_hyperfine(args, &programs)?;
    let progress = Progress::new(args.quiet);
    if let Some(folder) = &args.resume {
        let folder = Folder::open(folder)?;
        let race = Race::load(&folder)?;
        let input = Input::open(&folder.input().unwrap_or_else(|| (&race.input.path).into()))?;
        let race = resumed(race, &input, &programs, &hyperfine)?;
        progress.note(&format!("going on with {}", folder.path.display()));
        return race_and_publish(race, &input, &programs, &hyperfine, &folder, &progress);
    }
    let file = args
        .file
        .clone()
        .map_or_else(|| sample(&programs, args.dry_run, &progress), Ok)?;
    let input = Input::open(&file)?;
    let suite = Suite::load(&programs.suites()?, &args.competition.suite)?;
    let choice = choice(args)?;
    let plan = Plan::new(&suite, &choice, &programs, &input)?;
    if args.dry_run {
        let folder = results_root(args)?.join("RACE");
        return dry_run(plan, args.rounds, &input, &programs, &hyperfine, &folder);
    }
    let environment = Environment::look(&input);
    let folder = Folder::create(&results_root(args)?, &environment.host, &suite.name)?;
    let planned = planned(
        plan,
        args,
        &input,
        &programs,
        &hyperfine,
        environment,
        &folder,
        &progress,
    );
    let race = match planned {
        Ok(race) => race,
        Err(error) => {
            // Nothing was timed yet: an empty folder would only be in the way.
            let _ = std::fs::remove_dir_all(&folder.path);
            return Err(error);
        }
    };
    race_and_publish(race, &input, &programs, &hyperfine, &folder, &progress)
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

fn find_hyperfine(args: &RunArgs, programs: &Programs) -> Result<Hyperfine> {
    let installed: Vec<PathBuf> = programs.installed_hyperfine().into_iter().collect();
    Hyperfine::find(args.hyperfine.as_deref(), &installed)
        .map_err(|error| failure(Code::Unavailable, format!("{error:#}")))
}

fn choice(args: &RunArgs) -> Result<Choice> {
    let states = args.state.as_ref().map(|names| {
        let states = names.iter().map(|name| State::parse(name));
        states.collect::<Result<Vec<_>>>()
    });
    Ok(Choice {
        states: states.transpose()?,
        order: args.order,
        reference: args.reference.clone(),
        purge: args.purge,
        core_only: args.quick,
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

/// Checks, fits the rounds into the budget, and says what will be done before anything is timed.
#[expect(
    clippy::too_many_arguments,
    reason = "the race's parts, each used once"
)]
fn planned(
    mut plan: Plan,
    args: &RunArgs,
    input: &Input,
    programs: &Programs,
    hyperfine: &Hyperfine,
    environment: Environment,
    folder: &Folder,
    progress: &Progress,
) -> Result<Race> {
    input.link_in(&folder.path)?;
    let checked = check(&mut plan, input, programs, &folder.path, progress)?;
    let budget = if args.quick {
        QUICK_BUDGET
    } else {
        args.budget.as_secs_f64()
    };
    let notes = fit(&mut plan, &checked, args.rounds, budget);
    let states: Vec<&str> = plan.states.iter().map(|state| state.name()).collect();
    progress.note(&format!(
        "{} entries agree on {} ({}); {} rounds each of {}: about {}",
        plan.entries.len(),
        input.path.display(),
        size(input.identity.bytes),
        plan.rounds,
        states.join(", "),
        seconds(race_seconds(&plan, &checked)),
    ));
    let skipped = plan
        .skipped
        .iter()
        .map(|s| format!("left out: {}: {}", s.name, s.reason));
    skipped
        .chain(notes.iter().cloned())
        .for_each(|line| progress.note(&line));
    Ok(Race {
        schema: SCHEMA,
        readoff: env!("CARGO_PKG_VERSION").into(),
        hyperfine: used(hyperfine),
        started: jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string(),
        status: Status::Running,
        input: input.identity.clone(),
        environment,
        programs: fingerprints(&plan, programs)?,
        plan,
        checked,
        notes,
        states: Vec::new(),
    })
}

fn used(hyperfine: &Hyperfine) -> HyperfineUsed {
    HyperfineUsed {
        path: hyperfine.path.to_string_lossy().into_owned(),
        version: hyperfine.version.to_string(),
    }
}

/// The fingerprints of all programs that take part.
fn fingerprints(
    plan: &Plan,
    programs: &Programs,
) -> Result<std::collections::BTreeMap<String, String>> {
    let pagecache = programs.path("pagecache")?;
    let entries = plan.entries.iter().map(|entry| entry.command[0].as_str());
    Programs::fingerprints(entries.chain([pagecache.as_str()]))
}

/// An earlier race, if this file, these programs and this machine may go on with it.
fn resumed(race: Race, input: &Input, programs: &Programs, hyperfine: &Hyperfine) -> Result<Race> {
    let refuse = |why: String| {
        let what = format!("can't go on with this race: {why}; start a new one");
        failure(Code::Data, what)
    };
    if let Status::Void(why) = &race.status {
        return Err(refuse(why.clone()));
    }
    let now = Race {
        input: input.identity.clone(),
        environment: Environment::look(input),
        programs: fingerprints(&race.plan, programs)?,
        hyperfine: used(hyperfine),
        ..race.clone()
    };
    match race.difference(&now) {
        Some(difference) => Err(refuse(difference)),
        None => Ok(Race {
            status: Status::Running,
            ..race
        }),
    }
}

/// Runs the rounds and publishes what is finished, whatever ended them.
fn race_and_publish(
    mut race: Race,
    input: &Input,
    programs: &Programs,
    hyperfine: &Hyperfine,
    folder: &Folder,
    progress: &Progress,
) -> Result<()> {
    race.save(folder)?;
    let rounds = Rounds {
        plan: &race.plan,
        checked: &race.checked,
        input,
        programs,
        hyperfine,
        folder,
        progress,
    };
    let outcome = rounds
        .run()
        .and_then(|given_up| match programs_changed(&race, programs) {
            Some(change) => Err(failure(Code::Data, format!("the race is void: {change}"))),
            None => Ok(given_up),
        });
    progress.finish();
    folder.clear_partial();
    race.status = match &outcome {
        Ok(given_up) if given_up.iter().any(|g| g.failed) => Status::Interrupted,
        Ok(_) => Status::Finished,
        Err(error) if code_of(error) == Code::Data as u8 => Status::Void(error.to_string()),
        Err(_) => Status::Interrupted,
    };
    let given_up = outcome.iter().flatten().map(StateGivenUp::to_string);
    race.notes.extend(given_up);
    let place = printable(&folder.path.to_string_lossy());
    match (outcome, publish(&mut race, folder)) {
        (Ok(given_up), Ok(())) => conclude(&race, &given_up, &place),
        (Ok(_), Err(error)) => Err(error),
        (Err(error), Ok(())) => Err(error.context(place)),
        (Err(error), Err(other)) => {
            Err(error.context(format!("{place}: can't be published ({other:#})")))
        }
    }
}

/// Tells how a race came out that was neither void nor interrupted.
fn conclude(race: &Race, given_up: &[StateGivenUp], place: &str) -> Result<()> {
    let failed: Vec<String> = given_up
        .iter()
        .filter(|g| g.failed)
        .map(StateGivenUp::to_string)
        .collect();
    if race.states.is_empty() && failed.is_empty() {
        let reasons: Vec<String> = given_up.iter().map(StateGivenUp::to_string).collect();
        let what = format!("no state could be raced: {}", reasons.join("; "));
        return Err(failure(Code::Unavailable, what));
    }
    print(&report::terminal(race))?;
    // What is just not to be had here is no failure of the race.
    for state in given_up.iter().filter(|g| !g.failed) {
        print(&format!("{state}\n"))?;
    }
    print(&format!("published in {place}\n"))?;
    if failed.is_empty() {
        return Ok(());
    }
    let what = format!("{} (--resume {place} tries again)", failed.join("; "));
    Err(failure(Code::Unavailable, what))
}

fn programs_changed(race: &Race, programs: &Programs) -> Option<String> {
    match fingerprints(&race.plan, programs) {
        Ok(now) if now == race.programs => None,
        Ok(_) => Some("a program was built anew during the race".into()),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// Writes all that is derived from the rounds on disk.
fn publish(race: &mut Race, folder: &Folder) -> Result<()> {
    race.states = tally(&race.plan, folder)?;
    for tally in &race.states {
        folder.write(
            &format!("{}.json", tally.state.name()),
            tally.export.to_json().as_bytes(),
        )?;
    }
    folder.write("runs.csv", &runs_csv(&race.states, &race.input)?)?;
    folder.write("report.md", report::markdown(race).as_bytes())?;
    race.save(folder)?;
    folder.point_latest();
    Ok(())
}
