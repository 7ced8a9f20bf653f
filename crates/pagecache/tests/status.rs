//! `pagecache status`, and what every command makes of its input.

mod common;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use common::*;
use predicates::prelude::*;

const COMMANDS: [&[&str]; 7] = [
    &["status"],
    &["evict"],
    &["fill"],
    &["prepare", "--state", "cold"],
    &["prepare", "--state", "warm"],
    &["prepare", "--state", "warm-random"],
    &["prepare", "--state", "as-is"],
];

#[test]
fn counts_exactly_the_pages_that_were_read() {
    let Some(folder) = folder("counts_exactly_the_pages_that_were_read") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, 4 * MIB + 123);
    pagecache().arg("evict").arg(&file).assert().success();
    touch_pages(&file, &[3, 500, 901]);
    assert_eq!(resident_pages(&file), 3);
    let status = status(&file);
    assert_eq!(status["resident"], 3 * PAGE);
    assert_eq!(status["bytes"], 4 * MIB + 123);
}

#[test]
fn counts_the_whole_file_when_it_is_resident_to_the_last_byte() {
    let Some(folder) = folder("counts_the_whole_file_when_it_is_resident_to_the_last_byte") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, 5 * PAGE + 1);
    read(&file);
    assert_eq!(status(&file)["resident"], 5 * PAGE + 1);
    pagecache()
        .arg("status")
        .arg(&file)
        .assert()
        .success()
        .stdout(predicate::str::contains("100.0 %"));
}

#[test]
fn gives_a_total_for_several_files_and_none_for_one() {
    let Some(folder) = folder("gives_a_total_for_several_files_and_none_for_one") else {
        return;
    };
    write(&folder.path().join("a"), MIB);
    write(&folder.path().join("b"), MIB);
    let total = predicate::str::contains("2.0 MiB resident  100.0 %")
        .and(predicate::str::contains("total of 2 files"));
    pagecache()
        .arg("status")
        .arg(folder.path())
        .assert()
        .success()
        .stdout(total);
    pagecache()
        .arg("status")
        .arg(folder.path().join("a"))
        .assert()
        .success()
        .stdout(predicate::str::contains("total of").not());
}

#[test]
fn walks_a_folder_and_names_what_it_passes_over() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    write(&folder.path().join("a"), 10);
    write(&inner.join("b"), 10);
    fs::hard_link(inner.join("b"), inner.join("b again")).unwrap();
    symlink(folder.path(), folder.path().join("link")).unwrap();
    make_fifo(&inner.join("fifo"));
    let _socket = UnixListener::bind(inner.join("socket")).unwrap();
    pagecache()
        .arg("status")
        .arg(folder.path())
        .assert()
        .success()
        .stdout(predicate::str::contains("total of 2 files"))
        .stderr(
            predicate::str::contains("fifo: passed over: a FIFO")
                .and(predicate::str::contains("socket: passed over: a socket"))
                .and(predicate::str::contains(
                    "link: passed over: a symbolic link",
                )),
        );
}

#[test]
fn goes_on_to_the_next_file_after_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    write(&file, 10);
    pagecache()
        .arg("status")
        .arg(folder.path().join("missing"))
        .arg(&file)
        .assert()
        .code(66)
        .stdout(predicate::str::contains("file"));
}

#[test]
fn an_empty_file_is_in_every_state() {
    let Some(folder) = folder("an_empty_file_is_in_every_state") else {
        return;
    };
    let file = folder.path().join("empty");
    write(&file, 0);
    for command in COMMANDS {
        pagecache().args(command).arg(&file).assert().success();
    }
    pagecache()
        .arg("status")
        .arg(&file)
        .assert()
        .stdout(predicate::str::contains(" - "));
    assert_eq!(status(&file)["resident"], 0);
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    make_fifo(&fifo);
    let socket = folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let missing = folder.path().join("missing");
    let proc = [
        Path::new("/proc/self/status"),
        Path::new("/sys/kernel/mm/lru_gen/enabled"),
    ];
    let others = [&fifo, &socket, &missing, Path::new("/dev/zero")];
    for path in others
        .into_iter()
        .chain(proc.into_iter().filter(|path| path.exists()))
    {
        for command in COMMANDS {
            let output = pagecache().args(command).arg(path).output().unwrap();
            assert_eq!(output.status.code(), Some(66), "{command:?} {path:?}");
            let line = one_line(&output.stderr);
            assert!(line.contains(path.to_str().unwrap()), "{line}");
        }
    }
}

#[test]
fn any_name_works_and_an_error_stays_one_line() {
    let Some(folder) = folder("any_name_works_and_an_error_stays_one_line") else {
        return;
    };
    let names = ["a\nb", "-dash", "{x} $y '~\"", "\u{fc}"];
    let bytes = [&b"\xff\xfe"[..]];
    let names = names.iter().map(|name| name.as_bytes()).chain(bytes);
    for name in names {
        let file = folder.path().join(OsStr::from_bytes(name));
        write(&file, 3 * PAGE);
        for command in COMMANDS {
            pagecache().args(command).arg(&file).assert().success();
        }
        fs::remove_file(&file).unwrap();
        let output = pagecache().arg("status").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(66));
        one_line(&output.stderr);
    }
}

#[test]
fn a_wrong_command_line_exits_64() {
    for wrong in [
        &[][..],
        &["look"],
        &["status"],
        &["evict"],
        &["fill", "--how", "slowly", "file"],
        &["prepare", "file"],
        &["prepare", "--state", "hot", "file"],
    ] {
        pagecache().args(wrong).assert().code(64);
    }
    pagecache().arg("--help").assert().success();
}

#[test]
fn a_full_disk_under_stdout_exits_74() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    write(&file, 10);
    let output = Command::new(assert_cmd::cargo::cargo_bin!("pagecache"))
        .arg("status")
        .arg(&file)
        .stdout(
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(74));
    one_line(&output.stderr);
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
