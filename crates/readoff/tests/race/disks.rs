//! Results that can't be written.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::*;

/// A small disk in memory; gone when it is dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path, options: &str) -> Option<Disk> {
        fs::create_dir_all(path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path);
        let mounted = mount.status().is_ok_and(|status| status.success());
        mounted.then(|| Disk(path.to_path_buf()))
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A disk for the results of `place`, or none where this test can't have one.
fn disk(test: &str, path: &Path, options: &str) -> Option<Disk> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: {test}: needs Linux's tmpfs");
        return None;
    }
    if !needs_root(test) || !has_hyperfine(test) {
        return None;
    }
    let disk = Disk::mount(path, options);
    if disk.is_none() {
        eprintln!("skipped: {test}: tmpfs can't be mounted");
    }
    disk
}

#[test]
fn a_full_disk_keeps_the_finished_rounds_and_the_race_goes_on_when_there_is_room() {
    let test = "a_full_disk_keeps_the_finished_rounds";
    let place = Place::new();
    let file = place.file("data", 20_000);
    let Some(disk) = disk(test, &place.results(), "size=200k") else {
        return;
    };
    let race = place
        .race_on(&file)
        .with("--entries read,mmap --rounds 40 --state warm");
    race.fails(73, &["can't write it: no space left on device"]);
    let race = place.race();
    let finished: Vec<String> = rounds(&race)
        .into_iter()
        .filter(|name| name.ends_with(".json") && !name.contains("partial"))
        .collect();
    assert!((1..40).contains(&finished.len()), "{finished:?}");
    for name in finished {
        let export = json(race.join("rounds").join(name));
        assert_eq!(export["results"].as_array().unwrap().len(), 2);
    }
    let left: Vec<_> = fs::read_dir(&race)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, [] as [String; 0], "nothing half-written");

    disk.remount("size=16m");
    let resume = place.readoff(["run", "--quiet", "--resume"]).arg(&race);
    resume.succeeds();
    assert_eq!(json(race.join("race.json"))["status"], "finished");
    assert_eq!(runs(&race).len(), 40 * 2 * 2);
}

#[test]
fn a_disk_that_is_full_at_once_gets_no_race() {
    let test = "a_disk_that_is_full_at_once_gets_no_race";
    let place = Place::new();
    let file = place.file("data", 20_000);
    let Some(_disk) = disk(test, &place.results(), "size=8k") else {
        return;
    };
    let _ = fs::write(place.results().join("ballast"), [1; 8192]);
    place
        .race_on(&file)
        .small()
        .fails(73, &["no space left on device"]);
    fs::remove_file(place.results().join("ballast")).unwrap();
    place.has_no_race();
}

#[test]
fn a_read_only_disk() {
    let test = "a_read_only_disk";
    let place = Place::new();
    let file = place.file("data", 20_000);
    let Some(_disk) = disk(test, &place.results(), "ro") else {
        return;
    };
    place
        .race_on(&file)
        .small()
        .fails(73, &["results/", "can't make it", "read-only"]);
}

#[test]
fn a_working_folder_that_is_read_only_is_fine_if_the_results_go_elsewhere() {
    let test = "a_working_folder_that_is_read_only_is_fine";
    let place = Place::new();
    let folder = place.path().join("here");
    let Some(disk) = disk(test, &folder, "size=1m") else {
        return;
    };
    fs::write(folder.join("data"), content(10_000)).unwrap();
    disk.remount("ro");
    let race = || {
        let mut race = place.race_on("data").small();
        race.command.current_dir(&folder);
        race
    };
    // In memory nothing is ever cold: that is told, and no failure.
    let outcome = race().succeeds();
    outcome.prints("warm: ");
    outcome.prints("cold: left out: ");
    race()
        .without_env("READOFF_RESULTS")
        .fails(73, &["results", "read-only"]);
}

#[test]
fn results_that_are_no_folder() {
    let test = "results_that_are_no_folder";
    if !has_hyperfine(test) {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    let to = |results: &Path| place.race_on(&file).small().arg("--results").arg(results);
    to(&file).fails(73, &["data: can't make it"]);
    to(&file.join("below")).fails(73, &["data/below: can't make it"]);
    assert_eq!(fs::read(&file).unwrap(), content(1000));
    let long = place.path().join("x".repeat(300));
    to(&long).fails(73, &["can't make it", "too long"]);
}

#[test]
fn a_results_folder_that_may_not_be_written_to() {
    let test = "a_results_folder_that_may_not_be_written_to";
    if is_root() || !has_hyperfine(test) {
        eprintln!("skipped: {test}: root may write everywhere");
        return;
    }
    let place = Place::new();
    let file = place.file("data", 1000);
    let results = place.results();
    fs::create_dir(&results).unwrap();
    let c_path = CString::new(results.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends in 0.
    assert_eq!(unsafe { libc::chmod(c_path.as_ptr(), 0o555) }, 0);
    place
        .race_on(&file)
        .small()
        .fails(73, &["permission denied"]);
}
