//! Terminals, pipes and environments of all kinds.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use crate::support::*;

fn full() -> Stdio {
    OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap()
        .into()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_one_line_and_no_panic() {
    let place = Place::new();
    let file = place.file("data", 5000);
    let mut calls = vec![
        place.readoff(["list"]),
        place.readoff(["suites"]),
        place.readoff(["check"]).arg(&file),
    ];
    if has_hyperfine("a_full_stdout_is_one_line_and_no_panic") {
        calls.push(place.race_on(&file).small());
        calls.push(place.race_on(&file).with("--dry-run"));
    }
    for mut call in calls {
        let output = call
            .command
            .stdout(full())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{stderr}");
        assert_eq!(
            stderr,
            "readoff: standard output can't be written: no space left on device\n"
        );
    }
    // The race counts all the same.
    if !place.races().is_empty() {
        assert!(place.race().join("report.md").is_file());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stderr_does_not_matter() {
    let place = Place::new();
    let file = place.file("data", 5000);
    let mut list = place.readoff(["list", "--suite", "scna"]);
    let status = list
        .command
        .stdout(Stdio::null())
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(64));
    if has_hyperfine("a_full_stderr_does_not_matter") {
        let mut race = place.readoff(["run", "--rounds", "1"]).arg(&file);
        let status = race
            .command
            .stdout(Stdio::null())
            .stderr(full())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_nothing() {
    let place = Place::new();
    let file = place.file("data", 5000);
    let mut calls = vec![place.readoff(["list"]), place.readoff(["suites"])];
    if has_hyperfine("a_reader_that_has_seen_enough_ends_nothing") {
        let arguments = ["run", "--rounds", "2", "--entries", "read,mmap"];
        calls.push(place.readoff(arguments).arg(&file));
    }
    for mut call in calls {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        call.command
            .stderr(writer.try_clone().unwrap())
            .stdout(writer);
        assert_eq!(call.command.status().unwrap().code(), Some(0));
    }
    if !place.races().is_empty() {
        assert_eq!(json(place.race().join("race.json"))["status"], "finished");
    }
}

#[test]
fn closed_streams_do_not_matter() {
    let test = "closed_streams_do_not_matter";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5000);
    let race = place.readoff(["run", "--rounds", "1"]).arg(&file);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"])
        .arg(race.command.get_program());
    shell
        .args(race.command.get_args())
        .current_dir(place.path());
    for (name, value) in race.command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    assert_eq!(shell.status().unwrap().code(), Some(0));
    assert_eq!(json(place.race().join("race.json"))["status"], "finished");
}

#[test]
fn without_a_terminal_there_are_plain_lines_and_with_quiet_none() {
    let test = "without_a_terminal_there_are_plain_lines_and_with_quiet_none";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5000);
    let race = place.readoff(["run", "--rounds", "2", "--entries", "read,mmap"]);
    let outcome = race.arg(&file).succeeds();
    for line in [
        "cold round 1 of 2 done",
        "cold round 2 of 2 done",
        "warm round 2 of 2 done",
    ] {
        assert!(outcome.stderr.contains(line), "{outcome:?}");
    }
    assert!(!format!("{outcome:?}").contains("\\u{1b}"), "{outcome:?}");
    let quiet = place.race_on(&file).small().succeeds();
    assert_eq!(quiet.stderr, "");
    assert!(!quiet.stdout.is_empty());
}

/// A terminal: what a program gets, and where its output can be read.
fn terminal(columns: u16) -> (OwnedFd, File) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let null = std::ptr::null_mut();
    // SAFETY: openpty(3) fills two integers and only reads the size; some systems declare it mutable.
    let opened = unsafe {
        libc::openpty(
            &mut ours,
            &mut theirs,
            null,
            null.cast(),
            (&raw const size).cast_mut(),
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: both were just opened, and nobody else has them.
    unsafe { (OwnedFd::from_raw_fd(theirs), File::from_raw_fd(ours)) }
}

#[test]
fn a_terminal_of_any_kind_and_width_will_do() {
    let test = "a_terminal_of_any_kind_and_width_will_do";
    if !has_hyperfine(test) {
        return;
    }
    for (term, columns) in [
        (Some("xterm"), 80),
        (Some("xterm"), 50),
        (Some("dumb"), 50),
        (None, 1),
        (Some(""), 0),
    ] {
        let place = Place::new();
        let file = place.file("data", 5000);
        let mut race = place.readoff(["run", "--rounds", "2", "--entries", "read,mmap"]);
        race = race.arg(&file);
        match term {
            Some(term) => race.command.env("TERM", term),
            None => race.command.env_remove("TERM"),
        };
        let (theirs, mut ours) = terminal(columns);
        race.command
            .stderr(theirs.try_clone().unwrap())
            .stdout(theirs);
        let mut child = race.command.spawn().unwrap();
        // Our copies of their end would keep the reader waiting.
        drop(race);
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        // At the end Linux gives an error (EIO), others nothing.
        while let Ok(n @ 1..) = ours.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..n]);
        }
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert_eq!(
            child.wait().unwrap().code(),
            Some(0),
            "{term:?} {columns}: {shown}"
        );
        assert!(
            shown.contains("published in") && !shown.contains("panicked"),
            "{shown}"
        );
    }
}

#[test]
fn an_empty_environment_is_enough() {
    let test = "an_empty_environment_is_enough";
    let Some(hyperfine) = real_hyperfine(test) else {
        return;
    };
    let place = Place::new();
    let file = place.file("data", 5000);
    let mut race = place.race_on(&file).small();
    race.command.env_clear();
    let race = race
        .env("READOFF_SUITES", suites())
        .arg("--hyperfine")
        .arg(which(&hyperfine));
    // hyperfine 2.0 runs prepare steps by `sh`, from the PATH.
    race.env("PATH", "/usr/bin:/bin").succeeds();
    assert!(
        place.path().join("results/latest/report.md").is_file(),
        "the default folder"
    );
}

/// The path of a program on the PATH.
fn which(program: &str) -> String {
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", "command -v \"$1\"", "sh", program])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn a_working_folder_that_is_gone() {
    let test = "a_working_folder_that_is_gone";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 5000);
    let gone = |race: Readoff| {
        let mut shell = Command::new("sh");
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        shell
            .args(["-c", script, "sh"])
            .arg(race.command.get_program());
        shell
            .args(race.command.get_args())
            .current_dir(place.path());
        for (name, value) in race.command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Readoff { command: shell }
    };
    gone(place.race_on(&file).small()).succeeds();
    gone(place.race_on("data").small()).fails(66, &["data: no such file"]);
    let race = place.race_on(&file).small().with("--results here");
    gone(race).fails(73, &["here"]);
    place.race();
}
