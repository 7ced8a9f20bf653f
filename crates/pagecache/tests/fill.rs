//! `pagecache fill`: everything resident, in folios of the kind asked for.

mod common;

use std::{fs, fs::File, os::unix::process::CommandExt, path::PathBuf, process};

use common::*;
use predicates::prelude::*;

const BYTES: u64 = 32 * MIB + 123;

#[test]
fn either_way_makes_everything_resident() {
    let Some(folder) = folder("either_way_makes_everything_resident") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    for how in ["readahead", "random"] {
        pagecache().arg("evict").arg(&file).assert().success();
        pagecache()
            .args(["fill", "--how", how])
            .arg(&file)
            .assert()
            .success();
        assert_all_but_reclaimed(resident_pages(&file), BYTES.div_ceil(PAGE), how);
    }
}

#[test]
fn a_random_fill_leaves_smaller_folios_than_readahead() {
    const NAME: &str = "a_random_fill_leaves_smaller_folios_than_readahead";
    let Some(folder) = folder(NAME) else { return };
    let file = folder.path().join("file");
    write(&file, BYTES);
    let faults_after = |how| {
        pagecache()
            .args(["fill", "--how", how])
            .arg(&file)
            .assert()
            .success();
        faults_of_a_scan(&file, BYTES)
    };
    let (readahead, random) = (faults_after("readahead"), faults_after("random"));
    // A fault maps 16 small pages around it, or one whole folio.
    let of_small_folios = (BYTES / PAGE / 16) as i64;
    assert!(random >= of_small_folios, "{random} faults");
    if readahead >= of_small_folios {
        return eprintln!("skipped: {NAME}: this filesystem has no large folios");
    }
    assert!(
        random >= 2 * readahead,
        "{random} faults against {readahead}"
    );
}

#[test]
fn a_random_fill_renews_what_readahead_filled() {
    let Some(folder) = folder("a_random_fill_renews_what_readahead_filled") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, MIB);
    let _map = {
        let map = Map::new(&file);
        map.touch(MIB);
        map
    };
    // Its pages can't be evicted, so they can't be renewed: that is no fill.
    pagecache()
        .args(["fill", "--how", "random"])
        .arg(&file)
        .assert()
        .code(75);
}

#[test]
fn a_file_of_holes_is_filled() {
    let Some(folder) = folder("a_file_of_holes_is_filled") else {
        return;
    };
    let path = folder.path().join("file");
    File::create(&path).unwrap().set_len(4 * MIB).unwrap();
    for how in ["readahead", "random"] {
        pagecache()
            .args(["fill", "--how", how])
            .arg(&path)
            .assert()
            .success();
        assert_all_but_reclaimed(resident_pages(&path), 4 * MIB / PAGE, how);
    }
}

#[test]
fn a_file_larger_than_memory_is_refused_before_time_is_spent() {
    let Some(folder) = folder("a_file_larger_than_memory_is_refused_before_time_is_spent") else {
        return;
    };
    let path = folder.path().join("file");
    if File::create(&path).unwrap().set_len(8 << 40).is_err() {
        return eprintln!("skipped: a_file_larger_than_memory…: no file of 8 TiB here");
    }
    for command in [&["fill"][..], &["prepare", "--state", "warm"]] {
        let output = pagecache().args(command).arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(69));
        let line = one_line(&output.stderr);
        assert!(line.contains("8.0 TiB can't be resident at once"), "{line}");
        assert!(line.contains("(MemAvailable) leaves"), "{line}");
    }
}

#[test]
fn several_files_must_fit_together() {
    let Some(folder) = folder("several_files_must_fit_together") else {
        return;
    };
    let names = ["a", "b", "c"];
    for name in names {
        let file = File::create(folder.path().join(name)).unwrap();
        if file.set_len(memory_bytes() / 2).is_err() {
            return eprintln!("skipped: several_files_must_fit_together: no such large file here");
        }
    }
    pagecache().arg("fill").arg(folder.path()).assert().code(69);
}

#[test]
fn a_cgroup_s_limit_counts() {
    const NAME: &str = "a_cgroup_s_limit_counts";
    let Some(folder) = folder(NAME) else { return };
    let Some(cgroup) = Cgroup::new(16 * MIB) else {
        return eprintln!("skipped: {NAME}: needs root and a memory controller");
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    let mut command = process::Command::new(assert_cmd::cargo::cargo_bin!("pagecache"));
    let procs = cgroup.0.join("cgroup.procs");
    // SAFETY: between fork and exec only a file is written.
    unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
    assert_cmd::Command::from_std({
        command.args(["fill"]).arg(&file);
        command
    })
    .assert()
    .code(69)
    .stderr(predicate::str::contains(
        "32.0 MiB can't be resident at once: the cgroup limit in",
    ));
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let kib: u64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// A cgroup with a memory limit, of the version that has the controller here.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new(limit: u64) -> Option<Cgroup> {
        let places = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        places.into_iter().find_map(|(root, control)| {
            let folder = PathBuf::from(root).join(format!("pagecache-test-{}", process::id()));
            fs::create_dir(&folder).ok()?;
            let cgroup = Cgroup(folder);
            let control = cgroup.0.join(control);
            // cgroupfs alone puts control files into a new folder.
            (control.exists() && fs::write(control, limit.to_string()).is_ok()).then_some(cgroup)
        })
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
