//! How many rounds fit into the time that a user gives, and what is left out where few do.

use crate::check::Checked;
use crate::format::seconds;
use crate::plan::{Block, Order, Plan, State};
use crate::stats::FEWEST_ROUNDS;

/// More rounds than this are only run when asked for.
const MAX_ROUNDS: u32 = 30;

/// What a run costs beside itself: spawning it, and the prepare step. Seconds.
const RUN_OVERHEAD: f64 = 0.006;

/// Sets the number of rounds: what was asked for, else what the budget (seconds) has room for. Where
/// that is fewer than a verdict needs, the plan is made smaller, in this order: entries that would
/// eat half of the budget alone are left out; warm runs are no longer repeated; only the suite's
/// core entries stay. Returns what was done, for the user.
pub fn fit(plan: &mut Plan, checked: &Checked, rounds: Option<u32>, budget: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.order == Order::Grouped {
        plan.rounds = 1;
        return notes;
    }
    if let Some(rounds) = rounds {
        plan.rounds = rounds;
        return notes;
    }
    plan.budget = Some(budget);
    let enough = |plan: &Plan| rounds_within(plan, checked, budget) >= FEWEST_ROUNDS as f64;
    if !enough(plan) {
        leave_out_gluttons(plan, checked, budget);
    }
    if !enough(plan) && plan.states.iter().any(|state| plan.block(*state).all() > 1) {
        for block in plan.blocks.values_mut() {
            *block = Block { warmup: 0, runs: 1 };
        }
        notes.push("a large file for this budget: one run an entry and round, no warmup".into());
    }
    if !enough(plan) && plan.entries.iter().any(|entry| entry.core) {
        let others: Vec<String> = plan
            .entries
            .iter()
            .filter(|entry| !entry.core && entry.name != plan.reference)
            .map(|entry| entry.name.clone())
            .collect();
        for name in others {
            plan.skip(
                &name,
                "left out: the budget has room for the core entries only",
            );
        }
    }
    let rounds = rounds_within(plan, checked, budget);
    plan.rounds = (rounds as u32).clamp(1, MAX_ROUNDS);
    if plan.rounds < FEWEST_ROUNDS as u32 {
        let needed = FEWEST_ROUNDS as f64 * round_seconds_of_all(plan, checked);
        notes.push(format!(
            "only {} of the {FEWEST_ROUNDS} rounds that a winner needs fit into {}: --budget {:.0}m would do",
            plan.rounds,
            seconds(budget),
            (needed / 60.0).ceil()
        ));
    }
    notes
}

fn leave_out_gluttons(plan: &mut Plan, checked: &Checked, budget: f64) {
    let gluttons: Vec<(String, f64)> = plan
        .entries
        .iter()
        .filter(|entry| entry.name != plan.reference && !entry.core)
        .map(|entry| {
            let cost = entry
                .states
                .iter()
                .map(|s| block_seconds(plan, checked, &entry.name, *s));
            (entry.name.clone(), cost.sum::<f64>() * FEWEST_ROUNDS as f64)
        })
        .filter(|(_, cost)| *cost > budget / 2.0)
        .collect();
    for (name, cost) in gluttons {
        plan.skip(
            &name,
            format!(
                "would alone take {} of the {} budget",
                seconds(cost),
                seconds(budget)
            ),
        );
    }
}

fn rounds_within(plan: &Plan, checked: &Checked, budget: f64) -> f64 {
    (budget / round_seconds_of_all(plan, checked)).floor()
}

fn round_seconds_of_all(plan: &Plan, checked: &Checked) -> f64 {
    plan.states
        .iter()
        .map(|state| round_seconds(plan, checked, *state))
        .sum::<f64>()
}

/// About how long a round takes in a state, in seconds.
pub fn round_seconds(plan: &Plan, checked: &Checked, state: State) -> f64 {
    let entries = plan.entries_in(state);
    entries
        .iter()
        .map(|entry| block_seconds(plan, checked, &entry.name, state))
        .sum()
}

/// About how long all rounds take that the plan has, in seconds.
pub fn race_seconds(plan: &Plan, checked: &Checked) -> f64 {
    f64::from(plan.rounds) * round_seconds_of_all(plan, checked)
}

/// About how long an entry's block takes. Cold, an entry waits for the device as the reference
/// does, and takes as much longer than it as when warm.
fn block_seconds(plan: &Plan, checked: &Checked, name: &str, state: State) -> f64 {
    let time_of = |name: &str| checked.warm_seconds.get(name).copied().unwrap_or(0.0);
    let warm = time_of(name);
    let run = match (state, checked.cold_seconds) {
        (State::Cold, Some(cold)) => cold + (warm - time_of(&plan.reference)).max(0.0),
        _ => warm,
    };
    f64::from(plan.block(state).all()) * (run + RUN_OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Entry, Purge};

    fn plan(core: &[&str], rest: &[&str]) -> Plan {
        let entry = |name: &&str, core| Entry {
            name: name.to_string(),
            command: vec![],
            states: vec![State::Warm],
            core,
            external: None,
        };
        Plan {
            suite: "test".into(),
            family: "scan".into(),
            work: "xor".into(),
            states: vec![State::Warm],
            blocks: [(State::Warm, State::Warm.default_block())].into(),
            rounds: 0,
            budget: None,
            order: Order::Balanced,
            purge: Purge::File,
            reference: core[0].into(),
            entries: core
                .iter()
                .map(|n| entry(n, true))
                .chain(rest.iter().map(|n| entry(n, false)))
                .collect(),
            skipped: vec![],
        }
    }

    fn checked(seconds: &[(&str, f64)]) -> Checked {
        let warm_seconds = seconds
            .iter()
            .map(|(name, s)| (name.to_string(), *s))
            .collect();
        Checked {
            warm_seconds,
            ..Checked::default()
        }
    }

    #[test]
    fn a_small_file_gets_the_most_rounds_and_keeps_everybody() {
        let mut plan = plan(&["read", "mmap"], &["fread"]);
        let notes = fit(
            &mut plan,
            &checked(&[("read", 0.01), ("mmap", 0.01), ("fread", 0.01)]),
            None,
            120.0,
        );
        assert_eq!(
            (plan.rounds, plan.entries.len(), notes.len()),
            (MAX_ROUNDS, 3, 0)
        );
    }

    #[test]
    fn what_would_eat_half_of_the_budget_is_left_out_first() {
        let mut plan = plan(&["read", "mmap"], &["ruby"]);
        fit(
            &mut plan,
            &checked(&[("read", 1.0), ("mmap", 1.0), ("ruby", 60.0)]),
            None,
            120.0,
        );
        assert_eq!(plan.skipped[0].name, "ruby");
        assert!(plan.skipped[0].reason.starts_with("would alone take"));
        assert_eq!(plan.block(State::Warm), State::Warm.default_block());
    }

    #[test]
    fn a_large_file_keeps_the_core_and_gets_single_runs() {
        let mut plan = plan(&["read", "mmap"], &["a", "b", "c"]);
        let times = [
            ("read", 5.0),
            ("mmap", 5.0),
            ("a", 5.0),
            ("b", 5.0),
            ("c", 5.0),
        ];
        fit(&mut plan, &checked(&times), None, 120.0);
        assert_eq!(plan.entries.len(), 2);
        assert_eq!(plan.block(State::Warm), Block { warmup: 0, runs: 1 });
        assert_eq!(plan.rounds, 11);
    }

    #[test]
    fn where_nothing_helps_the_right_budget_is_named() {
        let mut plan = plan(&["read", "mmap"], &[]);
        let notes = fit(
            &mut plan,
            &checked(&[("read", 60.0), ("mmap", 60.0)]),
            None,
            120.0,
        );
        assert_eq!(plan.rounds, 1, "at least one round");
        assert!(notes.last().unwrap().contains("--budget 13m"), "{notes:?}");
    }

    #[test]
    fn rounds_that_are_asked_for_are_run() {
        let mut plan = plan(&["read", "mmap"], &[]);
        fit(
            &mut plan,
            &checked(&[("read", 60.0), ("mmap", 60.0)]),
            Some(7),
            120.0,
        );
        assert_eq!(plan.rounds, 7);
    }
}
