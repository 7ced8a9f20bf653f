//! `readoff run`: suite → plan → check → rounds → verdict → results.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::budget::{fit, race_seconds};
use crate::check::{check, control_work};
use crate::cli::{Competition, RunArgs};
use crate::environment::Environment;
use crate::error::{Code, code_of, failure};
use crate::format::{seconds, size};
use crate::hyperfine::{Hyperfine, quote};
use crate::input::Input;
use crate::plan::{Choice, Order, Plan, State};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::race::{HyperfineUsed, Race, SCHEMA, Status};
use crate::report;
use crate::results::Folder;
use crate::rounds::{Rounds, call, fill_command};
use crate::sample::sample;
use crate::suite::Suite;
use crate::tally::{runs_csv, tally};

/// The budget of `--quick`, in seconds.
const QUICK_BUDGET: f64 = 30.0;

/// Rounds that `--dry-run` shows where the check would have to tell how many fit.
const DRY_ROUNDS: u32 = 6;

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
        let race = resumed(Race::load(&folder)?, &programs, &hyperfine)?;
        let input = Input::open(race.input.path.as_ref())?;
        progress.note(&format!("going on with {}", folder.path.display()));
        return race_and_publish(race, &input, &programs, &hyperfine, &folder, &progress);
    }
    let file = args
        .file
        .clone()
        .map_or_else(|| sample(&programs, &progress), Ok)?;
    let input = Input::open(&file)?;
    let suite = Suite::load(&programs.suites()?, &args.competition.suite)?;
    let choice = choice(args)?;
    let plan = Plan::new(&suite, &choice, &programs, &input)?;
    if args.dry_run {
        return dry_run(plan, args, &input, &programs, &hyperfine);
    }
    let environment = Environment::look(&input);
    let folder = Folder::create(&results_root(args), &environment.host, &suite.name)?;
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

fn results_root(args: &RunArgs) -> PathBuf {
    let from_env = || env::var_os("READOFF_RESULTS").map(PathBuf::from);
    args.results
        .clone()
        .or_else(from_env)
        .unwrap_or_else(|| "results".into())
}

fn find_hyperfine(args: &RunArgs, programs: &Programs) -> Result<Hyperfine> {
    let installed: Vec<PathBuf> = programs.installed_hyperfine().into_iter().collect();
    Hyperfine::find(args.hyperfine.as_deref(), &installed)
}

fn choice(args: &RunArgs) -> Result<Choice> {
    let states = args.state.as_ref().map(|names| {
        let mut states = names
            .iter()
            .map(|name| State::parse(name))
            .collect::<Result<Vec<_>>>()?;
        let mut seen = Vec::new();
        states.retain(|state| {
            !seen.contains(state) && {
                seen.push(*state);
                true
            }
        });
        Ok::<_, anyhow::Error>(states)
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
fn resumed(race: Race, programs: &Programs, hyperfine: &Hyperfine) -> Result<Race> {
    let input = Input::open(race.input.path.as_ref())?;
    let now = Race {
        input: input.identity.clone(),
        environment: Environment::look(&input),
        programs: fingerprints(&race.plan, programs)?,
        hyperfine: used(hyperfine),
        ..race.clone()
    };
    match race.difference(&now) {
        Some(difference) => {
            let what = format!("can't go on with this race: {difference}; start a new one");
            Err(failure(Code::Data, what))
        }
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
    match &outcome {
        Ok(given_up) => {
            race.status = Status::Finished;
            let notes = given_up
                .iter()
                .map(|g| format!("{}: given up: {}", g.state.name(), g.reason));
            race.notes.extend(notes);
        }
        Err(error) if code_of(error) == Code::Data as u8 => {
            race.status = Status::Void(error.to_string())
        }
        Err(_) => race.status = Status::Interrupted,
    }
    publish(&mut race, folder)?;
    if let Err(error) = outcome {
        return Err(error.context(format!("kept in {}", folder.path.display())));
    }
    if race.states.is_empty() {
        let why = race.notes.join("; ");
        return Err(failure(
            Code::Unavailable,
            format!("no state could be raced: {why}"),
        ));
    }
    print!("{}", report::terminal(&race));
    println!("published in {}", folder.path.display());
    Ok(())
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

/// Prints every command that a race would run.
fn dry_run(
    mut plan: Plan,
    args: &RunArgs,
    input: &Input,
    programs: &Programs,
    hyperfine: &Hyperfine,
) -> Result<()> {
    plan.rounds = match plan.order {
        Order::Grouped => 1,
        Order::Balanced => args.rounds.unwrap_or(DRY_ROUNDS),
    };
    let shell = |words: &[String]| quote(words);
    println!("# check: all must agree");
    for entry in plan.entries.iter().filter(|entry| entry.external.is_none()) {
        let work = control_work(&plan.family, &plan.work);
        println!("{} --json", shell(&entry.with_work(work)));
    }
    if args.rounds.is_none() && plan.order == Order::Balanced {
        println!("# the check tells how many rounds fit into the budget; {DRY_ROUNDS} are shown");
    }
    let folder = std::path::absolute(results_root(args))?.join("RACE");
    for state in &plan.states {
        if let Some(fill) = fill_command(*state, programs)? {
            println!(
                "# {}\n{} {}",
                state.name(),
                shell(&fill),
                quote(&[input.argument().into()])
            );
        }
        for number in 1..=plan.rounds {
            println!("# {} round {number}", state.name());
            let call = call(&plan, *state, number, programs, input, &folder)?;
            println!("{}", call.shell_line(hyperfine));
        }
    }
    Ok(())
}
