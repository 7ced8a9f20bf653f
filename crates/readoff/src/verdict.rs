//! The verdict on a state: who is fastest, as far as the rounds can tell.
//!
//! The unit is an entry's median in a round; entries are compared pair by pair over the rounds that
//! both have. A winner is an entry that is separated from each other one at 5 %: all of the tests
//! must say so, so their number needs no correction (an intersection–union test: R. L. Berger,
//! "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982) 295–300).

use crate::stats::{self, Comparison, FEWEST_ROUNDS};
use serde::Serialize;

/// What the rounds of one state say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Rounds in which every entry that has any time has one.
    pub rounds: usize,
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
    /// The smallest difference between leaders (0.05: 5 %) that these rounds could have shown, in
    /// 80 % of races with this noise. None where there is a winner or there are too few rounds.
    pub smallest_difference: Option<f64>,
    /// Rounds that would show a difference of 5 % between leaders; none where there is a winner.
    pub rounds_for_5_percent: Option<usize>,
    /// As before, for 2 %.
    pub rounds_for_2_percent: Option<usize>,
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
struct Entry<'a> {
    label: &'a str,
    /// By round, in seconds.
    medians: &'a [Option<f64>],
    /// Geometric mean over the common rounds.
    seconds: f64,
}

impl Verdict {
    /// Judges one state. `medians[entry][round]` are seconds, in the order of `labels`; one that is
    /// missing, or is no time that a program can take, is left out of the entry's comparisons. An
    /// entry without any is no part of the verdict; without a round in which all the others have
    /// one there are no entries in it.
    pub fn new(labels: &[String], medians: &[Vec<Option<f64>>], reference: &str) -> Verdict {
        let (entries, rounds) = ranked(labels, medians);
        let reference_entry = entries.iter().find(|entry| entry.label == reference);
        let compare = |entry: &Entry, other: &Entry| {
            (entry.label != other.label)
                .then(|| stats::compare(entry.medians, other.medians))
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
        Verdict::of(standings, rounds, reference)
    }

    /// Names the winner or the reason why there is none.
    fn of(entries: Vec<Standing>, rounds: usize, reference: &str) -> Verdict {
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
        let noise = leaders
            .iter()
            .filter_map(|leader| leader.to_fastest?.sd)
            .max_by(f64::total_cmp);
        let noise = noise.filter(|_| undecided.is_some());
        Verdict {
            rounds,
            reference: reference.to_owned(),
            winner: undecided.is_none().then(|| leaders[0].label.clone()),
            leaders: leaders.iter().map(|leader| leader.label.clone()).collect(),
            undecided,
            smallest_difference: noise.and_then(|sd| stats::smallest_difference(sd, rounds)),
            rounds_for_5_percent: noise.map(|sd| stats::rounds_to_show(sd, 0.05)),
            rounds_for_2_percent: noise.map(|sd| stats::rounds_to_show(sd, 0.02)),
            entries,
        }
    }

    /// The verdict as one plain sentence without a full stop, such as `warm: mmap, 2.8 times as
    /// fast as read` or `cold: no difference seen, about 40 rounds would show 5 %`.
    pub fn sentence(&self, state: &str) -> String {
        let said = match self.undecided {
            Some(Undecided::NoRounds) => "no winner: no round is complete".to_owned(),
            Some(Undecided::OneEntry) => format!(
                "only {} ran, there is nothing to compare it with",
                self.leaders[0]
            ),
            Some(Undecided::TooFewRounds) => {
                let (rounds, are) = (
                    self.rounds,
                    if self.rounds == 1 {
                        "round is"
                    } else {
                        "rounds are"
                    },
                );
                format!("no winner: {rounds} {are} too few ({FEWEST_ROUNDS} at least)")
            }
            Some(Undecided::NotSeparated) => self.tie(),
            None => {
                // Where the reference won, or isn't there, the next one has to do.
                let reference = self
                    .reference()
                    .filter(|entry| entry.label != self.leaders[0]);
                let other = reference.or_else(|| self.entries.get(1));
                format!("{}{}", self.leaders[0], self.lead(other))
            }
        };
        format!("{state}: {said}")
    }

    fn tie(&self) -> String {
        let outlook = match self.rounds_for_5_percent {
            Some(rounds) if rounds > self.rounds => {
                format!(", about {rounds} rounds would show 5 %")
            }
            _ => match self.smallest_difference {
                Some(least) => format!(
                    "; one of {} would most likely have been seen",
                    percent(least)
                ),
                None => String::new(),
            },
        };
        if self.leaders.len() == self.entries.len() {
            return format!("no difference seen{outlook}");
        }
        let tie = format!("{} tie", listed(&self.leaders));
        if self.leaders.contains(&self.reference) {
            tie + &outlook
        } else {
            tie + &self.lead(self.reference())
        }
    }

    fn reference(&self) -> Option<&Standing> {
        self.entries
            .iter()
            .find(|entry| entry.label == self.reference)
    }

    /// By how much the fastest leads another entry.
    fn lead(&self, other: Option<&Standing>) -> String {
        let Some((other, comparison)) = other.and_then(|other| Some((other, other.to_fastest?)))
        else {
            return String::new();
        };
        format!(
            ", {} times as fast as {}",
            times(comparison.ratio),
            other.label
        )
    }
}

/// The entries that have a time, fastest first, and the number of rounds in which all of them do.
fn ranked<'a>(labels: &'a [String], medians: &'a [Vec<Option<f64>>]) -> (Vec<Entry<'a>>, usize) {
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

/// Labels as a person lists them; of many, the first three.
fn listed(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] if first.len() < 4 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} others", labels[..3].join(", "), labels.len() - 3),
    }
}

/// A ratio above 1 with the digits that tell it from 1: `28`, `2.8`, `1.28`, `1.003`.
fn times(ratio: f64) -> String {
    let digits = match ratio {
        9.95.. => 0,
        1.95.. => 1,
        1.0095.. => 2,
        _ => 3,
    };
    format!("{ratio:.digits$}")
}

/// A share as `3 %`, with a decimal where it is small.
fn percent(share: f64) -> String {
    let digits = if share < 0.0195 { 1 } else { 0 };
    format!("{:.digits$} %", 100.0 * share)
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

    fn sentence(entries: &[(&str, Vec<Option<f64>>)]) -> String {
        let names: Vec<&str> = entries.iter().map(|(label, _)| *label).collect();
        let medians: Vec<_> = entries.iter().map(|(_, medians)| medians.clone()).collect();
        Verdict::new(&labels(&names), &medians, "read").sentence("warm")
    }

    #[test]
    fn a_winner_is_compared_with_the_reference() {
        let said = sentence(&[
            ("read", steady(2.8, 8, 1)),
            ("mmap", steady(1.0, 8, 2)),
            ("fread", steady(3.0, 8, 3)),
        ]);
        assert_eq!(said, "warm: mmap, 2.8 times as fast as read");
    }

    #[test]
    fn a_winning_reference_is_compared_with_the_next_one() {
        let said = sentence(&[
            ("mmap", steady(1.3, 8, 1)),
            ("read", steady(1.0, 8, 2)),
            ("fread", steady(3.0, 8, 3)),
        ]);
        assert_eq!(said, "warm: read, 1.30 times as fast as mmap");
    }

    #[test]
    fn without_the_reference_a_winner_is_compared_with_the_next_one() {
        assert_eq!(
            sentence(&[("a", steady(1.0, 8, 1)), ("b", steady(2.0, 8, 2))]),
            "warm: a, 2.0 times as fast as b"
        );
    }

    #[test]
    fn entries_that_are_not_separated_tie() {
        let (a, b) = (steady(1.0, 8, 1), steady(1.0, 8, 2));
        let said = sentence(&[
            ("read", steady(2.8, 8, 3)),
            ("mmap", a.clone()),
            ("mmap-populate", b.clone()),
        ]);
        assert!(said.ends_with(" tie, 2.8 times as fast as read"), "{said}");
        assert!(
            said.starts_with("warm: mmap and mmap-populate")
                || said.starts_with("warm: mmap-populate and mmap")
        );
        let said = sentence(&[("read", a), ("mmap", b), ("fread", steady(2.0, 8, 3))]);
        assert!(
            said.contains("read") && said.contains("mmap tie; one of 0.4 %")
                || said.contains("read tie;"),
            "{said}"
        );
    }

    #[test]
    fn without_a_difference_it_says_what_would_have_shown_one() {
        let noisy = |seed| -> Vec<Option<f64>> {
            let mut rng = fastrand::Rng::with_seed(seed);
            (0..8).map(|_| Some(1.0 + 0.4 * rng.f64())).collect()
        };
        let medians = [noisy(1), noisy(2)];
        let verdict = Verdict::new(&labels(&["read", "mmap"]), &medians, "read");
        let rounds = verdict.rounds_for_5_percent.unwrap();
        assert_eq!(verdict.undecided, Some(Undecided::NotSeparated));
        assert_eq!(
            verdict.sentence("cold"),
            format!("cold: no difference seen, about {rounds} rounds would show 5 %")
        );
        assert!(rounds > 8 && verdict.rounds_for_2_percent.unwrap() > rounds);
        assert!(verdict.smallest_difference.unwrap() > 0.05);
    }

    #[test]
    fn too_little_to_judge_is_said() {
        let said = sentence(&[("read", steady(2.0, 4, 1)), ("mmap", steady(1.0, 4, 2))]);
        assert_eq!(said, "warm: no winner: 4 rounds are too few (6 at least)");
        assert_eq!(
            sentence(&[("mmap", steady(1.0, 9, 1))]),
            "warm: only mmap ran, there is nothing to compare it with"
        );
        assert_eq!(
            sentence(&[("read", vec![]), ("mmap", vec![])]),
            "warm: no winner: no round is complete"
        );
        assert_eq!(sentence(&[]), "warm: no winner: no round is complete");
        assert_eq!(
            sentence(&[("read", vec![Some(0.0)]), ("mmap", vec![Some(1.0)])]),
            "warm: only mmap ran, there is nothing to compare it with"
        );
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

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        assert_eq!(
            [28.3, 2.84, 1.284, 1.0034].map(times),
            ["28", "2.8", "1.28", "1.003"]
        );
        assert_eq!([0.032, 0.004].map(percent), ["3 %", "0.4 %"]);
        assert_eq!(listed(&labels(&["a", "b", "c", "d"])), "a, b, c and d");
        assert_eq!(
            listed(&labels(&["a", "b", "c", "d", "e", "f"])),
            "a, b, c and 3 others"
        );
    }
}
