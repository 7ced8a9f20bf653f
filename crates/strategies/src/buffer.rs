//! Buffers for the bytes of a file.

use std::path::Path;

use bytesize::ByteSize;
use memmap2::MmapMut;

use crate::exit::{Error, Exit, Result};
use crate::sys;

/// Buffers below this are given without asking how much memory is left, which takes longer than
/// reading a small file.
pub(crate) const UNCHECKED: usize = 16 << 20;

/// A buffer of `bytes` bytes for `file`, aligned to pages (and so to sectors). It reads as zeros and takes
/// memory only as it is touched: an anonymous map, since the allocator writes zeros itself where
/// more than its usual alignment is asked for.
///
/// # Errors
/// [`Exit::Unavailable`] if it is larger than the memory left to this process.
pub fn allocate(bytes: usize, file: &Path) -> Result<MmapMut> {
    let size = ByteSize(bytes as u64);
    if bytes >= UNCHECKED
        && let Some(available) = sys::memory_available()
        && bytes as u64 > available
    {
        let available = ByteSize(available);
        return Err(Error::of(
            file,
            Exit::Unavailable,
            format_args!("a buffer of {size} is more than the memory available, {available}"),
        ));
    }
    MmapMut::map_anon(bytes).map_err(|cause| {
        Error::of(
            file,
            Exit::Unavailable,
            format_args!("can't allocate a buffer of {size}: {cause}"),
        )
    })
}

/// Fails as [`allocate`] does where such a buffer can't be had, for library code that allocates its
/// own and would abort.
///
/// # Errors
/// As [`allocate`].
pub fn check(bytes: usize, file: &Path) -> Result<()> {
    allocate(bytes, file).map(drop)
}
