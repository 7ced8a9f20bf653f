//! A published benchmark beside ours: its figures, and whether what it concluded holds here.

use serde::{Deserialize, Serialize};

use crate::format::{Table, count, seconds};
use crate::plan::{Phase, Plan, State};
use crate::sequential;
use crate::stats;
use crate::tally::StateTally;
use crate::verdict::Test;

/// What a source published of the race that a suite repeats.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is, and on which machine.
    pub title: String,
    /// Whether it quotes the best of its runs, where others quote the middle.
    #[serde(default)]
    pub best: bool,
    /// Its table.
    #[serde(default, rename = "row")]
    pub rows: Vec<Published>,
    /// What it concluded.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A figure of the source.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The system, in the source's words.
    pub system: String,
    /// Our entry for it.
    pub entry: String,
    /// The state of the cache.
    pub state: State,
    /// The part of the run.
    #[serde(default)]
    pub phase: Phase,
    /// The figure.
    pub figure: f64,
    /// What it counts.
    pub unit: Unit,
}

/// What a source's figures count.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Unit {
    /// 10⁹ bytes a second.
    #[serde(rename = "GB/s")]
    Rate,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Time over that of the race's reference.
    #[serde(rename = "x")]
    Ratio,
}

/// A conclusion of the source: one entry takes less time than another.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In plain words.
    pub says: String,
    /// The state of the cache.
    pub state: State,
    /// The entry said to be faster.
    pub faster: String,
    /// The entry said to be slower.
    pub slower: String,
    /// The part of the run.
    #[serde(default)]
    pub phase: Phase,
}

/// The source's table with our figures beside its own; its size is said where ours differs.
pub fn table(source: &Source, plan: &Plan, tallies: &[StateTally], bytes: u64) -> Table {
    let mut table = Table {
        head: head(),
        rows: Vec::new(),
    };
    for row in &source.rows {
        let Some(tally) = tallies.iter().find(|tally| tally.state == row.state) else {
            continue;
        };
        let time = |entry: &str| figure(tally, entry, row.phase, source.best);
        let here = time(&row.entry).and_then(|here| match row.unit {
            Unit::Rate => Some(format!("{:.2} GB/s", bytes as f64 / here / 1e9)),
            Unit::Seconds => Some(seconds(here)),
            Unit::Ratio => {
                // Paired by round, where that is the part that decides.
                let paired = tally.rows.iter().find(|r| r.entry == row.entry)?.ratio;
                let paired = paired.filter(|_| row.phase == plan.decides);
                let ratio = paired.or_else(|| Some(here / time(&plan.reference)?))?;
                Some(format!("{ratio:.2} ×"))
            }
        });
        let published = match row.unit {
            Unit::Rate => format!("{} GB/s", row.figure),
            Unit::Seconds => seconds(row.figure),
            Unit::Ratio => format!("{:.2} ×", row.figure),
        };
        table.rows.push(vec![
            row.system.clone(),
            row.entry.clone(),
            row.state.name().into(),
            row.phase.name().into(),
            published,
            here.unwrap_or("not raced".into()),
        ]);
    }
    table
}

fn head() -> Vec<String> {
    [
        "source's system",
        "entry",
        "state",
        "part",
        "source",
        "here",
    ]
    .map(String::from)
    .into()
}

/// An entry's time for a part of the run: the best, or the middle.
fn figure(tally: &StateTally, entry: &str, phase: Phase, best: bool) -> Option<f64> {
    let runs = tally.runs.iter().filter(|run| run.entry == entry);
    let times: Vec<f64> = runs.filter_map(|run| run.seconds(phase)).collect();
    let statistics = crate::tally::statistics(&times)?;
    Some(if best {
        statistics.min
    } else {
        statistics.median
    })
}

/// One line a claim: whether it holds here, as far as the rounds can tell.
pub fn claims(source: &Source, tallies: &[StateTally]) -> Vec<String> {
    source
        .claims
        .iter()
        .map(|claim| format!("{}: {}", claim.says, judged(claim, tallies)))
        .collect()
}

fn judged(claim: &Claim, tallies: &[StateTally]) -> String {
    let compared = tallies
        .iter()
        .find(|tally| tally.state == claim.state)
        .and_then(|tally| {
            let rounds: Vec<u32> = tally.round_numbers();
            let labels = [claim.slower.clone(), claim.faster.clone()];
            let medians = crate::tally::medians(&labels, &rounds, &tally.runs, claim.phase);
            match tally.verdict.as_ref().map(|verdict| verdict.test) {
                Some(Test::Sequential) => sequential::compare(&medians[0], &medians[1]),
                _ => stats::compare(&medians[0], &medians[1]),
            }
        });
    let Some(compared) = compared else {
        return "not raced here".into();
    };
    let interval = compared.low.zip(compared.high);
    let detail = match interval {
        Some((low, high)) => format!("{:.2} times ({low:.2}–{high:.2})", compared.ratio),
        None => format!(
            "{:.2} times, in {},",
            compared.ratio,
            count(compared.rounds, "round")
        ),
    };
    let (slower, faster) = (&claim.slower, &claim.faster);
    if compared.slower() {
        format!("holds here: {slower} takes {detail} as long as {faster}")
    } else if compared.faster() {
        format!("does not hold here: {slower} takes {detail} as long as {faster}")
    } else {
        format!("not decided here: {slower} takes {detail} as long as {faster}")
    }
}
