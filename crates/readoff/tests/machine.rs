//! The machine: what `readoff env` tells, two races at once, rounds that somebody disturbs.
//!
//! The races need a hyperfine (`HYPERFINE_1_20`, or one on the PATH) and are skipped by name without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn readoff() -> Command {
    Command::new(env!("CARGO_BIN_EXE_readoff"))
}

fn hyperfine(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("HYPERFINE_1_20").map(PathBuf::from);
    let found = found.or_else(|| which::which("hyperfine").ok());
    if found.is_none() {
        eprintln!("skipped: {test}: no hyperfine (HYPERFINE_1_20 is not set)");
    }
    found
}

/// A folder for a race, on the build folder's disk, and a file of `bytes` bytes in it.
fn place(bytes: usize) -> (TempDir, PathBuf) {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("data");
    fs::write(&file, vec![b'x'; bytes]).unwrap();
    (folder, file)
}

/// A race of two entries whose results go below `place`.
fn race(place: &Path, file: &Path, hyperfine: &Path, options: &str) -> Command {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hyperfine/suites");
    let mut command = readoff();
    command
        .args([
            "run",
            "--quiet",
            "--entries",
            "read,mmap",
            "--state",
            "warm",
        ])
        .args(options.split_whitespace())
        .arg(file)
        .env("READOFF_SUITES", suites)
        .env("READOFF_RESULTS", place.join("results"))
        .env_remove("READOFF_PROGRAMS")
        .env("HYPERFINE", hyperfine)
        .stdin(Stdio::null());
    command
}

fn start(command: &mut Command) -> Child {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a process when a test ends, however it does.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lock's text, once somebody has signed it.
fn signed(place: &Path) -> impl Fn() -> bool {
    let lock = place.join("results/.lock");
    move || fs::read_to_string(&lock).is_ok_and(|text| text.ends_with('\n'))
}

fn exit(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), text(&output.stderr))
}

#[test]
fn env_as_json_has_the_machine_and_its_warnings() {
    let (_place, file) = place(10);
    let output = readoff()
        .args(["env", "--json"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(exit(&output), (Some(0), String::new()));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    for field in ["host", "system", "filesystem"] {
        assert!(!seen[field].as_str().unwrap().is_empty(), "{field}");
    }
    assert!(seen["cpus"].as_u64().unwrap() > 0);
    assert_eq!(seen["build"]["version"], env!("CARGO_PKG_VERSION"));
    for warning in seen["warnings"].as_array().unwrap() {
        for part in ["what", "remedy"] {
            assert!(!warning[part].as_str().unwrap().is_empty(), "{warning}");
        }
    }
    if cfg!(target_os = "linux") {
        assert!(seen["storage"]["mount_options"].is_string());
        assert!(seen["load"]["cpu"]["others"].is_number());
    }
}

#[test]
fn env_for_a_person_is_a_line_a_fact_then_the_warnings() {
    let output = readoff().arg("env").output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.starts_with("host "), "{shown}");
    let facts = shown
        .lines()
        .take_while(|line| !line.starts_with("warning: "));
    assert!(facts.count() > 4);
    let warnings = shown
        .lines()
        .skip_while(|line| !line.starts_with("warning: "));
    assert!(
        warnings
            .into_iter()
            .all(|line| line.starts_with("warning: "))
    );
}

#[test]
fn env_of_a_file_that_is_not_there_is_refused() {
    let output = readoff().args(["env", "/no/such"]).output().unwrap();
    let says = "readoff: /no/such: no such file or directory\n".to_string();
    assert_eq!(exit(&output), (Some(66), says));
}

#[test]
fn a_second_race_is_told_who_is_first_unless_it_waits() {
    let Some(hyperfine) = hyperfine("a_second_race_is_told_who_is_first_unless_it_waits") else {
        return;
    };
    let (place, file) = place(200_000);
    let first = start(&mut race(place.path(), &file, &hyperfine, "--rounds 10000"));
    let mut first = Ended(first);
    wait_until("the first race has the lock", signed(place.path()));

    let second = race(place.path(), &file, &hyperfine, "--rounds 1")
        .output()
        .unwrap();
    let (code, says) = exit(&second);
    assert_eq!((code, says.lines().count()), (Some(75), 1), "{says}");
    let holder = format!("process {}, since ", first.0.id());
    assert!(says.contains(&holder), "{says}");

    let waits = start(&mut race(
        place.path(),
        &file,
        &hyperfine,
        "--rounds 1 --wait",
    ));
    let mut waits = Ended(waits);
    // Killed with no chance to clean up; what it started has no part in the lock.
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    assert_eq!(waits.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_dry_run_and_a_wrong_file_take_no_lock() {
    let Some(hyperfine) = hyperfine("a_dry_run_and_a_wrong_file_take_no_lock") else {
        return;
    };
    let (place, file) = place(1000);
    let dry = race(place.path(), &file, &hyperfine, "--dry-run")
        .output()
        .unwrap();
    assert_eq!(dry.status.code(), Some(0));
    let missing = place.path().join("missing");
    let wrong = race(place.path(), &missing, &hyperfine, "")
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(66));
    assert!(!place.path().join("results").exists());
}

/// Every CPU is kept busy by somebody else.
#[cfg(target_os = "linux")]
fn neighbours() -> Vec<Ended> {
    let cpus = thread::available_parallelism().unwrap().get();
    let busy = |_| {
        Ended(start(
            Command::new("sh").args(["-c", "while :; do :; done"]),
        ))
    };
    (0..cpus).map(busy).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn spoiled_rounds_are_marked_and_a_quarter_is_run_again() {
    let Some(hyperfine) = hyperfine("spoiled_rounds_are_marked_and_a_quarter_is_run_again") else {
        return;
    };
    let (place, file) = place(40_000_000);
    let neighbours = neighbours();
    let output = race(place.path(), &file, &hyperfine, "--rounds 4")
        .output()
        .unwrap();
    drop(neighbours);
    assert_eq!(exit(&output), (Some(0), String::new()));
    let latest = place.path().join("results/latest");

    let published: Value =
        serde_json::from_slice(&fs::read(latest.join("race.json")).unwrap()).unwrap();
    let state = &published["states"][0];
    assert_eq!(state["rounds"], 4, "as many count as were planned");
    let watched = state["watched"].as_array().unwrap();
    assert_eq!(watched.len(), 5, "{watched:?}");
    let left_out: Vec<&Value> = watched.iter().filter(|w| w["counted"] == false).collect();
    assert_eq!(left_out.len(), 1);
    let why = left_out[0]["spoiled"].as_str().unwrap();
    assert!(
        why.contains("other processes use") || why.contains("steal"),
        "{why}"
    );

    let number = left_out[0]["round"].as_u64().unwrap();
    for end in ["json", "log.jsonl"] {
        let name = format!("rounds/warm-{number:03}.spoiled.{end}");
        assert!(latest.join(&name).is_file(), "{name} is kept");
    }
    let mut rows = csv::Reader::from_path(latest.join("runs.csv")).unwrap();
    let rows: Vec<std::collections::HashMap<String, String>> =
        rows.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 5 * 2 * 2);
    let not_counted: Vec<_> = rows.iter().filter(|row| row["counted"] == "no").collect();
    assert_eq!(not_counted.len(), 2 * 2);
    assert!(not_counted.iter().all(|row| row["spoiled"] == why));
    let merged: Value =
        serde_json::from_slice(&fs::read(latest.join("warm.json")).unwrap()).unwrap();
    let result = &merged["results"][0];
    let times = result.get("times").or(result.get("measurements"));
    let times = times.and_then(Value::as_array).unwrap();
    assert_eq!(times.len(), 4 * 2, "only what counts is merged");
    let report = fs::read_to_string(latest.join("report.md")).unwrap();
    assert!(report.contains("Run again and left out: 1;"), "{report}");
}
