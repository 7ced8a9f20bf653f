//! The plan of a race: who competes, with which command, in which states, how often. It is written
//! into `race.json` before anything is timed, and `--resume` goes on from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure, near_match};
use crate::family;
use crate::input::Input;
use crate::programs::Programs;
use crate::source::Source;
pub use crate::state::State;
use crate::suite::{Counts, Suite};

/// How the runs of a race are ordered.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Rounds, each entry once in a round, in an order that is drawn: each is as likely to follow each
    /// other.
    #[default]
    Balanced,
    /// One call of hyperfine, each entry's repetitions in a row, as a person would type it.
    Grouped,
}

/// What drops the file's pages for a cold run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// The file's own pages; needs no root.
    #[default]
    File,
    /// All of the machine's page cache, as `drop_caches` and `purge` do; needs root.
    System,
}

/// How often an entry runs in a round.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Runs that aren't counted, first.
    pub warmup: u32,
    /// Runs that are.
    pub runs: u32,
}

impl Block {
    /// All runs of the block.
    pub fn all(self) -> u32 {
        self.warmup + self.runs
    }
}

/// What competes: a label and a command line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Entry {
    /// Its label, unique in the race.
    pub name: String,
    /// Program (an absolute path) and arguments; the file is among them.
    pub command: Vec<String>,
    /// The states in which it is raced.
    pub states: Vec<State>,
    /// Whether it stays when a large file leaves time for only a few.
    pub core: bool,
    /// Somebody else's program: its time limit in seconds, and what it counts.
    pub external: Option<ExternalFacts>,
}

/// What is known of an external.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ExternalFacts {
    /// The longest that one run may take, in seconds.
    pub limit: f64,
    /// Whether it counts newlines (false), lines (true), or prints no answer (none).
    pub counts_lines: Option<bool>,
}

/// An entry that isn't raced, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Skipped {
    /// Its label, or a state's name.
    pub name: String,
    /// Why, in a few words.
    pub reason: String,
}

/// What a user chose on the command line; whatever is `None` is the suite's to say.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Labels of the entries to race.
    pub entries: Option<Vec<String>>,
    /// What is done with the bytes.
    pub work: Option<String>,
    /// The states to race in.
    pub states: Option<Vec<State>>,
    /// Balanced or grouped.
    pub order: Option<Order>,
    /// The entry that the others are compared with.
    pub reference: Option<String>,
    /// Buffer size, for the strategies that have one.
    pub buffer: Option<String>,
    /// What drops the pages.
    pub purge: Purge,
    /// Only the suite's core entries.
    pub core_only: bool,
    /// Bytes of memory that the whole race may use.
    pub memory: Option<u64>,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// All of it, as hyperfine times it.
    #[default]
    Wall,
    /// Until the whole file is in memory.
    Arrive,
    /// The work after that.
    Touch,
    /// The visits alone, without loading where they go.
    Visit,
}

impl Phase {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Wall => "whole run",
            Phase::Arrive => "file to memory",
            Phase::Touch => "touch",
            Phase::Visit => "visits",
        }
    }
}

/// The plan of a race.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Plan {
    /// The suite's name.
    pub suite: String,
    /// The family whose strategies compete.
    pub family: String,
    /// What is done with the bytes.
    pub work: String,
    /// The states, in the order in which they are raced.
    pub states: Vec<State>,
    /// Runs of an entry in a round, by state.
    pub blocks: BTreeMap<State, Block>,
    /// Rounds in each state, or the most; 0 until the check has told how long they take.
    pub rounds: u32,
    /// Whether a state's rounds end as soon as its question is settled.
    #[serde(default)]
    pub until_settled: bool,
    /// What the orders of the rounds are drawn from.
    #[serde(default)]
    pub seed: u32,
    /// Seconds that all rounds together may take, where the number of rounds follows from it.
    pub budget: Option<f64>,
    /// How the runs are ordered.
    pub order: Order,
    /// What drops the pages.
    pub purge: Purge,
    /// The label that the others are compared with.
    pub reference: String,
    /// The part of a run that decides.
    #[serde(default)]
    pub decides: Phase,
    /// Bytes of memory that the whole race may use, page cache included; none for no limit.
    #[serde(default)]
    pub memory: Option<u64>,
    /// What a published source says of the same race.
    #[serde(default)]
    pub source: Option<Source>,
    /// Who competes.
    pub entries: Vec<Entry>,
    /// Who doesn't, and why.
    pub skipped: Vec<Skipped>,
}

impl Plan {
    /// Resolves a suite and a choice into commands.
    ///
    /// # Errors
    /// An unknown entry, work or reference (the near match is named); nothing left to race.
    pub fn new(suite: &Suite, choice: &Choice, programs: &Programs, input: &Input) -> Result<Plan> {
        let work = choice.work.clone().unwrap_or_else(|| suite.work.clone());
        let mut states = choice
            .states
            .clone()
            .unwrap_or_else(|| suite.states.clone());
        // Each once. What was found is raced first; the rest as the user or the suite said.
        let mut seen = BTreeSet::new();
        states.retain(|state| seen.insert(*state));
        states.sort_by_key(|state| *state != State::AsIs);
        let mut plan = Plan {
            suite: suite.name.clone(),
            family: suite.family.clone(),
            blocks: states
                .iter()
                .map(|s| (*s, suite.block.get(s).copied().unwrap_or(s.default_block())))
                .collect(),
            states,
            rounds: 0,
            until_settled: false,
            seed: fastrand::u32(..),
            budget: None,
            order: choice.order.unwrap_or(suite.order),
            purge: choice.purge,
            reference: choice
                .reference
                .clone()
                .unwrap_or_else(|| suite.reference.clone()),
            decides: suite.decides,
            memory: choice.memory,
            source: suite.source.clone(),
            entries: Vec::new(),
            skipped: Vec::new(),
            work,
        };
        plan.add_strategies(suite, choice, programs, input)?;
        plan.add_externals(suite, choice, input);
        plan.keep_only(suite, choice, programs)?;
        Ok(plan)
    }

    fn add_strategies(
        &mut self,
        suite: &Suite,
        choice: &Choice,
        programs: &Programs,
        input: &Input,
    ) -> Result<()> {
        let mut wanted: Vec<(String, Vec<String>, Vec<State>, bool)> = suite
            .entries
            .iter()
            .map(|entry| {
                let default = vec![format!("{}-{}", suite.family, entry.name)];
                let run = entry.run.clone().unwrap_or(default);
                let states = entry.states.clone().unwrap_or_else(|| State::ALL.to_vec());
                (entry.name.clone(), run, states, entry.core)
            })
            .collect();
        // Strategies that the suite doesn't list can be asked for by name.
        for name in choice.entries.iter().flatten() {
            let program = format!("{}-{name}", suite.family);
            let known = suite.labels().any(|label| label == name)
                || wanted.iter().any(|(label, ..)| label == name);
            if !known && programs.strategies(&suite.family).contains(&program) {
                wanted.push((name.clone(), vec![program], State::ALL.to_vec(), true));
            }
        }
        for (name, run, states, core) in wanted {
            if !selected(choice, &name) {
                continue;
            }
            let help = match programs.help(&run[0]) {
                Ok(help) => help,
                Err(reason) => {
                    self.skipped.push(Skipped { name, reason });
                    continue;
                }
            };
            let mut command = vec![programs.path(&run[0])?];
            command.extend_from_slice(&run[1..]);
            // An entry may come with a work of its own that has the same answer.
            if !run.iter().any(|word| word == "--work") {
                command.extend(["--work".into(), self.work.clone()]);
            }
            command.extend(suite.options.iter().cloned());
            command.extend(family::arguments(&suite.family, &self.work));
            if let Some(buffer) = choice
                .buffer
                .as_ref()
                .filter(|_| help.has_option("--buffer"))
            {
                command.extend(["--buffer".into(), buffer.clone()]);
            }
            programs.accepts(&command)?;
            command.push(input.argument().into());
            let states = states
                .into_iter()
                .filter(|state| self.states.contains(state))
                .collect();
            self.entries.push(Entry {
                name,
                command,
                states,
                core,
                external: None,
            });
        }
        Ok(())
    }

    fn add_externals(&mut self, suite: &Suite, choice: &Choice, input: &Input) {
        for external in suite.externals.iter().filter(|e| selected(choice, &e.name)) {
            let name = external.name.clone();
            if !external.works.contains(&self.work) {
                let reason = format!("does not do the work {:?}", self.work);
                self.skipped.push(Skipped { name, reason });
                continue;
            }
            let program = match which::which(&external.run[0]).map(PathBuf::into_os_string) {
                Ok(path) => path.into_string().ok(),
                Err(_) => None,
            };
            let Some(program) = program else {
                let reason = format!("{} is not installed", external.run[0]);
                self.skipped.push(Skipped { name, reason });
                continue;
            };
            let arguments = external.run[1..]
                .iter()
                .map(|a| a.replace("{file}", input.argument()));
            self.entries.push(Entry {
                name,
                command: std::iter::once(program).chain(arguments).collect(),
                states: self.states.clone(),
                core: false,
                external: Some(ExternalFacts {
                    limit: external.limit,
                    counts_lines: external.answer.map(|counts| counts == Counts::Lines),
                }),
            });
        }
    }

    /// Applies `--entries` and `--quick`, and sees that the reference is among what is left.
    fn keep_only(&mut self, suite: &Suite, choice: &Choice, programs: &Programs) -> Result<()> {
        let known = |name: &str| {
            self.entries.iter().any(|entry| entry.name == name)
                || self.skipped.iter().any(|skipped| skipped.name == name)
        };
        if let Some(name) = choice.entries.iter().flatten().find(|name| !known(name)) {
            let prefix = format!("{}-", suite.family);
            let strategies = programs.strategies(&suite.family);
            let more = strategies
                .iter()
                .filter_map(|program| program.strip_prefix(&prefix));
            let near = near_match(name, suite.labels().chain(more));
            return Err(failure(
                Code::Usage,
                format!("unknown entry {name:?}{near}"),
            ));
        }
        if choice.core_only && choice.entries.is_none() {
            self.entries
                .retain(|entry| entry.core || entry.name == self.reference);
        }
        if self.entries.is_empty() {
            let why = self
                .skipped
                .first()
                .map_or(String::new(), |s| format!(": {}: {}", s.name, s.reason));
            return Err(failure(
                Code::Unavailable,
                format!("no entry is left to race{why}"),
            ));
        }
        if !self
            .entries
            .iter()
            .any(|entry| entry.name == self.reference)
        {
            if choice.reference.is_some() {
                let near = near_match(
                    &self.reference,
                    self.entries.iter().map(|e| e.name.as_str()),
                );
                let what = format!(
                    "the reference {:?} is not in this race{near}",
                    self.reference
                );
                return Err(failure(Code::Usage, what));
            }
            self.reference = self.entries[0].name.clone();
        }
        Ok(())
    }

    /// What no plan of ours has: it may have been read from a file.
    pub fn mistake(&self) -> Option<&'static str> {
        if self.entries.iter().any(|entry| entry.command.is_empty()) {
            Some("an entry without a command")
        } else if self.blocks.values().any(|block| block.runs == 0) {
            Some("a block without runs")
        } else {
            None
        }
    }

    /// The entries raced in a state, in the plan's order.
    pub fn entries_in(&self, state: State) -> Vec<&Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.states.contains(&state))
            .collect()
    }

    /// The block of a state.
    pub fn block(&self, state: State) -> Block {
        self.blocks
            .get(&state)
            .copied()
            .unwrap_or(state.default_block())
    }

    /// Leaves an entry out of the race.
    pub fn skip(&mut self, name: &str, reason: impl Into<String>) {
        self.entries.retain(|entry| entry.name != name);
        self.skipped.push(Skipped {
            name: name.into(),
            reason: reason.into(),
        });
        if let Some(first) = self.entries.first().filter(|_| name == self.reference) {
            self.reference = first.name.clone();
        }
    }

    /// Leaves a state out of the race.
    pub fn skip_state(&mut self, state: State, reason: impl Into<String>) {
        self.states.retain(|other| *other != state);
        for entry in &mut self.entries {
            entry.states.retain(|other| *other != state);
        }
        self.skipped.push(Skipped {
            name: state.name().into(),
            reason: reason.into(),
        });
    }
}

fn selected(choice: &Choice, name: &str) -> bool {
    choice
        .entries
        .as_ref()
        .is_none_or(|wanted| wanted.iter().any(|other| other == name))
}

impl Entry {
    /// The command with another work in place of the race's.
    pub fn with_work(&self, work: &str) -> Vec<String> {
        let mut command = self.command.clone();
        if let Some(at) = command.iter().position(|word| word == "--work") {
            command[at + 1] = work.into();
        }
        command
    }
}
