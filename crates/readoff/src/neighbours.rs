//! What the entry before does to a run: it leaves the CPU's caches, its frequency and the page tables
//! in some state.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::format::{Table, percent};
use crate::stats::{mean, possible, standard_deviation};
use crate::verdict::Verdict;

/// The effect of a predecessor on whoever ran after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// The entry before; none for those that ran first in their round.
    pub predecessor: Option<String>,
    /// Rounds and entries in which it was that.
    pub blocks: usize,
    /// Time after it over time after an average predecessor: 1.02 is 2 % longer.
    pub ratio: f64,
    /// The standard error of the logarithm of `ratio`; none for a single block.
    pub standard_error: Option<f64>,
}

/// Who ran before whom.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The entry.
    pub entry: &'a str,
    /// The round's number.
    pub round: u32,
    /// The entry before it in the round.
    pub predecessor: Option<&'a str>,
}

/// Estimates the effect of each predecessor, the largest slowdown first. `medians[entry][round]` are
/// as for [`Verdict::new`], `rounds` the rounds' numbers, `places` tell who ran before whom, once for each block.
///
/// A block's logarithm is taken as the sum of what is its entry's, what is its round's, and what its
/// predecessor's is. Over the rounds in which all entries have a time, the mean of each entry and of
/// each round is taken away (a two-way layout); a predecessor's effect is the mean of what is left.
pub fn estimate(
    labels: &[String],
    rounds: &[u32],
    medians: &[Vec<Option<f64>>],
    places: &[Place],
) -> Vec<Neighbour> {
    let residuals = residuals(medians, rounds.len());
    // What fitting the means took away from the spread.
    let whole = residuals.iter().flatten().count() as f64;
    let columns = whole / labels.len().max(1) as f64;
    let free = (labels.len() as f64 - 1.0) * (columns - 1.0);
    let mut effects: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
    for place in places {
        let entry = labels.iter().position(|label| label == place.entry);
        let round = rounds.iter().position(|number| *number == place.round);
        let residual = entry.zip(round).and_then(|(e, r)| residuals[e][r]);
        let of_predecessor = effects.entry(place.predecessor).or_default();
        of_predecessor.extend(residual);
    }
    let mut neighbours: Vec<Neighbour> = effects
        .into_iter()
        .filter(|(_, residuals)| !residuals.is_empty() && free > 0.0)
        .map(|(predecessor, residuals)| {
            let error = |sd: f64| sd * (whole / free).sqrt() / (residuals.len() as f64).sqrt();
            Neighbour {
                predecessor: predecessor.map(str::to_string),
                blocks: residuals.len(),
                ratio: mean(&residuals).exp(),
                standard_error: standard_deviation(&residuals).map(error),
            }
        })
        .collect();
    neighbours.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    neighbours
}

/// Logarithms without their entry's and their round's mean, over the rounds in which all have a time.
fn residuals(medians: &[Vec<Option<f64>>], rounds: usize) -> Vec<Vec<Option<f64>>> {
    let column = |round: usize| -> Option<Vec<f64>> {
        let time = |medians: &Vec<Option<f64>>| Some(possible(*medians.get(round)?)?.ln());
        medians.iter().map(time).collect()
    };
    let mut columns: Vec<Option<Vec<f64>>> = (0..rounds).map(column).collect();
    for column in columns.iter_mut().flatten() {
        let mean = mean(column);
        column.iter_mut().for_each(|log| *log -= mean);
    }
    let row = |entry: usize| -> Vec<Option<f64>> {
        let logs = || columns.iter().map(|column| Some(column.as_ref()?[entry]));
        let known: Vec<f64> = logs().flatten().collect();
        logs().map(|log| Some(log? - mean(&known))).collect()
    };
    (0..medians.len()).map(row).collect()
}

/// One sentence where the largest effect is more than the lead that made the winner. An effect within
/// two standard errors of none says nothing.
pub fn warning(neighbours: &[Neighbour], verdict: &Verdict) -> Option<String> {
    let winner = verdict.winner.as_ref()?;
    let second = verdict.entries.get(1)?;
    let lead = second.to_fastest?.ratio;
    let size = |neighbour: &Neighbour| neighbour.ratio.ln().abs();
    let sure = |n: &&Neighbour| n.standard_error.is_some_and(|error| size(n) > 2.0 * error);
    let largest = neighbours
        .iter()
        .filter(sure)
        .max_by(|a, b| size(a).total_cmp(&size(b)))?;
    (size(largest) > lead.ln()).then(|| {
        format!(
            "Who ran before counts for more than the lead: {} a run takes {}, and {winner} leads {} by {}.",
            after(largest),
            longer(largest.ratio),
            second.label,
            percent(lead - 1.0)
        )
    })
}

/// The effects for a reader.
pub fn table(neighbours: &[Neighbour]) -> Table {
    let row = |neighbour: &Neighbour| {
        let error = neighbour.standard_error;
        vec![
            after(neighbour),
            neighbour.blocks.to_string(),
            longer(neighbour.ratio),
            error.map_or("—".into(), percent),
        ]
    };
    Table {
        head: [
            "who ran before",
            "blocks",
            "a run takes",
            "± standard error",
        ]
        .map(String::from)
        .into(),
        rows: neighbours.iter().map(row).collect(),
    }
}

fn after(neighbour: &Neighbour) -> String {
    match &neighbour.predecessor {
        Some(label) => format!("after {label}"),
        None => "first in its round".into(),
    }
}

fn longer(ratio: f64) -> String {
    match ratio {
        1.0.. => format!("{} longer", percent(ratio - 1.0)),
        _ => format!("{} shorter", percent(1.0 - ratio)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::order;

    const ROUNDS: u32 = 24;

    /// Twelve entries, of which 0 leads by `lead`; every run after entry 3 takes 10 % longer.
    struct Race {
        labels: Vec<String>,
        rounds: Vec<u32>,
        medians: Vec<Vec<Option<f64>>>,
        /// Entry, round, predecessor.
        places: Vec<(usize, u32, Option<usize>)>,
    }

    impl Race {
        fn run(lead: f64) -> Race {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut race = Race {
                labels: (0..12).map(|entry| format!("e{entry}")).collect(),
                rounds: (1..=ROUNDS).collect(),
                medians: vec![Vec::new(); 12],
                places: Vec::new(),
            };
            for number in 1..=ROUNDS {
                let mut before = None;
                for entry in order(12, number, 1) {
                    let noise = 1.0 + 0.01 * (rng.f64() - 0.5);
                    let slowed = if before == Some(3) { 1.1 } else { 1.0 };
                    let own = if entry == 0 { 1.0 - lead } else { 1.0 };
                    race.medians[entry].push(Some(f64::from(number) * own * slowed * noise));
                    race.places.push((entry, number, before));
                    before = Some(entry);
                }
            }
            race
        }

        fn neighbours(&self, medians: &[Vec<Option<f64>>], rounds: &[u32]) -> Vec<Neighbour> {
            let place = |(entry, round, before): &(usize, u32, Option<usize>)| Place {
                entry: &self.labels[*entry],
                round: *round,
                predecessor: before.map(|before| self.labels[before].as_str()),
            };
            let places: Vec<Place> = self.places.iter().map(place).collect();
            estimate(&self.labels, rounds, medians, &places)
        }
    }

    #[test]
    fn a_heavy_predecessor_is_found_and_the_others_are_not() {
        let race = Race::run(0.2);
        let neighbours = race.neighbours(&race.medians, &race.rounds);
        assert_eq!(neighbours.len(), 13, "twelve, and none");
        assert_eq!(neighbours[0].predecessor.as_deref(), Some("e3"));
        // 10 %, of which a twelfth is in the average.
        assert!((neighbours[0].ratio - 1.09).abs() < 0.01, "{neighbours:?}");
        assert!(neighbours[0].standard_error.unwrap() < 0.01);
        assert!(
            neighbours[1..].iter().all(|n| (n.ratio - 1.0).abs() < 0.02),
            "{neighbours:?}"
        );
        assert_eq!(
            neighbours.iter().map(|n| n.blocks).sum::<usize>(),
            12 * ROUNDS as usize
        );
    }

    #[test]
    fn where_a_neighbour_counts_for_more_than_the_lead_it_is_said() {
        let said = |lead: f64| {
            let race = Race::run(lead);
            let verdict = Verdict::new(&race.labels, &race.medians, "e1");
            assert_eq!(verdict.winner.as_deref(), Some("e0"));
            warning(&race.neighbours(&race.medians, &race.rounds), &verdict)
        };
        let warning = said(0.05).unwrap();
        assert!(
            warning.contains("after e3 a run takes 9 % longer, and e0 leads"),
            "{warning}"
        );
        assert_eq!(said(0.2), None);
    }

    #[test]
    fn one_round_and_missing_times_tell_nothing() {
        let race = Race::run(0.0);
        let one: Vec<_> = race
            .medians
            .iter()
            .map(|medians| medians[..1].to_vec())
            .collect();
        assert_eq!(race.neighbours(&one, &[1]), []);
        assert_eq!(race.neighbours(&vec![vec![None; 2]; 12], &[1, 2]), []);
        assert_eq!(estimate(&[], &[], &[], &[]), []);
    }
}
