//! Whether files fit into the memory that is left.

use std::path::Path;

use crate::{Error, filesystem, residency::size, sys};

/// Fails with [`Error::Unavailable`] if `bytes` of files can't be resident at once: more than the
/// system has available, or than a cgroup leaves. Files on the filesystem of `path`, which is named in
/// the error, are never refused where they are in memory anyway (tmpfs).
pub fn refuse_larger_than_memory(path: &Path, bytes: u64) -> Result<(), Error> {
    if filesystem(path).is_ok_and(|filesystem| !filesystem.has_cold_state) {
        return Ok(());
    }
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
