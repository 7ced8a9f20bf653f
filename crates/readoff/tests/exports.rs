//! Exports that real hyperfines wrote (`tests/exports/`), read, split, merged and written again.

use proptest::prelude::*;
use readoff::hyperfine::Export;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports");
    ["1.15.0", "1.20.0", "2.0.0"]
        .map(|version| folder.join(format!("hyperfine-{version}.json")))
        .to_vec()
}

fn export(value: &Value) -> Export {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("export.json");
    fs::write(&path, value.to_string()).unwrap();
    Export::read(&path).unwrap()
}

fn value(export: &Export) -> Value {
    serde_json::from_str(&export.to_json()).unwrap()
}

/// The runs `from..to` of every entry, with statistics that are wrong.
fn part(whole: &Value, from: usize, to: usize) -> Value {
    let mut part = whole.clone();
    for result in part["results"].as_array_mut().unwrap() {
        for runs in ["times", "memory_usage_byte", "exit_codes", "measurements"] {
            if let Some(list) = result[runs].as_array() {
                result[runs] = list[from..to].into();
            } else {
                result.as_object_mut().unwrap().remove(runs);
            }
        }
        for statistic in ["mean", "median", "min", "max", "stddev"] {
            if result.get(statistic).is_some() {
                result[statistic] = 1e9.into();
            }
        }
        if result.get("summary").is_some() {
            result["summary"] = json!({});
        }
    }
    part
}

#[test]
fn merging_one_export_changes_no_byte_of_it() {
    for path in samples() {
        let merged = Export::merge([Export::read(&path).unwrap()]).unwrap();
        assert!(
            merged.to_json() == fs::read_to_string(&path).unwrap(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn merging_the_parts_of_an_export_gives_its_statistics_to_the_last_bit() {
    for path in samples() {
        let whole: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for middle in 1..6 {
            let parts =
                [part(&whole, 0, middle), part(&whole, middle, 6)].map(|part| export(&part));
            let mut merged = value(&Export::merge(parts).unwrap());
            let mut expected = whole.clone();
            // Means of means (1.x): the last bit may differ.
            for (merged, expected) in results(&mut merged).zip(results(&mut expected)) {
                for time in ["user", "system"] {
                    let of = |entry: &serde_json::Map<String, Value>| {
                        entry.get(time).and_then(Value::as_f64)
                    };
                    if let (Some(ours), Some(theirs)) = (of(merged), of(expected)) {
                        assert!(
                            (ours - theirs).abs() <= 1e-15 * theirs,
                            "{time}: {ours} {theirs}"
                        );
                        expected[time] = merged[time].clone();
                    }
                }
            }
            assert_eq!(merged, expected, "{} at {middle}", path.display());
        }
    }
}

fn results(export: &mut Value) -> impl Iterator<Item = &mut serde_json::Map<String, Value>> {
    export["results"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .map(|result| result.as_object_mut().unwrap())
}

#[test]
fn runs_are_read_alike_from_both_schemas() {
    for path in samples() {
        let export = Export::read(&path).unwrap();
        let name = export.names()[1].to_owned();
        let runs = export.runs(&name).unwrap();
        assert_eq!((runs.len(), name.as_str()), (6, "sleep 0.001"));
        let memory = !path.ends_with("hyperfine-1.15.0.json");
        for run in runs {
            assert!(run.seconds > 0.001 && run.seconds < 1.0);
            assert!(run.user.unwrap() + run.system.unwrap() < run.seconds);
            assert_eq!(run.peak_memory.is_some(), memory);
            assert_eq!(run.exit_code, Some(0));
        }
        let failing = export.runs("sh -c 'exit 3'").unwrap();
        assert!(failing.iter().all(|run| run.exit_code == Some(3)));
    }
}

#[test]
fn user_and_system_times_of_merged_blocks_are_weighted_by_their_runs() {
    let block = |runs: usize, user: f64| {
        export(
            &json!({"results": [{"command": "a", "mean": 1.0, "stddev": null, "median": 1.0, "user": user,
            "system": 2.0 * user, "min": 1.0, "max": 1.0, "times": vec![1.0; runs], "exit_codes": vec![0; runs]}]}),
        )
    };
    let merged = Export::merge([block(1, 4.0), block(2, 1.0), block(1, 2.0)]).unwrap();
    let run = merged.runs("a").unwrap()[0];
    assert_eq!((run.user, run.system), (Some(2.0), Some(4.0)));
}

#[test]
fn entries_are_merged_by_name_whatever_their_order_or_number() {
    let one = |name: &str, seconds: f64| {
        json!({"command": name, "mean": seconds, "stddev": null, "median": seconds, "user": 0.0, "system": 0.0,
            "min": seconds, "max": seconds, "times": [seconds], "exit_codes": [0]})
    };
    let first = export(&json!({"results": [one("a", 1.0), one("b", 2.0), one("b", 3.0)]}));
    let second =
        export(&json!({"results": [one("b", 4.0), one("c", 5.0), one("b", 6.0), one("a", 7.0)]}));
    let merged = value(&Export::merge([first, second]).unwrap());
    let times: Vec<(&str, &Value)> = merged["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["command"].as_str().unwrap(), &entry["times"]))
        .collect();
    let expected = [
        ("a", &json!([1.0, 7.0])),
        ("b", &json!([2.0, 4.0])),
        ("b", &json!([3.0, 6.0])),
        ("c", &json!([5.0])),
    ];
    assert_eq!(times, expected);
}

#[test]
fn a_metric_that_any_run_lacks_has_no_summary() {
    let run = |metrics: &[&str]| {
        let mut run = json!({"time_wall_clock": {"value": 1.0, "unit": "second"}, "exit_code": 0});
        for metric in metrics {
            run[*metric] = json!({"value": 7.0});
        }
        let mut export: Value = serde_json::from_slice(&fs::read(&samples()[2]).unwrap()).unwrap();
        export["results"] = json!([{"command": "a", "measurements": [run], "summary": {}}]);
        crate::export(&export)
    };
    let merged =
        value(&Export::merge([run(&["cpu_cycles", "new_in_2_1"]), run(&["new_in_2_1"])]).unwrap());
    let summary = merged["results"][0]["summary"].as_object().unwrap();
    assert_eq!(
        summary.keys().collect::<Vec<_>>(),
        ["new_in_2_1", "time_wall_clock"]
    );
    assert_eq!(
        summary["new_in_2_1"],
        json!({"count": 2, "mean": 7.0, "stddev": 0.0, "median": 7.0, "min": 7.0, "max": 7.0})
    );
}

#[test]
fn fields_that_a_later_version_adds_are_kept() {
    for path in samples() {
        let mut whole: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        whole["new"] = json!([1]);
        whole["results"][0]["new"] = json!({"a": 0.1});
        assert_eq!(value(&export(&whole)), whole);
    }
}

#[test]
fn what_is_no_export_is_one_line_that_names_the_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("some.json");
    let whole = fs::read(&samples()[2]).unwrap();
    let cases: [(&[u8], &str); 6] = [
        (b"", "no complete export"),
        (&whole[..whole.len() / 2], "no complete export"),
        (b"[1, 2]", "no complete export"),
        (b"{\"results\": [{\"command\": \"a\"}]}", "missing field"),
        (b"\xff\xfe", "no complete export"),
        (b"{\"schema_version\": 3, \"results\": []}", "schema 3"),
    ];
    for (content, why) in cases {
        fs::write(&path, content).unwrap();
        let error = format!("{:#}", Export::read(&path).unwrap_err());
        assert!(
            error.contains("some.json") && error.contains(why) && !error.contains('\n'),
            "{error}"
        );
    }
    fs::remove_file(&path).unwrap();
    assert!(format!("{:#}", Export::read(&path).unwrap_err()).contains("some.json"));
}

#[test]
fn schemas_are_not_mixed_and_nothing_is_not_merged() {
    let both = [&samples()[1], &samples()[2]].map(|path| Export::read(path).unwrap());
    assert!(
        Export::merge(both)
            .unwrap_err()
            .to_string()
            .contains("can't be merged")
    );
    assert!(Export::merge([]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rounds_merge_into_the_statistics_of_all_their_runs(rounds in prop::collection::vec(prop::collection::vec(1e-4..10.0f64, 1..5), 1..12)) {
        let block = |times: &[f64]| {
            export(&json!({"results": [{"command": "a", "mean": 0.0, "stddev": null, "median": 0.0, "user": 0.0,
                "system": 0.0, "min": 0.0, "max": 0.0, "times": times, "exit_codes": vec![0; times.len()]}]}))
        };
        let merged = value(&Export::merge(rounds.iter().map(|times| block(times))).unwrap());
        let merged = &merged["results"][0];
        let times = rounds.concat();
        let n = times.len() as f64;
        let mean = times.iter().fold(0.0, |sum, time| sum + time) / n;
        prop_assert_eq!(&merged["times"], &json!(times));
        prop_assert_eq!(&merged["mean"], &json!(mean));
        let stddev = (times.iter().map(|time| (time - mean).powi(2)).fold(0.0, |sum, square| sum + square) / (n - 1.0)).sqrt();
        prop_assert_eq!(&merged["stddev"], &if times.len() == 1 { Value::Null } else { json!(stddev) });
        let below = times.iter().filter(|time| **time < merged["median"].as_f64().unwrap()).count();
        let above = times.iter().filter(|time| **time > merged["median"].as_f64().unwrap()).count();
        prop_assert!(below == above && below <= times.len() / 2);
    }
}
