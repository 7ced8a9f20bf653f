//! macOS. Written from the libc crate and the system's headers; not compiled where this was
//! developed.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::RawFd;
use std::path::Path;
use std::ptr;

use libc::off_t;

/// There is no such flag of open(2): [`no_cache`] does it.
pub const O_DIRECT: c_int = 0;

/// Advice of [`posix_fadvise`]: read ahead.
pub const POSIX_FADV_SEQUENTIAL: c_int = 2;

/// Advice of [`posix_fadvise`]: begin to read now.
pub const POSIX_FADV_WILLNEED: c_int = 3;

/// There is no such flag of mmap(2).
pub const MAP_POPULATE: Option<c_int> = None;

/// Keeps reads of `fd` out of the page cache: fcntl(2), `F_NOCACHE`.
///
/// # Errors
/// The filesystem refuses it.
pub fn no_cache(fd: RawFd) -> io::Result<()> {
    // SAFETY: sets a flag of a descriptor.
    match unsafe { libc::fcntl(fd, libc::F_NOCACHE, 1) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// posix_fadvise(2) as far as macOS has it, by fcntl(2): `F_RDAHEAD` for sequential reading,
/// `F_RDADVISE` for what is needed soon. `len` 0 means up to the end. Returns 0 or an errno.
///
/// # Safety
/// None needed; it is `unsafe` as the function of the same name is elsewhere.
pub unsafe fn posix_fadvise(fd: c_int, offset: off_t, len: off_t, advice: c_int) -> c_int {
    let count = if len == 0 {
        c_int::MAX
    } else {
        c_int::try_from(len).unwrap_or(c_int::MAX)
    };
    let what = libc::radvisory {
        ra_offset: offset,
        ra_count: count,
    };
    // SAFETY: F_RDAHEAD takes a number, F_RDADVISE a pointer to a radvisory that lives on.
    let outcome = unsafe {
        match advice {
            POSIX_FADV_SEQUENTIAL => libc::fcntl(fd, libc::F_RDAHEAD, 1),
            POSIX_FADV_WILLNEED => libc::fcntl(fd, libc::F_RDADVISE, &raw const what),
            _ => return libc::EINVAL,
        }
    };
    match outcome {
        -1 => io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
        _ => 0,
    }
}

/// Gives `fd`, which is empty, blocks for `bytes` bytes, and that size: fcntl(2), `F_PREALLOCATE`,
/// then ftruncate(2).
///
/// # Errors
/// The filesystem can't, or has no space.
pub fn preallocate(fd: RawFd, bytes: u64) -> io::Result<()> {
    let mut space = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: bytes as off_t,
        fst_bytesalloc: 0,
    };
    // SAFETY: F_PREALLOCATE takes a pointer to an fstore_t that lives on; ftruncate takes no memory.
    let done = unsafe {
        libc::fcntl(fd, libc::F_PREALLOCATE, &raw mut space) != -1
            && libc::ftruncate(fd, bytes as off_t) == 0
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// Bytes fetched from the device for this process so far: proc_pid_rusage(2).
pub fn device_bytes() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage_info_v2>::uninit();
    // SAFETY: fills the struct of the flavor named where it returns 0.
    unsafe {
        let at = usage.as_mut_ptr().cast::<libc::rusage_info_t>();
        match libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V2, at) {
            0 => Some(usage.assume_init().ri_diskio_bytesread),
            _ => None,
        }
    }
}

/// Largest resident size of this process, in bytes.
pub fn peak_rss() -> Option<u64> {
    Some(super::rusage().ru_maxrss as u64)
}

/// Bytes of memory that this process can get: all of the machine's, since what is available can't
/// be asked for simply.
pub fn memory_available() -> Option<u64> {
    let mut bytes: u64 = 0;
    let mut length = mem::size_of_val(&bytes);
    // SAFETY: hw.memsize is a 64-bit number; `length` tells how much there is room for.
    let outcome = unsafe {
        let at = (&raw mut bytes).cast::<c_void>();
        libc::sysctlbyname(c"hw.memsize".as_ptr(), at, &mut length, ptr::null_mut(), 0)
    };
    (outcome == 0).then_some(bytes)
}

/// Whether `file` is made by the kernel as it is read: there is no /proc here.
pub fn is_made_by_kernel(_file: &Path) -> bool {
    false
}

/// Whether the process began without a stdout: not known here.
pub fn stdout_was_closed() -> bool {
    false
}
