//! States that can't be had, said before time is spent; and runs outside of their state.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use super::*;

fn tmpfs(test: &str) -> Option<Mount> {
    Mount::new(test, root_folder(test)?, &["-t", "tmpfs", "none"])
}

#[test]
fn in_memory_cold_is_left_out_before_the_check_and_warm_is_raced() {
    let test = "in_memory_cold_is_left_out_before_the_check_and_warm_is_raced";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = tmpfs(test) else {
        return;
    };
    let file = mount.point.join("file");
    fs::write(&file, distinct(MIB as usize)).unwrap();
    let said = Said::of(&file, "--entries read,mmap,read-direct --state cold,warm");
    let place = |text: &str| {
        said.stderr
            .find(text)
            .unwrap_or_else(|| panic!("{}", said.stderr))
    };
    let left_out = place("left out: cold: tmpfs keeps files in memory only");
    assert!(left_out < place("2 entries agree"), "{}", said.stderr);
    assert_eq!(said.stderr.matches("left out: cold").count(), 1);
    // It is raced cold only.
    place("left out: read-direct: is raced in no state that can be had here");
    assert_eq!(said.race["plan"]["states"], serde_json::json!(["warm"]));
    assert_eq!(said.race["file"]["in_memory"], true);
}

#[test]
fn no_state_is_left_and_nothing_is_read() {
    let test = "no_state_is_left_and_nothing_is_read";
    if !has_hyperfine(test) {
        return;
    }
    let Some(mount) = tmpfs(test) else {
        return;
    };
    let file = mount.point.join("file");
    fs::write(&file, distinct(MIB as usize)).unwrap();
    let place = Place::new();
    // Whoever reads it says so.
    let programs = place.programs();
    let check = "programs/scan-read";
    fs::remove_file(programs.join("scan-read")).unwrap();
    place.script(
        check,
        "case \"$*\" in *--json*) touch read ;; esac; exit 70",
    );
    let race = place.race_on(&file).with("--entries read --state cold");
    let race = race.env("READOFF_PROGRAMS", &programs);
    race.fails(
        69,
        &[
            "no state could be raced",
            "cold: tmpfs keeps files in memory only",
        ],
    );
    assert!(!place.path().join("read").exists());
    place.has_no_race();
}

#[test]
fn a_file_larger_than_the_limit_has_no_warm_state() {
    let test = "a_file_larger_than_the_limit_has_no_warm_state";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.path().join("sparse");
    File::create(&file).unwrap().set_len(48 << 20).unwrap();
    let limited = |states: &str| {
        let race = place
            .race_on(&file)
            .with("--memory 32MiB --dry-run --state");
        race.arg(states)
    };
    let says = [
        "warm: 50.3 MB can't be resident at once: --memory leaves 33.6 MB",
        "warm-random: ",
    ];
    limited("warm,warm-random").fails(69, &says);
    let outcome = limited("cold,warm").succeeds();
    outcome.prints("# left out: warm: 50.3 MB can't be resident");
    outcome.prints("# cold round 1");
    assert!(!outcome.stdout.contains("# warm round"), "{outcome:?}");
}

#[test]
fn of_another_s_file_no_state_is_said_to_be_proved() {
    let test = "of_another_s_file_no_state_is_said_to_be_proved";
    if !has_hyperfine(test) || !needs_root(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("public", 30_000);
    let everybody = |path: &Path, mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    everybody(&file, 0o644);
    everybody(place.path(), 0o777);
    let mut race = place.race_on(&file).small().with("--state cold,warm");
    race.command.uid(65534).gid(65534);
    let outcome = race.run();
    if outcome.stderr.contains("ermission denied") {
        return eprintln!("skipped: {test}: nobody can't get into the build folder");
    }
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let unproved =
        "not proved: how much of the file was resident is unknown here: neither yours nor";
    assert_eq!(outcome.stdout.matches(unproved).count(), 2, "{outcome:?}");
    let report = fs::read_to_string(place.race().join("report.md")).unwrap();
    assert_eq!(report.matches("is **unknown** here").count(), 2, "{report}");
    assert!(!report.contains("nothing filled the cache"), "{report}");
}

/// Programs of which `pagecache prepare` logs that the whole file is resident, cold or not, as long as
/// the shell's test `lies` holds of $n, the number of its calls.
fn with_lost_state(place: &Place, bytes: usize, lies: &str) -> PathBuf {
    let programs = place.programs();
    let real = beside_readoff().join("pagecache");
    let script = format!(
        r#"real='{}'; calls='{}'
        [ "$1" = prepare ] && [ -n "$READOFF_RECORD" ] || exec "$real" "$@"
        echo >> "$calls"; n=$(wc -l < "$calls")
        [ {lies} ] || exec "$real" "$@"
        log=$READOFF_RECORD; READOFF_RECORD=$log.own "$real" "$@" || exit
        sed 's/"resident":[0-9]*/"resident":{bytes}/' "$log.own" >> "$log"; rm "$log.own""#,
        real.display(),
        place.path().join("calls").display()
    );
    place.script("programs/pagecache", &script);
    programs
}

fn prepared(place: &Place) -> usize {
    let calls = fs::read_to_string(place.path().join("calls")).unwrap();
    calls.lines().count()
}

#[test]
fn a_run_outside_of_its_state_is_thrown_out_and_its_round_repeated() {
    let test = "a_run_outside_of_its_state_is_thrown_out_and_its_round_repeated";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let programs = with_lost_state(&place, 10_000, "$n -eq 2");
    let race = place.race_on(&file).small().with("--state cold");
    race.env("READOFF_PROGRAMS", programs).succeeds();
    let rows = runs(&place.race());
    assert_eq!(
        (rows.len(), prepared(&place)),
        (4, 6),
        "one round of two is run twice"
    );
    for row in &rows {
        assert_eq!(number(row, "resident_share"), 0.0);
    }
}

#[test]
fn a_state_that_can_t_be_held_is_given_up_with_the_reason() {
    let test = "a_state_that_can_t_be_held_is_given_up_with_the_reason";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    let programs = with_lost_state(&place, 10_000, "$n -gt 2");
    let race = place.race_on(&file).small().with("--state cold");
    let says = [
        "cold: given up: ",
        " began outside of its state, with 10000 of 10000 bytes resident",
    ];
    race.env("READOFF_PROGRAMS", programs).fails(69, &says);
    // The first round is kept, the second was tried a few times and not for ever.
    assert_eq!((runs(&place.race()).len(), prepared(&place)), (2, 8));
}

#[test]
fn what_an_entry_leaves_in_the_cache_is_told_where_it_isn_t_all() {
    let test = "what_an_entry_leaves_in_the_cache_is_told_where_it_isn_t_all";
    if !has_hyperfine(test) {
        return;
    }
    // A filesystem that surely has O_DIRECT.
    let Some(mount) = mounted(test, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let file = mount.point.join("file");
    fs::write(&file, distinct(MIB as usize)).unwrap();
    let said = Said::of(&file, "--entries read,read-direct --rounds 6 --state cold");
    let left = said.race["states"][0]["left_behind"].as_array().unwrap();
    let of = |entry: &str| left.iter().find(|left| left["entry"] == entry).unwrap();
    assert_eq!(of("read")["whole"], of("read")["runs"]);
    assert_eq!(of("read-direct")["least"], 0.0);
    let says = "Less than 99 % of the file was found resident after runs of: read-direct (";
    assert!(said.report.contains(says), "{}", said.report);
}
