//! Ctrl-C, kill, and going on.

use std::fs;
use std::path::Path;

use crate::input::finished_rounds;
use crate::support::*;

/// Rounds that take long enough to be interrupted.
const ROUNDS: usize = 40;

fn long_race(place: &Place, file: &Path) -> Readoff {
    place.race_on(file).with(&format!(
        "--entries read,mmap --state cold --rounds {ROUNDS}"
    ))
}

fn resume(place: &Place, race: &Path) -> Readoff {
    place.readoff(["run", "--quiet", "--resume"]).arg(race)
}

fn nothing_of_ours_runs(place: &Place) {
    #[cfg(target_os = "linux")]
    {
        let path = place.path().to_str().unwrap();
        assert_eq!(processes_with(path), [] as [String; 0]);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = place;
}

fn interrupted_by(signal: libc::c_int, hyperfine: &Path) {
    let place = Place::new();
    let file = place.file("data", 200_000);
    let running = long_race(&place, &file).under(hyperfine).start();
    wait_until("two rounds are finished", || finished_rounds(&place) > 1);
    running.signal(signal);
    let outcome = running.wait();
    outcome.failed(130, &["interrupted; finished rounds are kept", "--resume"]);
    nothing_of_ours_runs(&place);

    // What is finished is published.
    let race = place.race();
    assert_eq!(json(race.join("race.json"))["status"], "interrupted");
    let finished = finished_rounds(&place);
    assert!((2..ROUNDS).contains(&finished), "{finished}");
    assert_eq!(runs(&race).len(), 2 * finished);
    let merged = json(race.join("cold.json"));
    assert_eq!(merged["results"].as_array().unwrap().len(), 2);
    let report = fs::read_to_string(race.join("report.md")).unwrap();
    assert!(report.contains("**Not finished.**"), "{report}");

    // And it goes on from there.
    let before = fs::read(race.join("rounds/cold-001.json")).unwrap();
    let latest = place.results().join("latest");
    resume(&place, &latest).under(hyperfine).succeeds();
    // If the machine spoiled it, it is kept beside the round that was run again.
    let spoiled = race.join("rounds/cold-001.spoiled.json");
    let kept = fs::read(spoiled).or_else(|_| fs::read(race.join("rounds/cold-001.json")));
    assert_eq!(kept.unwrap(), before);
    assert_eq!(json(race.join("race.json"))["status"], "finished");
    assert_eq!(runs(&race).len(), 2 * ROUNDS);
    let report = fs::read_to_string(race.join("report.md")).unwrap();
    assert!(!report.contains("**Not finished.**"), "{report}");
}

#[test]
fn ctrl_c_leaves_no_process_and_keeps_the_finished_rounds() {
    let test = "ctrl_c_leaves_no_process_and_keeps_the_finished_rounds";
    each_version(test, |hyperfine| interrupted_by(libc::SIGINT, hyperfine));
}

#[test]
fn so_do_sigterm_and_a_terminal_that_goes_away() {
    let test = "so_do_sigterm_and_a_terminal_that_goes_away";
    let Some(hyperfine) = real_hyperfine(test) else {
        return;
    };
    interrupted_by(libc::SIGTERM, Path::new(&hyperfine));
    interrupted_by(libc::SIGHUP, Path::new(&hyperfine));
}

#[test]
fn a_race_that_was_killed_can_be_gone_on_with() {
    each_version("a_race_that_was_killed_can_be_gone_on_with", |hyperfine| {
        let place = Place::new();
        let file = place.file("data", 200_000);
        let running = long_race(&place, &file).under(hyperfine).start();
        wait_until("two rounds are finished", || finished_rounds(&place) > 1);
        running.signal(libc::SIGKILL);
        assert_eq!(running.wait().signal, Some(libc::SIGKILL));
        let race = place.race();
        assert_eq!(json(race.join("race.json"))["status"], "running");
        // At once: what it left may still be running.
        resume(&place, &race).under(hyperfine).succeeds();
        assert_eq!(json(race.join("race.json"))["status"], "finished");
        assert_eq!(runs(&race).len(), 2 * ROUNDS);
        nothing_of_ours_runs(&place);
    });
}

/// Programs among which `scan-mmap` takes its time, in the check or when it is timed.
fn slow_mmap(place: &Place, when: &str, slow: &str) -> std::path::PathBuf {
    let programs = place.programs();
    let real = beside_readoff().join("scan-mmap");
    let text = format!(
        "case \"$*\" in {when}) {slow};; esac\nexec '{}' \"$@\"",
        real.display()
    );
    place.script("programs/scan-mmap", &text);
    programs
}

#[test]
fn ctrl_c_during_the_check_leaves_nothing() {
    let test = "ctrl_c_during_the_check_leaves_nothing";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    let programs = slow_mmap(
        &place,
        "*--json*",
        &format!("echo > '{}/there'; sleep 1000", place.path().display()),
    );
    let running = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", programs)
        .start();
    wait_until("it is at it", || place.path().join("there").exists());
    running.signal(libc::SIGINT);
    running
        .wait()
        .failed(130, &["interrupted during the check"]);
    place.has_no_race();
    nothing_of_ours_runs(&place);
}

#[test]
fn ctrl_c_ends_what_does_not_want_to_end() {
    let test = "ctrl_c_ends_what_does_not_want_to_end";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    // Neither when it is asked on its line, nor in the check: only when it is timed.
    let stubborn = format!(
        "[ -n \"$READOFF_RECORD\" ] && trap '' INT TERM HUP && echo > '{}/there' && sleep 1000",
        place.path().display()
    );
    let programs = slow_mmap(&place, "*", &stubborn);
    let running = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", programs)
        .start();
    wait_until("it is at it", || place.path().join("there").exists());
    running.signal(libc::SIGINT);
    running.wait().failed(130, &["interrupted"]);
    nothing_of_ours_runs(&place);
}

#[test]
fn ctrl_c_while_the_sample_is_made_leaves_no_part_of_it() {
    let test = "ctrl_c_while_the_sample_is_made_leaves_no_part_of_it";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let data = place.path().join("data");
    let race = place.readoff(["run", "--quiet"]).env("READOFF_DATA", &data);
    let running = race.start();
    let begun = || fs::read_dir(&data).is_ok_and(|mut entries| entries.next().is_some());
    wait_until("the sample is begun", begun);
    running.signal(libc::SIGINT);
    running.wait().failed(130, &["interrupted"]);
    nothing_of_ours_runs(&place);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
    place.has_no_race();
}

#[test]
fn nobody_else_races_in_a_folder_meanwhile() {
    let test = "nobody_else_races_in_a_folder_meanwhile";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 200_000);
    let running = long_race(&place, &file).start();
    wait_until("a round is finished", || finished_rounds(&place) > 0);
    resume(&place, &place.race()).fails(75, &["race is under way"]);
    running.signal(libc::SIGINT);
    running.wait();
}

/// A small finished race, one round of which got lost.
fn unfinished(place: &Place, race: impl FnOnce(Readoff) -> Readoff) -> std::path::PathBuf {
    let file = place.file("data", 5000);
    race(place.race_on(&file).small()).succeeds();
    fs::remove_file(place.race().join("rounds/warm-002.json")).unwrap();
    place.race()
}

#[test]
fn only_the_same_race_is_gone_on_with() {
    let test = "only_the_same_race_is_gone_on_with";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let programs = slow_mmap(&place, "never", "true");
    let race = unfinished(&place, |race| race.env("READOFF_PROGRAMS", &programs));
    let resumed = || resume(&place, &race).env("READOFF_PROGRAMS", &programs);

    fs::rename(place.path().join("data"), place.path().join("other")).unwrap();
    resumed().fails(66, &["data: no such file"]);
    fs::copy(place.path().join("other"), place.path().join("data")).unwrap();
    resumed().fails(65, &["data was replaced", "start a new one"]);
    fs::rename(place.path().join("other"), place.path().join("data")).unwrap();

    let text = fs::read_to_string(programs.join("scan-mmap")).unwrap();
    place.script("programs/scan-mmap", "exit 1");
    resumed().fails(65, &["programs were built anew", "start a new one"]);
    place.script(
        "programs/scan-mmap",
        text.strip_prefix("#!/bin/sh\n").unwrap().trim_end(),
    );
    resumed().succeeds();
    assert!(race.join("rounds/warm-002.json").is_file());
}

#[test]
fn only_the_same_hyperfine_goes_on_with_a_race() {
    let test = "only_the_same_hyperfine_goes_on_with_a_race";
    let versions = [
        std::env::var_os("HYPERFINE_1_20"),
        std::env::var_os("HYPERFINE_2_0"),
    ];
    let [Some(one), Some(two)] = versions else {
        eprintln!("skipped: {test}: HYPERFINE_1_20 or HYPERFINE_2_0 is not set");
        return;
    };
    let place = Place::new();
    let race = unfinished(&place, |race| race.under(Path::new(&one)));
    resume(&place, &race)
        .under(Path::new(&two))
        .fails(65, &["timed with hyperfine 1.20", "this is 2.0"]);
    resume(&place, &race).under(Path::new(&one)).succeeds();
}

#[test]
fn the_latest_race_is_gone_on_with_by_its_link() {
    let test = "the_latest_race_is_gone_on_with_by_its_link";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let race = unfinished(&place, |race| race);
    let latest = place.results().join("latest");
    resume(&place, &latest).succeeds();
    assert_eq!(
        fs::canonicalize(&latest).unwrap(),
        fs::canonicalize(&race).unwrap()
    );
    // Also where nothing is left to do.
    resume(&place, &latest).succeeds().prints("published in");
}

#[test]
fn what_is_no_race_is_not_gone_on_with() {
    let test = "what_is_no_race_is_not_gone_on_with";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    resume(&place, &place.path().join("none")).fails(66, &["none: no such file"]);
    resume(&place, place.path()).fails(66, &["no race.json in it"]);
    let race = unfinished(&place, |race| race);
    let path = race.join("race.json");
    let good = fs::read_to_string(&path).unwrap();
    let mut empty = json(&path);
    empty["plan"]["entries"][0]["command"] = serde_json::json!([]);
    let mut runless = json(&path);
    runless["plan"]["blocks"]["warm"] = serde_json::json!({"warmup": 0, "runs": 0});
    let cases = [
        ("no JSON".to_string(), "race.json: "),
        ("{}".to_string(), "its schema is null"),
        (
            good.replacen("\"schema\": 1", "\"schema\": 99", 1),
            "its schema is 99",
        ),
        (
            good.replacen("\"plan\"", "\"plam\"", 1),
            "missing field `plan`",
        ),
        (good[..good.len() / 2].to_string(), "race.json: "),
        (empty.to_string(), "not as readoff wrote it"),
        (runless.to_string(), "not as readoff wrote it"),
    ];
    for (text, says) in cases {
        fs::write(&path, text).unwrap();
        resume(&place, &race).fails(66, &[says]);
    }
}

#[test]
fn a_round_that_was_tampered_with_is_named() {
    let test = "a_round_that_was_tampered_with_is_named";
    if !has_hyperfine(test) {
        return;
    }
    for (name, text) in [
        ("cold-001.json", ""),
        ("cold-001.json", "{\"results\": [1]}"),
        ("warm-001.log.jsonl", ""),
        ("warm-001.log.jsonl", "no JSON\n"),
    ] {
        let place = Place::new();
        let race = unfinished(&place, |race| race);
        fs::write(race.join("rounds").join(name), text).unwrap();
        let outcome = resume(&place, &race).run();
        assert!(
            matches!(outcome.code, Some(65..=74)),
            "{name} {text:?}: {outcome:?}"
        );
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
        assert!(outcome.stderr.contains(name), "{text:?}: {outcome:?}");
    }
}
