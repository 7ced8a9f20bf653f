//! What a race publishes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::*;

#[test]
fn a_race_on_each_hyperfine_publishes_in_the_schema_of_that_version() {
    each_version("a_race_on_each_hyperfine_publishes", |hyperfine| {
        let place = Place::new();
        let file = place.file("data", 200_003);
        let outcome = place
            .race_on(&file)
            .with("--entries read,mmap,getline --rounds 2")
            .under(hyperfine)
            .succeeds();
        let sentences: Vec<&str> = outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with("cold: ") || line.starts_with("warm: "))
            .collect();
        assert_eq!(sentences.len(), 2, "{outcome:?}");
        assert_eq!(outcome.stderr, "");

        let race = place.race();
        let latest = fs::canonicalize(place.results().join("latest")).unwrap();
        assert_eq!(latest, fs::canonicalize(&race).unwrap());
        let published = json(race.join("race.json"));
        assert_eq!(published["status"], "finished");
        assert_eq!(published["input"]["bytes"], 200_003);
        assert_eq!(published["plan"]["rounds"], 2);
        let version = published["hyperfine"]["version"].as_str().unwrap();
        for (state, block) in [("cold", 1), ("warm", 2)] {
            the_export_has_all_rounds_and_right_statistics(&race, state, block, version);
            every_run_has_its_proof(&race, state, block);
        }
        let report = fs::read_to_string(race.join("report.md")).unwrap();
        assert!(report.contains("## cold") && report.contains("| getline |"));
        let left: Vec<_> = rounds(&race)
            .into_iter()
            .filter(|name| name.contains("partial"))
            .collect();
        assert_eq!(left, [] as [String; 0]);
    });
}

fn the_export_has_all_rounds_and_right_statistics(
    race: &Path,
    state: &str,
    block: usize,
    version: &str,
) {
    let merged = json(race.join(format!("{state}.json")));
    let second = version.starts_with('2');
    assert_eq!(merged.get("schema_version").is_some(), second, "{version}");
    let results = merged["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let name = name(result);
        let times = times(result);
        assert_eq!(times.len(), 2 * block, "{state} {name}");
        // The rounds' own exports, one after the other, have just these times.
        let mut raw = Vec::new();
        for round in ["001", "002"] {
            let export = json(race.join(format!("rounds/{state}-{round}.json")));
            let entries = export["results"].as_array().unwrap();
            let same = entries.iter().find(|other| self::name(other) == name);
            raw.extend(self::times(same.unwrap()));
        }
        assert_eq!(times, raw, "{state} {name}");

        let summary = match second {
            true => &result["summary"]["time_wall_clock"],
            false => result,
        };
        let is = |field: &str, expected: f64| {
            let value = summary[field].as_f64().unwrap();
            let off = (value - expected).abs();
            assert!(off <= 1e-14, "{state} {name} {field}: {value}, {expected}");
        };
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let mut sorted = times.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        is("mean", mean);
        is("stddev", (squares / (n - 1.0)).sqrt());
        is("median", (sorted[half - 1] + sorted[half]) / 2.0);
        is("min", sorted[0]);
        is("max", sorted[sorted.len() - 1]);
    }
}

fn name(result: &Value) -> String {
    let name = result.get("name").unwrap_or(&result["command"]);
    name.as_str().unwrap().to_string()
}

fn times(result: &Value) -> Vec<f64> {
    let times = match result.get("measurements") {
        Some(measurements) => measurements
            .as_array()
            .unwrap()
            .iter()
            .map(|measurement| &measurement["time_wall_clock"]["value"])
            .collect::<Vec<_>>(),
        None => result["times"].as_array().unwrap().iter().collect(),
    };
    times.iter().map(|time| time.as_f64().unwrap()).collect()
}

fn every_run_has_its_proof(race: &Path, state: &str, block: usize) {
    let rows: Vec<Value> = runs(race)
        .into_iter()
        .filter(|row| row["state"] == state)
        .collect();
    assert_eq!(rows.len(), 2 * 3 * block, "a row a timed run");
    for row in &rows {
        let share = number(row, "resident_share");
        match state {
            "cold" => assert!(share <= 0.01, "{row}"),
            _ => assert!(share >= 0.99, "{row}"),
        }
        assert_eq!(number(row, "bytes"), 200_003.0);
        assert!(number(row, "wall") > 0.0);
        assert_eq!(row["work"], "xor");
        assert_eq!(
            row["strategy"],
            format!("scan-{}", row["entry"].as_str().unwrap())
        );
        let first = row["position"] == "1";
        assert_eq!(row["predecessor"] == "", first, "{row}");
    }
}

#[test]
fn under_six_rounds_no_winner_is_named() {
    if !has_hyperfine("under_six_rounds_no_winner_is_named") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 50_000);
    let outcome = place
        .race_on(&file)
        .with("--entries read,mmap --rounds 5 --state warm")
        .succeeds();
    outcome.prints("warm: no winner: 5 rounds are too few (6 at least)");
}

#[test]
fn an_empty_file_is_a_valid_race_of_nothing() {
    each_version("an_empty_file_is_a_valid_race_of_nothing", |hyperfine| {
        let place = Place::new();
        let file = place.file("empty", 0);
        let outcome = place
            .race_on(&file)
            .with("--rounds 1")
            .under(hyperfine)
            .succeeds();
        assert!(!outcome.stdout.contains("NaN") && !outcome.stdout.contains("inf"));
        let race = place.race();
        for row in runs(&race) {
            assert_eq!((&row["answer"], &row["bytes"]), (&"00".into(), &"0".into()));
            assert_eq!(row["resident_share"], "1", "nothing is all of it");
        }
        let entries = json(race.join("cold.json"))["results"].clone();
        assert_eq!(entries.as_array().unwrap().len(), 13, "all entries ran");
    });
}

#[test]
fn sizes_that_are_no_multiple_of_anything_are_raced() {
    if !has_hyperfine("sizes_that_are_no_multiple_of_anything_are_raced") {
        return;
    }
    for size in [1, 511, 4097, 65_537] {
        let place = Place::new();
        let file = place.file("data", size);
        place.race_on(&file).with("--rounds 1").succeeds();
        let rows = runs(&place.race());
        assert_eq!(rows.len(), 13 + 2 * 11, "{size} bytes");
        assert!(rows.iter().all(|row| number(row, "bytes") == size as f64));
    }
}
