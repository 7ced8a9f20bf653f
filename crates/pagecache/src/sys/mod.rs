//! What differs by system, behind the same functions: the only place with calls of one system.

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
mod mincore;
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
mod seek_hole;

#[cfg(target_os = "freebsd")]
#[path = "freebsd.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
#[path = "other.rs"]
mod system;

pub use system::{
    drop_pages, filesystem, filesystem_of, holders, images_beneath, is_dax, layout, memory_left,
    prefetch, purge_system, readahead_off, residency, write_back, writers,
};

use std::{ffi::CString, fmt, io, mem, os::unix::ffi::OsStrExt, path::Path};

use crate::residency::size;

/// A process that has a file mapped, and so keeps what it touched in memory.
pub struct Holder {
    pub pid: u32,
    pub name: String,
    /// Bytes of the mapping that are in memory; 0 where the system doesn't say.
    pub resident: u64,
    /// Of these, locked by mlock(2).
    pub locked: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "process {} ({}) maps it", self.pid, self.name)?;
        if self.resident > 0 {
            write!(f, ", {} touched", size(self.resident))?;
        }
        if self.locked > 0 {
            write!(f, ", {} locked", size(self.locked))?;
        }
        Ok(())
    }
}

/// How much memory is left for files, and what bounds it.
pub struct MemoryLeft {
    pub bytes: u64,
    pub by: String,
}

/// The page size in bytes.
pub fn page_size() -> u64 {
    // SAFETY: sysconf only reads a value; _SC_PAGESIZE is always defined, so it is positive.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

/// Bytes that an unprivileged process can still write to the filesystem of `folder`, by statvfs(3);
/// none where it doesn't say (it claims to have no blocks at all).
pub fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: all fields are integers, of which zero is one.
    let mut space: libc::statvfs = unsafe { mem::zeroed() };
    // SAFETY: `path` ends in a NUL, and the buffer is of the call's own type.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut space) } != 0 {
        return Err(io::Error::last_os_error());
    }
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let (blocks, free) = (space.f_blocks as u64, space.f_bavail as u64);
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let block_size = space.f_frsize as u64;
    Ok((blocks > 0).then(|| free.saturating_mul(block_size)))
}
