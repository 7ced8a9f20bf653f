//! Linux.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub use libc::{O_DIRECT, POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED, posix_fadvise};

use crate::exit::c_path;

/// The flag of mmap(2) that maps every page at once, where there is one.
pub const MAP_POPULATE: Option<libc::c_int> = Some(libc::MAP_POPULATE);

/// Keeps reads of `fd` out of the page cache, on systems without `O_DIRECT`.
///
/// # Errors
/// None here.
pub fn no_cache(_fd: RawFd) -> io::Result<()> {
    Ok(())
}

/// Gives `fd` blocks for `bytes` bytes, and that size: fallocate(2). Not posix_fallocate(3), which
/// writes to every block where the filesystem can't do it.
///
/// # Errors
/// The filesystem can't, or has no space.
pub fn preallocate(fd: RawFd, bytes: u64) -> io::Result<()> {
    // SAFETY: no memory is passed.
    match unsafe { libc::fallocate(fd, 0, 0, bytes as libc::off_t) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Bytes fetched from the device for this process so far (proc_pid_io(5)).
pub fn device_bytes() -> Option<u64> {
    field("/proc/self/io", "read_bytes:")
}

/// Largest resident size of this process, in bytes. Not `ru_maxrss`, which starts at the size of
/// the process that called exec.
pub fn peak_rss() -> Option<u64> {
    field("/proc/self/status", "VmHWM:").map(|kib| kib * 1024)
}

/// Bytes of memory that this process can still get: what the system has available (its page cache
/// counts, since it can be dropped), or what the tightest cgroup leaves.
pub fn memory_available() -> Option<u64> {
    let system = field("/proc/meminfo", "MemAvailable:").map(|kib| kib * 1024);
    system
        .into_iter()
        .chain(
            cgroup_folders()
                .iter()
                .filter_map(|at| cgroup_available(at)),
        )
        .min()
}

/// The folders of this process's memory cgroup and of those above it, v1 and v2 (cgroups(7)).
fn cgroup_folders() -> Vec<PathBuf> {
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for line in memberships.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Path::new("/sys/fs/cgroup/memory")
            }
            _ => continue,
        };
        let own = Path::new(path.trim_start_matches('/'));
        folders.extend(own.ancestors().map(|group| root.join(group)));
    }
    folders
}

/// What a cgroup's limit leaves, its page cache counted as free; `None` where there is no limit.
fn cgroup_available(folder: &Path) -> Option<u64> {
    let number = |name| {
        fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let stat = folder.join("memory.stat");
    let (limit, usage, cache) = match number("memory.max") {
        Some(limit) => (
            limit,
            number("memory.current")?,
            ["inactive_file ", "active_file "],
        ),
        None => (
            number("memory.limit_in_bytes")?,
            number("memory.usage_in_bytes")?,
            ["total_inactive_file ", "total_active_file "],
        ),
    };
    let cached: u64 = cache.iter().filter_map(|name| field(&stat, name)).sum();
    Some(limit.saturating_sub(usage.saturating_sub(cached)))
}

/// The number behind `name`, at the beginning of a line of a file of /proc or a cgroup.
fn field(file: impl AsRef<Path>, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Whether `file` stands in /proc or /sys, where sizes say nothing.
pub fn is_made_by_kernel(file: &Path) -> bool {
    let Ok(path) = c_path(file) else { return false };
    let mut about = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path ends with NUL; statfs fills the struct where it returns 0.
    let kind = unsafe {
        if libc::statfs(path.as_ptr(), about.as_mut_ptr()) != 0 {
            return false;
        }
        about.assume_init().f_type
    };
    matches!(kind, libc::PROC_SUPER_MAGIC | libc::SYSFS_MAGIC)
}

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the process began without a stdout. Rust's runtime opens /dev/null in its place before
/// `main`, and what is written would be lost without a word.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

// SAFETY: .init_array holds functions that the C runtime calls before Rust's; this one touches
// nothing but an atomic and the system call.
#[unsafe(link_section = ".init_array")]
#[used]
static LOOK_AT_STDOUT: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: asks for the flags of a descriptor that may be closed.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        STDOUT_WAS_CLOSED.store(flags < 0, Ordering::Relaxed);
    }
    look
};
