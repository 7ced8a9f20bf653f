//! Linux, 5.15 on.

mod beneath;
mod fiemap;
mod filesystem;
mod holders;
mod memory;
mod mounts;
mod writers;

use std::{
    fs::{self, File},
    io,
    os::fd::AsRawFd,
};

use super::mincore;
use crate::{Filesystem, Method, Residency};

pub use beneath::images_beneath;
pub use fiemap::{is_dax, layout};
pub use filesystem::{filesystem, filesystem_of};
pub use holders::holders;
pub use memory::memory_left;
pub use writers::writers;

/// The same number on every architecture but MIPS, where it is none (ENOSYS) and mincore(2) answers.
/// libc doesn't have it for all.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of linux/mman.h.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of linux/mman.h: pages.
#[repr(C)]
#[derive(Default)]
struct Pages {
    cached: u64,
    dirty: u64,
    in_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// cachestat(2) where it tells the truth, else mincore(2) where that does.
pub fn residency(file: &File, total: u64, filesystem: &Filesystem) -> io::Result<Residency> {
    let page = super::page_size();
    if !filesystem::hides_from_cachestat(filesystem)
        && let Ok(pages) = cachestat(file, total)
    {
        return Ok(Residency {
            total,
            resident: Some((pages.cached * page).min(total)),
            dirty: Some(((pages.dirty + pages.in_writeback) * page).min(total)),
            by: Method::Cachestat,
            why_unknown: None,
        });
    }
    if !may_see_residency(file) {
        let why = "neither yours nor writable by you: the kernel hides its residency".to_owned();
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

fn cachestat(file: &File, total: u64) -> io::Result<Pages> {
    // A length of 0 would mean "to the end", and count pages past it (squashfs has such).
    let range = Range {
        offset: 0,
        length: total.max(1),
    };
    let mut pages = Pages::default();
    // SAFETY: both pointers are to live values of the layout that cachestat(2) gives.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut pages,
            0,
        )
    };
    if result == 0 {
        Ok(pages)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whether mincore(2) tells this process the truth about `file`. To all but its owner (or
/// CAP_FOWNER) and those who may write it, everything is said to be resident (`can_do_mincore` in
/// mm/mincore.c). Asked from the kernel itself: setting O_NOATIME makes the same ownership check.
fn may_see_residency(file: &File) -> bool {
    let fd = file.as_raw_fd();
    // SAFETY: F_GETFL and F_SETFL take and give flags, no memory.
    let owned = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        let owned = flags >= 0 && libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NOATIME) == 0;
        if owned {
            libc::fcntl(fd, libc::F_SETFL, flags);
        }
        owned
    };
    owned || is_writable(fd)
}

fn is_writable(fd: i32) -> bool {
    let path = format!("/proc/self/fd/{fd}\0");
    // SAFETY: `path` ends in a NUL and outlives the call.
    unsafe {
        libc::faccessat(
            libc::AT_FDCWD,
            path.as_ptr().cast(),
            libc::W_OK,
            libc::AT_EACCESS,
        ) == 0
    }
}

/// Writes dirty pages to the device, and waits. On overlayfs sync_file_range(2) does nothing,
/// silently; fdatasync(2) works on a file opened for reading, too.
pub fn write_back(file: &File) -> io::Result<()> {
    match file.sync_data() {
        // A read-only filesystem may have no sync at all.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EROFS)) => Ok(()),
        result => result,
    }
}

/// Drops the clean pages that nobody has mapped or locked. Length 0 means "to the end and past it".
pub fn drop_pages(file: &File) -> io::Result<()> {
    advise(file, 0, 0, libc::POSIX_FADV_DONTNEED)
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
    // SAFETY: no memory is passed. Sizes of files fit off64_t.
    match unsafe { libc::posix_fadvise64(file.as_raw_fd(), offset as i64, length as i64, advice) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Drops clean pages and slabs, see proc_sys_vm(5). Needs root.
pub fn purge_system() -> Result<(), (&'static str, String)> {
    const CONTROL: &str = "/proc/sys/vm/drop_caches";
    // SAFETY: sync has no arguments. Only clean pages are dropped, so dirty ones are written first.
    unsafe { libc::sync() };
    fs::write(CONTROL, "3").map_err(|cause| {
        let why = format!("{cause}: purging the whole machine needs root; evict the file instead");
        (CONTROL, why)
    })
}
