//! The verdict on a state: who is fastest, as far as the rounds can tell.

use crate::stats::Comparison;
use serde::Serialize;

/// What the rounds of one state say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Rounds in which every standing entry has a time.
    pub rounds: usize,
    /// The entry that the others are compared with.
    pub reference: String,
    /// The one entry that is separated from every other one at 5 %.
    pub winner: Option<String>,
    /// The fastest entry and those not separated from it, fastest first.
    pub leaders: Vec<String>,
    /// Every entry that has a time, fastest first.
    pub entries: Vec<Standing>,
    /// Why there is no winner.
    pub undecided: Option<Undecided>,
    /// The smallest difference between leaders (0.05: 5 %) that these rounds could have shown.
    pub smallest_difference: Option<f64>,
    /// Rounds that would show a difference of 5 % between the leaders.
    pub rounds_for_5_percent: Option<usize>,
    /// Rounds that would show a difference of 2 % between the leaders.
    pub rounds_for_2_percent: Option<usize>,
}

/// Where one entry stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The entry's label.
    pub label: String,
    /// Geometric mean in seconds of its rounds' medians.
    pub seconds: f64,
    /// Its time over the reference's; none for the reference itself.
    pub to_reference: Option<Comparison>,
    /// Its time over the fastest's; none for the fastest itself.
    pub to_fastest: Option<Comparison>,
    /// Best and worst rank: 1 + entries separated as faster, and all − entries separated as slower.
    pub rank: (usize, usize),
}

/// Why no winner is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// No entry has a time, or no round has one of all.
    NoRounds,
    /// Nothing to compare with.
    OneEntry,
    /// Fewer than six rounds can never separate two entries at 5 %.
    TooFewRounds,
    /// Some entry isn't separated from the fastest.
    NotSeparated,
}

impl Verdict {
    /// Judges the medians `seconds[entry][round]`; a missing or impossible one is paired out.
    pub fn new(_labels: &[String], _seconds: &[Vec<Option<f64>>], _reference: &str) -> Verdict {
        todo!()
    }

    /// One plain sentence, such as `warm: mmap, 2.8 times as fast as read`.
    pub fn sentence(&self, _state: &str) -> String {
        todo!()
    }
}
