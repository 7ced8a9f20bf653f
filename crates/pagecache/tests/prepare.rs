//! `pagecache prepare`: the state is there, proved and logged, or it fails with the reason.

mod common;

use std::fs;

use common::*;
use pagecache::{Action, Filled, State};
use predicates::prelude::*;

const BYTES: u64 = 4 * MIB + 123;

#[test]
fn cold_evicts_and_then_only_verifies() {
    let Some(folder) = folder("cold_evicts_and_then_only_verifies") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    let first = prepare("cold", &file);
    assert_eq!(
        (first.state, first.action, first.fill),
        (State::Cold, Action::Evicted, Filled::None)
    );
    assert_eq!(
        (first.found_resident, first.resident),
        (Some(BYTES), Some(0))
    );
    assert_eq!(first.bytes, BYTES);
    assert_eq!(resident_pages(&file), 0);
    let second = prepare("cold", &file);
    assert_eq!(
        (second.action, second.found_resident),
        (Action::Verified, Some(0))
    );
}

#[test]
fn warm_fills_by_readahead_and_then_only_verifies() {
    let Some(folder) = folder("warm_fills_by_readahead_and_then_only_verifies") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    prepare("cold", &file);
    let first = prepare("warm", &file);
    assert_eq!(
        (first.action, first.fill),
        (Action::Filled, Filled::Readahead)
    );
    assert_eq!(
        (first.found_resident, first.resident),
        (Some(0), Some(BYTES))
    );
    assert_all_but_reclaimed(resident_pages(&file), BYTES.div_ceil(PAGE), "prepared");
    let second = prepare("warm", &file);
    assert_eq!(
        (second.action, second.fill),
        (Action::Verified, Filled::Found)
    );
    assert_all_but_reclaimed(second.resident.unwrap(), BYTES, "verified");
}

#[test]
fn warm_random_fills_at_random() {
    let Some(folder) = folder("warm_random_fills_at_random") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    prepare("cold", &file);
    let line = prepare("warm-random", &file);
    assert_eq!((line.state, line.fill), (State::WarmRandom, Filled::Random));
    assert_all_but_reclaimed(resident_pages(&file), BYTES.div_ceil(PAGE), "prepared");
}

#[test]
fn a_partly_lost_warm_state_is_filled_again() {
    let Some(folder) = folder("a_partly_lost_warm_state_is_filled_again") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    prepare("cold", &file);
    touch_pages(&file, &(0..900).collect::<Vec<u64>>());
    let line = prepare("warm", &file);
    assert_eq!(
        (line.action, line.found_resident),
        (Action::Filled, Some(900 * PAGE))
    );
    assert_all_but_reclaimed(resident_pages(&file), BYTES.div_ceil(PAGE), "prepared");
}

#[test]
fn as_is_changes_nothing_and_logs_what_is_there() {
    let Some(folder) = folder("as_is_changes_nothing_and_logs_what_is_there") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    prepare("cold", &file);
    touch_pages(&file, &[7, 9]);
    let line = prepare("as-is", &file);
    assert_eq!((line.action, line.fill), (Action::None, Filled::Found));
    assert_eq!(
        (line.found_resident, line.resident),
        (Some(2 * PAGE), Some(2 * PAGE))
    );
    assert_eq!(resident_pages(&file), 2);
}

#[test]
fn the_executable_is_resident_afterwards() {
    let Some(folder) = folder("the_executable_is_resident_afterwards") else {
        return;
    };
    let (file, program) = (folder.path().join("file"), folder.path().join("program"));
    write(&file, BYTES);
    write(&program, MIB);
    prepare("cold", &program);
    pagecache()
        .args(["prepare", "--state", "cold", "--executable"])
        .args([&program, &file])
        .assert()
        .success();
    assert_eq!(resident_pages(&program), MIB / PAGE);
    assert_eq!(resident_pages(&file), 0);
    pagecache()
        .args([
            "prepare",
            "--state",
            "cold",
            "--executable",
            "/no/such/program",
        ])
        .arg(&file)
        .assert()
        .code(66)
        .stderr(predicate::str::contains("/no/such/program"));
}

#[test]
fn lines_are_appended_and_files_are_summed() {
    let Some(folder) = folder("lines_are_appended_and_files_are_summed") else {
        return;
    };
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    write(&a, MIB);
    write(&b, BYTES);
    let log = folder.path().join("log");
    for state in ["warm", "cold"] {
        pagecache()
            .env("READOFF_RECORD", &log)
            .args(["prepare", "--state", state])
            .args([&a, &b])
            .assert()
            .success();
    }
    let lines = logged(&log);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (lines[0].bytes, lines[0].resident),
        (MIB + BYTES, Some(MIB + BYTES))
    );
    assert_eq!(
        (lines[1].found_resident, lines[1].resident),
        (Some(MIB + BYTES), Some(0))
    );
}

#[test]
fn a_folder_without_files_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    pagecache()
        .args(["prepare", "--state", "warm"])
        .arg(folder.path())
        .assert()
        .code(66)
        .stderr(predicate::str::contains("no regular file"));
}

#[test]
fn a_log_that_can_t_be_made_exits_73() {
    let Some(folder) = folder("a_log_that_can_t_be_made_exits_73") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, BYTES);
    pagecache()
        .env("READOFF_RECORD", folder.path().join("missing/log"))
        .args(["prepare", "--state", "cold"])
        .arg(&file)
        .assert()
        .code(73);
}

#[test]
fn a_state_that_is_not_reached_exits_75_and_logs_nothing() {
    let Some(folder) = folder("a_state_that_is_not_reached_exits_75_and_logs_nothing") else {
        return;
    };
    let (file, log) = (folder.path().join("file"), folder.path().join("log"));
    write(&file, BYTES);
    let map = Map::new(&file);
    map.touch(BYTES);
    pagecache()
        .env("READOFF_RECORD", &log)
        .args(["prepare", "--state", "cold"])
        .arg(&file)
        .assert()
        .code(75)
        .stderr(predicate::str::contains("maps it"));
    assert!(!log.exists());
}

#[test]
fn a_file_that_changes_its_size_meanwhile_is_no_panic() {
    let Some(folder) = folder("a_file_that_changes_its_size_meanwhile_is_no_panic") else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, BYTES);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::thread::scope(|scope| {
        let changing = scope.spawn(|| {
            for round in 0..400 {
                file.set_len(if round % 2 == 0 { 5 } else { BYTES })
                    .unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        while !changing.is_finished() {
            for state in ["cold", "warm", "warm-random"] {
                let command = pagecache()
                    .args(["prepare", "--state", state])
                    .arg(&path)
                    .output();
                let code = command.unwrap().status.code();
                assert!(matches!(code, Some(0 | 75)), "{state}: {code:?}");
            }
        }
    });
}
