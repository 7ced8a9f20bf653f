//! The rounds: one call of hyperfine a round and state, each proved and on disk before the next.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::budget::round_seconds;
use crate::check::Checked;
use crate::error::{Code, failure};
use crate::family;
use crate::hyperfine::process::Ended;
use crate::hyperfine::{Call, Contestant, FailureKind, Hyperfine};
use crate::input::Input;
use crate::order::order;
use crate::plan::{Entry, Order, Plan, Purge, State};
use crate::process::{self, INTERRUPTED};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::question::Question;
use crate::results::{Folder, RoundFiles};
use crate::round_log;
use crate::watch::Watching;

/// How often a round is tried before its state is given up.
const TRIES: u32 = 3;

/// All that the rounds need to know.
#[derive(Debug)]
pub struct Rounds<'a> {
    /// The plan, its rounds fitted.
    pub plan: &'a Plan,
    /// The check's answers and times.
    pub checked: &'a Checked,
    /// The file.
    pub input: &'a Input,
    /// The project's programs.
    pub programs: &'a Programs,
    /// The hyperfine that times.
    pub hyperfine: &'a Hyperfine,
    /// The results folder.
    pub folder: &'a Folder,
    /// What the user sees.
    pub progress: &'a Progress,
}

/// Why a state's rounds ended early, though the race goes on.
#[derive(Debug)]
pub struct StateGivenUp {
    /// The state.
    pub state: State,
    /// Why.
    pub reason: String,
    /// Whether something failed; else the state is just not to be had here.
    pub failed: bool,
}

impl fmt::Display for StateGivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: given up: {}", self.state.name(), self.reason)
    }
}

/// Why a round could not be finished.
pub(crate) enum RoundError {
    /// The race is over: interrupted, or void.
    Race(anyhow::Error),
    /// It may work when tried again.
    Again(String),
    /// This state can't be had here.
    Unavailable(String),
    /// It failed, and would again.
    Failed(String),
}

impl From<anyhow::Error> for RoundError {
    fn from(error: anyhow::Error) -> RoundError {
        RoundError::Race(error)
    }
}

impl Rounds<'_> {
    /// Runs all rounds that the folder doesn't have yet, state after state, so that a fill lasts.
    ///
    /// # Errors
    /// Interrupted (130), or void: the file or a program changed, or an answer was wrong (65).
    /// Rounds that were finished before stay.
    pub fn run(&self) -> Result<Vec<StateGivenUp>> {
        let mut given_up = Vec::new();
        let started = Instant::now();
        for (index, state) in self.plan.states.iter().enumerate() {
            let finished = self.folder.finished(*state);
            let missing: Vec<u32> = (1..=self.plan.rounds)
                .filter(|number| !finished.contains(number))
                .collect();
            if missing.is_empty() || self.plan.entries_in(*state).is_empty() {
                continue;
            }
            let time = self.time_for(&self.plan.states[index..], started.elapsed());
            match self.run_state(*state, &missing, time) {
                Ok(()) => {}
                Err(RoundError::Race(error)) => return Err(error),
                Err(RoundError::Unavailable(reason)) => given_up.push(StateGivenUp {
                    state: *state,
                    reason,
                    failed: false,
                }),
                Err(RoundError::Again(reason) | RoundError::Failed(reason)) => {
                    given_up.push(StateGivenUp {
                        state: *state,
                        reason,
                        failed: true,
                    });
                }
            }
        }
        Ok(given_up)
    }

    /// Seconds that the first of the states that are left may take; none where the rounds count and
    /// not the clock.
    fn time_for(&self, left: &[State], spent: Duration) -> Option<f64> {
        let seconds = |state: &State| round_seconds(self.plan, self.checked, *state);
        let budget = self.plan.budget?;
        let state = left.first()?;
        if self.plan.until_settled {
            let share = seconds(state) / left.iter().map(seconds).sum::<f64>();
            return Some((budget - spent.as_secs_f64()) * share);
        }
        Some(seconds(state) * f64::from(self.plan.rounds) * 1.25 + 2.0)
    }

    /// Runs a state's missing rounds: all of them, or until its question is settled, or until its
    /// time (seconds) is over. The clock knows nothing of who is ahead, so that ending by it keeps
    /// the test honest; `settled` does, and has a test of its own that allows for it.
    fn run_state(
        &self,
        state: State,
        missing: &[u32],
        time: Option<f64>,
    ) -> Result<(), RoundError> {
        let mut question = self
            .plan
            .until_settled
            .then(|| Question::of(self.plan, state));
        if let Some(question) = &mut question {
            for number in self.folder.finished(state) {
                question.read(self.plan, self.folder, number)?;
            }
            if question.settled() {
                return Ok(());
            }
        }
        self.fill(state)?;
        let started = Instant::now();
        let mut ran = 0;
        for (done, number) in (1_u32..).zip(missing) {
            self.run_round(state, *number)?;
            ran = done;
            let took = started.elapsed();
            let rest = (missing.len() as u32 - done) * (took / done);
            let within =
                time.map(|time| Duration::from_secs_f64(time.max(0.0)).saturating_sub(took));
            let left = rest.min(within.unwrap_or(Duration::MAX));
            let (name, planned) = (state.name(), self.plan.rounds);
            if let Some(question) = &mut question {
                self.progress.round(&format!("{name} round {number}"), left);
                question.read(self.plan, self.folder, *number)?;
                if question.settled() {
                    self.progress
                        .note(&format!("{name}: settled after round {number}"));
                    break;
                }
            } else {
                self.progress
                    .round(&format!("{name} round {number} of {planned}"), left);
            }
            // What a round takes must not be paid by the user's patience.
            if within.is_some_and(|within| within < took / done) {
                if !rest.is_zero() {
                    let what = match question {
                        Some(_) => "its share of the budget is spent",
                        None => "slower than estimated: ended after its share of the budget",
                    };
                    self.progress
                        .note(&format!("{name}: {what}, {done} rounds"));
                }
                break;
            }
        }
        self.repeat_spoiled(state, started, ran)
    }

    /// Fills the cache once for all rounds of a state; the prepare step only verifies after that.
    fn fill(&self, state: State) -> Result<(), RoundError> {
        let Some(command) = fill_command(state, self.programs)? else {
            return Ok(());
        };
        self.progress
            .say(&format!("filling the cache for {}", state.name()));
        let mut fill = Command::new(&command[0]);
        fill.args(&command[1..]).arg(&self.input.path);
        self.ours(&mut fill)
    }

    /// Runs a command of ours that brings a state about.
    fn ours(&self, command: &mut Command) -> Result<(), RoundError> {
        command.current_dir(&self.folder.path);
        let finished = process::run(command, None)
            .with_context(|| command.get_program().to_string_lossy().into_owned())?;
        match finished.ended {
            Ended::Interrupted => Err(interrupted()),
            _ if finished.succeeded() => Ok(()),
            _ => {
                self.see_unchanged()?;
                let cause = finished.cause().into();
                Err(match finished.code() {
                    Some(69) => RoundError::Unavailable(cause),
                    _ => RoundError::Again(cause),
                })
            }
        }
    }

    pub(crate) fn run_round(&self, state: State, number: u32) -> Result<(), RoundError> {
        let mut reasons = Vec::new();
        while reasons.len() < TRIES as usize {
            self.folder.clear_partial();
            match self.try_round(state, number) {
                Err(RoundError::Again(reason)) => reasons.push(reason),
                other => return other,
            }
        }
        self.folder.clear_partial();
        Err(RoundError::Again(reasons.pop().unwrap_or_default()))
    }

    fn try_round(&self, state: State, number: u32) -> Result<(), RoundError> {
        let call = call(
            self.plan,
            state,
            number,
            self.programs,
            self.input,
            &self.folder.path,
        )?;
        let estimate = round_seconds(self.plan, self.checked, state);
        let limits = self
            .plan
            .entries
            .iter()
            .filter_map(|e| Some(e.external.as_ref()?.limit));
        let patience = Duration::from_secs_f64(60.0 + 10.0 * estimate + limits.sum::<f64>());
        let watching = Watching::begin();
        let outcome = call.run(
            self.hyperfine,
            &INTERRUPTED,
            Some(Instant::now() + patience),
        );
        let watch = watching.end();
        self.see_unchanged()?;
        match outcome {
            Ok(_) => round_log::append_watch(&self.folder.partial().log, &watch)?,
            Err(failure) if failure.kind == FailureKind::Interrupted => return Err(interrupted()),
            Err(failure) => {
                return Err(match (failure.kind, failure.contestant) {
                    (FailureKind::Failed, Some(index)) => {
                        self.explain(&call.contestants[index], &failure.to_string())
                    }
                    _ => RoundError::Again(failure.to_string()),
                });
            }
        }
        self.verify(&call, state, &self.folder.partial())?;
        let last = call.contestants.last().map_or("", |last| &last.name);
        family::verify(
            self.plan,
            last,
            self.input,
            self.programs,
            &self.folder.path,
        )?;
        self.folder.finish_round(state, number)?;
        Ok(())
    }

    /// The race is void if the file is no longer what was checked.
    fn see_unchanged(&self) -> Result<()> {
        match self.input.changed() {
            None => Ok(()),
            Some(change) => {
                let what = format!("the race is void: {} {change}", self.input.path.display());
                Err(failure(Code::Data, what))
            }
        }
    }

    /// Says why a round failed. hyperfine keeps what its children say to itself, so the prepare
    /// step and the command are run once more, untimed, to hear it.
    fn explain(&self, contestant: &Contestant, message: &str) -> RoundError {
        let mut prepare = Command::new(&contestant.prepare[0]);
        prepare.args(&contestant.prepare[1..]);
        if let Err(error) = self.ours(&mut prepare) {
            return error;
        }
        let mut command = Command::new(&contestant.command[0]);
        command.args(&contestant.command[1..]);
        match self.ours(&mut command) {
            Ok(()) => RoundError::Again(format!("{}: {message}", contestant.name)),
            Err(RoundError::Race(error)) => RoundError::Race(error),
            Err(
                RoundError::Again(cause)
                | RoundError::Unavailable(cause)
                | RoundError::Failed(cause),
            ) => {
                let what = format!("{} fails: {cause}", contestant.name);
                RoundError::Failed(what)
            }
        }
    }

    /// Sees that every run has its proof and, if it is ours, the right answer.
    fn verify(&self, call: &Call, state: State, files: &RoundFiles) -> Result<(), RoundError> {
        // What a killed race left running may have written into this one's log.
        let runs = round_log::read(&files.log).map_err(|e| RoundError::Again(format!("{e:#}")))?;
        let per_entry = self.plan.block(state).all() as usize;
        if runs.len() != call.contestants.len() * per_entry {
            let what = format!(
                "{} runs asked for, {} prepared",
                call.contestants.len() * per_entry,
                runs.len()
            );
            return Err(RoundError::Again(what));
        }
        for (contestant, block) in call.contestants.iter().zip(runs.chunks(per_entry)) {
            let external = self
                .plan
                .entries
                .iter()
                .any(|e| e.name == contestant.name && e.external.is_some());
            if let Some(run) = block.iter().find(|run| run.prepared.holds() == Some(false)) {
                let (resident, all) = (run.prepared.resident, run.prepared.bytes);
                return Err(RoundError::Again(format!(
                    "{} began outside of its state, with {} of {all} bytes resident",
                    contestant.name,
                    resident.unwrap_or(0)
                )));
            }
            for run in block.iter().filter(|_| !external) {
                let Some(record) = &run.record else {
                    return Err(RoundError::Again(format!(
                        "{} left no record",
                        contestant.name
                    )));
                };
                if record.answer != self.checked.answer || record.bytes != self.checked.bytes {
                    let what = format!(
                        "the race is void: {} answers {} over {} bytes, where {} over {} is right",
                        contestant.name,
                        record.answer,
                        record.bytes,
                        self.checked.answer,
                        self.checked.bytes
                    );
                    return Err(failure(Code::Data, what).into());
                }
            }
        }
        Ok(())
    }
}

fn interrupted() -> RoundError {
    RoundError::Race(failure(
        Code::Interrupted,
        "interrupted; finished rounds are kept, and --resume goes on from them",
    ))
}

/// The command that fills the cache for a state, without the file; `None` for a state that isn't filled.
pub fn fill_command(state: State, programs: &Programs) -> Result<Option<Vec<String>>> {
    let Some(how) = state.fill() else {
        return Ok(None);
    };
    let words = [&programs.path("pagecache")?, "fill", "--how", how];
    Ok(Some(words.map(str::to_string).into()))
}

/// One round's call of hyperfine: all entries of the state, in the order of the round.
pub fn call(
    plan: &Plan,
    state: State,
    number: u32,
    programs: &Programs,
    input: &Input,
    folder: &Path,
) -> Result<Call> {
    let entries = plan.entries_in(state);
    let order: Vec<usize> = match plan.order {
        Order::Grouped => (0..entries.len()).collect(),
        Order::Balanced => order(entries.len(), number, plan.seed.into()),
    };
    let contestants = order
        .into_iter()
        .map(|index| contestant(plan, entries[index], state, programs, input))
        .collect::<Result<Vec<_>>>()?;
    let block = plan.block(state);
    Ok(Call {
        contestants,
        warmup: block.warmup as usize,
        runs: block.runs as usize,
        export: "rounds/partial.json".into(),
        dir: folder.to_path_buf(),
        env: vec![(
            "READOFF_RECORD".into(),
            folder.join("rounds/partial.log.jsonl").into(),
        )],
    })
}

fn contestant(
    plan: &Plan,
    entry: &Entry,
    state: State,
    programs: &Programs,
    input: &Input,
) -> Result<Contestant> {
    let mut prepare = vec![programs.path("pagecache")?];
    let words = [
        "prepare",
        "--state",
        state.name(),
        "--executable",
        &entry.command[0],
    ];
    prepare.extend(words.map(String::from));
    if plan.purge == Purge::System {
        prepare.extend(["--purge", "system"].map(String::from));
    }
    prepare.extend(family::prepare_arguments(&plan.family, &entry.command[0]));
    prepare.push(input.argument().into());
    Ok(Contestant {
        name: entry.name.clone(),
        command: entry.command.clone(),
        prepare,
    })
}
