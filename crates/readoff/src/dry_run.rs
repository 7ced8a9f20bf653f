//! `readoff run --dry-run`: every command that a race would run, as lines for a shell.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;

use crate::budget::group;
use crate::check::{COLD_RUNS, times_cold};
use crate::family::control_work;
use crate::format::printable;
use crate::hyperfine::{Hyperfine, for_shell};
use crate::input::Input;
use crate::output::print;
use crate::plan::{Order, Plan};
use crate::possible_states::leave_out_impossible;
use crate::programs::Programs;
use crate::rounds::{call, fill_command};

/// Rounds that are shown where the check would have to tell how many fit.
const ROUNDS: u32 = 6;

/// Prints every command that a race would run in `folder`, and runs none. The lines run as they are
/// in any shell that knows `$'…'`, which only stands where a name needs it.
pub fn dry_run(
    mut plan: Plan,
    rounds: Option<u32>,
    input: &Input,
    programs: &Programs,
    hyperfine: &Hyperfine,
    folder: &Path,
) -> Result<()> {
    leave_out_impossible(&mut plan, input)?;
    match plan.order {
        Order::Grouped => group(&mut plan, rounds),
        Order::Balanced => plan.rounds = rounds.unwrap_or(ROUNDS),
    }
    let mut lines: Vec<String> = plan
        .skipped
        .iter()
        .map(|skipped| format!("# left out: {}: {}", skipped.name, skipped.reason))
        .map(|line| printable(&line))
        .collect();
    lines.push("# the folder of the race".into());
    lines.push(line(["mkdir", "-p"], &[folder.join("rounds").as_os_str()]));
    if let Some(link) = input.link(folder) {
        let words = [input.path.as_os_str(), link.as_os_str()];
        lines.push(line(["ln", "-s"], &words));
    }
    lines.push(line(["cd"], &[folder.as_os_str()]));
    checks(&plan, input, programs, &mut lines)?;
    if rounds.is_none() && plan.order == Order::Balanced {
        lines.push(format!(
            "# the check tells how many rounds fit into the budget; {ROUNDS} are shown"
        ));
    }
    for state in &plan.states {
        if let Some(fill) = fill_command(*state, programs)? {
            lines.push(format!("# {}", state.name()));
            lines.push(command(&fill, &[input.argument()]));
        }
        for number in 1..=plan.rounds {
            lines.push(format!("# {} round {number}", state.name()));
            let call = call(&plan, *state, number, programs, input, folder)?;
            lines.push(call.shell_line(hyperfine));
        }
    }
    lines.push(String::new());
    print(&lines.join("\n"))
}

/// What the check runs (see [`crate::check::check`]).
fn checks(plan: &Plan, input: &Input, programs: &Programs, lines: &mut Vec<String>) -> Result<()> {
    let control = control_work(&plan.family, &plan.work);
    let own = || plan.entries.iter().filter(|entry| entry.external.is_none());
    lines.push("# check: all must agree".into());
    lines.extend(own().map(|entry| command(&entry.with_work(control), &["--json"])));
    let reference = own().find(|entry| entry.name == plan.reference);
    if let Some(reference) = reference.or_else(|| own().next()) {
        lines.push("# check: how long it takes".into());
        lines.push(command(&reference.command, &["--json"]));
        for _ in (0..COLD_RUNS).filter(|_| times_cold(plan)) {
            let evict = [programs.path("pagecache")?, "evict".into()];
            lines.push(command(&evict, &[input.argument()]));
            lines.push(command(&reference.command, &["--json"]));
        }
    }
    let externals = plan.entries.iter().filter(|entry| entry.external.is_some());
    lines.extend(externals.map(|entry| command(&entry.command, &[])));
    Ok(())
}

fn command(words: &[String], more: &[&str]) -> String {
    let words = words.iter().map(String::as_str);
    let words: Vec<&OsStr> = words.chain(more.iter().copied()).map(OsStr::new).collect();
    line([], &words)
}

fn line<const N: usize>(first: [&str; N], words: &[&OsStr]) -> String {
    let words = words.iter().map(|word| for_shell(word));
    let first = first.into_iter().map(str::to_string);
    first.chain(words).collect::<Vec<_>>().join(" ")
}
