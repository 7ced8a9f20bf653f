//! A folder of files with random lines.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use predicates::str::{contains, is_match};
use tempfile::TempDir;

use crate::output::{SmallDisk, one_line, stop_midway};
use crate::{mkdata, mkdata_process, names_in};

/// The files of the folder that `mkdata text` makes for these arguments, in the order of their names.
fn files_of(arguments: &str) -> Vec<String> {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, &format!("text {arguments} data"))
        .assert()
        .success();
    assert_eq!(names_in(dir.path()), ["data"]);
    files_in(&dir.path().join("data"))
}

fn files_in(dir: &Path) -> Vec<String> {
    let read = |name: &String| fs::read_to_string(dir.join(name)).unwrap();
    names_in(dir).iter().map(read).collect()
}

#[test]
fn the_bytes_never_change() {
    let files = files_of("--size 1MiB");
    assert_eq!(files[0][..20], *"uK[?nj}?P^xr?rqscO{|");
    assert_eq!(crc32fast::hash(files.concat().as_bytes()), 3_687_358_151);
    let files = files_of("--lines 500 --seed 2");
    assert_eq!(crc32fast::hash(files.concat().as_bytes()), 1_180_198_228);
}

#[test]
fn sixteen_files_differ_widely_in_lines_and_width() {
    let files = files_of("--size 16MiB");
    assert_eq!(files.len(), 16);
    let lines: Vec<usize> = files.iter().map(|file| file.lines().count()).collect();
    let widths: Vec<usize> = files.iter().map(|file| widest(file)).collect();
    assert!(
        lines.iter().max().unwrap() > &(4 * lines.iter().min().unwrap()),
        "{lines:?}"
    );
    assert!(
        widths.iter().max().unwrap() > &(10 * widths.iter().min().unwrap()),
        "{widths:?}"
    );
}

#[test]
fn size_is_that_of_all_files_together_and_last_lines_are_whole() {
    for size in [0, 1, 15, 16, 100, 4097, 3_000_001] {
        let files = files_of(&format!("--size {size}"));
        assert_eq!(files.iter().map(String::len).sum::<usize>(), size);
        assert!(
            files
                .iter()
                .all(|file| file.is_empty() || file.ends_with('\n'))
        );
    }
}

#[test]
fn limits_of_lines_and_width_and_the_number_of_files_hold() {
    let files = files_of("--lines 300 --width 20 --files 100");
    assert_eq!(files.len(), 100);
    let lines: Vec<usize> = files.iter().map(|file| file.lines().count()).collect();
    assert!(lines.iter().all(|count| (1..=300).contains(count)));
    assert!(lines.iter().any(|count| *count > 250) && lines.iter().any(|count| *count < 50));
    assert!(files.iter().all(|file| widest(file) <= 20));
    assert!(files.iter().any(|file| widest(file) > 15));
    assert_eq!(files_of("--lines 0 --files 2"), ["", ""]);
    assert_eq!(files_of("--lines 1 --width 1 --files 1").len(), 1);
}

#[test]
fn a_line_is_one_word_or_empty() {
    let files = files_of("--lines 1000 --width 9").concat();
    assert!(
        files
            .lines()
            .all(|line| line.bytes().all(|byte| byte.is_ascii_graphic()))
    );
    assert!(files.lines().any(str::is_empty));
}

#[test]
fn lines_may_be_wider_than_any_buffer() {
    let files = files_of("--size 30MB --width 16777216 --files 2");
    assert!(files.iter().any(|file| widest(file) > 3 << 20));
}

#[test]
fn one_line_says_what_was_made() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "text --size 10KB --files 3 data")
        .assert()
        .success()
        .stdout(is_match("^data  10000 bytes  [0-9]+ lines  3 files  seed 1\n$").unwrap());
    assert_eq!(
        names_in(&dir.path().join("data")),
        ["F_01.txt", "F_02.txt", "F_03.txt"]
    );
}

#[test]
fn an_existing_folder_is_replaced_only_by_force() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "text --size 1KB --files 3 data")
        .assert()
        .success();
    mkdata(&dir, "text --size 2KB --files 2 data")
        .assert()
        .code(73)
        .stderr(one_line("exists already; --force replaces it"));
    assert_eq!(files_in(&dir.path().join("data")).concat().len(), 1000);

    mkdata(&dir, "text --size 2KB --files 2 --force data")
        .assert()
        .success();
    assert_eq!(files_in(&dir.path().join("data")).concat().len(), 2000);
    assert_eq!(names_in(&dir.path().join("data")), ["F_01.txt", "F_02.txt"]);
    assert_eq!(names_in(dir.path()), ["data"]);
}

#[test]
fn force_replaces_no_folder_with_anything_else_in_it() {
    for other in ["notes.txt", "F_1x.txt", "F_01.txt.bak"] {
        let dir = TempDir::new().unwrap();
        mkdata(&dir, "text --size 1KB data").assert().success();
        fs::write(dir.path().join("data").join(other), "mine").unwrap();
        mkdata(&dir, "text --size 1KB --force data")
            .assert()
            .code(73)
            .stderr(one_line("other files in it"));
        assert_eq!(
            fs::read(dir.path().join("data").join(other)).unwrap(),
            b"mine"
        );
    }
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("data/F_01.txt")).unwrap();
    fs::write(dir.path().join("file"), "mine").unwrap();
    for (name, cause) in [
        ("data", "other files"),
        ("file", "no folder"),
        ("..", "a folder"),
    ] {
        mkdata(&dir, &format!("text --size 1KB --force {name}"))
            .assert()
            .code(73)
            .stderr(one_line(cause));
    }
    assert_eq!(names_in(dir.path()), ["data", "file"]);
}

#[test]
fn wrong_usage_exits_with_64() {
    let dir = TempDir::new().unwrap();
    for arguments in [
        "--size 1KB --lines 3",
        "--files 0",
        "--files 100001",
        "--width 0",
        "--width 1.5",
        "--rows 3",
    ] {
        mkdata(&dir, &format!("text {arguments} data"))
            .assert()
            .code(64);
    }
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn more_than_the_disk_holds_is_refused_with_both_numbers() {
    let dir = TempDir::new().unwrap();
    for amount in ["--size 15EiB", "--lines 18446744073709551615"] {
        mkdata(&dir, &format!("text {amount} data"))
            .assert()
            .code(73)
            .stderr(one_line("takes "))
            .stderr(contains("are free"));
    }
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    stop_midway(&dir, "text --size 1GB data", libc::SIGTERM);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn a_disk_that_fills_up_midway_is_left_as_it_was() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            eprintln!("skipped: a_disk_that_fills_up_midway_is_left_as_it_was: {why}");
            return;
        }
    };
    // All of it would fit, but each file's last page is a whole one.
    let run = mkdata_process(disk.path(), "text --size 4MiB data")
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(74), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
    assert!(names_in(disk.path()).is_empty());
}

fn widest(text: &str) -> usize {
    text.lines().map(str::len).max().unwrap_or(0)
}
