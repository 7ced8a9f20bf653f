//! The states of the page cache in which a race is run.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure, near_match};
use crate::plan::Block;

/// The page cache before a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As the race found it; raced first, since every other state destroys it.
    AsIs,
    /// Nothing of the file resident.
    Cold,
    /// All of it resident, filled by readahead.
    Warm,
    /// All of it resident, filled page by page in random order.
    WarmRandom,
}

impl State {
    /// All states, in the order in which they are raced.
    pub const ALL: [State; 4] = [State::AsIs, State::Cold, State::Warm, State::WarmRandom];

    /// Its name, as on the command line of `pagecache`.
    pub fn name(self) -> &'static str {
        match self {
            State::AsIs => "as-is",
            State::Cold => "cold",
            State::Warm => "warm",
            State::WarmRandom => "warm-random",
        }
    }

    /// How this state is filled (`pagecache fill --how`), if it is.
    pub fn fill(self) -> Option<&'static str> {
        match self {
            State::AsIs | State::Cold => None,
            State::Warm => Some("readahead"),
            State::WarmRandom => Some("random"),
        }
    }

    /// Warmups and runs of an entry in a round, unless the suite says otherwise. A cold run can't
    /// be warmed up; a warm one is repeated after its neighbour's traces in the CPU's caches are gone.
    pub fn default_block(self) -> Block {
        match self {
            State::AsIs | State::Cold => Block { warmup: 0, runs: 1 },
            State::Warm | State::WarmRandom => Block { warmup: 1, runs: 2 },
        }
    }

    /// Parses a name of the command line.
    pub fn parse(name: &str) -> Result<State> {
        State::ALL
            .into_iter()
            .find(|state| state.name() == name)
            .ok_or_else(|| {
                let near = near_match(name, State::ALL.map(State::name));
                failure(Code::Usage, format!("unknown state {name:?}{near}"))
            })
    }
}
