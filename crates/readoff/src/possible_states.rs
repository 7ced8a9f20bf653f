//! States that can't be had, left out before time is spent on them.

use anyhow::Result;

use crate::error::{Code, failure};
use crate::family;
use crate::format::size;
use crate::input::Input;
use crate::plan::{Plan, State};

/// Leaves out the states that this file can't be in here, and the entries that are raced in no other.
/// Those that remain may still turn out not to be had: somebody may hold the file's pages.
///
/// # Errors
/// No state is left: exit code 69, with the reasons.
pub fn leave_out_impossible(plan: &mut Plan, input: &Input) -> Result<()> {
    let reasons: Vec<(State, String)> = plan
        .states
        .iter()
        .filter_map(|state| Some((*state, why_impossible(*state, plan, input)?)))
        .collect();
    if reasons.is_empty() {
        return Ok(());
    }
    let raced: Vec<String> = plan
        .entries
        .iter()
        .filter(|e| !e.states.is_empty())
        .map(|e| e.name.clone())
        .collect();
    for (state, reason) in &reasons {
        plan.skip_state(*state, reason);
    }
    if plan.states.is_empty() {
        let reasons: Vec<String> = reasons
            .iter()
            .map(|(state, reason)| format!("{}: {reason}", state.name()))
            .collect();
        let what = format!("no state could be raced: {}", reasons.join("; "));
        return Err(failure(Code::Unavailable, what));
    }
    let lost: Vec<String> = plan
        .entries
        .iter()
        .filter(|entry| entry.states.is_empty() && raced.contains(&entry.name))
        .map(|entry| entry.name.clone())
        .collect();
    for name in lost {
        plan.skip(&name, "is raced in no state that can be had here");
    }
    Ok(())
}

fn why_impossible(state: State, plan: &Plan, input: &Input) -> Option<String> {
    let bytes = family::resident_bytes(&plan.family, input.identity.bytes);
    if let Some(limit) = plan
        .memory
        .filter(|limit| state.fill().is_some() && bytes > *limit)
    {
        return Some(format!(
            "{} can't be resident at once: --memory leaves {}",
            size(bytes),
            size(limit)
        ));
    }
    match pagecache::require_possible(&input.path, of_cache(state), bytes) {
        Err(pagecache::Error::Unavailable(_, why)) => Some(why),
        // What else is wrong with the file is for the check to say.
        _ => None,
    }
}

fn of_cache(state: State) -> pagecache::State {
    match state {
        State::AsIs => pagecache::State::AsIs,
        State::Cold => pagecache::State::Cold,
        State::Warm => pagecache::State::Warm,
        State::WarmRandom => pagecache::State::WarmRandom,
    }
}
