//! Who may change a file just now: processes that have it open for writing, or mapped so.

use std::{
    ffi::CString,
    fs, mem,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
};

use super::holders::{Wanted, lines};
use crate::Writer;

/// Every process that has the file at `path` open for writing, or mapped shared and writable.
/// Without root only one's own processes show, and those of another PID namespace never do.
pub fn writers(path: &Path) -> Vec<Writer> {
    let (Some(wanted), Ok(metadata), Ok(processes)) =
        (Wanted::of(path), fs::metadata(path), fs::read_dir("/proc"))
    else {
        return Vec::new();
    };
    let file = Identity {
        device: (libc::major(metadata.dev()), libc::minor(metadata.dev())),
        inode: metadata.ino(),
    };
    processes
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(|pid| has_open(*pid, &file) || has_mapped(*pid, &wanted))
        .map(|pid| Writer {
            pid,
            name: super::holders::name_of(pid),
        })
        .collect()
}

#[derive(PartialEq)]
struct Identity {
    device: (u32, u32),
    inode: u64,
}

fn has_open(pid: u32, file: &Identity) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    descriptors.into_iter().flatten().flatten().any(|entry| {
        let info = Path::new("/proc")
            .join(pid.to_string())
            .join("fdinfo")
            .join(entry.file_name());
        identity(&entry.path()).as_ref() == Some(file) && is_for_writing(&info)
    })
}

/// What a descriptor is of. Nobody is asked across a network, who might not answer.
fn identity(descriptor: &Path) -> Option<Identity> {
    let path = CString::new(descriptor.as_os_str().as_bytes()).ok()?;
    // SAFETY: all fields are integers, of which zero is one.
    let mut found: libc::statx = unsafe { mem::zeroed() };
    // SAFETY: `path` ends in a NUL; the buffer is of the call's own type.
    let result = unsafe {
        libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_STATX_DONT_SYNC,
            libc::STATX_INO,
            &raw mut found,
        )
    };
    (result == 0).then_some(Identity {
        device: (found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
    })
}

/// By "flags", which are octal, see proc_pid_fdinfo(5).
fn is_for_writing(info: &Path) -> bool {
    let info = fs::read_to_string(info).unwrap_or_default();
    let flags = info
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| libc::c_int::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

/// A shared, writable mapping may outlive its descriptor: "rw-s" in /proc/PID/maps.
fn has_mapped(pid: u32, wanted: &Wanted) -> bool {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    lines(&maps).any(|line| {
        let permissions = line.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
        permissions.contains(&b'w') && permissions.contains(&b's') && wanted.is_in(line)
    })
}
