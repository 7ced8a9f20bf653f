//! A limit on the memory of a whole race, its page cache included: a cgroup (Linux).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::error::{Code, failure};

/// Where cgroups are mounted.
const CGROUPS: &str = "/sys/fs/cgroup";

/// A cgroup with a memory limit; removed when dropped. Pages are charged to whoever reads them
/// first, so whatever is to count must be read by a process in it, from a cold file.
#[derive(Debug)]
pub struct MemoryLimit {
    folder: PathBuf,
}

impl MemoryLimit {
    /// Makes a cgroup that may use so many bytes: of version 2 where memory is delegated to us there,
    /// else of version 1.
    ///
    /// # Errors
    /// No cgroup can be made here: exit code 69, with the system's reason.
    pub fn new(bytes: u64) -> Result<MemoryLimit> {
        let (parent, limit) = match own_v2_cgroup() {
            Some(parent) => (parent, "memory.max"),
            None => (Path::new(CGROUPS).join("memory"), "memory.limit_in_bytes"),
        };
        let folder = parent.join(format!("readoff-{}", std::process::id()));
        let refuse = |error: std::io::Error| {
            let what = format!(
                "{}: no memory limit can be set here: {error}",
                folder.display()
            );
            failure(Code::Unavailable, what)
        };
        fs::create_dir(&folder).map_err(refuse)?;
        let made = MemoryLimit {
            folder: folder.clone(),
        };
        fs::write(folder.join(limit), bytes.to_string()).map_err(refuse)?;
        Ok(made)
    }

    /// The file into which a process writes 0 to join.
    pub fn door(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // Its processes have ended. Pages that it still holds go to its parent.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Our own cgroup of version 2, if it may hand memory on to a child of ours.
fn own_v2_cgroup() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new(CGROUPS).join(path);
    let handed_on = fs::read_to_string(folder.join("cgroup.subtree_control")).ok()?;
    handed_on
        .split_whitespace()
        .any(|controller| controller == "memory")
        .then_some(folder)
}
