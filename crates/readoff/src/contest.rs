//! One file's race from beginning to end: check → rounds → verdict → results folder.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::budget::{Count, fit, race_seconds};
use crate::check::check;
use crate::environment::{Environment, Warning};
use crate::error::{Code, code_of, failure};
use crate::family;
use crate::file_facts::FileFacts;
use crate::format::{count, printable, seconds, size};
use crate::hyperfine::Hyperfine;
use crate::input::Input;
use crate::memory_limit::MemoryLimit;
use crate::output::print;
use crate::plan::{Plan, State};
use crate::possible_states::leave_out_impossible;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::race::{HyperfineUsed, Race, SCHEMA, Status};
use crate::report;
use crate::results::Folder;
use crate::rounds::{Rounds, StateGivenUp};
use crate::runs_csv::runs_csv;
use crate::tally::tally;

/// What every race needs: the project's programs, a hyperfine, and somebody to talk to.
#[derive(Debug)]
pub struct Driver {
    /// Strategies, `pagecache`, suites.
    pub programs: Programs,
    /// What times.
    pub hyperfine: Hyperfine,
    /// What the user sees.
    pub progress: Progress,
}

/// How a race came out that was neither void nor interrupted.
#[derive(Debug)]
pub struct Outcome {
    /// The race, as it was published.
    pub race: Race,
    given_up: Vec<StateGivenUp>,
}

/// How long a race may take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many rounds; as many as the budget has room for where nothing is asked for.
    pub rounds: Option<Count>,
    /// Seconds for all rounds, where their number isn't given.
    pub budget: f64,
}

impl Driver {
    /// Races a plan in a new folder under `root`, and publishes what came out; `latest` points at the
    /// folder if it is the `newest` race, and not one of many.
    ///
    /// # Errors
    /// As [`check`] and [`Rounds::run`]; finished rounds are published in every case. No state could
    /// be raced: exit code 69.
    pub fn race(
        &self,
        plan: Plan,
        effort: Effort,
        input: &Input,
        root: &Path,
        newest: bool,
    ) -> Result<(Outcome, Folder)> {
        let environment = Environment::look(Some(&input.path));
        self.warn(&environment.warnings);
        let _limit = plan.memory.map(MemoryLimit::enter).transpose()?;
        let folder = Folder::create(root, &environment.host, &plan.suite)?;
        let race = match self.begin(plan, effort, input, environment, &folder) {
            Ok(race) => race,
            Err(error) => {
                // Nothing was timed yet: an empty folder would only be in the way.
                let _ = std::fs::remove_dir_all(&folder.path);
                return Err(error);
            }
        };
        let outcome = self.finish(race, input, &folder);
        // One that is void or was interrupted is the newest, too.
        if newest {
            folder.point_latest();
        }
        Ok((outcome?, folder))
    }

    /// Goes on with an interrupted race.
    ///
    /// # Errors
    /// As [`Driver::race`]; or it is void, or the file, a program, the hyperfine or the machine is
    /// another one: exit code 65.
    pub fn resume(&self, folder: &Folder) -> Result<Outcome> {
        let race = Race::load(folder)?;
        let input = Input::open(&folder.input().unwrap_or_else(|| (&race.input.path).into()))?;
        let now = Race {
            input: input.identity.clone(),
            environment: Environment::look(Some(&input.path)),
            programs: self.fingerprints(&race.plan)?,
            hyperfine: self.hyperfine_used(),
            ..race.clone()
        };
        let against = match &race.status {
            Status::Void(why) => Some(why.clone()),
            _ => race.difference(&now),
        };
        if let Some(why) = against {
            let what = format!("can't go on with this race: {why}; start a new one");
            return Err(failure(Code::Data, what));
        }
        self.progress
            .note(&format!("going on with {}", folder.path.display()));
        self.warn(&now.environment.warnings);
        let _limit = race.plan.memory.map(MemoryLimit::enter).transpose()?;
        family::set_up(&race.plan, &input, &self.programs, &folder.path)?;
        let race = Race {
            status: Status::Running,
            ..race
        };
        race.save(folder)?;
        self.finish(race, &input, folder)
    }

    /// Checks, fits the rounds into the budget, and says what will be done before anything is timed.
    fn begin(
        &self,
        mut plan: Plan,
        effort: Effort,
        input: &Input,
        environment: Environment,
        folder: &Folder,
    ) -> Result<Race> {
        leave_out_impossible(&mut plan, input)?;
        let said = self.say_left_out(&plan, 0);
        let mut file = FileFacts::look(input, !plan.states.contains(&State::AsIs));
        input.link_in(&folder.path)?;
        family::set_up(&plan, input, &self.programs, &folder.path)?;
        let checked = check(
            &mut plan,
            input,
            &self.programs,
            &folder.path,
            &self.progress,
        )?;
        file.sample(input);
        let notes = fit(&mut plan, &checked, effort.rounds, effort.budget);
        let states: Vec<&str> = plan.states.iter().map(|state| state.name()).collect();
        let states = states.join(", ");
        let rounds = match plan.until_settled {
            true => format!(
                "rounds until it is settled, each of {states}: at most {}",
                seconds(effort.budget)
            ),
            false => format!(
                "{} each of {states}: about {}",
                count(plan.rounds as usize, "round"),
                seconds(race_seconds(&plan, &checked))
            ),
        };
        self.progress.note(&format!(
            "{} agree on {} ({}); {rounds}",
            count(plan.entries.len(), "entry"),
            input.path.display(),
            size(input.identity.bytes),
        ));
        self.say_left_out(&plan, said);
        notes.iter().for_each(|line| self.progress.note(line));
        self.progress
            .note(&format!("the file: {}", file.lines().join("; ")));
        for warning in &file.warnings {
            self.progress.note(&format!("warning: {}", warning.line()));
        }
        let race = Race {
            schema: SCHEMA,
            readoff: env!("CARGO_PKG_VERSION").into(),
            hyperfine: self.hyperfine_used(),
            started: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            status: Status::Running,
            input: input.identity.clone(),
            file,
            environment,
            programs: self.fingerprints(&plan)?,
            plan,
            checked,
            notes,
            states: Vec::new(),
        };
        race.save(folder)?;
        Ok(race)
    }

    /// Runs the rounds and publishes what is finished, whatever ended them.
    fn finish(&self, mut race: Race, input: &Input, folder: &Folder) -> Result<Outcome> {
        let rounds = Rounds {
            plan: &race.plan,
            checked: &race.checked,
            input,
            programs: &self.programs,
            hyperfine: &self.hyperfine,
            folder,
            progress: &self.progress,
        };
        let outcome = rounds
            .run()
            .and_then(|given_up| match self.programs_changed(&race) {
                Some(change) => Err(failure(Code::Data, format!("the race is void: {change}"))),
                None => Ok(given_up),
            });
        self.progress.finish();
        folder.clear_partial();
        family::clear(&race.plan, &self.programs, &folder.path);
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
            (Ok(given_up), Ok(())) => Ok(Outcome { race, given_up }),
            (Ok(_), Err(error)) => Err(error),
            (Err(error), Ok(())) => Err(error.context(place)),
            (Err(error), Err(other)) => {
                Err(error.context(format!("{place}: can't be published ({other:#})")))
            }
        }
    }

    /// Says what is left out, but for what was `said` before; returns how much that is now.
    fn say_left_out(&self, plan: &Plan, said: usize) -> usize {
        for skipped in &plan.skipped[said..] {
            let (name, reason) = (&skipped.name, &skipped.reason);
            self.progress.note(&format!("left out: {name}: {reason}"));
        }
        plan.skipped.len()
    }

    /// Says, before anything is timed, what can spoil it.
    fn warn(&self, warnings: &[Warning]) {
        for warning in warnings {
            self.progress
                .note_once(&format!("warning: {}", warning.line()));
        }
    }

    fn hyperfine_used(&self) -> HyperfineUsed {
        HyperfineUsed {
            path: self.hyperfine.path.to_string_lossy().into_owned(),
            version: self.hyperfine.version.to_string(),
        }
    }

    /// The fingerprints of all programs that take part.
    fn fingerprints(&self, plan: &Plan) -> Result<BTreeMap<String, String>> {
        let pagecache = self.programs.path("pagecache")?;
        let entries = plan.entries.iter().map(|entry| entry.command[0].as_str());
        Programs::fingerprints(entries.chain([pagecache.as_str()]))
    }

    fn programs_changed(&self, race: &Race) -> Option<String> {
        match self.fingerprints(&race.plan) {
            Ok(now) if now == race.programs => None,
            Ok(_) => Some("a program was built anew during the race".into()),
            Err(error) => Some(format!("{error:#}")),
        }
    }
}

impl Outcome {
    /// Prints the verdict, the tables, and where the race was published.
    ///
    /// # Errors
    /// A state failed, or none could be had: exit code 69. Standard output can't be written: 74.
    pub fn tell(&self, folder: &Folder) -> Result<()> {
        let told = |failed: bool| {
            let given_up = self.given_up.iter().filter(move |g| g.failed == failed);
            given_up.map(StateGivenUp::to_string).collect::<Vec<_>>()
        };
        let (failed, unavailable) = (told(true), told(false));
        if self.race.states.is_empty() && failed.is_empty() {
            let what = format!("no state could be raced: {}", unavailable.join("; "));
            return Err(failure(Code::Unavailable, what));
        }
        print(&report::terminal(&self.race))?;
        // What is just not to be had here is no failure of the race.
        let skipped = self.race.plan.skipped.iter();
        skipped
            .filter(|skipped| State::parse(&skipped.name).is_ok())
            .try_for_each(|s| print(&format!("{}: left out: {}\n", s.name, s.reason)))?;
        unavailable
            .iter()
            .try_for_each(|line| print(&format!("{line}\n")))?;
        let place = printable(&folder.path.to_string_lossy());
        print(&format!("published in {place}\n"))?;
        if failed.is_empty() {
            return Ok(());
        }
        let what = format!("{} (--resume {place} tries again)", failed.join("; "));
        Err(failure(Code::Unavailable, what))
    }
}

/// Writes all that is derived from the rounds on disk.
fn publish(race: &mut Race, folder: &Folder) -> Result<()> {
    race.states = tally(&race.plan, folder)?;
    for tally in &race.states {
        let name = format!("{}.json", tally.state.name());
        folder.write(&name, tally.export.to_json().as_bytes())?;
    }
    folder.write("runs.csv", &runs_csv(&race.states)?)?;
    folder.write("report.md", report::markdown(race).as_bytes())?;
    race.save(folder)?;
    Ok(())
}
