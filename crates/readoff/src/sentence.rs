//! A verdict in one plain sentence.

use crate::format::percent;
use crate::stats::{Comparison, FEWEST_ROUNDS};
use crate::verdict::{Standing, Undecided, Verdict};

impl Verdict {
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
        let outlook = match self.equal_within {
            Some(most) => format!("; proved to be less than {} apart", percent(most)),
            None => self.outlook(),
        };
        if self.leaders.len() == self.entries.len() {
            return format!("no difference seen{outlook}");
        }
        format!(
            "{} tie{}{outlook}",
            listed(&self.leaders),
            self.leaders_lead()
        )
    }

    /// By how much those that tie lead the reference: said where every one of them is separated
    /// from it, since being level with the fastest doesn't make an entry faster than the reference.
    fn leaders_lead(&self) -> String {
        let leaders = self
            .entries
            .iter()
            .filter(|entry| self.leaders.contains(&entry.label));
        let lead =
            |entry: &Standing| Some(1.0 / entry.to_reference.filter(Comparison::faster)?.ratio);
        let Some(leads) = leaders.map(lead).collect::<Option<Vec<f64>>>() else {
            return String::new();
        };
        let least = times(leads.iter().copied().fold(f64::INFINITY, f64::min));
        let most = times(leads.iter().copied().fold(0.0, f64::max));
        let range = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        format!(", {range} times as fast as {}", self.reference)
    }

    /// How many rounds would show what these could not, and what these could have shown.
    fn outlook(&self) -> String {
        let more = |rounds: Option<usize>| rounds.filter(|rounds| *rounds > self.rounds);
        let five = more(self.rounds_for_5_percent);
        let two = more(self.rounds_for_2_percent);
        let mut outlook = match (five, two) {
            (Some(five), Some(two)) => {
                format!(", about {five} rounds would show 5 %, {two} would show 2 %")
            }
            (_, Some(two)) => format!(", about {two} rounds would show 2 %"),
            _ => String::new(),
        };
        if let Some(least) = self.smallest_difference {
            let seen = percent(least);
            outlook += &format!("; one of {seen} would most likely have been seen");
        }
        outlook
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
        assert!(
            said.contains(" tie, 2.8 times as fast as read; one of 0."),
            "{said}"
        );
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
            format!(
                "cold: no difference seen, about {rounds} rounds would show 5 %, {} would show 2 %; \
                 one of {} would most likely have been seen",
                verdict.rounds_for_2_percent.unwrap(),
                percent(verdict.smallest_difference.unwrap())
            )
        );
        assert!(rounds > 8 && verdict.rounds_for_2_percent.unwrap() > rounds);
        assert!(verdict.smallest_difference.unwrap() > 0.05);
    }

    #[test]
    fn a_tie_that_was_proved_is_said_to_be_one() {
        let medians = [steady(1.0, 40, 1), steady(1.0, 40, 2), steady(2.0, 40, 3)];
        let verdict = Verdict::sequential(&labels(&["read", "mmap", "fread"]), &medians, "read");
        assert_eq!(verdict.equal_within, Some(0.02));
        let said = verdict.sentence("warm");
        assert!(
            said.ends_with(" tie; proved to be less than 2 % apart"),
            "{said}"
        );
        let few = medians.map(|medians| medians[..6].to_vec());
        let verdict = Verdict::sequential(&labels(&["read", "mmap", "fread"]), &few, "read");
        assert_eq!((verdict.equal_within, verdict.leaders.len()), (None, 2));
        assert!(verdict.smallest_difference.is_some_and(|least| least > 0.0));
        assert!(!verdict.sentence("warm").contains("proved"));
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
