//! `pagecache prepare --scratch` and `pagecache remove-scratch`: the copy is right and in its state,
//! and nothing but a marked folder's own copy is ever written or removed.

mod common;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use common::*;
use pagecache::{Action, Filled, Prepared};
use predicates::prelude::*;
use tempfile::TempDir;

const MARKER: &str = ".readoff-scratch";
const BYTES: u64 = 4 * MIB + 123;

/// A folder with a file in it, and the name of a scratch folder beside the file.
struct Scene {
    folder: TempDir,
    file: PathBuf,
    scratch: PathBuf,
}

impl Scene {
    fn new(test: &str) -> Option<Scene> {
        let folder = folder(test)?;
        let file = folder.path().join("file");
        write(&file, BYTES);
        let scratch = folder.path().join("scratch");
        Some(Scene {
            folder,
            file,
            scratch,
        })
    }

    fn copy(&self) -> PathBuf {
        self.scratch.join("copy")
    }

    /// Prepares with `--scratch SCRATCH` and `extra`, which succeeds; returns the line it logged.
    fn prepare(&self, state: &str, extra: &[&str]) -> Prepared {
        let log = self.folder.path().join("log");
        let _ = fs::remove_file(&log);
        prepare_in(&self.scratch, state, extra)
            .env("READOFF_RECORD", &log)
            .arg(&self.file)
            .assert()
            .success();
        logged(&log).remove(0)
    }

    /// Prepares with a copy in `scratch`, for `file`: refused in one line that has `why` in it, with
    /// every file and folder left as it was.
    fn is_refused(&self, scratch: &Path, file: &Path, code: i32, why: &str) {
        let before = everything(self.folder.path());
        for extra in [&["--copy"][..], &[]] {
            let output = prepare_in(scratch, "as-is", extra).arg(file).output();
            let output = output.unwrap();
            let line = one_line(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{line}");
            assert!(line.contains(why), "{line}");
        }
        assert_eq!(everything(self.folder.path()), before);
    }

    /// Removing the folder is refused in the same way.
    fn removal_is_refused(&self, scratch: &Path, code: i32, why: &str) {
        let before = everything(self.folder.path());
        let output = remove(scratch).output().unwrap();
        let line = one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(line.contains(why), "{line}");
        assert_eq!(everything(self.folder.path()), before);
    }
}

fn prepare_in(scratch: &Path, state: &str, extra: &[&str]) -> assert_cmd::Command {
    let mut command = pagecache();
    command.args(["prepare", "--state", state, "--scratch"]);
    command.arg(scratch).args(extra);
    command
}

fn remove(scratch: &Path) -> assert_cmd::Command {
    let mut command = pagecache();
    command.arg("remove-scratch").arg(scratch);
    command
}

/// Every file and folder below `folder`, with what is in it and which one it is.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let contents = if metadata.is_file() {
            fs::read(&path).unwrap()
        } else if metadata.is_dir() {
            found.extend(everything(&path));
            Vec::new()
        } else {
            let target = fs::read_link(&path).unwrap();
            target.into_os_string().into_encoded_bytes()
        };
        found.insert(path, (metadata.ino(), contents));
    }
    found
}

#[test]
fn a_cold_copy_is_the_file_s_bytes_and_neither_is_resident() {
    let Some(scene) = Scene::new("a_cold_copy_is_the_file_s_bytes_and_neither_is_resident") else {
        return;
    };
    let line = scene.prepare("cold", &["--copy"]);
    assert_eq!((line.action, line.bytes), (Action::Evicted, 2 * BYTES));
    // There was no copy yet.
    assert_all_but_reclaimed(line.found_resident.unwrap(), BYTES, "found");
    assert_eq!(line.resident, Some(0));
    assert!(matches!(line.dirty, Some(0) | None));
    assert_eq!(resident_pages(&scene.file), 0);
    assert_eq!(resident_pages(&scene.copy()), 0);
    assert_eq!(fs::read(scene.copy()).unwrap(), contents(BYTES));
    let copy = fs::metadata(scene.copy()).unwrap();
    assert_eq!((copy.nlink(), copy.mode() & 0o777), (1, 0o600));
    assert_eq!(
        fs::metadata(&scene.scratch).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert!(scene.scratch.join(MARKER).is_file());
}

#[test]
fn a_warm_copy_is_resident_and_clean_beside_the_filled_file() {
    let Some(scene) = Scene::new("a_warm_copy_is_resident_and_clean_beside_the_filled_file") else {
        return;
    };
    prepare("cold", &scene.file);
    let line = scene.prepare("warm", &["--copy"]);
    assert_eq!(
        (line.action, line.fill),
        (Action::Filled, Filled::Readahead)
    );
    assert_eq!(
        (line.found_resident, line.resident),
        (Some(0), Some(2 * BYTES))
    );
    assert!(matches!(line.dirty, Some(0) | None));
    for path in [&scene.file, &scene.copy()] {
        assert_all_but_reclaimed(resident_pages(path), BYTES.div_ceil(PAGE), "prepared");
    }
    assert_eq!(fs::read(scene.copy()).unwrap(), contents(BYTES));
    let second = scene.prepare("warm", &["--copy"]);
    assert_eq!(
        (second.action, second.fill, second.found_resident),
        (Action::Verified, Filled::Found, Some(2 * BYTES))
    );
}

#[test]
fn a_random_fill_is_one_of_the_file_and_of_its_copy() {
    const NAME: &str = "a_random_fill_is_one_of_the_file_and_of_its_copy";
    let Some(scene) = Scene::new(NAME) else {
        return;
    };
    prepare("cold", &scene.file);
    let line = scene.prepare("warm-random", &["--copy"]);
    assert_eq!((line.action, line.fill), (Action::Filled, Filled::Random));
    assert_all_but_reclaimed(line.resident.unwrap(), 2 * BYTES, "prepared");
    let random = faults_of_a_scan(&scene.copy(), BYTES);
    scene.prepare("warm", &["--copy"]);
    let written = faults_of_a_scan(&scene.copy(), BYTES);
    // A fault maps 16 small pages around it, or one whole folio.
    let of_small_folios = (BYTES / PAGE / 16) as i64;
    assert!(random >= of_small_folios, "{random} faults");
    if written >= of_small_folios {
        return eprintln!("skipped: {NAME}: this filesystem has no large folios");
    }
    assert!(random > written, "{random} faults against {written}");
}

#[test]
fn the_copy_is_renewed_whatever_was_written_to_it() {
    let Some(scene) = Scene::new("the_copy_is_renewed_whatever_was_written_to_it") else {
        return;
    };
    for left_behind in [&b"shorter"[..], &[7; 5 << 20]] {
        scene.prepare("as-is", &["--copy"]);
        fs::write(scene.copy(), left_behind).unwrap();
        let line = scene.prepare("as-is", &["--copy"]);
        assert_eq!(line.notes, ["copying the file has read it"]);
        assert_eq!(fs::read(scene.copy()).unwrap(), contents(BYTES));
    }
}

#[test]
fn without_copy_the_old_one_goes_and_the_file_is_prepared() {
    let Some(scene) = Scene::new("without_copy_the_old_one_goes_and_the_file_is_prepared") else {
        return;
    };
    scene.prepare("warm", &["--copy"]);
    let line = scene.prepare("cold", &[]);
    assert_eq!((line.bytes, line.resident), (BYTES, Some(0)));
    assert!(!scene.copy().exists());
    assert!(scene.scratch.join(MARKER).is_file());
}

#[test]
fn an_empty_file_has_an_empty_copy() {
    let Some(scene) = Scene::new("an_empty_file_has_an_empty_copy") else {
        return;
    };
    File::create(&scene.file).unwrap();
    for state in ["cold", "warm", "warm-random", "as-is"] {
        assert_eq!(scene.prepare(state, &["--copy"]).bytes, 0);
        assert_eq!(fs::read(scene.copy()).unwrap(), b"");
    }
}

#[test]
fn a_scratch_folder_is_removed_with_its_copy() {
    let Some(scene) = Scene::new("a_scratch_folder_is_removed_with_its_copy") else {
        return;
    };
    scene.prepare("as-is", &["--copy"]);
    remove(&scene.scratch).assert().success();
    assert!(!scene.scratch.exists());
    scene.removal_is_refused(&scene.scratch, 66, "No such file");
    // The slash at the end is no hindrance, and no copy none either.
    scene.prepare("as-is", &[]);
    remove(&scene.scratch.join("")).assert().success();
    assert!(!scene.scratch.exists());
}

#[test]
fn other_files_in_a_scratch_folder_stay_there() {
    let Some(scene) = Scene::new("other_files_in_a_scratch_folder_stay_there") else {
        return;
    };
    scene.prepare("as-is", &["--copy"]);
    let other = scene.scratch.join("notes");
    fs::write(&other, "mine").unwrap();
    scene.prepare("as-is", &["--copy"]);
    assert_eq!(fs::read(&other).unwrap(), b"mine");
    remove(&scene.scratch)
        .assert()
        .code(75)
        .stderr(predicate::str::contains("has notes in it"));
    assert_eq!(fs::read(&other).unwrap(), b"mine");
    assert!(!scene.copy().exists());
    // The user's own removal is all that was missing.
    fs::remove_file(other).unwrap();
    remove(&scene.scratch).assert().success();
}

#[test]
fn a_folder_without_the_marker_is_not_touched() {
    let Some(scene) = Scene::new("a_folder_without_the_marker_is_not_touched") else {
        return;
    };
    let other = scene.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("copy"), "mine").unwrap();
    for name in [&other, scene.folder.path(), Path::new("/")] {
        scene.is_refused(name, &scene.file, 66, "no scratch folder");
        scene.removal_is_refused(name, 66, "no scratch folder");
    }
    scene.is_refused(&scene.file, &scene.file, 66, "is a file");
    scene.removal_is_refused(&scene.file, 66, "is a file");
    let nowhere = scene.folder.path().join("missing/scratch");
    scene.is_refused(&nowhere, &scene.file, 73, "can't create");
}

#[test]
fn the_current_folder_is_not_touched() {
    let Some(scene) = Scene::new("the_current_folder_is_not_touched") else {
        return;
    };
    fs::write(scene.folder.path().join("copy"), "mine").unwrap();
    let before = everything(scene.folder.path());
    for name in [".", "..", "./", "../.", ""].map(Path::new) {
        let mut prepare = prepare_in(name, "cold", &["--copy"]);
        prepare.arg(&scene.file);
        for mut command in [prepare, remove(name)] {
            let output = command.current_dir(&scene.folder).output().unwrap();
            let code = output.status.code();
            assert!(matches!(code, Some(64 | 66 | 73)), "{name:?}: {code:?}");
        }
    }
    assert_eq!(everything(scene.folder.path()), before);
}

#[test]
fn a_scratch_folder_is_removed_by_any_name_of_its_own() {
    let Some(scene) = Scene::new("a_scratch_folder_is_removed_by_any_name_of_its_own") else {
        return;
    };
    for name in [".", "../scratch/", "../scratch/../scratch/."] {
        scene.prepare("as-is", &["--copy"]);
        remove(Path::new(name))
            .current_dir(&scene.scratch)
            .assert()
            .success();
        assert!(!scene.scratch.exists(), "{name}");
    }
}

#[test]
fn a_link_to_a_folder_is_not_followed() {
    let Some(scene) = Scene::new("a_link_to_a_folder_is_not_followed") else {
        return;
    };
    scene.prepare("as-is", &["--copy"]);
    let link = scene.folder.path().join("link");
    symlink(&scene.scratch, &link).unwrap();
    for name in [link.clone(), link.join(""), link.join(".")] {
        scene.is_refused(&name, &scene.file, 66, "a symbolic link");
        scene.removal_is_refused(&name, 66, "a symbolic link");
    }
    symlink("nowhere", scene.folder.path().join("dangling")).unwrap();
    let dangling = scene.folder.path().join("dangling");
    scene.is_refused(&dangling, &scene.file, 66, "a symbolic link");
}

#[test]
fn a_marker_that_is_a_link_is_none() {
    let Some(scene) = Scene::new("a_marker_that_is_a_link_is_none") else {
        return;
    };
    fs::create_dir(&scene.scratch).unwrap();
    symlink(&scene.file, scene.scratch.join(MARKER)).unwrap();
    scene.is_refused(&scene.scratch, &scene.file, 66, "no scratch folder");
}

#[test]
fn what_has_the_copy_s_name_and_is_none_stays() {
    let Some(scene) = Scene::new("what_has_the_copy_s_name_and_is_none_stays") else {
        return;
    };
    scene.prepare("as-is", &[]);
    let copy = scene.copy();
    symlink(&scene.file, &copy).unwrap();
    scene.is_refused(&scene.scratch, &scene.file, 66, "a symbolic link");
    scene.removal_is_refused(&scene.scratch, 66, "a symbolic link");
    fs::remove_file(&copy).unwrap();
    fs::create_dir(&copy).unwrap();
    scene.is_refused(&scene.scratch, &scene.file, 66, "a folder");
    scene.removal_is_refused(&scene.scratch, 66, "a folder");
}

#[test]
fn the_file_itself_is_no_copy_of_itself() {
    let Some(scene) = Scene::new("the_file_itself_is_no_copy_of_itself") else {
        return;
    };
    scene.prepare("as-is", &[]);
    // By its name, through a link, and by a second name.
    fs::write(scene.copy(), "precious").unwrap();
    let link = scene.folder.path().join("link");
    symlink(scene.copy(), &link).unwrap();
    for name in [&scene.copy(), &link] {
        scene.is_refused(&scene.scratch, name, 66, "is the file itself");
    }
    fs::remove_file(scene.copy()).unwrap();
    fs::hard_link(&scene.file, scene.copy()).unwrap();
    scene.is_refused(&scene.scratch, &scene.file, 66, "is the file itself");
}

#[test]
fn a_bad_file_makes_no_scratch_folder() {
    let Some(scene) = Scene::new("a_bad_file_makes_no_scratch_folder") else {
        return;
    };
    let missing = scene.folder.path().join("missing");
    scene.is_refused(&scene.scratch, &missing, 66, "No such file");
    let empty = scene.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    scene.is_refused(&scene.scratch, &empty, 66, "no regular file");
    prepare_in(&scene.scratch, "as-is", &["--copy"])
        .args([&scene.file, &scene.folder.path().join("log")])
        .assert()
        .code(64)
        .stderr(predicate::str::contains("for one file"));
    pagecache()
        .args(["prepare", "--state", "cold", "--copy"])
        .arg(&scene.file)
        .assert()
        .code(64);
    assert!(!scene.scratch.exists());
}

#[test]
fn a_copy_over_the_limit_of_a_file_s_size_leaves_nothing() {
    let Some(scene) = Scene::new("a_copy_over_the_limit_of_a_file_s_size_leaves_nothing") else {
        return;
    };
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pagecache"));
    command.args(["prepare", "--state", "cold", "--copy", "--scratch"]);
    command.args([&scene.scratch, &scene.file]);
    let limit = libc::rlimit {
        rlim_cur: MIB,
        rlim_max: MIB,
    };
    // SAFETY: setrlimit is async-signal-safe, and `limit` is moved into the closure.
    unsafe {
        command.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{output:?}");
    assert!(one_line(&output.stderr).contains("File too large"));
    assert!(!scene.copy().exists());
}

#[test]
fn a_scratch_disk_that_is_too_small_is_told_beforehand() {
    const NAME: &str = "a_scratch_disk_that_is_too_small_is_told_beforehand";
    if !is_root() {
        return eprintln!("skipped: {NAME}: needs root to mount");
    }
    let Some(scene) = Scene::new(NAME) else {
        return;
    };
    let disk = scene.folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=6m", "none"]);
    if !mount.arg(&disk).status().unwrap().success() {
        return eprintln!("skipped: {NAME}: no tmpfs can be mounted");
    }
    let scratch = disk.join("scratch");
    // The copy fits once; to be renewed it needs no second space.
    for _ in 0..2 {
        prepare_in(&scratch, "as-is", &["--copy"])
            .arg(&scene.file)
            .assert()
            .success();
    }
    write(&scene.file, 8 * MIB);
    let output = prepare_in(&scratch, "as-is", &["--copy"])
        .arg(&scene.file)
        .output()
        .unwrap();
    let removed = remove(&scratch).output();
    Command::new("umount")
        .arg("-l")
        .arg(&disk)
        .status()
        .unwrap();
    assert_eq!(output.status.code(), Some(73));
    let line = one_line(&output.stderr);
    assert!(
        line.contains("it needs 8.0 MiB, and 6.0 MiB are free"),
        "{line}"
    );
    assert!(removed.unwrap().status.success());
}
