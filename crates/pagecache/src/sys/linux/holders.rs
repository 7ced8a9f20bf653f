//! Who keeps a file's pages: processes that map it, as far as /proc shows.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::mounts::unescape;
use crate::sys::Holder;

/// What identifies a file in /proc/*/maps.
pub struct Wanted {
    device: String,
    inode: String,
    path: PathBuf,
}

/// Every process that maps the file at `path`. Without root only one's own processes show.
pub fn holders(path: &Path) -> Vec<Holder> {
    let (Some(wanted), Ok(processes)) = (Wanted::of(path), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter_map(|pid| holder(pid, &wanted))
        .collect()
}

fn holder(pid: u32, wanted: &Wanted) -> Option<Holder> {
    // smaps is slow to make: only where maps has the file.
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    if !lines(&maps).any(|line| wanted.is_in(line)) {
        return None;
    }
    let mut holder = Holder {
        pid,
        name: name_of(pid),
        resident: 0,
        locked: 0,
    };
    let smaps = fs::read(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let mut in_file = false;
    for line in lines(&smaps) {
        if let Some(kib) = kib_after(line, "Rss:") {
            holder.resident += if in_file { kib * 1024 } else { 0 };
        } else if let Some(kib) = kib_after(line, "Locked:") {
            holder.locked += if in_file { kib * 1024 } else { 0 };
        } else if is_header(line) {
            in_file = wanted.is_in(line);
        }
    }
    Some(holder)
}

/// A process's name, on one line.
pub fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .map(|name| name.trim_end().escape_debug().to_string())
        .unwrap_or_default()
}

impl Wanted {
    /// None if there is no file at `path`.
    pub fn of(path: &Path) -> Option<Wanted> {
        let metadata = fs::metadata(path).ok()?;
        let device = metadata.dev();
        Some(Wanted {
            device: format!("{:02x}:{:02x}", libc::major(device), libc::minor(device)),
            inode: metadata.ino().to_string(),
            path: fs::canonicalize(path).ok()?,
        })
    }

    /// Lines are "range permissions offset device inode path". On btrfs and overlayfs the device is
    /// another one than stat(2) gives: there the path decides.
    pub fn is_in(&self, line: &[u8]) -> bool {
        let mut fields = line.splitn(6, |&byte| byte == b' ').skip(3);
        let (Some(device), Some(inode)) = (fields.next(), fields.next()) else {
            return false;
        };
        let path = fields.next().unwrap_or_default().trim_ascii_start();
        inode == self.inode.as_bytes()
            && (device == self.device.as_bytes() || unescape(path) == self.path)
    }
}

/// The lines of a file of /proc.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// In smaps a mapping's header begins with its range, its figures with a name and a colon.
fn is_header(line: &[u8]) -> bool {
    let first = line.split(|&byte| byte == b' ').next();
    first.is_some_and(|word| word.contains(&b'-'))
}

fn kib_after(line: &[u8], key: &str) -> Option<u64> {
    let rest = line.strip_prefix(key.as_bytes())?;
    let digits = rest.trim_ascii().strip_suffix(b" kB")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
