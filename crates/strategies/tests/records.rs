//! What a strategy says about its own run.

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use common::{assert_refused, command, random, reference, strategies, unavailable};
use serde_json::{Map, Value};

/// The record that the strategy prints for the file.
fn record(strategy: &str, file: &Path) -> Option<Map<String, Value>> {
    let output = command(strategy)
        .args(["--work", "crc32", "--json"])
        .arg(file)
        .output()
        .unwrap();
    if unavailable(strategy, &output) {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    Some(serde_json::from_str(&text).unwrap())
}

fn number(record: &Map<String, Value>, field: &str) -> f64 {
    record[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} of {record:?}"))
}

#[test]
fn a_record_has_every_field_and_its_times_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let bytes = random(1_000_003);
    fs::write(&file, &bytes).unwrap();
    for strategy in strategies("scan") {
        let Some(record) = record(&strategy, &file) else {
            continue;
        };
        assert_eq!(record["kind"], "record");
        assert_eq!(record["strategy"], *strategy);
        assert_eq!(record["work"], "crc32");
        assert_eq!(record["answer"], reference("crc32", &bytes));
        assert_eq!(record["bytes"], 1_000_003);
        let phases: f64 = [
            "seconds_open",
            "seconds_arrive",
            "seconds_touch",
            "seconds_arrive_touch",
        ]
        .iter()
        .filter_map(|phase| record[*phase].as_f64())
        .sum();
        let seconds = number(&record, "seconds");
        assert!(
            seconds > 0.0 && (phases - seconds).abs() < 1e-9,
            "{record:?}"
        );
        for field in [
            "minor_faults",
            "major_faults",
            "voluntary_switches",
            "involuntary_switches",
        ] {
            assert!(record[field].is_u64(), "{record:?}");
        }
        assert!(number(&record, "user") >= 0.0 && number(&record, "system") >= 0.0);
        assert_eq!(record.len(), 18, "{record:?}");
    }
}

#[test]
fn strategies_that_take_the_file_whole_tell_its_two_phases_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, random(100_000)).unwrap();
    let two_phases = [
        "scan-read-whole",
        "scan-fread-whole",
        "scan-fs-read",
        "scan-mmap-populate",
    ];
    for strategy in strategies("scan") {
        let Some(record) = record(&strategy, &file) else {
            continue;
        };
        let two = two_phases.contains(&strategy.as_str());
        assert_eq!(record["seconds_arrive"].is_f64(), two, "{record:?}");
        assert_eq!(record["seconds_touch"].is_f64(), two, "{record:?}");
        assert_eq!(record["seconds_arrive_touch"].is_null(), two, "{record:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn peak_memory_is_that_of_the_strategy_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    const SIZE: usize = 32 << 20;
    fs::write(&file, random(SIZE)).unwrap();
    // This process is larger than a streaming strategy may seem, and its size is inherited by
    // ru_maxrss over exec.
    let ballast = std::hint::black_box(vec![1_u8; SIZE]);
    for (strategy, whole) in [
        ("scan-read", false),
        ("scan-read-whole", true),
        ("scan-mmap", true),
    ] {
        let peak = number(&record(strategy, &file).unwrap(), "peak_rss");
        assert_eq!(peak >= SIZE as f64, whole, "{strategy}: {peak}");
    }
    drop(ballast);
}

#[cfg(target_os = "linux")]
#[test]
fn a_mapped_file_costs_faults_and_a_buffer_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, random(32 << 20)).unwrap();
    let faults = |strategy| number(&record(strategy, &file).unwrap(), "minor_faults");
    // Folios are mapped up to 16 pages at a time (fault_around_bytes), and by 2 MiB at most.
    assert!(faults("scan-mmap") >= 16.0);
    assert!(faults("scan-read-whole") >= 16.0);
    assert!(faults("scan-read") < 100.0);
}

#[cfg(target_os = "linux")]
#[test]
fn bytes_of_an_evicted_file_come_from_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    const SIZE: usize = 8 << 20;
    fs::write(&file, random(SIZE)).unwrap();
    let opened = fs::File::open(&file).unwrap();
    opened.sync_all().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&opened);
    // SAFETY: advice on an open file.
    let error = unsafe { libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED) };
    assert_eq!(error, 0);
    let cold = number(&record("scan-read", &file).unwrap(), "device_bytes");
    let warm = number(&record("scan-read", &file).unwrap(), "device_bytes");
    if cold == 0.0 {
        eprintln!(
            "skipped: bytes from the device: {} is in memory",
            folder.path().display()
        );
        return;
    }
    assert!(cold >= SIZE as f64, "{cold}");
    assert_eq!(warm, 0.0);
}

#[test]
fn the_record_is_appended_to_the_log_as_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("file"), folder.path().join("log"));
    fs::write(&file, "abc").unwrap();
    let prepare = "{\"kind\":\"prepare\"}\n";
    fs::write(&log, prepare).unwrap();
    for _ in 0..2 {
        let output = command("scan-mmap")
            .arg(&file)
            .env("READOFF_RECORD", &log)
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "xor 60  3 bytes\n"
        );
    }
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.strip_prefix(prepare).unwrap().lines().collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        let record: Map<String, Value> = serde_json::from_str(line).unwrap();
        assert_eq!(record["answer"], "60");
    }
}

#[test]
fn a_log_that_is_missing_is_created_and_one_that_cannot_be_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("file"), folder.path().join("log"));
    fs::write(&file, "abc").unwrap();
    let append = |log: &Path| {
        command("scan-read")
            .arg(&file)
            .env("READOFF_RECORD", log)
            .output()
            .unwrap()
    };
    assert!(append(&log).status.success());
    assert!(fs::read_to_string(&log).unwrap().ends_with("}\n"));
    assert_refused(
        "scan-read",
        &append(&folder.path().join("no/log")),
        73,
        "READOFF_RECORD",
    );
    assert_refused("scan-read", &append(folder.path()), 73, "READOFF_RECORD");
    if Path::new("/dev/full").exists() {
        assert_refused(
            "scan-read",
            &append(Path::new("/dev/full")),
            74,
            "No space left",
        );
    }
}

#[test]
fn lines_of_strategies_that_share_a_log_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("file"), folder.path().join("log"));
    fs::write(&file, "abc").unwrap();
    let start = || {
        let mut command = command("scan-read");
        command.arg(&file).env("READOFF_RECORD", &log);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..50).map(|_| start()).collect();
    assert!(
        children
            .iter_mut()
            .all(|child| child.wait().unwrap().success())
    );
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.lines().count(), 50);
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}
