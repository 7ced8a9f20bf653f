//! A limit on the memory of a whole race, its page cache included: a cgroup (Linux).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::error::{Code, failure};

/// Where cgroups are mounted; version 1 has a hierarchy of its own for memory.
const V2: &str = "/sys/fs/cgroup";
const V1: &str = "/sys/fs/cgroup/memory";

/// This process, and all that it starts, in a cgroup with a memory limit; left and removed when
/// dropped. Pages are charged to whoever reads them first: a file that was resident before counts
/// only once it was evicted.
#[derive(Debug)]
pub struct MemoryLimit {
    before: PathBuf,
    cgroup: PathBuf,
}

impl MemoryLimit {
    /// Enters a new cgroup that may use so many bytes: of version 2 where memory is delegated to us
    /// there, else of version 1.
    ///
    /// # Errors
    /// No cgroup can be made here: exit code 69, with the system's reason.
    pub fn enter(bytes: u64) -> Result<MemoryLimit> {
        let refuse =
            |what: String| failure(Code::Unavailable, format!("no memory limit here: {what}"));
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|e| refuse(e.to_string()))?;
        let (before, parent, limit) = v2(&own)
            .or_else(|| v1(&own))
            .ok_or_else(|| refuse("no cgroup hands its memory on to us".into()))?;
        let cgroup = parent.join(format!("readoff-{}", std::process::id()));
        let enter = || -> io::Result<MemoryLimit> {
            fs::create_dir(&cgroup)?;
            let entered = MemoryLimit {
                before: before.clone(),
                cgroup: cgroup.clone(),
            };
            fs::write(cgroup.join(limit), bytes.to_string())?;
            join(&cgroup)?;
            Ok(entered)
        };
        enter().map_err(|e| refuse(format!("{}: {e}", cgroup.display())))
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // Whoever is still in it would keep it; there is nobody to tell.
        let _ = join(&self.before).and_then(|()| fs::remove_dir(&self.cgroup));
    }
}

/// Moves this process: 0 stands for whoever writes it.
fn join(cgroup: &Path) -> io::Result<()> {
    fs::write(cgroup.join("cgroup.procs"), "0")
}

/// Version 2: our cgroup, one that may have a child with a limit, and the limit's name. A cgroup that
/// hands memory on has no processes of its own (but the root), so it is mostly our parent.
fn v2(own: &str) -> Option<(PathBuf, PathBuf, &'static str)> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let before = Path::new(V2).join(path);
    let hands_on = |folder: &Path| {
        let controllers =
            fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        controllers
            .split_whitespace()
            .any(|controller| controller == "memory")
    };
    let parent = [before.as_path(), before.parent()?]
        .into_iter()
        .find(|folder| hands_on(folder))?;
    let parent = parent.to_path_buf();
    Some((before, parent, "memory.max"))
}

/// Version 1, as [`v2`].
fn v1(own: &str) -> Option<(PathBuf, PathBuf, &'static str)> {
    let mut fields = own.lines().map(|line| line.splitn(3, ':').skip(1));
    let path = fields.find_map(|mut field| {
        field
            .next()?
            .split(',')
            .any(|name| name == "memory")
            .then(|| field.next())?
    })?;
    let before = Path::new(V1).join(path.trim_start_matches('/'));
    Some((before.clone(), before, "memory.limit_in_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_cgroup_of_version_1_is_found_among_others() {
        let own = "12:hugetlb:/\n4:cpu,memory:/user/a:b\n0::/x\n";
        let (before, parent, limit) = v1(own).unwrap();
        assert_eq!(before, Path::new("/sys/fs/cgroup/memory/user/a:b"));
        assert_eq!(parent, before);
        assert_eq!(limit, "memory.limit_in_bytes");
        assert_eq!(v1("0::/x\n"), None);
    }
}
