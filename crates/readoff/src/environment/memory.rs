//! Memory: how much there is, how large its pages may be, and who takes it away.

use serde::{Deserialize, Serialize};

use super::sys;
use super::tree::{Tree, chosen};

/// Memory and how the kernel manages it. Sizes in bytes; what can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct VirtualMemory {
    /// What could be used without pushing anything else out.
    pub available: Option<u64>,
    /// All swap space.
    pub swap: Option<u64>,
    /// Swap space that is in use.
    pub swap_used: Option<u64>,
    /// Transparent huge pages: always, madvise or never.
    pub huge_pages: Option<String>,
    /// How hard the kernel tries to make a huge page on a fault.
    pub huge_pages_defrag: Option<String>,
    /// Huge pages in tmpfs.
    pub huge_pages_shmem: Option<String>,
    /// What takes pages away though memory is free: DAMON's threads and modules, zone_reclaim_mode.
    pub reclaim: Vec<String>,
}

impl VirtualMemory {
    pub(super) fn look(tree: Tree) -> VirtualMemory {
        let meminfo = tree.text("proc/meminfo").unwrap_or_default();
        let swap = meminfo_bytes(&meminfo, "SwapTotal");
        let free = meminfo_bytes(&meminfo, "SwapFree");
        let huge = |name: &str| {
            let text = tree.text(&format!("sys/kernel/mm/transparent_hugepage/{name}"))?;
            chosen(&text).map(str::to_string)
        };
        VirtualMemory {
            available: meminfo_bytes(&meminfo, "MemAvailable"),
            swap,
            swap_used: swap.zip(free).map(|(all, free)| all.saturating_sub(free)),
            huge_pages: huge("enabled"),
            huge_pages_defrag: huge("defrag"),
            huge_pages_shmem: huge("shmem_enabled"),
            reclaim: reclaim(tree),
        }
    }
}

/// All memory, in bytes.
pub(super) fn total(tree: Tree) -> Option<u64> {
    let meminfo = tree.text("proc/meminfo").unwrap_or_default();
    meminfo_bytes(&meminfo, "MemTotal").or_else(sys::memory)
}

/// Memory that could be used without pushing anything else out, in bytes; only Linux tells.
pub fn memory_available() -> Option<u64> {
    meminfo_bytes(&Tree::own().text("proc/meminfo")?, "MemAvailable")
}

/// A field of /proc/meminfo, which counts in KiB.
fn meminfo_bytes(meminfo: &str, field: &str) -> Option<u64> {
    let mut fields = meminfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(name, _)| *name == field)?;
    let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// DAMON may be set up to page out what nobody looks at, cached files first (kernel documentation,
/// admin-guide/mm/damon). Its settings may be root's to read; its threads can be seen by all.
fn reclaim(tree: Tree) -> Vec<String> {
    let admin = "sys/kernel/mm/damon/admin/kdamonds";
    let states: Vec<Option<String>> = tree
        .names(admin)
        .iter()
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .map(|name| tree.text(&format!("{admin}/{name}/state")))
        .collect();
    let enabled = |module: &&str| {
        tree.switch(&format!("sys/module/{module}/parameters/enabled")) == Some(true)
    };
    let mut found: Vec<String> = ["damon_reclaim", "damon_lru_sort"]
        .into_iter()
        .filter(enabled)
        .map(str::to_string)
        .collect();
    let on = |state: &Option<String>| state.as_deref() == Some("on");
    let hidden = states.iter().any(Option::is_none);
    if states.iter().any(on) || (hidden && has_kdamond(tree)) {
        found.push("DAMON".into());
    }
    if let Some(mode) = tree
        .number::<u32>("proc/sys/vm/zone_reclaim_mode")
        .filter(|mode| *mode != 0)
    {
        found.push(format!("zone_reclaim_mode {mode}"));
    }
    found
}

fn has_kdamond(tree: Tree) -> bool {
    tree.names("proc")
        .iter()
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .filter_map(|pid| tree.text(&format!("proc/{pid}/comm")))
        .any(|name| name.starts_with("kdamond"))
}
