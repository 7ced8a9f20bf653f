//! A hyperfine or a strategy that fails, is another one, or lies.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use crate::input::finished_rounds;
use crate::support::*;

/// A hyperfine that is the real one, but for what `script` does instead in a race. `$calls` is the
/// number of this call, `$export` the export's file, and `real` runs the real one.
fn hyperfine(place: &Place, real: &str, script: &str) -> PathBuf {
    let calls = place.path().join("calls");
    let text = format!(
        "[ \"$1\" = --version ] && exec '{real}' --version\n\
         echo >> '{calls}'; calls=$(wc -l < '{calls}')\n\
         for argument; do case $argument in --export-json=*) export=${{argument#*=}};; esac; done\n\
         real() {{ '{real}' \"$@\"; }}\n{script}",
        calls = calls.display()
    );
    place.script("hyperfine", &text)
}

#[test]
fn a_hyperfine_that_is_not_there_or_is_none_or_too_old() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let with = |path: &Path| place.race_on(&file).arg("--hyperfine").arg(path);
    with(Path::new("/no/such/hyperfine")).fails(69, &["/no/such/hyperfine: no such program"]);
    with(Path::new("true")).fails(69, &["true: no hyperfine that works here", "1.15.0"]);
    let old = place.script("old", "echo hyperfine 1.11.0");
    with(&old).fails(
        69,
        &["old: hyperfine 1.11.0 is too old: 1.15.0 is the oldest"],
    );
    let race = place.race_on(&file).under(Path::new("no-such-hyperfine"));
    race.fails(69, &["no-such-hyperfine: no such program"]);
    let race = place.race_on(&file).without_env("HYPERFINE");
    // Beside the project's own build one may be installed.
    let programs = place.programs();
    race.env(
        "READOFF_PROGRAMS",
        programs.parent().unwrap().join("programs"),
    )
    .env("PATH", "/no/such/folder")
    .fails(69, &["hyperfine: not found on the PATH"]);
    place.has_no_race();
}

#[test]
fn a_hyperfine_that_begins_to_fail_keeps_the_finished_rounds_and_the_race_goes_on_later() {
    let test = "a_hyperfine_that_begins_to_fail_keeps_the_finished_rounds";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 20_000);
    let failing = "[ $calls -gt 2 ] && echo 'Error: no more today' >&2 && exit 1; real \"$@\"";
    let race = place
        .race_on(&file)
        .with("--entries read,mmap --rounds 4 --state warm")
        .under(&hyperfine(&place, &real, failing));
    let outcome = race.fails(69, &["warm: given up: ", "no more today", "--resume"]);
    outcome.prints("warm: no winner: 2 rounds are too few");
    let race = place.race();
    assert_eq!(json(race.join("race.json"))["status"], "interrupted");
    assert_eq!(runs(&race).len(), 2 * 2 * 2);

    let working = hyperfine(&place, &real, "real \"$@\"");
    let resume = place.readoff(["run", "--quiet", "--resume"]).arg(&race);
    resume.under(&working).succeeds();
    assert_eq!(json(race.join("race.json"))["status"], "finished");
    assert_eq!(runs(&race).len(), 4 * 2 * 2);
}

#[test]
fn a_state_that_fails_does_not_take_the_others_with_it() {
    let test = "a_state_that_fails_does_not_take_the_others_with_it";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 20_000);
    let failing =
        "case \"$*\" in *\"'cold'\"*) echo 'Error: too cold' >&2; exit 1;; esac; real \"$@\"";
    let race = place
        .race_on(&file)
        .small()
        .under(&hyperfine(&place, &real, failing));
    let outcome = race.fails(69, &["cold: given up: ", "too cold"]);
    outcome.prints("warm: ");
    assert!(place.race().join("warm.json").is_file());
    assert!(!place.race().join("cold.json").exists());
}

#[test]
fn a_hyperfine_that_is_killed_once_is_called_again() {
    let test = "a_hyperfine_that_is_killed_once_is_called_again";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 20_000);
    let killed = "real \"$@\"; if [ $calls = 2 ]; then kill -9 $$; fi";
    place
        .race_on(&file)
        .small()
        .under(&hyperfine(&place, &real, killed))
        .succeeds();
    assert_eq!(runs(&place.race()).len(), 2 * 2 + 2 * 2 * 2);
}

#[test]
fn a_hyperfine_that_is_always_killed_is_named() {
    let test = "a_hyperfine_that_is_always_killed_is_named";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 20_000);
    let killed = hyperfine(&place, &real, "kill -9 $$");
    let race = place.race_on(&file).small().under(&killed);
    race.fails(
        69,
        &["cold: given up: ", "warm: given up: ", "killed by signal 9"],
    );
}

#[test]
fn a_hyperfine_that_ends_well_without_all_results_is_not_believed() {
    let test = "a_hyperfine_that_ends_well_without_all_results_is_not_believed";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let cases = [
        ("true", "ended well, but"),
        ("echo '{\"results\": []}' > \"$export\"", "0 of 2"),
        ("echo 'no JSON' > \"$export\"", "ended well, but"),
        (
            "echo '{\"schema_version\": 9, \"results\": []}' > \"$export\"",
            "ended well, but",
        ),
    ];
    for (script, says) in cases {
        let place = Place::new();
        let file = place.file("data", 5_000);
        let lying = hyperfine(&place, &real, script);
        let race = place
            .race_on(&file)
            .small()
            .with("--state warm")
            .under(&lying);
        let outcome = race.fails(69, &["warm: given up: ", says]);
        assert!(!outcome.stdout.contains("times as fast"), "{outcome:?}");
    }
}

#[test]
fn a_hyperfine_that_runs_less_than_it_says_is_not_believed() {
    let test = "a_hyperfine_that_runs_less_than_it_says_is_not_believed";
    let Some(real) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 5_000);
    // It does its work the first time, and then shows that export again.
    let lying = "if [ -e ../../saved ]; then cp ../../saved \"$export\"; else real \"$@\"; cp \"$export\" ../../saved; fi";
    let lying = hyperfine(&place, &real, lying);
    let race = place
        .race_on(&file)
        .with("--entries read --rounds 2 --state cold")
        .under(&lying);
    race.fails(69, &["cold: given up: "]);
    assert_eq!(finished_rounds(&place), 1);
}

/// Programs among which `scan-mmap` is a script; `real` runs the real one.
fn with_mmap(place: &Place, script: &str) -> PathBuf {
    let programs = place.programs();
    let real = beside_readoff().join("scan-mmap");
    let text = format!("real() {{ '{}' \"$@\"; }}\n{script}", real.display());
    place.script("programs/scan-mmap", &text);
    programs
}

#[test]
fn a_strategy_with_another_answer_voids_the_race_and_both_are_named() {
    let test = "a_strategy_with_another_answer_voids_the_race_and_both_are_named";
    let place = Place::new();
    let file = place.file("data", 5_000);
    let lying = r#"real "$@" | sed 's/"answer":"[^"]*"/"answer":"0badc0de"/'"#;
    let programs = with_mmap(&place, lying);
    let says = [
        "the race is void",
        "read answers crc32 ",
        "mmap answers 0badc0de",
    ];
    let check = place.readoff(["check"]).arg(&file);
    check.env("READOFF_PROGRAMS", &programs).fails(65, &says);
    if has_hyperfine(test) {
        let race = place.race_on(&file).small();
        race.env("READOFF_PROGRAMS", &programs).fails(65, &says);
        place.has_no_race();
    }
}

#[test]
fn a_strategy_that_reads_less_voids_the_race() {
    let place = Place::new();
    let file = place.file("data", 5_000);
    let lying = r#"real "$@" | sed 's/"bytes":[0-9]*/"bytes":4999/'"#;
    let programs = with_mmap(&place, lying);
    let check = place.readoff(["check"]).arg(&file);
    let says = ["void", "read", "5000 bytes", "mmap", "4999 bytes"];
    check.env("READOFF_PROGRAMS", programs).fails(65, &says);
}

#[test]
fn a_strategy_that_only_lies_when_it_is_timed_voids_the_race() {
    let test = "a_strategy_that_only_lies_when_it_is_timed_voids_the_race";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5_000);
    let lying = r#"[ -z "$READOFF_RECORD" ] && { real "$@"; exit; }
        log=$READOFF_RECORD; READOFF_RECORD=$log.own real "$@"
        sed 's/"answer":"[^"]*"/"answer":"zz"/' "$log.own" >> "$log"; rm "$log.own""#;
    let programs = with_mmap(&place, lying);
    let race = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", programs);
    race.fails(65, &["the race is void: mmap answers zz"]);
    let status = &json(place.race().join("race.json"))["status"];
    assert!(
        status["void"].as_str().unwrap().contains("mmap"),
        "{status}"
    );
}

#[test]
fn a_strategy_that_fails_when_it_is_timed_is_named_with_what_it_says() {
    let test = "a_strategy_that_fails_when_it_is_timed_is_named_with_what_it_says";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5_000);
    // The check passes `--json`; a timed run doesn't.
    let failing = r#"case "$*" in *--json*|-h|*" /") real "$@"; exit;; esac
        echo 'scan-mmap: no maps today' >&2; exit 74"#;
    let programs = with_mmap(&place, failing);
    let race = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", programs);
    race.fails(
        69,
        &[
            "cold: given up: mmap fails: scan-mmap: no maps today",
            "warm: given up",
        ],
    );
}

#[test]
fn a_strategy_that_leaves_no_record_is_named() {
    let test = "a_strategy_that_leaves_no_record_is_named";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5_000);
    let programs = with_mmap(&place, "unset READOFF_RECORD; real \"$@\"");
    let race = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", programs);
    race.fails(69, &["cold: given up: mmap left no record"]);
}

#[test]
fn a_strategy_that_breaks_its_contract_is_named() {
    let cases = [
        (
            "[ \"$1\" = -h ] || echo 'no JSON'",
            "mmap: its record can't be read",
        ),
        (
            "case \"$*\" in *--json*) kill -9 $$;; esac; real \"$@\"",
            "mmap was killed",
        ),
        (
            "case \"$*\" in *--json*) echo 'scan-mmap: strange' >&2; exit 1;; esac; real \"$@\"",
            "scan-mmap: strange",
        ),
    ];
    for (script, says) in cases {
        let place = Place::new();
        let file = place.file("data", 5_000);
        let programs = with_mmap(&place, script);
        let check = place.readoff(["check"]).arg(&file);
        check.env("READOFF_PROGRAMS", programs).fails(70, &[says]);
    }
}

#[test]
fn a_strategy_that_is_not_available_here_is_left_out_with_its_reason() {
    let test = "a_strategy_that_is_not_available_here_is_left_out_with_its_reason";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5_000);
    let script = r#"[ "$1" = -h ] && { real -h; exit; }; echo "scan-mmap: no maps on this moon" >&2; exit 69"#;
    let programs = with_mmap(&place, script);
    let race = place
        .readoff(["run", "--entries", "read,mmap", "--rounds", "1"])
        .arg(&file);
    let outcome = race.env("READOFF_PROGRAMS", &programs).succeeds();
    assert!(
        outcome
            .stderr
            .contains("left out: mmap: no maps on this moon"),
        "{outcome:?}"
    );
    let list = place
        .readoff(["list"])
        .arg(&file)
        .env("READOFF_PROGRAMS", programs);
    list.succeeds()
        .prints("no: scan-mmap: no maps on this moon");
}

#[test]
fn a_program_that_is_built_anew_during_the_race_voids_it() {
    let test = "a_program_that_is_built_anew_during_the_race_voids_it";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5_000);
    let programs = with_mmap(&place, "real \"$@\"");
    let race = place
        .race_on(&file)
        .with("--entries read,mmap --rounds 30 --state cold")
        .env("READOFF_PROGRAMS", &programs);
    let running = race.start();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("a round is finished", || finished_rounds(&place) > 0);
            let real = beside_readoff().join("scan-mmap");
            let text = format!("# new\nexec '{}' \"$@\"", real.display());
            let new = place.script("new", &text);
            fs::rename(new, programs.join("scan-mmap")).unwrap();
        });
        running.wait()
    });
    outcome.failed(65, &["the race is void", "built anew"]);
}

#[test]
fn programs_that_are_not_there_are_named() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let check = || place.readoff(["check"]).arg(&file);
    let none = place.path().join("none");
    check()
        .env("READOFF_PROGRAMS", &none)
        .fails(69, &["none: ", "o such file"]);
    fs::create_dir(&none).unwrap();
    check()
        .env("READOFF_PROGRAMS", &none)
        .fails(69, &["no entry is left to race", "scan-read is not in"]);
    if !has_hyperfine("programs_that_are_not_there_are_named") {
        return;
    }
    let programs = place.programs();
    fs::remove_file(programs.join("pagecache")).unwrap();
    let race = place
        .race_on(&file)
        .small()
        .env("READOFF_PROGRAMS", &programs);
    race.fails(69, &["pagecache is not in"]);
    // One that can't be run is only left out.
    let programs = with_mmap_unexecutable(&programs);
    let outcome = check().env("READOFF_PROGRAMS", programs).run();
    assert!(
        outcome.stdout.contains("left out: mmap: ") || outcome.code == Some(69),
        "{outcome:?}"
    );
}

fn with_mmap_unexecutable(programs: &Path) -> PathBuf {
    let path = programs.join("scan-mmap");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "no program").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    programs.to_path_buf()
}

#[test]
fn programs_may_be_named_from_here() {
    let test = "programs_may_be_named_from_here";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    place.file("data", 1000);
    place.programs();
    let race = place
        .race_on("data")
        .small()
        .env("READOFF_PROGRAMS", "programs");
    race.succeeds();
}

#[test]
fn a_log_of_somebody_else_s_is_left_alone() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let log = place.path().join("log");
    let check = place
        .readoff(["check"])
        .arg(&file)
        .env("READOFF_RECORD", &log);
    check.succeeds();
    assert!(!log.exists());
}

#[test]
fn no_room_for_temporary_files_is_named() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let check = place
        .readoff(["check"])
        .arg(&file)
        .env("TMPDIR", "/no/such/folder");
    let outcome = check.run();
    assert!(matches!(outcome.code, Some(69 | 74)), "{outcome:?}");
    assert!(outcome.stderr.contains("/no/such/folder"), "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1);
}
