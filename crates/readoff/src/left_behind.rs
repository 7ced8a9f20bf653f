//! What an entry's runs leave of the file in the page cache: the prepare step after each finds it.

use pagecache::Prepared;
use serde::Serialize;

use crate::hyperfine::Export;
use crate::round_log::Run;

/// At least this share of the file is all of it, as in a warm state.
const WHOLE: f64 = 0.99;

/// What was found of the file after an entry's runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftBehind {
    /// The entry's label.
    pub entry: String,
    /// Its runs after which it could be seen.
    pub runs: usize,
    /// Of these, those after which at least 99 % of the file was resident.
    pub whole: usize,
    /// The least share that was found resident, 0 to 1.
    pub least: f64,
}

/// Who ran in a round, and the prepare step before, warmups too; a block of the log is an entry's.
pub fn prepared(export: &Export, log: Vec<Run>, block: u32) -> Vec<(String, Prepared)> {
    let names = export.names();
    let runs = log.into_iter().enumerate();
    let named = runs.filter_map(|(index, run)| {
        let name = names.get(index / block as usize)?;
        Some((name.to_string(), run.prepared))
    });
    named.collect()
}

/// What each entry left behind, in the order of their names. A round is its runs in order, warmups
/// too: who ran, and the prepare step before.
pub fn left_behind(rounds: &[Vec<(String, Prepared)>]) -> Vec<LeftBehind> {
    let mut all: Vec<LeftBehind> = Vec::new();
    for pair in rounds.iter().flat_map(|round| round.windows(2)) {
        let [(entry, _), (_, after)] = pair else {
            continue;
        };
        let Some(found) = after.found_resident.filter(|_| after.bytes > 0) else {
            continue;
        };
        let share = found as f64 / after.bytes as f64;
        let at = all
            .iter()
            .position(|left| left.entry == *entry)
            .unwrap_or_else(|| {
                all.push(LeftBehind {
                    entry: entry.clone(),
                    runs: 0,
                    whole: 0,
                    least: 1.0,
                });
                all.len() - 1
            });
        all[at].runs += 1;
        all[at].whole += usize::from(share >= WHOLE);
        all[at].least = all[at].least.min(share);
    }
    all.sort_by(|a, b| a.entry.cmp(&b.entry));
    all
}

#[cfg(test)]
mod tests {
    use pagecache::{Action, Filled, Method, State};

    use super::*;

    fn prepared(bytes: u64, found_resident: Option<u64>) -> Prepared {
        Prepared {
            state: State::Cold,
            fill: Filled::None,
            action: Action::Evicted,
            by: Method::Cachestat,
            bytes,
            found_resident,
            resident: Some(0),
            dirty: Some(0),
            seconds: 0.0,
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_a_run_finds_was_left_by_the_one_before_it_in_the_round() {
        let round = |found: [u64; 3]| {
            let names = ["read", "direct", "mmap"].map(String::from);
            let runs = found.map(|bytes| prepared(1000, Some(bytes)));
            names.into_iter().zip(runs).collect()
        };
        let left = left_behind(&[round([0, 1000, 0]), round([1000, 990, 100])]);
        let of = |entry: &str, whole, least| LeftBehind {
            entry: entry.into(),
            runs: 2,
            whole,
            least,
        };
        assert_eq!(left, [of("direct", 0, 0.0), of("read", 2, 0.99)]);
    }

    #[test]
    fn nothing_is_said_of_what_can_t_be_told() {
        let run = |bytes, found| ("read".to_string(), prepared(bytes, found));
        let unknown = vec![run(1000, None), run(1000, None)];
        let empty = vec![run(0, Some(0)), run(0, Some(0))];
        assert_eq!(left_behind(&[unknown, empty, vec![]]), []);
    }
}
