//! What the driver sees of the raced file, and what it does about states that can't be had or held.
//!
//! Filesystems of the tests' own are made on loop devices: they need root and the mkfs tools, and are
//! skipped by name where one is missing.

#[allow(dead_code, reason = "the tests of the page cache use the rest")]
#[path = "../../../pagecache/tests/common/mounts.rs"]
mod mounts;
mod states;
#[allow(dead_code, reason = "the tests of races use the rest")]
#[path = "../race/support.rs"]
mod support;

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::mounts::{Mount, mounted, overlay, root_folder, run};
use crate::support::*;

/// As the module of mounts wants it.
const MIB: u64 = 1 << 20;

/// As the module of mounts wants it.
fn folder(_test: &str) -> Option<TempDir> {
    Some(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
}

/// Bytes of which no two blocks are the same.
fn distinct(bytes: usize) -> Vec<u8> {
    (0..bytes as u32 / 4).flat_map(u32::to_le_bytes).collect()
}

/// What a race says of its file: on standard error, in report.md and in race.json.
struct Said {
    stderr: String,
    report: String,
    race: Value,
}

impl Said {
    /// Races `file`: two entries and rounds, unless the options say otherwise.
    fn of(file: &Path, options: &str) -> Said {
        let place = Place::new();
        let defaults = [("--entries", "read,mmap"), ("--rounds", "2")];
        let mut run = place.readoff(["run"]).arg(file).with(options);
        for (option, value) in defaults.into_iter().filter(|(o, _)| !options.contains(o)) {
            run = run.arg(option).arg(value);
        }
        let outcome = run.succeeds();
        let race = place.race();
        Said {
            stderr: outcome.stderr,
            report: fs::read_to_string(race.join("report.md")).unwrap(),
            race: json(race.join("race.json")),
        }
    }

    /// A figure of the file's layout.
    fn layout(&self, name: &str) -> &Value {
        &self.race["file"]["layout"][name]
    }

    fn extents(&self, name: &str) -> &Value {
        &self.layout("extents")[name]
    }

    /// Sees that a warning is in all three places, and on stderr before anything is timed.
    fn warns(&self, what: &str) {
        let warnings = self.race["file"]["warnings"].as_array().unwrap();
        let has = |warning: &Value| warning["what"].as_str().unwrap().contains(what);
        assert!(warnings.iter().any(has), "{what:?}: {warnings:?}");
        assert!(self.report.contains(what), "{what:?}: {}", self.report);
        let before = self.stderr.split(" round 1 ").next().unwrap();
        let warned = |line: &str| line.starts_with("warning: ") && line.contains(what);
        assert!(before.lines().any(warned), "{what:?}: {}", self.stderr);
    }

    fn warns_of_nothing(&self) {
        assert_eq!(self.race["file"]["warnings"], Value::Array(vec![]));
    }
}

#[test]
fn a_plain_file_gets_facts_and_no_warning() {
    let test = "a_plain_file_gets_facts_and_no_warning";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.path().join("plain");
    fs::write(&file, distinct(MIB as usize)).unwrap();
    let said = Said::of(&file, "--state warm");
    said.warns_of_nothing();
    assert_eq!(said.layout("holes"), 0);
    let blocks = &said.race["file"]["blocks"];
    assert_eq!(
        (&blocks["sampled"], &blocks["repeated"]),
        (&256.into(), &0.into())
    );
    assert!(
        said.stderr.contains("the file: holes 0.0 %; "),
        "{}",
        said.stderr
    );
    assert!(
        said.report.contains("## The file\n\n- holes 0.0 %\n"),
        "{}",
        said.report
    );
}

#[test]
fn holes_are_warned_of() {
    let test = "holes_are_warned_of";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let path = place.path().join("sparse");
    let file = File::create(&path).unwrap();
    file.write_all_at(&distinct(MIB as usize), 0).unwrap();
    file.set_len(4 * MIB).unwrap();
    file.sync_all().unwrap();
    if pagecache::layout(&path, false)
        .map(|layout| layout.holes)
        .ok()
        != Some(3 * MIB)
    {
        return eprintln!("skipped: {test}: the build's filesystem has no holes");
    }
    let said = Said::of(&path, "--state warm");
    assert_eq!(said.layout("holes"), 3 * MIB);
    said.warns("75.0 % of the file is holes or was never written");
    // Their blocks repeat: that is the same news.
    assert!(!said.report.contains("XOR cancels"), "{}", said.report);
}

#[test]
fn repeated_blocks_are_warned_of() {
    let test = "repeated_blocks_are_warned_of";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let path = place.path().join("twice");
    fs::write(&path, distinct(MIB as usize).repeat(2)).unwrap();
    let said = Said::of(&path, "--state warm");
    said.warns("50.0 % of the file's blocks repeat");
    // What the warning is about.
    assert_eq!(said.race["checked"]["answer"], "00");
}

#[test]
fn a_file_that_somebody_may_write_to_is_named_with_the_process() {
    let test = "a_file_that_somebody_may_write_to_is_named_with_the_process";
    if !has_hyperfine(test) || !cfg!(target_os = "linux") {
        return;
    }
    let place = Place::new();
    let path = place.file("log", 100_000);
    let writer = OpenOptions::new().append(true).open(&path).unwrap();
    let said = Said::of(&path, "--state warm");
    said.warns(&format!("process {} (", std::process::id()));
    drop(writer);
}

#[test]
fn what_was_never_written_is_warned_of() {
    let test = "what_was_never_written_is_warned_of";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = mounted(test, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let path = mount.point.join("allocated");
    let file = File::create(&path).unwrap();
    // SAFETY: no memory is passed.
    let result = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, MIB as i64) };
    assert_eq!(result, 0);
    drop(file);
    let said = Said::of(&path, "--state cold,warm");
    assert_eq!(said.extents("unwritten"), MIB);
    said.warns("100.0 % of the file is holes or was never written");
}

#[test]
fn compressed_and_inlined_extents_are_warned_of() {
    let test = "compressed_and_inlined_extents_are_warned_of";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = mounted(test, &["mkfs.btrfs", "-q"], "compress-force=zstd") else {
        return;
    };
    let (large, small) = (mount.point.join("large"), mount.point.join("small"));
    fs::write(&large, distinct(MIB as usize)).unwrap();
    let said = Said::of(&large, "--state cold");
    assert_eq!(said.extents("encoded"), MIB);
    said.warns("100.0 % of the file is compressed or encrypted");
    fs::write(&small, "a few words").unwrap();
    let said = Said::of(&small, "--state cold");
    assert_eq!(said.extents("inline"), 11);
    said.warns("lies among the filesystem's metadata");
}

#[test]
fn a_fragmented_file_is_warned_of() {
    let test = "a_fragmented_file_is_warned_of";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = mounted(test, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let path = mount.point.join("fragmented");
    fs::write(&path, distinct(64 * 4096)).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.sync_all().unwrap();
    // What is left between the blocks taken out closes up in the file, not on the device.
    for index in 1..32 {
        let mode = libc::FALLOC_FL_COLLAPSE_RANGE;
        // SAFETY: no memory is passed.
        let result = unsafe { libc::fallocate(file.as_raw_fd(), mode, index * 4096, 4096) };
        assert_eq!(result, 0);
    }
    drop(file);
    let said = Said::of(&path, "--state cold");
    assert!(said.extents("pieces").as_u64().unwrap() >= 32);
    said.warns("the file is fragmented");
}

#[test]
fn a_reflink_is_a_fact_and_no_warning() {
    let test = "a_reflink_is_a_fact_and_no_warning";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = mounted(test, &["mkfs.xfs", "-q"], "rw") else {
        return;
    };
    let (original, clone) = (mount.point.join("original"), mount.point.join("clone"));
    fs::write(&original, distinct(MIB as usize)).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("--reflink=always").args([&original, &clone]);
    let Some(()) = run(test, &mut copy) else {
        return;
    };
    let said = Said::of(&clone, "--state cold");
    said.warns_of_nothing();
    assert_eq!(said.extents("shared"), MIB);
    assert!(
        said.report.contains("shared with other files 100.0 %"),
        "{}",
        said.report
    );
}

#[test]
fn on_an_overlay_the_state_is_proved_and_the_layers_tell() {
    let test = "on_an_overlay_the_state_is_proved_and_the_layers_tell";
    if !has_hyperfine(test) {
        return;
    }
    let Some(below) = mounted(test, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let fill = |lower: &Path| fs::write(lower.join("file"), distinct(MIB as usize)).unwrap();
    let Some(mount) = overlay(test, &below.point, fill) else {
        return;
    };
    let said = Said::of(&mount.point.join("file"), "--state cold,warm");
    said.warns_of_nothing();
    assert_eq!(said.extents("in_pieces"), MIB);
    assert!(
        said.report.contains("0.00–0.00 % of the file resident"),
        "{}",
        said.report
    );
    assert!(
        said.report.contains("100.00–100.00 % of the file resident"),
        "{}",
        said.report
    );
}
