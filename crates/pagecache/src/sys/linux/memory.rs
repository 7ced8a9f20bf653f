//! Memory that is left for files: by the system and by the cgroups around this process.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::mounts::{Mount, mounts};
use crate::sys::MemoryLeft;

/// The control files of one version of cgroups' memory controller.
struct Controller {
    limit: &'static str,
    used: &'static str,
    /// Keys in memory.stat: file pages, which give way to others.
    reclaimable: [&'static str; 2],
}

const V1: Controller = Controller {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file", "total_active_file"],
};

const V2: Controller = Controller {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: ["inactive_file", "active_file"],
};

/// The least of what the system and each enclosing cgroup leave; none if /proc doesn't say.
pub fn memory_left() -> Option<MemoryLeft> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = number_after(&meminfo, "MemAvailable:")?;
    let system = MemoryLeft {
        bytes: kib * 1024,
        by: "the system (MemAvailable)".to_owned(),
    };
    cgroups()
        .into_iter()
        .filter_map(|(folder, controller)| left_in(&folder, &controller))
        .chain([system])
        .min_by_key(|left| left.bytes)
}

/// Every folder from this process's cgroup up to the mount point, for each version in use.
fn cgroups() -> Vec<(PathBuf, Controller)> {
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for mount in mounts() {
        let is_v1 = mount.fstype == "cgroup" && has_memory(&mount.super_options);
        let is_v2 = mount.fstype == "cgroup2";
        if !is_v1 && !is_v2 {
            continue;
        }
        // Lines are "number:controllers:path"; version 2 has none named.
        let Some(path) = memberships.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let ours = if is_v2 {
                controllers.is_empty()
            } else {
                has_memory(controllers)
            };
            ours.then_some(path)
        }) else {
            continue;
        };
        let own = folder_of(&mount, path);
        for folder in own
            .ancestors()
            .take_while(|folder| folder.starts_with(&mount.point))
        {
            folders.push((folder.to_owned(), if is_v2 { V2 } else { V1 }));
        }
    }
    folders
}

fn has_memory(list: &str) -> bool {
    list.split(',').any(|name| name == "memory")
}

/// A container may see only its own part of the hierarchy, mounted as the whole.
fn folder_of(mount: &Mount, path: &str) -> PathBuf {
    match Path::new(path).strip_prefix(&mount.root) {
        Ok(inner) => mount.point.join(inner),
        Err(_) => mount.point.clone(),
    }
}

fn left_in(folder: &Path, controller: &Controller) -> Option<MemoryLeft> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    // "max" is no number, and no limit.
    let limit: u64 = read(controller.limit)?.trim().parse().ok()?;
    let used: u64 = read(controller.used)?.trim().parse().ok()?;
    let stat = read("memory.stat")?;
    let reclaimable: u64 = controller
        .reclaimable
        .iter()
        .filter_map(|key| number_after(&stat, key))
        .sum();
    Some(MemoryLeft {
        bytes: limit.saturating_sub(used.saturating_sub(reclaimable)),
        by: format!("the cgroup limit in {}", folder.display()),
    })
}

/// The number after `key` at the start of a line.
fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(key)).then(|| words.next())?
        })?
        .parse()
        .ok()
}
