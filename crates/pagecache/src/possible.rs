//! What can be known of a state before any time is spent on it.

use std::path::Path;

use crate::{
    Error, State, evict::require_cold_state, is_dax, memory::refuse_larger_than_memory, open,
};

/// Fails with [`Error::Unavailable`] if `path` can't be brought into `state` here, whatever is tried:
/// cold where files live in memory only, warm where the page cache is passed by (DAX) or has no room.
/// `bytes` must be resident at once in a warm state: the file's, or more where it has company.
///
/// That it doesn't fail is no promise: pages may be held by somebody else. Fails with
/// [`Error::NoInput`] as [`open`] does.
pub fn require_possible(path: &Path, state: State, bytes: u64) -> Result<(), Error> {
    match state {
        State::Cold => require_cold_state(path, &open(path)?),
        State::Warm | State::WarmRandom if is_dax(path)? => {
            let why = "reads pass the page cache by here (DAX): there is no warm state".to_owned();
            Err(Error::Unavailable(path.to_owned(), why))
        }
        State::Warm | State::WarmRandom => refuse_larger_than_memory(path, bytes),
        State::AsIs => Ok(()),
    }
}
