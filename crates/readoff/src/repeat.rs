//! Rounds that the machine spoiled, run again at the end of their state.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::budget::{race_seconds, round_seconds};
use crate::plan::State;
use crate::round_log;
use crate::rounds::{RoundError, Rounds};

/// Of so many rounds of the plan, one may be run again. A machine that spoils more is not
/// disturbed now and then: this is how it is, and new rounds would be no better.
const ONE_IN: u32 = 4;

impl Rounds<'_> {
    /// Runs again what was spoiled of a state's rounds, of which `ran` took the time since `started`:
    /// the first ones, each once and in the order that it had, as far as a quarter of the plan and the
    /// state's share of the budget allow. The new round counts, however it is; the spoiled one is kept
    /// beside. A round that can't be run again counts as it is, and so do all of `--rounds auto`.
    pub(crate) fn repeat_spoiled(
        &self,
        state: State,
        started: Instant,
        ran: u32,
    ) -> Result<(), RoundError> {
        let spoiled = self.spoiled(state)?;
        let Some((first, why)) = spoiled.first() else {
            return Ok(());
        };
        let repeated = self.folder.spoiled(state).len() as u32;
        // Rounds that are run until the question is settled have each been looked at when it was.
        let most = match self.plan.until_settled {
            true => 0,
            false => (self.plan.rounds / ONE_IN).saturating_sub(repeated),
        };
        let again = &spoiled[..spoiled.len().min(most as usize)];
        self.progress.note(&format!(
            "{}: rounds that the machine spoiled: {} (round {first}: {why}); run again: {}",
            state.name(),
            spoiled.len(),
            again.len()
        ));
        for (ran, (number, _)) in (ran..).zip(again) {
            let took = started.elapsed();
            let each = took / ran.max(1);
            if (took + each).as_secs_f64() > self.share_of_budget(state) {
                let what = "no time is left to run spoiled rounds again";
                self.progress.note(&format!("{}: {what}", state.name()));
                break;
            }
            match self.run_round(state, *number) {
                Ok(()) => {}
                Err(RoundError::Race(error)) => return Err(error.into()),
                Err(_) => break,
            }
            let what = format!("{} round {number}, again,", state.name());
            self.progress.round(&what, Duration::ZERO);
        }
        Ok(())
    }

    /// The rounds that were spoiled and not run again yet, with the reason.
    fn spoiled(&self, state: State) -> Result<Vec<(u32, String)>> {
        let before = self.folder.spoiled(state);
        let mut spoiled = Vec::new();
        for number in self.folder.finished(state) {
            let watch = round_log::watch(&self.folder.round(state, number).log)?;
            let why = watch.and_then(|watch| watch.spoiled);
            if let Some(why) = why.filter(|_| !before.contains(&number)) {
                spoiled.push((number, why));
            }
        }
        Ok(spoiled)
    }

    /// Seconds of the budget that are a state's; no end where none was set.
    fn share_of_budget(&self, state: State) -> f64 {
        let Some(budget) = self.plan.budget else {
            return f64::INFINITY;
        };
        let own = f64::from(self.plan.rounds) * round_seconds(self.plan, self.checked, state);
        budget * own / race_seconds(self.plan, self.checked)
    }
}
