//! `pagecache evict`: gone, or the reason why not.

mod common;

use std::{
    fs::{self, File},
    io::{Read, Write},
    process,
};

use common::*;
use predicates::prelude::*;

#[test]
fn a_resident_file_is_gone_afterwards() {
    let Some(folder) = folder("a_resident_file_is_gone_afterwards") else {
        return;
    };
    let file = folder.path().join("file");
    write(&file, 8 * MIB + 123);
    read(&file);
    pagecache()
        .arg("evict")
        .arg(&file)
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "0 B of 8.0 MiB resident, 8.0 MiB before",
        ));
    assert_eq!(resident_pages(&file), 0);
}

#[test]
fn a_dirty_file_is_written_first_and_keeps_its_contents() {
    let Some(folder) = folder("a_dirty_file_is_written_first_and_keeps_its_contents") else {
        return;
    };
    let path = folder.path().join("file");
    let mut file = File::create(&path).unwrap();
    file.write_all(&contents(8 * MIB)).unwrap();
    pagecache().arg("evict").arg(&path).assert().success();
    assert_eq!(resident_pages(&path), 0);
    assert_eq!(fs::read(&path).unwrap(), contents(8 * MIB));
}

#[test]
fn pages_in_flight_go_too() {
    let Some(folder) = folder("pages_in_flight_go_too") else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, 64 * MIB);
    for _ in 0..5 {
        // Readahead is under way when the reader stops.
        let mut begin = vec![0; 6 << 20];
        File::open(&path).unwrap().read_exact(&mut begin).unwrap();
        pagecache().arg("evict").arg(&path).assert().success();
        assert_eq!(resident_pages(&path), 0);
    }
}

#[test]
fn a_file_that_is_open_or_mapped_but_not_touched_is_evicted() {
    let Some(folder) = folder("a_file_that_is_open_or_mapped_but_not_touched_is_evicted") else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, MIB);
    let map = Map::new(&path);
    pagecache().arg("evict").arg(&path).assert().success();
    assert_eq!(map.resident_pages(), 0);
}

#[test]
fn a_process_that_touched_its_mapping_is_named() {
    let Some(folder) = folder("a_process_that_touched_its_mapping_is_named") else {
        return;
    };
    let path = folder.path().join("a file");
    write(&path, 8 * MIB);
    let map = Map::new(&path);
    map.touch(8 * MIB);
    let output = pagecache().arg("evict").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(75));
    let line = one_line(&output.stderr);
    assert!(line.contains("8.0 MiB of 8.0 MiB resident"), "{line}");
    assert!(
        line.contains(&format!("process {} (", process::id())),
        "{line}"
    );
    assert!(line.contains("8.0 MiB touched"), "{line}");
    drop(map);
    pagecache().arg("evict").arg(&path).assert().success();
}

#[test]
fn a_process_that_locked_pages_is_named() {
    let Some(folder) = folder("a_process_that_locked_pages_is_named") else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, MIB);
    let map = Map::new(&path);
    map.lock(64 << 10);
    pagecache()
        .arg("evict")
        .arg(&path)
        .assert()
        .code(75)
        .stderr(predicate::str::contains("64.0 KiB locked"));
}

#[test]
fn the_user_s_file_is_never_written() {
    let Some(folder) = folder("the_user_s_file_is_never_written") else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, MIB);
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    for command in [&["evict"][..], &["fill"], &["fill", "--how", "random"]] {
        pagecache().args(command).arg(&path).assert().success();
    }
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read(&path).unwrap(), contents(MIB));
}

/// Every other test and race on this machine would notice: it runs only when asked for, alone.
#[test]
fn the_whole_machine_is_purged_when_asked() {
    const NAME: &str = "the_whole_machine_is_purged_when_asked";
    if std::env::var_os("READOFF_TEST_SYSTEM_PURGE").is_none() {
        return eprintln!("skipped: {NAME}: READOFF_TEST_SYSTEM_PURGE is not set");
    }
    if !is_root() {
        return eprintln!("skipped: {NAME}: needs root");
    }
    let Some(folder) = folder(NAME) else {
        return;
    };
    let (named, other) = (folder.path().join("named"), folder.path().join("other"));
    write(&named, MIB);
    write(&other, MIB);
    pagecache()
        .args(["evict", "--system"])
        .arg(&named)
        .assert()
        .success();
    assert_eq!((resident_pages(&named), resident_pages(&other)), (0, 0));
}
