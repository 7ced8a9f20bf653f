//! The verdict on a state: who is fastest, as far as the rounds can tell.
//!
//! The unit is an entry's median in a round; entries are compared pair by pair over the rounds that
//! both have. A winner is an entry that is separated from each other one at 5 %: all of the tests
//! must say so, so their number needs no correction (an intersection–union test: R. L. Berger,
//! "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982) 295–300).

use crate::sequential;
use crate::stats::{self, Comparison, FEWEST_ROUNDS};
use serde::Serialize;

/// Compares two entries' medians by round.
type Compare = fn(&[Option<f64>], &[Option<f64>]) -> Option<Comparison>;

/// What the rounds of one state say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Rounds in which every entry that has any time has one.
    pub rounds: usize,
    /// How entries were compared.
    pub test: Test,
    /// The entry that the others are compared with, whether it has a time or not.
    pub reference: String,
    /// The entry that is separated from every other one.
    pub winner: Option<String>,
    /// The fastest entry and those not separated from it, fastest first.
    pub leaders: Vec<String>,
    /// Every entry that has a time, fastest first.
    pub entries: Vec<Standing>,
    /// Why there is no winner.
    pub undecided: Option<Undecided>,
    /// The smallest difference between leaders (0.05: 5 %) that these rounds could have shown: in
    /// 80 % of races with this noise, or, by the sequential test, with just these deviations. None
    /// where there is a winner or there are too few rounds.
    pub smallest_difference: Option<f64>,
    /// All leaders were proved to be less than this apart (0.02: 2 %). Only by the sequential test.
    pub equal_within: Option<f64>,
    /// Rounds, chosen beforehand, that would show a difference of 5 % between leaders, in 80 % of
    /// races; none where there is a winner.
    pub rounds_for_5_percent: Option<usize>,
    /// As before, for 2 %.
    pub rounds_for_2_percent: Option<usize>,
}

/// How entries are compared: it must fit how the number of rounds came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Sign flips ([`stats::compare`]): for rounds whose number no look at the times decided.
    Fixed,
    /// At every moment ([`sequential::compare`]): for rounds that went on until the question was
    /// settled.
    Sequential,
}

/// Where one entry stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The entry's label.
    pub label: String,
    /// Geometric mean, in seconds, of its medians over the common rounds.
    pub seconds: f64,
    /// Its time over the reference's; none for the reference itself, and without it.
    pub to_reference: Option<Comparison>,
    /// Its time over the fastest's; none for the fastest itself.
    pub to_fastest: Option<Comparison>,
    /// Its best possible rank: 1 + the entries separated from it as faster.
    pub best_rank: usize,
    /// Its worst possible rank: all entries − those separated from it as slower. Ranks are
    /// intervals, since "not separated" isn't transitive.
    pub worst_rank: usize,
}

/// Why no winner is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// There is no round in which all entries have times.
    NoRounds,
    /// There is nothing to compare with.
    OneEntry,
    /// Fewer than six rounds can never separate two entries at 5 %.
    TooFewRounds,
    /// An entry isn't separated from the fastest.
    NotSeparated,
}

/// An entry while the verdict is made.
pub(crate) struct Entry<'a> {
    label: &'a str,
    /// By round, in seconds.
    pub(crate) medians: &'a [Option<f64>],
    /// Geometric mean over the common rounds.
    seconds: f64,
}

impl Verdict {
    /// Judges one state whose rounds were so many from the beginning. `medians[entry][round]` are seconds, in the order of `labels`; one that is
    /// missing, or is no time that a program can take, is left out of the entry's comparisons. An
    /// entry without any is no part of the verdict; without a round in which all the others have
    /// one there are no entries in it.
    pub fn new(labels: &[String], medians: &[Vec<Option<f64>>], reference: &str) -> Verdict {
        Verdict::judge(labels, medians, reference, Test::Fixed)
    }

    /// As [`Verdict::new`], for a state whose rounds went on until [`sequential::settled`].
    pub fn sequential(labels: &[String], medians: &[Vec<Option<f64>>], reference: &str) -> Verdict {
        Verdict::judge(labels, medians, reference, Test::Sequential)
    }

    fn judge(
        labels: &[String],
        medians: &[Vec<Option<f64>>],
        reference: &str,
        test: Test,
    ) -> Verdict {
        let compare_times: Compare = match test {
            Test::Fixed => stats::compare,
            Test::Sequential => sequential::compare,
        };
        let (entries, rounds) = ranked(labels, medians);
        let reference_entry = entries.iter().find(|entry| entry.label == reference);
        let compare = |entry: &Entry, other: &Entry| {
            (entry.label != other.label)
                .then(|| compare_times(entry.medians, other.medians))
                .flatten()
        };
        let mut standings: Vec<Standing> = entries
            .iter()
            .map(|entry| Standing {
                label: entry.label.to_owned(),
                seconds: entry.seconds,
                to_reference: reference_entry.and_then(|reference| compare(entry, reference)),
                to_fastest: compare(entry, &entries[0]),
                best_rank: 1,
                worst_rank: entries.len(),
            })
            .collect();
        for (a, b) in (0..entries.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let Some(comparison) = compare(&entries[a], &entries[b]) else {
                continue;
            };
            if comparison.faster() {
                standings[a].worst_rank -= 1;
                standings[b].best_rank += 1;
            } else if comparison.slower() {
                standings[a].best_rank += 1;
                standings[b].worst_rank -= 1;
            }
        }
        let mut verdict = Verdict::of(standings, rounds, reference, test);
        let leads = |entry: &&Entry| verdict.leaders.iter().any(|leader| leader == entry.label);
        let leaders: Vec<_> = entries
            .iter()
            .filter(leads)
            .map(|entry| entry.medians)
            .collect();
        if test == Test::Sequential && leaders.len() > 1 && sequential::negligible(&leaders) {
            verdict.equal_within = Some(sequential::NEGLIGIBLE);
        }
        verdict
    }

    /// Names the winner or the reason why there is none.
    fn of(entries: Vec<Standing>, rounds: usize, reference: &str, test: Test) -> Verdict {
        let separated = |entry: &Standing| {
            entry
                .to_fastest
                .is_some_and(|comparison| comparison.slower())
        };
        let leaders: Vec<&Standing> = entries.iter().filter(|entry| !separated(entry)).collect();
        let undecided = match entries.len() {
            _ if rounds == 0 => Some(Undecided::NoRounds),
            1 => Some(Undecided::OneEntry),
            _ if rounds < FEWEST_ROUNDS => Some(Undecided::TooFewRounds),
            _ if leaders.len() == 1 => None,
            _ => Some(Undecided::NotSeparated),
        };
        // The noisiest of the comparisons that a winner among the leaders would have to win.
        let compared = || leaders.iter().filter_map(|leader| leader.to_fastest);
        let noise = compared().filter_map(|c| c.sd).max_by(f64::total_cmp);
        let noise = noise.filter(|_| undecided.is_some());
        let smallest_difference = noise.and_then(|sd| match test {
            Test::Fixed => stats::smallest_difference(sd, rounds),
            Test::Sequential => compared().filter_map(widest_side).max_by(f64::total_cmp),
        });
        Verdict {
            rounds,
            test,
            reference: reference.to_owned(),
            winner: undecided.is_none().then(|| leaders[0].label.clone()),
            leaders: leaders.iter().map(|leader| leader.label.clone()).collect(),
            undecided,
            smallest_difference,
            equal_within: None,
            rounds_for_5_percent: noise.map(|sd| stats::rounds_to_show(sd, 0.05)),
            rounds_for_2_percent: noise.map(|sd| stats::rounds_to_show(sd, 0.02)),
            entries,
        }
    }
}

/// How far the ratio is from the end of its interval that is farther away (0.05: 5 %).
fn widest_side(compared: Comparison) -> Option<f64> {
    let (low, high) = compared.low.zip(compared.high)?;
    Some((compared.ratio / low).max(high / compared.ratio) - 1.0)
}

/// The entries that have a time, fastest first, and the number of rounds in which all of them do.
pub(crate) fn ranked<'a>(
    labels: &'a [String],
    medians: &'a [Vec<Option<f64>>],
) -> (Vec<Entry<'a>>, usize) {
    let time = |medians: &[Option<f64>], round: usize| stats::possible(*medians.get(round)?);
    let present: Vec<(&String, &Vec<Option<f64>>)> = labels
        .iter()
        .zip(medians)
        .filter(|(_, medians)| (0..medians.len()).any(|round| time(medians, round).is_some()))
        .collect();
    let rounds = present
        .iter()
        .map(|(_, medians)| medians.len())
        .max()
        .unwrap_or(0);
    let common: Vec<usize> = (0..rounds)
        .filter(|&round| {
            present
                .iter()
                .all(|(_, medians)| time(medians, round).is_some())
        })
        .collect();
    if common.is_empty() {
        return (Vec::new(), 0);
    }
    let mut entries: Vec<Entry> = present
        .iter()
        .map(|(label, medians)| {
            let logs: f64 = common
                .iter()
                .filter_map(|&round| time(medians, round))
                .map(f64::ln)
                .sum();
            Entry {
                label,
                medians,
                seconds: (logs / common.len() as f64).exp(),
            }
        })
        .collect();
    entries.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    (entries, common.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| label.to_string()).collect()
    }

    /// Rounds of an entry that takes `seconds`, a few per mille more or less by a fixed pattern.
    fn steady(seconds: f64, rounds: usize, pattern: u64) -> Vec<Option<f64>> {
        let mut rng = fastrand::Rng::with_seed(pattern);
        (0..rounds)
            .map(|_| Some(seconds * (1.0 + 0.004 * (rng.f64() - 0.5))))
            .collect()
    }

    #[test]
    fn identical_times_have_no_winner_and_ranks_from_first_to_last() {
        let medians = vec![vec![Some(1.0); 20]; 3];
        let verdict = Verdict::new(&labels(&["a", "b", "read"]), &medians, "read");
        assert_eq!(verdict.winner, None);
        assert!(
            verdict
                .entries
                .iter()
                .all(|entry| (entry.best_rank, entry.worst_rank) == (1, 3))
        );
    }

    #[test]
    fn a_missing_cell_leaves_out_that_round_of_its_entry_only() {
        let mut medians = vec![steady(2.0, 8, 1), steady(1.0, 8, 2), steady(4.0, 8, 3)];
        medians[0][3] = None;
        let verdict = Verdict::new(&labels(&["read", "mmap", "fread"]), &medians, "read");
        let standing = |label: &str| {
            verdict
                .entries
                .iter()
                .find(|entry| entry.label == label)
                .unwrap()
        };
        assert_eq!(verdict.rounds, 7);
        assert_eq!(standing("mmap").to_reference.unwrap().rounds, 7);
        assert_eq!(standing("fread").to_fastest.unwrap().rounds, 8);
        assert_eq!(verdict.winner.as_deref(), Some("mmap"));
    }

    #[test]
    fn ranks_are_intervals() {
        let medians = [
            steady(2.0, 8, 1),
            steady(1.0, 8, 2),
            steady(1.0, 8, 3),
            steady(4.0, 8, 4),
        ];
        let verdict = Verdict::new(&labels(&["read", "a", "b", "c"]), &medians, "read");
        let ranks: Vec<_> = verdict
            .entries
            .iter()
            .map(|entry| (entry.best_rank, entry.worst_rank))
            .collect();
        assert_eq!(ranks, [(1, 2), (1, 2), (3, 3), (4, 4)]);
        assert_eq!(verdict.leaders.len(), 2);
    }
}
