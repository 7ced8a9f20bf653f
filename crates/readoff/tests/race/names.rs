//! File names that shells, hyperfine or a reader of output would stumble over.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::support::*;

const NASTY: [&[u8]; 14] = [
    b"two  words ",
    b"it's \"quoted\"",
    b"$HOME $(id) `id`",
    b"{x} {file} {}",
    b"~",
    b"two\nlines\n",
    b"-rf",
    b"--",
    b"a;b&&c|d>e",
    b"\\back\\slash\\",
    b"*?[a]!#%s",
    b"\x1b[31mred\x07\t",
    "Zürich 日本".as_bytes(),
    b"no utf-8: \xff\xfe",
];

#[test]
fn any_name_is_raced_and_stays_on_one_line() {
    each_version("any_name_is_raced_and_stays_on_one_line", |hyperfine| {
        for name in NASTY {
            let name = OsStr::from_bytes(name);
            let place = Place::new();
            place.file(name, 5000);
            // A relative name may begin with a dash.
            let race = place
                .readoff(["run", "--entries", "read,mmap,fread", "--rounds", "1", "--"])
                .arg(name)
                .under(hyperfine);
            let outcome = race.succeeds();
            let race = place.race();
            assert_eq!(runs(&race).len(), 3 + 6, "{name:?}");
            // What is amiss with this machine is told too.
            let lines = outcome.stderr.lines();
            let amiss = |line: &&str| {
                line.starts_with("warning: ")
                    || line.contains(": rounds that the machine spoiled: ")
            };
            let lines = lines.filter(|line| !amiss(line));
            assert_eq!(lines.count(), 4, "two notes and two rounds: {outcome:?}");
            let text = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
            let report = fs::read_to_string(race.join("report.md")).unwrap();
            assert!(!report.contains(['\x1b', '\x07']), "{report:?}");
        }
    });
}

#[test]
fn any_name_is_told_on_one_line_when_it_is_refused() {
    let test = "any_name_is_told_on_one_line_when_it_is_refused";
    if !has_hyperfine(test) {
        return;
    }
    for name in NASTY {
        let place = Place::new();
        let name = OsStr::from_bytes(name);
        let mut race = place.readoff(["run", "--quiet", "--"]).arg(name);
        race.command.env("LC_ALL", "C");
        let outcome = race.fails(66, &["no such file or directory"]);
        assert!(!outcome.stderr.contains(['\x1b', '\x07']), "{outcome:?}");
    }
}

#[test]
fn any_name_goes_through_the_peers_too() {
    let test = "any_name_goes_through_the_peers_too";
    if !has_hyperfine(test) {
        return;
    }
    for name in [&b"-n {file} 'x'\n"[..], b"\xff"] {
        let place = Place::new();
        place.file(OsStr::from_bytes(name), 5000);
        place
            .readoff(["run", "--suite", "peers", "--rounds", "1", "--"])
            .arg(OsStr::from_bytes(name))
            .succeeds();
        let race = json(place.race().join("race.json"));
        let entries = race["plan"]["entries"].to_string();
        assert!(
            entries.contains("wc -l") && entries.contains("dd bs=1M"),
            "{race}"
        );
    }
}

#[test]
fn a_folder_of_files_with_any_names_is_raced() {
    let test = "a_folder_of_files_with_any_names_is_raced";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let folder = place.path().join("files");
    fs::create_dir(&folder).unwrap();
    for name in NASTY {
        fs::write(folder.join(OsStr::from_bytes(name)), content(1000)).unwrap();
    }
    let race = place
        .race_on(&folder)
        .with("--entries read,mmap --rounds 1 --state warm");
    let outcome = race.succeeds();
    assert!(!outcome.stdout.contains(['\x1b', '\x07']), "{outcome:?}");
    let published = json(place.race().join("folder.json"));
    assert_eq!(published["files"].as_array().unwrap().len(), NASTY.len());
    assert_eq!(published["passed_over"], serde_json::json!([]));
}

#[test]
fn any_folder_takes_the_results() {
    if !has_hyperfine("any_folder_takes_the_results") {
        return;
    }
    for name in NASTY {
        let place = Place::new();
        let file = place.file("data", 5000);
        // Absolute, so that no option begins with a dash.
        let root = place.path().join(OsStr::from_bytes(name));
        let race = place.race_on(&file).small().arg("--results").arg(&root);
        race.succeeds();
        assert!(root.join("latest/warm.json").is_file(), "{name:?}");
        let resume = place.readoff(["run", "--resume"]).arg(root.join("latest"));
        resume.succeeds();
    }
}

#[test]
fn a_race_on_a_name_that_is_no_utf_8_can_be_gone_on_with() {
    each_version(
        "a_race_on_a_name_that_is_no_utf_8_can_be_gone_on_with",
        |hyperfine| {
            let place = Place::new();
            let name = OsString::from_vec(b"data\xff".to_vec());
            let file = place.file(&name, 5000);
            place.race_on(&file).small().under(hyperfine).succeeds();
            let race = place.race();
            fs::remove_file(race.join("rounds/warm-002.json")).unwrap();
            let resume = place.readoff(["run", "--quiet", "--resume"]).arg(&race);
            resume.under(hyperfine).succeeds();
            assert!(race.join("rounds/warm-002.json").is_file());

            fs::write(&file, content(5001)).unwrap();
            let resume = place.readoff(["run", "--quiet", "--resume"]).arg(&race);
            resume.under(hyperfine).fails(65, &["grew"]);
        },
    );
}

#[test]
fn a_dry_run_on_a_name_that_is_no_utf_8_runs_when_pasted() {
    let test = "a_dry_run_on_a_name_that_is_no_utf_8_runs_when_pasted";
    if !has_hyperfine(test) {
        return;
    }
    // `$'…'` is POSIX since 2024, and not in every sh yet.
    let bash = std::process::Command::new("bash")
        .args(["-c", ":"])
        .status();
    if !bash.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {test}: no bash");
        return;
    }
    for name in [&b"data\xff"[..], b"two\nlines"] {
        let place = Place::new();
        let file = place.file(OsStr::from_bytes(name), 5000);
        let dry = place.race_on(&file).small().with("--dry-run").succeeds();
        let mut bash = std::process::Command::new("bash");
        bash.args(["-e", "-c", &dry.stdout])
            .env("LC_ALL", "C.UTF-8");
        let pasted = bash.output().unwrap();
        assert!(pasted.status.success(), "{pasted:?} of {dry:?}");
        assert!(place.race().join("rounds/partial.json").is_file());
    }
}
