//! Whether a state's rounds have anything left to tell, asked after each of them.

use anyhow::Result;

use crate::plan::{Plan, State};
use crate::results::Folder;
use crate::sequential;
use crate::tally::{medians, round};

/// A state's medians so far: what a race until its question is settled looks at.
#[derive(Debug)]
pub struct Question {
    state: State,
    labels: Vec<String>,
    /// By entry and round, as [`sequential::settled`] takes them.
    medians: Vec<Vec<Option<f64>>>,
}

impl Question {
    /// A state before its first round.
    pub fn of(plan: &Plan, state: State) -> Question {
        let entries = plan.entries_in(state);
        Question {
            state,
            labels: entries.iter().map(|entry| entry.name.clone()).collect(),
            medians: vec![Vec::new(); entries.len()],
        }
    }

    /// Adds a finished round.
    ///
    /// # Errors
    /// Its files can't be read.
    pub fn read(&mut self, plan: &Plan, folder: &Folder, number: u32) -> Result<()> {
        let (_, runs) = round(plan, folder, self.state, number)?;
        let new = medians(&self.labels, &[number], &runs, plan.decides);
        for (medians, new) in self.medians.iter_mut().zip(new) {
            medians.extend(new);
        }
        Ok(())
    }

    /// Whether the rounds so far settle it.
    pub fn settled(&self) -> bool {
        sequential::settled(&self.labels, &self.medians)
    }
}
