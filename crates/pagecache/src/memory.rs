//! Whether files fit into the memory that is left.

use std::path::Path;

use crate::{Error, residency::size, sys};

/// Fails with [`Error::Unavailable`] if `bytes` of files can't be resident at once: more than the
/// system has available, or than a cgroup leaves. `path` is named in the error.
pub fn refuse_larger_than_memory(path: &Path, bytes: u64) -> Result<(), Error> {
    match sys::memory_left() {
        Some(left) if bytes > left.bytes => Err(Error::Unavailable(
            path.to_owned(),
            format!(
                "{} can't be resident at once: {} leaves {}",
                size(bytes),
                left.by,
                size(left.bytes)
            ),
        )),
        _ => Ok(()),
    }
}
