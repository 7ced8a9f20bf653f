//! A watch on the machine during a round: what it did beside running us, and whether that spoils it.
//!
//! Whether a round is spoiled depends on the machine alone and never on the entries' times: to throw
//! rounds out by their times would be to choose the winner.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::environment::Load;
use crate::environment::load::{Counters, CpuUse};
use crate::environment::throttle::{self, Throttled};
use crate::environment::tree::Tree;
use crate::plan::State;
use crate::results::Folder;
use crate::round_log;

/// What the machine did during a round. What can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Watch {
    /// The load average of the last minute, at the round's end. We are part of it.
    pub load: Option<f64>,
    /// Who else used the CPUs.
    pub cpu: Option<CpuUse>,
    /// The fastest CPU's clock at the round's end, in Hz.
    pub frequency: Option<f64>,
    /// How often CPUs were slowed down.
    pub throttled: Throttled,
    /// Why the round's times can't be trusted; none where they can.
    pub spoiled: Option<String>,
}

/// A watch that has begun.
#[derive(Debug)]
pub struct Watching {
    cpu: Option<Counters>,
    throttled: Throttled,
}

impl Watching {
    /// Begins with a round.
    pub fn begin() -> Watching {
        let tree = Tree::own();
        Watching {
            cpu: Counters::read(tree),
            throttled: Throttled::read(tree),
        }
    }

    /// Ends with the round.
    pub fn end(self) -> Watch {
        let tree = Tree::own();
        let cpu = self.cpu.zip(Counters::read(tree));
        let mut watch = Watch {
            load: Load::average(),
            cpu: cpu.map(|(before, after)| after.since(&before)),
            frequency: throttle::frequency(tree),
            throttled: Throttled::read(tree).since(&self.throttled),
            spoiled: None,
        };
        watch.spoiled = watch.judge();
        watch
    }
}

impl Watch {
    /// What spoils the round, most harmful first.
    fn judge(&self) -> Option<String> {
        let stolen = self.cpu.filter(CpuUse::stolen_spoils);
        let others = self.cpu.filter(CpuUse::others_spoil);
        let heat = self.throttled.by_heat.filter(|times| *times > 0);
        let quota = self.throttled.by_quota.filter(|times| *times > 0);
        let reasons = [
            stolen.map(|cpu| cpu.stolen_text()),
            others.map(|cpu| cpu.others_text()),
            heat.map(|_| "CPUs were slowed down by their heat".into()),
            quota.map(|_| "the CPU quota of our cgroup was used up".into()),
        ];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// A round and what was watched during it.
#[derive(Clone, Debug, Serialize)]
pub struct WatchedRound {
    /// The round, from 1.
    pub round: u32,
    /// Whether it counts; not if it was spoiled and run again.
    pub counted: bool,
    /// What was watched.
    #[serde(flatten)]
    pub watch: Watch,
}

/// What was watched in a state's rounds, in their order; the one that doesn't count first.
///
/// # Errors
/// A round's log can't be read.
pub fn watched(folder: &Folder, state: State) -> Result<Vec<WatchedRound>> {
    let mut rounds = Vec::new();
    let mut add = |round, counted, log: &Path| -> Result<()> {
        let watch = round_log::watch(log)?;
        rounds.extend(watch.map(|watch| WatchedRound {
            round,
            counted,
            watch,
        }));
        Ok(())
    };
    for round in folder.finished(state) {
        add(round, true, &folder.round(state, round).log)?;
    }
    for round in folder.spoiled(state) {
        add(round, false, &folder.spoiled_round(state, round).log)?;
    }
    rounds.sort_by_key(|watched| (watched.round, watched.counted));
    Ok(rounds)
}

/// What a reader of the report should know; nothing where no round was spoiled.
pub fn summary(rounds: &[WatchedRound]) -> Option<String> {
    let spoiled = rounds.iter().filter_map(|round| {
        let reason = round.watch.spoiled.as_ref()?;
        Some((round, reason))
    });
    let spoiled: Vec<(&WatchedRound, &String)> = spoiled.collect();
    if spoiled.is_empty() {
        return None;
    }
    let all = spoiled.len();
    let counted = spoiled.iter().filter(|(round, _)| round.counted).count();
    let numbers: BTreeSet<u32> = spoiled.iter().map(|(round, _)| round.round).collect();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let (first, why) = spoiled[0];
    Some(format!(
        "Rounds that the machine spoiled: {all} (number {}; in round {}, {why}). Run again and left \
         out: {}; counted as they are: {counted}.",
        numbers.join(", "),
        first.round,
        all - counted,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(others: f64, stolen: f64, by_heat: Option<u64>) -> Watch {
        let mut watch = Watch {
            cpu: Some(CpuUse {
                seconds_others: others,
                others,
                seconds_stolen: stolen,
                stolen,
            }),
            throttled: Throttled {
                by_heat,
                by_quota: None,
            },
            ..Watch::default()
        };
        watch.spoiled = watch.judge();
        watch
    }

    #[test]
    fn a_quiet_round_is_not_spoiled() {
        assert_eq!(watch(0.09, 0.04, Some(0)).spoiled, None);
        assert_eq!(Watch::default().judge(), None, "nothing could be told");
    }

    #[test]
    fn what_spoils_a_round_is_named_most_harmful_first() {
        assert_eq!(
            watch(0.2, 0.07, Some(3)).spoiled.unwrap(),
            "the host keeps 7 % of our CPU time (steal); other processes use 20 % of the CPUs; \
             CPUs were slowed down by their heat"
        );
    }

    #[test]
    fn a_summary_says_what_was_run_again_and_what_counts() {
        let round = |round, counted, others| WatchedRound {
            round,
            counted,
            watch: watch(others, 0.0, None),
        };
        assert_eq!(summary(&[round(1, true, 0.0)]), None);
        let rounds = [
            round(1, true, 0.0),
            round(2, true, 0.5),
            round(3, true, 0.0),
            round(3, false, 0.3),
        ];
        assert_eq!(
            summary(&rounds).unwrap(),
            "Rounds that the machine spoiled: 2 (number 2, 3; in round 2, other processes use 50 % of \
             the CPUs). Run again and left out: 1; counted as they are: 1."
        );
    }
}
