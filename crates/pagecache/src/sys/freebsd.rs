//! FreeBSD.

use std::{fs::File, io, os::fd::AsRawFd};

use super::{MemoryLeft, bsd, mincore};
use crate::{Filesystem, Method, Residency};

pub use bsd::{
    drop_pages, filesystem, filesystem_of, holders, images_beneath, is_dax, layout, write_back,
    writers,
};

/// By mincore(2), where it looks at the page cache: by default it reports only what this process
/// has mapped (`vm.mincore_mapped`, FreeBSD 12.1 on; before that it told all).
pub fn residency(file: &File, total: u64, _filesystem: &Filesystem) -> io::Result<Residency> {
    if bsd::sysctl(c"vm.mincore_mapped").is_some_and(|mapped_only| mapped_only != 0) {
        let why = "mincore(2) doesn't tell: set the sysctl vm.mincore_mapped to 0".to_owned();
        return Ok(Residency::unknown(total, why));
    }
    Ok(Residency {
        total,
        resident: Some(mincore::resident_bytes(file, total)?),
        dirty: None,
        by: Method::Mincore,
        why_unknown: None,
    })
}

/// Reads through `file` load only the pages they ask for.
pub fn readahead_off(file: &File) -> io::Result<()> {
    advise(file, 0, 0, libc::POSIX_FADV_RANDOM)
}

/// Asks for pages without waiting for them: a hint, which may do nothing.
pub fn prefetch(file: &File, offset: u64, length: u64) {
    let _ = advise(file, offset, length, libc::POSIX_FADV_WILLNEED);
}

fn advise(file: &File, offset: u64, length: u64, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory is passed. Sizes of files fit off_t.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), offset as i64, length as i64, advice) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// What the machine has: pages that can be reclaimed aren't told apart from those that can't.
pub fn memory_left() -> Option<MemoryLeft> {
    Some(MemoryLeft {
        bytes: bsd::sysctl(c"hw.physmem")?,
        by: "the machine (hw.physmem)".to_owned(),
    })
}

/// FreeBSD has no such call.
pub fn purge_system() -> Result<(), (&'static str, String)> {
    let why = "can't be purged on FreeBSD; evict the file instead".to_owned();
    Err(("the machine's cache", why))
}
