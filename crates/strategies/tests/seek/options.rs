//! What the options of the family do to the output, and how it says what is wrong with them.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::common::{assert_refused, command, random, run, strategies, unavailable};
use crate::file_of;

/// The record that the strategy prints.
fn record(strategy: &str, options: &[&str], file: &Path) -> Option<Map<String, Value>> {
    let mut command = command(strategy);
    let output = command.args(options).arg("--json").arg(file).output();
    let output = output.unwrap();
    if unavailable(strategy, &output) {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    Some(serde_json::from_str(&text).unwrap())
}

fn number(record: &Value) -> f64 {
    record.as_f64().unwrap_or_else(|| panic!("{record:?}"))
}

#[test]
fn a_record_tells_the_visits_apart_from_what_goes_before() {
    let (_folder, file) = file_of(&random(100_000));
    for strategy in strategies("seek") {
        let Some(record) = record(&strategy, &[], &file) else {
            continue;
        };
        assert_eq!(record["strategy"], *strategy);
        assert_eq!(record["seconds_visit"], record["seconds_touch"]);
        let phases = ["seconds_open", "seconds_arrive", "seconds_visit"];
        let sum: f64 = phases.iter().map(|phase| number(&record[*phase])).sum();
        assert!(
            (sum - number(&record["seconds"])).abs() < 1e-9,
            "{record:?}"
        );
        assert!(!record.contains_key("latency"), "{record:?}");
    }
}

#[test]
fn latencies_are_told_of_every_visit() {
    let (_folder, file) = file_of(&random(100_000));
    let options = ["--block", "1000", "--latency", "--order", "shuffled"];
    for strategy in strategies("seek") {
        let Some(record) = record(&strategy, &options, &file) else {
            continue;
        };
        let latency = &record["latency"];
        assert_eq!(latency["visits"], 100);
        let [min, p50, p99, max] = ["min", "p50", "p99", "max"].map(|name| number(&latency[name]));
        assert!(
            0.0 <= min && min <= p50 && p50 <= p99 && p99 <= max,
            "{latency}"
        );
        let mean = number(&latency["mean"]);
        assert!(min <= mean && mean <= max, "{latency}");
        // To three digits: the visits take no longer than the phase that they are in.
        let visits = number(&record["seconds_visit"]);
        assert!(100.0 * mean <= 1.001 * visits, "{record:?}");
    }
}

#[test]
fn latencies_are_printed_below_the_answer() {
    let (_folder, file) = file_of(&random(100));
    let plain = run("seek-mmap", [&file]).stdout;
    let output = command("seek-mmap").arg("--latency").arg(&file).output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    let latencies = output
        .strip_prefix(std::str::from_utf8(&plain).unwrap())
        .unwrap();
    assert_eq!(latencies.lines().count(), 1, "{latencies}");
    for name in ["a visit: min ", "  mean ", "  p50 ", "  p99 ", "  max "] {
        assert!(latencies.contains(name), "{latencies}");
    }
}

#[test]
fn no_visit_has_no_latency() {
    let (_folder, file) = file_of(b"");
    for strategy in strategies("seek") {
        let Some(record) = record(&strategy, &["--latency"], &file) else {
            continue;
        };
        assert_eq!(record["answer"], "0:00000000");
        assert!(!record.contains_key("latency"), "{record:?}");
    }
}

#[test]
fn what_the_command_line_gets_wrong_is_one_line() {
    let cases: [(&[&str], &str); 12] = [
        (&[], "FILE"),
        (&["--visits", "0", "f"], "--visits: number would be zero"),
        (&["--visits", "-1", "f"], "--visits"),
        (&["--block", "0", "f"], "at least 1 byte"),
        (&["--block", "many", "f"], "--block"),
        (&["--work", "row", "f"], "rows"),
        (&["--order", "random", "f"], "shuffled"),
        (&["--seed", "-1", "f"], "--seed"),
        (&["--seed", "18446744073709551616", "f"], "--seed"),
        (
            &["--work", "boxes", "--order", "shuffled", "f"],
            "\"shuffled\" for --order: where a box is",
        ),
        (&["--latency=yes", "f"], "--latency"),
        (&["f", "g"], "\"g\""),
    ];
    for strategy in strategies("seek") {
        for (args, about) in cases {
            assert_refused(&strategy, &run(&strategy, args), 64, about);
        }
    }
    let stream = run("seek-bufreader", ["--buffer", "0", "f"]);
    assert_refused("seek-bufreader", &stream, 64, "at least 1 byte");
}

#[test]
fn only_the_stream_has_a_buffer_to_set() {
    for strategy in strategies("seek") {
        let help = String::from_utf8(run(&strategy, ["-h"]).stdout).unwrap();
        assert!(
            help.contains(&format!("Usage: {strategy} [OPTIONS] FILE")),
            "{help}"
        );
        let has_buffer = strategy == "seek-bufreader";
        assert_eq!(help.contains("--buffer "), has_buffer, "{help}");
    }
}

#[test]
fn the_stream_answers_the_same_whatever_its_buffer() {
    let (folder, file) = file_of(&random(50_000));
    for options in [&["--order", "shuffled"][..], &["--block", "700"]] {
        let expected = command("seek-pread")
            .args(options)
            .arg(&file)
            .output()
            .unwrap();
        for buffer in ["1", "511", "4096", "16KiB", "1MiB"] {
            let mut stream = command("seek-bufreader");
            let output = stream
                .args(options)
                .args(["--buffer", buffer])
                .arg(&file)
                .output();
            assert_eq!(output.unwrap().stdout, expected.stdout, "{buffer}");
        }
    }
    fs::remove_dir_all(folder.path()).unwrap();
}
