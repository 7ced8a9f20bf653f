//! What macOS and FreeBSD have in common. Written from their manual pages and sources; the figures
//! are proved at run time or said to be unknown.

use std::{
    ffi::{CStr, CString},
    fs::File,
    io, mem,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    ptr,
};

use memmap2::MmapOptions;

use super::{Holder, seek_hole};
use crate::{Filesystem, Layout, Writer};

/// Mapped at a time: bounds the address space, and is a multiple of any page size.
const WINDOW: u64 = 1 << 30;

const MEMORY: [&str; 1] = ["tmpfs"];
const OTHER_CACHE: [&str; 8] = [
    "zfs", "nfs", "smbfs", "afpfs", "webdav", "unionfs", "macfuse", "osxfuse",
];
const SYNTHETIC: [&str; 5] = ["procfs", "linprocfs", "linsysfs", "devfs", "fdescfs"];

/// By statfs(2).
pub fn filesystem(path: &Path) -> io::Result<Filesystem> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` ends in a NUL, and the buffer is of the call's own type.
    by(|buffer| unsafe { libc::statfs(path.as_ptr(), buffer) })
}

/// By fstatfs(2).
pub fn filesystem_of(file: &File) -> io::Result<Filesystem> {
    // SAFETY: the buffer is of the call's own type.
    by(|buffer| unsafe { libc::fstatfs(file.as_raw_fd(), buffer) })
}

fn by(call: impl FnOnce(*mut libc::statfs) -> libc::c_int) -> io::Result<Filesystem> {
    // SAFETY: all fields are integers, of which zero is one.
    let mut buffer: libc::statfs = unsafe { mem::zeroed() };
    if call(&raw mut buffer) != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel ends the name with a NUL, and the buffer began as zeros.
    let name = unsafe { CStr::from_ptr(buffer.f_fstypename.as_ptr()) };
    let name = name.to_string_lossy().into_owned();
    Ok(Filesystem {
        magic: u64::from(buffer.f_type),
        has_cold_state: !MEMORY.contains(&name.as_str()),
        // FreeBSD calls each FUSE filesystem fusefs.something.
        residency_known: !OTHER_CACHE.contains(&name.as_str()) && !name.starts_with("fusefs"),
        synthetic: SYNTHETIC.contains(&name.as_str()),
        name,
    })
}

/// Writes dirty pages to the device, and waits.
pub fn write_back(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EROFS)) => Ok(()),
        result => result,
    }
}

/// Drops the file's pages by msync(2) with MS_INVALIDATE over a mapping that is never touched.
/// MS_SYNC beside it, so that a page that became dirty meanwhile is written, not lost.
pub fn drop_pages(file: &File) -> io::Result<()> {
    let total = file.metadata()?.len();
    for offset in (0..total).step_by(WINDOW as usize) {
        let length = WINDOW.min(total - offset) as usize;
        let map = MmapOptions::new()
            .offset(offset)
            .len(length)
            .map_raw_read_only(file)?;
        // SAFETY: the mapping covers `length` bytes from a page bound on.
        let result = unsafe {
            libc::msync(
                map.as_mut_ptr().cast(),
                length,
                libc::MS_SYNC | libc::MS_INVALIDATE,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// An integer of sysctl(3), whether it has 32 or 64 bits.
pub fn sysctl(name: &CStr) -> Option<u64> {
    let mut value = [0u8; 8];
    let mut length = value.len();
    // SAFETY: `length` says how much of `value` may be written; nothing is set.
    let result = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    match (result, length) {
        (0, 4) => Some(u64::from(u32::from_ne_bytes([
            value[0], value[1], value[2], value[3],
        ]))),
        (0, 8) => Some(u64::from_ne_bytes(value)),
        _ => None,
    }
}

/// Neither system shows who has a file mapped without its own tools.
pub fn holders(_path: &Path) -> Vec<Holder> {
    Vec::new()
}

/// An image that is attached as a disk can't be told from a disk here.
pub fn images_beneath(_file: &File) -> Vec<PathBuf> {
    Vec::new()
}

/// Neither system lists a file's extents to anybody who may read it: only holes are told.
pub fn layout(file: &File, total: u64, flush: bool) -> io::Result<Layout> {
    if flush {
        write_back(file)?;
    }
    seek_hole::layout(file, total)
}

/// Neither system has DAX.
pub fn is_dax(_file: &File) -> bool {
    false
}

/// Neither system shows who has a file open without its own tools.
pub fn writers(_path: &Path) -> Vec<Writer> {
    Vec::new()
}
