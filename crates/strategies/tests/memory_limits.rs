//! A cgroup's limit counts as the memory there is.

#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process;

use common::{assert_refused, command, strategies, unavailable};

const LIMIT: u64 = 100 << 20;

/// A cgroup whose memory is limited; removed when dropped.
struct Limited(PathBuf);

impl Limited {
    /// `None`, with the reason, where none can be made. v1 first: with it, v2 has no memory.
    fn new() -> Option<Limited> {
        let name = format!("readoff-test-{}", process::id());
        for (root, file) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ] {
            let group = Limited(PathBuf::from(root).join(&name));
            if fs::create_dir(&group.0).is_ok()
                && fs::write(group.0.join(file), LIMIT.to_string()).is_ok()
            {
                return Some(group);
            }
        }
        eprintln!("skipped: a cgroup's limit: needs root and the memory controller");
        None
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_file_larger_than_a_cgroups_limit_is_read_piecewise_or_refused() {
    let Some(limited) = Limited::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    File::create(&file).unwrap().set_len(2 * LIMIT).unwrap();
    let whole = ["scan-read-whole", "scan-fread-whole", "scan-fs-read"];
    // A hole is one line, which getline takes whole.
    for strategy in strategies("scan")
        .iter()
        .filter(|name| !name.contains("getline"))
    {
        let mut command = command(strategy);
        command.args(["--work", "touch"]).arg(&file);
        let members = limited.0.join("cgroup.procs");
        // SAFETY: the child has one thread; it opens and writes a file before exec.
        unsafe {
            command.pre_exec(move || fs::write(&members, "0"));
        }
        let output = command.output().unwrap();
        if whole.contains(&strategy.as_str()) {
            let about = "a buffer of 200.0 MiB is more than the memory available, ";
            assert_refused(strategy, &output, 69, about);
        } else if !unavailable(strategy, &output) {
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                stdout,
                format!("touch 0  {} bytes\n", 2 * LIMIT),
                "{strategy}"
            );
        }
    }
}
