//! macOS.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    process::Command,
};

use super::{MemoryLeft, bsd, mincore};
use crate::{Filesystem, Method, Residency};

pub use bsd::{
    drop_pages, filesystem, filesystem_of, holders, images_beneath, is_dax, layout, write_back,
    writers,
};

/// By mincore(2), for one's own files. Whether it tells the truth of others' is not documented.
pub fn residency(file: &File, total: u64, _filesystem: &Filesystem) -> io::Result<Residency> {
    // SAFETY: geteuid has no arguments and can't fail.
    let user = unsafe { libc::geteuid() };
    if user != 0 && user != file.metadata()?.uid() {
        let why = "not your file: the system may hide its residency".to_owned();
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
    // SAFETY: F_RDAHEAD takes an integer, no memory.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_RDAHEAD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Asks for pages without waiting for them: a hint, which may do nothing.
pub fn prefetch(file: &File, offset: u64, length: u64) {
    let advice = libc::radvisory {
        ra_offset: offset as libc::off_t,
        ra_count: length as libc::c_int,
    };
    // SAFETY: F_RDADVISE reads the structure that is pointed to.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_RDADVISE, &raw const advice) };
}

/// What the machine has: the system doesn't say how much of it files can take.
pub fn memory_left() -> Option<MemoryLeft> {
    Some(MemoryLeft {
        bytes: bsd::sysctl(c"hw.memsize")?,
        by: "the machine (hw.memsize)".to_owned(),
    })
}

/// By purge(8). Needs root.
pub fn purge_system() -> Result<(), (&'static str, String)> {
    const PROGRAM: &str = "/usr/sbin/purge";
    match Command::new(PROGRAM).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err((PROGRAM, format!("{status}: it needs root"))),
        Err(cause) => Err((PROGRAM, cause.to_string())),
    }
}
