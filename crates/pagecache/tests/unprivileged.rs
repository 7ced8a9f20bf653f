//! Run as nobody. These tests need root to become nobody, and are skipped by name without it.

mod common;

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process,
};

use assert_cmd::Command;
use common::*;
use predicates::prelude::*;
use tempfile::TempDir;

const NOBODY: u32 = 65534;
const BYTES: u64 = 2 * MIB + 123;

/// A folder that nobody can enter, with the binary in it and a resident file of root's.
struct Scene {
    folder: TempDir,
    binary: PathBuf,
    file: PathBuf,
}

impl Scene {
    fn new(test: &str) -> Option<Scene> {
        if !is_root() {
            eprintln!("skipped: {test}: needs root to become nobody");
            return None;
        }
        let folder = TempDir::new().unwrap();
        let filesystem = pagecache::filesystem(folder.path()).unwrap();
        if !filesystem.has_cold_state || !filesystem.residency_known {
            eprintln!(
                "skipped: {test}: temporary files are on {}",
                filesystem.name
            );
            return None;
        }
        let binary = public_copy(&folder);
        let file = folder.path().join("file");
        write(&file, BYTES);
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        Some(Scene {
            folder,
            binary,
            file,
        })
    }

    fn as_nobody(&self) -> Command {
        let mut command = process::Command::new(&self.binary);
        command.uid(NOBODY).gid(NOBODY).env_remove("READOFF_RECORD");
        Command::from_std(command)
    }

    fn status_as_nobody(&self, path: &Path) -> serde_json::Value {
        let output = self
            .as_nobody()
            .args(["status", "--json"])
            .arg(path)
            .output()
            .unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        document["files"][0].clone()
    }
}

#[test]
fn another_s_file_is_unknown_and_never_a_number() {
    let Some(scene) = Scene::new("another_s_file_is_unknown_and_never_a_number") else {
        return;
    };
    for evicted in [false, true] {
        if evicted {
            pagecache().arg("evict").arg(&scene.file).assert().success();
        }
        let status = scene.status_as_nobody(&scene.file);
        assert_eq!(status["by"], "unknown");
        assert!(status["resident"].is_null() && status["dirty"].is_null());
        assert!(status["why_unknown"].as_str().unwrap().contains("yours"));
    }
}

#[test]
fn another_s_file_is_evicted_all_the_same() {
    let Some(scene) = Scene::new("another_s_file_is_evicted_all_the_same") else {
        return;
    };
    read(&scene.file);
    scene
        .as_nobody()
        .arg("evict")
        .arg(&scene.file)
        .assert()
        .success()
        .stdout(predicate::str::contains("residency unknown"))
        .stderr(predicate::str::contains("the kernel hides its residency"));
    assert_eq!(resident_pages(&scene.file), 0);
}

#[test]
fn another_s_file_is_prepared_and_logged_as_unknown() {
    let Some(scene) = Scene::new("another_s_file_is_prepared_and_logged_as_unknown") else {
        return;
    };
    let logs = scene.folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    chown(&logs, Some(NOBODY), None).unwrap();
    for (state, pages) in [("warm", BYTES.div_ceil(PAGE)), ("cold", 0)] {
        let log = logs.join(state);
        scene
            .as_nobody()
            .env("READOFF_RECORD", &log)
            .args(["prepare", "--state", state])
            .arg(&scene.file)
            .assert()
            .success();
        let line = &logged(&log)[0];
        assert_eq!(
            (line.by, line.resident, line.found_resident),
            (pagecache::Method::Unknown, None, None)
        );
        assert_all_but_reclaimed(resident_pages(&scene.file), pages, state);
    }
}

#[test]
fn one_s_own_file_is_known_even_read_only() {
    let Some(scene) = Scene::new("one_s_own_file_is_known_even_read_only") else {
        return;
    };
    chown(&scene.file, Some(NOBODY), Some(NOBODY)).unwrap();
    fs::set_permissions(&scene.file, Permissions::from_mode(0o444)).unwrap();
    scene
        .as_nobody()
        .arg("evict")
        .arg(&scene.file)
        .assert()
        .success();
    assert_eq!(scene.status_as_nobody(&scene.file)["resident"], 0);
    scene
        .as_nobody()
        .arg("fill")
        .arg(&scene.file)
        .assert()
        .success();
    let resident = scene.status_as_nobody(&scene.file)["resident"].as_u64();
    assert_all_but_reclaimed(resident.unwrap(), BYTES, "filled");
}

#[test]
fn a_file_that_one_may_write_is_known() {
    let Some(scene) = Scene::new("a_file_that_one_may_write_is_known") else {
        return;
    };
    fs::set_permissions(&scene.file, Permissions::from_mode(0o646)).unwrap();
    pagecache().arg("evict").arg(&scene.file).assert().success();
    assert_eq!(scene.status_as_nobody(&scene.file)["resident"], 0);
}

#[test]
fn an_unreadable_file_exits_66() {
    let Some(scene) = Scene::new("an_unreadable_file_exits_66") else {
        return;
    };
    fs::set_permissions(&scene.file, Permissions::from_mode(0o600)).unwrap();
    for command in ["status", "evict", "fill"] {
        let output = scene
            .as_nobody()
            .arg(command)
            .arg(&scene.file)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(66), "{command}");
        one_line(&output.stderr);
    }
}

#[test]
fn the_whole_machine_is_not_purged_without_root() {
    let Some(scene) = Scene::new("the_whole_machine_is_not_purged_without_root") else {
        return;
    };
    scene
        .as_nobody()
        .args(["evict", "--system"])
        .assert()
        .code(69)
        .stderr(predicate::str::contains("needs root"));
}
