//! What a file lies on: the mount, and the device behind it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tree::{Tree, chosen};

/// What a file lies on. What can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Storage {
    /// Where the filesystem is mounted.
    pub mount_point: Option<String>,
    /// The mount's options and the filesystem's own.
    pub mount_options: Option<String>,
    /// What is mounted there.
    pub source: Option<String>,
    /// Whether the page cache's state can be known on this filesystem; not on NFS, FUSE, ZFS.
    pub residency_known: Option<bool>,
    /// The block device.
    pub device: Option<Device>,
}

/// A block device, and how the kernel reads from it (kernel documentation, ABI/stable/sysfs-block).
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Device {
    /// Its name; the whole disk's for a partition.
    pub name: String,
    /// Its model.
    pub model: Option<String>,
    /// Whether it says that it turns. Virtual disks often say so whatever they are.
    pub rotational: Option<bool>,
    /// The I/O scheduler.
    pub scheduler: Option<String>,
    /// The most that the kernel reads ahead, in KiB.
    pub read_ahead_kb: Option<u64>,
    /// Requests that may be waiting.
    pub nr_requests: Option<u64>,
    /// The file behind a loop device, which the kernel may cache too.
    pub loop_image: Option<String>,
    /// Whether a loop device reads its image past the cache.
    pub loop_direct_io: Option<bool>,
}

impl Storage {
    /// What `path`, an absolute path without links, lies on.
    pub(super) fn look(tree: Tree, path: &Path) -> Storage {
        let residency_known = pagecache::filesystem(path)
            .ok()
            .map(|filesystem| filesystem.residency_known);
        let mountinfo = tree.text("proc/self/mountinfo").unwrap_or_default();
        let Some(mount) = mount_of(&mountinfo, path) else {
            return Storage {
                residency_known,
                ..Storage::default()
            };
        };
        Storage {
            device: device(tree, &mount),
            mount_point: Some(mount.point.to_string_lossy().into_owned()),
            mount_options: Some(mount.options),
            source: Some(mount.source),
            residency_known,
        }
    }
}

/// A line of /proc/self/mountinfo, see proc_pid_mountinfo(5).
#[derive(Debug, PartialEq)]
struct Mount {
    /// `major:minor`, as stat(2) tells of its files; that of no block device for btrfs, tmpfs, NFS.
    device: String,
    point: PathBuf,
    options: String,
    source: String,
}

/// The mount that a path lies on: the longest mount point above it, and of several mounted there the
/// last, which hides the others.
fn mount_of(mountinfo: &str, path: &Path) -> Option<Mount> {
    let mounts = mountinfo.lines().filter_map(parse_mount);
    mounts
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

fn parse_mount(line: &str) -> Option<Mount> {
    // A variable number of optional fields ends in a lone dash.
    let (before, after) = line.split_once(" - ")?;
    let before: Vec<&str> = before.split(' ').collect();
    let after: Vec<&str> = after.split(' ').collect();
    let mut options: Vec<&str> = before.get(5)?.split(',').collect();
    for option in after.get(2).unwrap_or(&"").split(',') {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: before.get(2)?.to_string(),
        point: unescape(before.get(4)?),
        options: options.join(","),
        source: unescape(after.get(1)?).to_string_lossy().into_owned(),
    })
}

/// Space, tab, newline and backslash are written as three octal digits.
fn unescape(field: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = field.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digits = tail
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let octal = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (first, octal) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => bytes.push(*first),
        }
    }
    OsString::from_vec(bytes).into()
}

/// The block device of a mount, by its number or, where the filesystem has a number of its own
/// (btrfs), by the name of what is mounted.
fn device(tree: Tree, mount: &Mount) -> Option<Device> {
    let by_number = tree.0.join("sys/dev/block").join(&mount.device);
    let by_name = || {
        let name = Path::new(&mount.source).strip_prefix("/dev").ok()?;
        let name = match name.as_os_str().as_bytes().contains(&b'/') {
            // A name such as /dev/mapper/data is a link to the device.
            true => std::fs::canonicalize(&mount.source).ok()?,
            false => name.to_path_buf(),
        };
        Some(tree.0.join("sys/class/block").join(name.file_name()?))
    };
    let folder = std::fs::canonicalize(by_number)
        .ok()
        .or_else(|| std::fs::canonicalize(by_name()?).ok())?;
    // A partition's folder lies in that of its disk, which has the queue.
    let disk = match folder.join("partition").exists() {
        true => folder.parent()?,
        false => &folder,
    };
    let name = disk.file_name()?.to_string_lossy().into_owned();
    let disk = Tree(disk);
    let scheduler = disk.text("queue/scheduler");
    Some(Device {
        name,
        model: disk.text("device/model"),
        rotational: disk.switch("queue/rotational"),
        scheduler: scheduler.map(|text| chosen(&text).unwrap_or(&text).to_string()),
        read_ahead_kb: disk.number("queue/read_ahead_kb"),
        nr_requests: disk.number("queue/nr_requests"),
        loop_image: disk.text("loop/backing_file"),
        loop_direct_io: disk.switch("loop/dio"),
    })
}
