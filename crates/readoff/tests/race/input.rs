//! Input that can't be raced: one line on standard error, the right exit code, nothing left.

use std::ffi::CString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::thread;

use crate::support::*;

/// `run`, `check`, `list` and `run --dry-run` refuse a file in the same way.
fn refused(place: &Place, file: &Path, says: &[&str]) {
    if has_hyperfine("refusing files in a race") {
        place.race_on(file).fails(66, says);
        place.race_on(file).with("--dry-run").fails(66, says);
    }
    place.readoff(["check"]).arg(file).fails(66, says);
    place.readoff(["list"]).arg(file).fails(66, says);
    place.has_no_race();
}

#[test]
fn no_such_file() {
    let place = Place::new();
    refused(
        &place,
        Path::new("nothing"),
        &["nothing: no such file or directory"],
    );
    let file = place.file("data", 10);
    refused(
        &place,
        &file.join("below"),
        &["data/below: not a directory"],
    );
}

#[test]
fn a_folder() {
    let place = Place::new();
    place
        .readoff(["check"])
        .arg(place.path())
        .fails(66, &["is a folder; name a file"]);
    place
        .readoff(["list"])
        .arg(place.path())
        .fails(66, &["is a folder; name a file"]);
    if has_hyperfine("a_folder") {
        // A folder is raced file by file.
        place
            .race_on(place.path())
            .fails(66, &["has no file that can be raced"]);
    }
    place.has_no_race();
}

#[test]
fn a_loop_of_links() {
    let place = Place::new();
    std::os::unix::fs::symlink("self", place.path().join("self")).unwrap();
    refused(&place, Path::new("self"), &["self: ", "symbolic links"]);
}

#[test]
fn a_fifo_and_nobody_waits_for_its_writer() {
    let place = Place::new();
    let path = place.path().join("fifo");
    let c_path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends in 0.
    assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
    refused(&place, &path, &["is a pipe or socket"]);
}

#[test]
fn a_device() {
    let place = Place::new();
    refused(&place, Path::new("/dev/zero"), &["/dev/zero: is a device"]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_the_kernel_makes() {
    let place = Place::new();
    refused(
        &place,
        Path::new("/proc/self/status"),
        &["has content but no size"],
    );
    // It has a size, and it is a lie.
    let sys = Path::new("/sys/kernel/mm/transparent_hugepage/enabled");
    if sys.is_file() && has_hyperfine("files_that_the_kernel_makes") {
        place.race_on(sys).fails(66, &["made by the kernel"]);
        place.has_no_race();
    }
}

#[test]
fn a_file_that_may_not_be_read() {
    let test = "a_file_that_may_not_be_read";
    if !needs_root(test) || !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("secret", 100);
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    // Nobody has to reach them.
    let reach = |path: &Path| {
        path.ancestors().all(|folder| {
            fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
        })
    };
    if !reach(place.path()) || !reach(beside_readoff()) {
        eprintln!("skipped: {test}: nobody can't get into the build folder");
        return;
    }
    let mut race = place.race_on(&file);
    race.command.uid(65534).gid(65534);
    race.fails(66, &["secret: permission denied"]);
}

#[test]
fn a_file_that_may_only_be_read_by_others_is_raced_by_nobody() {
    let test = "a_file_that_may_only_be_read_by_others_is_raced_by_nobody";
    if !needs_root(test) || !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("public", 30_000);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    let mut race = place.race_on(&file).small();
    race.command.uid(65534).gid(65534);
    let outcome = race.run();
    if outcome.stderr.contains("ermission denied") {
        eprintln!("skipped: {test}: nobody can't get into the build folder");
        return;
    }
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    // Another's file: the kernel doesn't tell nobody how much of it is resident.
    for row in runs(&place.race()) {
        assert_eq!(
            (&row["residency_by"], &row["resident_share"]),
            (&"unknown".into(), &"".into())
        );
    }
    let report = fs::read_to_string(place.race().join("report.md")).unwrap();
    assert!(report.contains("**unknown**"), "{report}");
}

#[test]
fn misspelt_names_get_the_near_one() {
    let test = "misspelt_names_get_the_near_one";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    let cases = [
        (
            "--entries raed",
            "unknown entry \"raed\" (did you mean \"read\"?)",
        ),
        ("--entries mmap,bufreadr", "(did you mean \"bufreader\"?)"),
        (
            "--suite scna",
            "unknown suite \"scna\" (did you mean \"scan\"?)",
        ),
        ("--suite ./no/such.toml", "unknown suite \"./no/such.toml\""),
        (
            "--state wram",
            "unknown state \"wram\" (did you mean \"warm\"?)",
        ),
        ("--state warm,", "unknown state \"\""),
        (
            "--reference mnap",
            "\"mnap\" is not in this race (did you mean \"mmap\"?)",
        ),
        (
            "--entries read --reference mmap",
            "\"mmap\" is not in this race",
        ),
        ("--work newlnies", "newlines"),
        ("--order balancd", "'balanced'"),
        ("--buget 3s", "'--budget'"),
    ];
    for (arguments, says) in cases {
        place.race_on(&file).with(arguments).fails(64, &[says]);
    }
    place.has_no_race();
}

#[test]
fn numbers_that_mean_nothing() {
    let test = "numbers_that_mean_nothing";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    let cases = [
        ("--buffer 0", "at least 1 byte"),
        ("--buffer 64XiB", "64XiB"),
        ("--buffer=-1", "-1"),
        ("--buffer=", "buffer"),
        ("--buffer 99999999999999999999999999", "buffer"),
        ("--rounds 0", "--rounds"),
        ("--rounds 1000000000000", "--rounds"),
        ("--rounds x", "--rounds"),
        ("--budget 0", "--budget"),
        ("--budget 2 --quick", "--quick"),
        ("--state cold --resume x", "--resume"),
        ("--results=", "--results"),
        ("second", "second"),
    ];
    for (arguments, says) in cases {
        place.race_on(&file).with(arguments).fails(64, &[says]);
    }
    place.has_no_race();
}

#[test]
fn no_command_at_all_gets_the_help() {
    let place = Place::new();
    let outcome = place.readoff([] as [&str; 0]).run();
    assert_eq!(outcome.code, Some(64));
    assert!(outcome.stderr.contains("Usage: readoff"), "{outcome:?}");
    place.readoff(["chekc"]).fails(64, &["'check'"]);
}

#[test]
fn a_suite_that_is_wrong_is_named_with_its_line() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let good = "about = \"x\"\nfamily = \"scan\"\nwork = \"xor\"\nstates = [\"warm\"]\nreference = \"read\"\n";
    let entry = "[[entry]]\nname = \"read\"\n";
    let cases = [
        ("no TOML".to_string(), 64, "line 1: "),
        ("\u{1}\u{2}".to_string(), 64, "line 1: "),
        (
            format!("entires = []\n{good}{entry}"),
            64,
            "unknown field `entires`",
        ),
        (
            format!("{good}{entry}color = 1\n"),
            64,
            "line 8: unknown field `color`",
        ),
        (
            format!("{good}{entry}{entry}"),
            64,
            "two entries are called \"read\"",
        ),
        (
            good.replace("\"read\"", "\"raed\"") + entry,
            64,
            "(did you mean \"read\"?)",
        ),
        (
            format!("{good}{entry}[block.warm]\nwarmup = 4000000000\nruns = 4000000000\n"),
            64,
            "a block has more",
        ),
        (
            format!("{good}{entry}run = [\"scan-read\", \"--advice\", \"x\"]\n"),
            64,
            "--advice",
        ),
        (
            format!("{good}{entry}run = [\"scan-raed\"]\n"),
            69,
            "(did you mean \"scan-read\"?)",
        ),
        (
            good.replace("scan", "scna") + entry,
            69,
            "scna-read is not in",
        ),
        (String::new(), 64, "missing field"),
    ];
    for (text, code, says) in cases {
        let suite = place.path().join("my suite.toml");
        fs::write(&suite, &text).unwrap();
        let check = place.readoff(["check", "--suite"]).arg(&suite).arg(&file);
        check.fails(code, &[says]);
    }
}

#[test]
fn a_suite_that_is_no_text_or_not_there_is_named() {
    let place = Place::new();
    let file = place.file("data", 1000);
    let bytes = place.path().join("bytes.toml");
    fs::write(&bytes, b"about = \"\xff\"").unwrap();
    let check = place.readoff(["check", "--suite"]).arg(&bytes).arg(&file);
    check.fails(66, &["bytes.toml", "UTF-8"]);
    let check = place
        .readoff(["check", "--suite"])
        .arg(place.path())
        .arg(&file);
    check.fails(64, &["unknown suite"]);
    let check = place.readoff(["check"]).arg(&file);
    let check = check.env("READOFF_SUITES", place.path().join("none"));
    check.fails(
        69,
        &["none: the suites' folder (READOFF_SUITES) can't be read"],
    );
}

/// Races `file`, and changes it as soon as the first round is finished.
fn changed_during_the_race(test: &str, change: impl FnOnce(&Path) + Send, says: &str) {
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 100_000);
    let race = place
        .race_on(&file)
        .with("--entries read,mmap --state cold,warm --rounds 500");
    let running = race.start();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("a round is finished", || finished_rounds(&place) > 0);
            change(&file);
        });
        running.wait()
    });
    outcome.failed(65, &["the race is void", "data", says]);
    let race = place.race();
    let published = json(race.join("race.json"));
    let reason = published["status"]["void"].as_str().unwrap();
    assert!(reason.contains(says), "{reason}");
    // What was finished is kept, and readable.
    assert!(race.join("rounds/cold-001.json").is_file());
    assert!(!runs(&race).is_empty());
    let report = fs::read_to_string(race.join("report.md")).unwrap();
    assert!(report.contains("**Void:**"), "{report}");
    assert!(!rounds(&race).iter().any(|name| name.contains("partial")));
    // There is no going on with it.
    let resume = place.readoff(["run", "--quiet", "--resume"]).arg(&race);
    let outcome = resume.run();
    assert!(matches!(outcome.code, Some(65 | 66)), "{outcome:?}");
}

pub fn finished_rounds(place: &Place) -> usize {
    let races = place.races();
    let finished = |name: &String| name.ends_with(".json") && !name.contains("partial");
    let rounds = |race: &std::path::PathBuf| match race.join("race.json").is_file() {
        true => rounds(race).iter().filter(|name| finished(name)).count(),
        false => 0,
    };
    races.iter().map(rounds).sum()
}

#[test]
fn a_file_that_grows_voids_the_race() {
    let grow = |file: &Path| {
        let mut file = OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(b"more").unwrap();
    };
    changed_during_the_race(
        "a_file_that_grows_voids_the_race",
        grow,
        "grew from 100000 to 100004 bytes",
    );
}

#[test]
fn a_file_that_shrinks_voids_the_race() {
    let shrink = |file: &Path| {
        let file = OpenOptions::new().write(true).open(file).unwrap();
        file.set_len(10).unwrap();
    };
    changed_during_the_race(
        "a_file_that_shrinks_voids_the_race",
        shrink,
        "shrank from 100000 to 10 bytes",
    );
}

#[test]
fn a_file_that_is_replaced_voids_the_race() {
    let replace = |file: &Path| {
        let other = file.with_extension("new");
        fs::copy(file, &other).unwrap();
        fs::rename(other, file).unwrap();
    };
    changed_during_the_race(
        "a_file_that_is_replaced_voids_the_race",
        replace,
        "was replaced",
    );
}

#[test]
fn a_file_that_goes_away_voids_the_race() {
    let remove = |file: &Path| fs::remove_file(file).unwrap();
    changed_during_the_race(
        "a_file_that_goes_away_voids_the_race",
        remove,
        "no such file",
    );
}

#[test]
fn a_file_that_is_written_to_voids_the_race() {
    let write = |file: &Path| fs::write(file, content(100_000)).unwrap();
    changed_during_the_race("a_file_that_is_written_to_voids_the_race", write, "data");
}

#[test]
fn a_file_that_always_grows_voids_the_check() {
    let test = "a_file_that_always_grows_voids_the_check";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let path = place.file("log", 100_000);
    let running = place.race_on(&path).start();
    let done = std::sync::atomic::AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                file.write_all(b"a line\n").unwrap();
            }
        });
        let outcome = running.wait();
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        outcome
    });
    outcome.failed(65, &["log", "grew"]);
    place.has_no_race();
}

#[test]
fn a_file_larger_than_memory_is_raced_cold_and_never_warm() {
    let test = "a_file_larger_than_memory_is_raced_cold_and_never_warm";
    if !needs_root(test) || !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let path = place.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(96 << 20).unwrap();
    let race = |states: &str| {
        let race = place.race_on(&path).with("--entries read,mmap --rounds 1");
        race.with("--work touch --memory 48MiB --state").arg(states)
    };
    let outcome = race("cold,warm").run();
    if outcome.stderr.contains("no memory limit here") {
        eprintln!("skipped: {test}: {}", outcome.stderr.trim());
        return;
    }
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.prints("cold: ");
    outcome.prints("warm: left out: ");
    race("warm").fails(
        69,
        &["no state could be raced: warm: ", "can't be resident"],
    );
}
