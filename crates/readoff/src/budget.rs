//! How many rounds fit into the time that a user gives, and what is left out where few do.

use crate::check::Checked;
use crate::format::seconds;
use crate::plan::{Block, Order, Plan, State};
use crate::stats::FEWEST_ROUNDS;

/// More rounds than this are only run when asked for.
const MAX_ROUNDS: u32 = 30;

/// More rounds than this are not run to settle a question, whatever the budget.
const MOST_TO_SETTLE: u32 = 1000;

/// What a run costs beside itself: spawning it, and the prepare step. Seconds.
const RUN_OVERHEAD: f64 = 0.006;

/// How many rounds a user asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Count {
    /// So many, whatever they take.
    Fixed(u32),
    /// Until the question is settled or the budget is spent.
    UntilSettled,
}

impl Count {
    /// The number, where it is one.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Count::Fixed(rounds) => Some(rounds),
            Count::UntilSettled => None,
        }
    }
}

/// Sets the number of rounds: what was asked for, else what the budget (seconds) has room for. Where
/// that is fewer than a verdict needs, the plan is made smaller, in this order: entries that would
/// eat half of the budget alone are left out; warm runs are no longer repeated; the slowest go until
/// only the suite's core entries are left. Returns what was done, for the user.
pub fn fit(plan: &mut Plan, checked: &Checked, asked: Option<Count>, budget: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.order == Order::Grouped {
        group(plan, asked.and_then(Count::fixed));
        return notes;
    }
    if let Some(Count::Fixed(rounds)) = asked {
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
    while !enough(plan) {
        let Some((name, cost)) = slowest(plan, checked) else {
            break;
        };
        plan.skip(
            &name,
            format!(
                "{} for six rounds is more than the budget has room for",
                seconds(cost)
            ),
        );
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
    if asked == Some(Count::UntilSettled) {
        plan.until_settled = true;
        plan.rounds = MOST_TO_SETTLE;
    }
    notes
}

/// Grouped order: one call, in which what would be rounds are repetitions: what was asked for, else
/// the suite's blocks, else hyperfine's own ten.
pub fn group(plan: &mut Plan, rounds: Option<u32>) {
    plan.rounds = 1;
    for (state, block) in &mut plan.blocks {
        let own = *block != state.default_block();
        let repeat = rounds.unwrap_or(if own { 1 } else { 10_u32.div_ceil(block.runs) });
        block.runs = block.runs.saturating_mul(repeat);
    }
}

fn leave_out_gluttons(plan: &mut Plan, checked: &Checked, budget: f64) {
    while let Some((name, cost)) = slowest(plan, checked).filter(|(_, cost)| *cost > budget / 2.0) {
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

/// The entry, of those that may go, whose [`FEWEST_ROUNDS`] take the longest, in seconds.
fn slowest(plan: &Plan, checked: &Checked) -> Option<(String, f64)> {
    let may_go = plan
        .entries
        .iter()
        .filter(|entry| !entry.core && entry.name != plan.reference);
    let costs = may_go.map(|entry| {
        let cost = entry
            .states
            .iter()
            .map(|s| block_seconds(plan, checked, &entry.name, *s));
        (entry.name.clone(), cost.sum::<f64>() * FEWEST_ROUNDS as f64)
    });
    costs.max_by(|a, b| a.1.total_cmp(&b.1))
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
    use crate::plan::{Entry, Phase, Purge};

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
            until_settled: false,
            seed: 0,
            budget: None,
            order: Order::Balanced,
            purge: Purge::File,
            reference: core[0].into(),
            decides: Phase::Wall,
            memory: None,
            source: None,
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
            ("read", 6.0),
            ("mmap", 6.0),
            ("a", 3.2),
            ("b", 3.1),
            ("c", 3.0),
        ];
        fit(&mut plan, &checked(&times), None, 120.0);
        assert_eq!(plan.block(State::Warm), Block { warmup: 0, runs: 1 });
        let names: Vec<&str> = plan
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        assert_eq!(
            names,
            ["read", "mmap", "b", "c"],
            "the slowest of the rest went"
        );
        assert_eq!(plan.rounds, 6);
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
    fn in_grouped_order_rounds_are_repetitions() {
        let mut plan = plan(&["read", "mmap"], &[]);
        plan.order = Order::Grouped;
        fit(&mut plan, &checked(&[]), Some(Count::Fixed(5)), 120.0);
        assert_eq!(plan.rounds, 1);
        assert_eq!(
            plan.block(State::Warm).runs,
            5 * State::Warm.default_block().runs
        );
    }

    #[test]
    fn rounds_that_are_asked_for_are_run() {
        let mut plan = plan(&["read", "mmap"], &[]);
        fit(
            &mut plan,
            &checked(&[("read", 60.0), ("mmap", 60.0)]),
            Some(Count::Fixed(7)),
            120.0,
        );
        assert_eq!(plan.rounds, 7);
    }

    #[test]
    fn until_it_is_settled_the_clock_decides_and_a_large_file_is_made_to_fit() {
        let mut plan = plan(&["read", "mmap"], &["ruby"]);
        let times = [("read", 1.0), ("mmap", 1.0), ("ruby", 60.0)];
        fit(
            &mut plan,
            &checked(&times),
            Some(Count::UntilSettled),
            120.0,
        );
        assert_eq!(plan.skipped[0].name, "ruby");
        assert!(plan.until_settled);
        assert_eq!((plan.rounds, plan.budget), (MOST_TO_SETTLE, Some(120.0)));
    }
}
