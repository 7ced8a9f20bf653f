//! FreeBSD. Written from the libc crate and the manual; not compiled where this was developed.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::os::fd::RawFd;
use std::path::Path;
use std::ptr;

pub use libc::{O_DIRECT, posix_fadvise};

/// Advice of posix_fadvise(2): read ahead. (`sys/fcntl.h`; the libc crate lacks it.)
pub const POSIX_FADV_SEQUENTIAL: c_int = 2;

/// Advice of posix_fadvise(2): begin to read now.
pub const POSIX_FADV_WILLNEED: c_int = 3;

/// The flag of mmap(2) that maps every page that is in memory at once.
pub const MAP_POPULATE: Option<c_int> = Some(libc::MAP_PREFAULT_READ);

/// Keeps reads of `fd` out of the page cache, on systems without `O_DIRECT`.
///
/// # Errors
/// None here.
pub fn no_cache(_fd: RawFd) -> io::Result<()> {
    Ok(())
}

/// Gives `fd` blocks for `bytes` bytes, and that size: posix_fallocate(2).
///
/// # Errors
/// The filesystem can't (ZFS; that is `EINVAL`), or has no space.
pub fn preallocate(fd: RawFd, bytes: u64) -> io::Result<()> {
    // It returns the error instead of setting errno.
    // SAFETY: no memory is passed.
    match unsafe { libc::posix_fallocate(fd, 0, bytes as libc::off_t) } {
        0 => Ok(()),
        libc::EINVAL => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Bytes fetched from the device for this process: not told here (`ru_inblock` counts calls).
pub fn device_bytes() -> Option<u64> {
    None
}

/// Largest resident size of this process, in bytes.
pub fn peak_rss() -> Option<u64> {
    Some(super::rusage().ru_maxrss as u64 * 1024)
}

/// Bytes of memory that this process can get: all of the machine's, since what is available can't
/// be asked for simply.
pub fn memory_available() -> Option<u64> {
    let mut bytes: libc::c_ulong = 0;
    let mut length = mem::size_of_val(&bytes);
    // SAFETY: hw.physmem is an unsigned long; `length` tells how much there is room for.
    let outcome = unsafe {
        let at = (&raw mut bytes).cast::<c_void>();
        libc::sysctlbyname(c"hw.physmem".as_ptr(), at, &mut length, ptr::null_mut(), 0)
    };
    (outcome == 0).then_some(u64::from(bytes))
}

/// Whether `file` is made by the kernel as it is read. procfs gives such files the size 0, which is
/// looked for in any case.
pub fn is_made_by_kernel(_file: &Path) -> bool {
    false
}

/// Whether the process began without a stdout: not known here.
pub fn stdout_was_closed() -> bool {
    false
}
