//! How fast the CPUs run just now, and how often they were slowed down.

use serde::{Deserialize, Serialize};

use super::cpu::cpus;
use super::tree::Tree;

/// How often CPUs were slowed down; since the system started, or since an earlier look. What can't be
/// told is absent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Throttled {
    /// By their own heat, over all cores and packages (x86: `thermal_throttle` in sysfs).
    pub by_heat: Option<u64>,
    /// By the CPU quota of our cgroup: periods in which it was used up (`nr_throttled`).
    pub by_quota: Option<u64>,
}

impl Throttled {
    /// The counters now.
    pub fn read(tree: Tree) -> Throttled {
        Throttled {
            by_heat: by_heat(tree),
            by_quota: by_quota(tree),
        }
    }

    /// How much was added since an earlier look.
    pub fn since(&self, before: &Throttled) -> Throttled {
        let passed = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        Throttled {
            by_heat: passed(self.by_heat, before.by_heat),
            by_quota: passed(self.by_quota, before.by_quota),
        }
    }
}

/// Each core counts by itself, and each of a package's cores has the package's count: so this sum
/// says that it happened, and not how often for how many.
fn by_heat(tree: Tree) -> Option<u64> {
    let counts = cpus(tree).into_iter().flat_map(|cpu| {
        ["core", "package"].map(|what| {
            tree.number::<u64>(&format!("{cpu}/thermal_throttle/{what}_throttle_count"))
        })
    });
    counts.flatten().reduce(u64::saturating_add)
}

fn by_quota(tree: Tree) -> Option<u64> {
    let own = tree.text("proc/self/cgroup")?;
    let stat = cgroup_folders(&own)
        .into_iter()
        .find_map(|folder| tree.text(&format!("{folder}/cpu.stat")))?;
    let value = stat
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "))?;
    value.trim().parse().ok()
}

/// Where our cgroup's CPU counters are, by /proc/self/cgroup (cgroups(7)): of version 2, then of
/// version 1.
fn cgroup_folders(own: &str) -> Vec<String> {
    let mut folders = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        if controllers.is_empty() {
            folders.insert(0, format!("sys/fs/cgroup{path}"));
        } else if controllers.split(',').any(|name| name == "cpu") {
            folders.push(format!("sys/fs/cgroup/{controllers}{path}"));
        }
    }
    folders
}

/// The fastest CPU's clock, in Hz: that of a CPU that has just worked. The file counts in kHz.
pub fn frequency(tree: Tree) -> Option<f64> {
    let clocks = cpus(tree)
        .into_iter()
        .filter_map(|cpu| tree.number::<f64>(&format!("{cpu}/cpufreq/scaling_cur_freq")));
    clocks.reduce(f64::max).map(|khz| khz * 1000.0)
}
