//! What can be chosen on the command line.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::*;

fn entries(race: &Path) -> Vec<String> {
    let race = json(race.join("race.json"));
    let entries = race["plan"]["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["name"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn only_the_entries_that_are_named_compete_each_once() {
    if !has_hyperfine("only_the_entries_that_are_named_compete_each_once") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .with("--entries mmap,getline,mmap --rounds 1 --state warm,warm")
        .succeeds();
    assert_eq!(entries(&place.race()), ["mmap", "getline"]);
    assert_eq!(runs(&place.race()).len(), 2 * 2);
}

#[test]
fn a_strategy_that_the_suite_does_not_list_can_be_asked_for() {
    if !has_hyperfine("a_strategy_that_the_suite_does_not_list_can_be_asked_for") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .with("--suite fill --entries bufreader,read,bufreader --rounds 1 --state warm")
        .succeeds();
    assert_eq!(entries(&place.race()), ["read", "bufreader"]);
}

#[test]
fn every_work_gives_its_answer() {
    if !has_hyperfine("every_work_gives_its_answer") {
        return;
    }
    let bytes = content(100_001);
    let xor = bytes.iter().fold(0, |a, b| a ^ b);
    let sum: u64 = bytes.iter().map(|b| u64::from(*b)).sum();
    let newlines = bytes.iter().filter(|b| **b == b'\n').count().to_string();
    let answers = [
        ("xor", Some(format!("{xor:02x}"))),
        ("sum", Some(sum.to_string())),
        ("newlines", Some(newlines.clone())),
        ("newlines-u32", Some(newlines.clone())),
        ("newlines-u64", Some(newlines)),
        ("crc32", Some(format!("{:08x}", crc32fast::hash(&bytes)))),
        // One byte a page, so it depends on the size of a page.
        ("touch", None),
    ];
    for (work, answer) in answers {
        let place = Place::new();
        let file = place.file("data", bytes.len());
        place
            .race_on(&file)
            .with("--rounds 1 --state warm --work")
            .arg(work)
            .succeeds();
        let checked = json(place.race().join("race.json"))["checked"]["answer"].clone();
        if let Some(answer) = answer {
            assert_eq!(checked, answer, "{work}");
        }
        for row in runs(&place.race()) {
            assert_eq!((&row["work"], &row["answer"]), (&work.into(), &checked));
        }
    }
}

#[test]
fn every_state_can_be_raced_and_says_how_it_was_filled() {
    if !has_hyperfine("every_state_can_be_raced_and_says_how_it_was_filled") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 300_000);
    let outcome = place
        .race_on(&file)
        .small()
        .with("--state warm-random,cold,as-is,warm")
        .succeeds();
    let order: Vec<&str> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_once(": ").map(|(state, _)| state))
        .collect();
    assert_eq!(
        order,
        ["as-is", "warm-random", "cold", "warm"],
        "what was found comes first"
    );
    let race = place.race();
    for (state, fill) in [
        ("as-is", "found"),
        ("warm-random", "random"),
        ("cold", "none"),
        ("warm", "readahead"),
    ] {
        assert!(race.join(format!("{state}.json")).is_file());
        let published = json(race.join("race.json"));
        let states = published["states"].as_array().unwrap();
        let tally = states.iter().find(|tally| tally["state"] == state).unwrap();
        assert_eq!(tally["fill"], fill);
    }
}

#[test]
fn what_is_raced_as_it_was_found_is_not_evicted_to_learn_how_long_it_takes() {
    if !has_hyperfine("what_is_raced_as_it_was_found_is_not_evicted") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let evicts = |states: &str| {
        let race = place.race_on(&file).with("--dry-run --state").arg(states);
        race.succeeds().stdout.contains("pagecache evict")
    };
    assert!(evicts("cold"));
    assert!(!evicts("cold,as-is"));
}

#[test]
fn as_many_rounds_are_run_as_the_budget_has_room_for() {
    if !has_hyperfine("as_many_rounds_are_run_as_the_budget_has_room_for") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let args = "--entries read,mmap --state warm --budget 1s";
    place.race_on(&file).with(args).succeeds();
    let race = json(place.race().join("race.json"));
    assert_eq!(race["plan"]["budget"], 1.0);
    let rounds = race["states"][0]["rounds"].as_u64().unwrap();
    assert!((1..=30).contains(&rounds), "{rounds}");
}

#[test]
fn quick_races_the_core_of_the_suite() {
    if !has_hyperfine("quick_races_the_core_of_the_suite") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place.race_on(&file).with("--quick --state warm").succeeds();
    let core = ["read", "mmap", "mmap-chunked-madvise", "fread", "getline"];
    assert_eq!(entries(&place.race()), core);
    assert_eq!(json(place.race().join("race.json"))["plan"]["budget"], 30.0);
}

#[test]
fn grouped_order_is_one_call_that_names_no_winner() {
    if !has_hyperfine("grouped_order_is_one_call_that_names_no_winner") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let outcome = place
        .race_on(&file)
        .with("--order grouped --rounds 7 --entries read,mmap --state cold")
        .succeeds();
    outcome.prints("so no winner is named");
    assert_eq!(
        rounds(&place.race()),
        ["cold-001.json", "cold-001.log.jsonl"]
    );
    let names: Vec<Value> = runs(&place.race())
        .iter()
        .map(|row| row["entry"].clone())
        .collect();
    assert_eq!(names, [["read"; 7], ["mmap"; 7]].concat());
}

#[test]
fn the_whole_machine_s_cache_is_purged_when_asked_for() {
    let test = "the_whole_machine_s_cache_is_purged_when_asked_for";
    if !needs_root(test) || !has_hyperfine(test) {
        return;
    }
    if std::env::var_os("READOFF_FULL").is_none() {
        eprintln!("skipped: {test}: it slows down everybody: READOFF_FULL is not set");
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .with("--purge system --rounds 1 --entries read,mmap --state cold")
        .succeeds();
    for row in runs(&place.race()) {
        assert_eq!(
            (&row["prepare_action"], &row["resident_share"]),
            (&"evicted".into(), &"0".into())
        );
    }
}

#[test]
fn the_others_are_compared_with_the_reference_of_your_choice() {
    if !has_hyperfine("the_others_are_compared_with_the_reference_of_your_choice") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let outcome = place
        .race_on(&file)
        .with("--entries read,mmap --rounds 6 --state warm --reference mmap")
        .succeeds();
    outcome.prints("× mmap");
    let race = json(place.race().join("race.json"));
    let rows = race["states"][0]["rows"].as_array().unwrap();
    let ratio =
        |entry: &str| rows.iter().find(|row| row["entry"] == entry).unwrap()["ratio"].clone();
    assert_eq!(ratio("mmap"), 1.0);
    assert!(ratio("read").as_f64().unwrap() > 0.0);
}

#[test]
fn where_the_reference_can_not_run_another_entry_stands_in() {
    if !has_hyperfine("where_the_reference_can_not_run_another_entry_stands_in") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    // More than any memory: only strategies with a buffer mind.
    let outcome = place
        .race_on(&file)
        .with("--buffer 1000PB --rounds 1 --state warm --entries read,mmap,getline")
        .succeeds();
    outcome.prints("× mmap");
    let race = json(place.race().join("race.json"));
    assert_eq!(race["plan"]["reference"], "mmap");
    let skipped = &race["plan"]["skipped"][0];
    assert_eq!(skipped["name"], "read");
    assert!(
        skipped["reason"].as_str().unwrap().contains("memory"),
        "{skipped}"
    );
}

#[test]
fn a_buffer_of_any_size_gives_the_same_answer() {
    if !has_hyperfine("a_buffer_of_any_size_gives_the_same_answer") {
        return;
    }
    let mut answers = Vec::new();
    for buffer in ["1", "1000", "4096", "64KiB", "1GiB"] {
        let place = Place::new();
        let file = place.file("data", 10_007);
        place
            .race_on(&file)
            .with("--entries read,fread,bufreader,mmap-chunked-madvise,read-direct,read-advise --rounds 1 --buffer")
            .arg(buffer)
            .succeeds();
        let race = json(place.race().join("race.json"));
        let command = race["plan"]["entries"][0]["command"].as_array().unwrap();
        assert!(command.contains(&"--buffer".into()) && command.contains(&buffer.into()));
        answers.push(race["checked"]["answer"].clone());
    }
    assert!(
        answers.windows(2).all(|pair| pair[0] == pair[1]),
        "{answers:?}"
    );
}

#[test]
fn results_and_hyperfine_are_where_you_say() {
    let test = "results_and_hyperfine_are_where_you_say";
    let Some(hyperfine) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .small()
        .with("--results elsewhere/deep --hyperfine")
        .arg(&hyperfine)
        .env("HYPERFINE", "/no/such/hyperfine")
        .succeeds();
    place.has_no_race();
    assert!(
        place
            .path()
            .join("elsewhere/deep/latest/race.json")
            .is_file()
    );
}

#[test]
fn a_dry_run_writes_nothing_and_its_lines_run_when_pasted() {
    each_version("a_dry_run_writes_nothing", |hyperfine| {
        let place = Place::new();
        let file = place.file("it's $HOME {x} ~", 10_000);
        let outcome = place
            .race_on(&file)
            .small()
            .with("--dry-run --suite fill --state as-is,cold,warm,warm-random")
            .under(hyperfine)
            .succeeds();
        place.has_no_race();
        assert!(!place.results().exists());
        let calls = outcome.stdout.matches("--export-json").count();
        assert_eq!(calls, 4 * 2, "a line a round and state: {outcome:?}");

        let mut shell = Command::new("sh");
        shell
            .args(["-e", "-c", &outcome.stdout])
            .current_dir(place.path());
        let pasted = shell.output().unwrap();
        assert!(pasted.status.success(), "{pasted:?} of {outcome:?}");
        let export = json(place.race().join("rounds/partial.json"));
        assert_eq!(export["results"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn a_dry_run_makes_no_sample() {
    let test = "a_dry_run_makes_no_sample";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    place
        .readoff(["run", "--dry-run"])
        .env("READOFF_DATA", place.path().join("data"))
        .fails(64, &["a dry run makes none", "name a file"]);
    assert!(!place.path().join("data").exists());
}

#[test]
fn the_entries_of_a_suite_are_listed_and_where_they_can_not_run_why() {
    let place = Place::new();
    let all = place.readoff(["list"]).succeeds();
    assert_eq!(all.stdout.lines().count(), 13, "{all:?}");
    all.prints("mmap(2) of the whole file");
    let peers = place
        .readoff(["list", "--suite", "peers"])
        .env("PATH", "/no/such/folder");
    let peers = peers.without_env("HYPERFINE").succeeds();
    peers.prints("wc is not installed");
    if Path::new("/dev/shm").is_dir() && cfg!(target_os = "linux") {
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        fs::write(file.path(), content(5000)).unwrap();
        place.readoff(["list"]).arg(file.path()).succeeds();
    }
}

#[test]
fn the_suites_are_listed_with_their_questions() {
    let place = Place::new();
    let outcome = place.readoff(["suites"]).succeeds();
    for suite in ["fill", "peers", "scan", "seed-004"] {
        let line = outcome.stdout.lines().find(|line| line.starts_with(suite));
        assert!(
            line.is_some_and(|line| line.len() > suite.len() + 20),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_check_says_on_what_all_agree_and_leaves_nothing() {
    let place = Place::new();
    let file = place.file("data", 70_001);
    let crc = format!("{:08x}", crc32fast::hash(&content(70_001)));
    let outcome = place.readoff(["check"]).arg(&file).succeeds();
    assert_eq!(outcome.stdout, format!("13 entries agree: crc32 {crc}\n"));
    assert!(!place.results().exists());
}

#[test]
fn every_suite_races() {
    if !has_hyperfine("every_suite_races") {
        return;
    }
    for suite in ["fill", "peers", "scan", "seed-004"] {
        let place = Place::new();
        let file = place.file("data", 20_000);
        let mut race = place.race_on(&file).with("--suite").arg(suite);
        if suite != "seed-004" {
            race = race.with("--rounds 1");
        }
        let outcome = race.succeeds();
        assert!(outcome.stdout.contains("warm: "), "{outcome:?}");
        if suite == "peers" {
            assert!(entries(&place.race()).contains(&"wc -l".to_string()));
        }
    }
}
