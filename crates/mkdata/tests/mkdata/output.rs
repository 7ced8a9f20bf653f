//! How the output comes to be: whole, or not at all.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::{contains, diff, is_empty, is_match};
use tempfile::TempDir;

use crate::{mkdata, mkdata_process, names_in};

/// A line on stderr that tells `cause`.
pub fn one_line(cause: &str) -> impl Predicate<str> + use<> {
    is_match("^mkdata: [^\n]*\n$").unwrap().and(contains(cause))
}

#[test]
fn one_line_says_what_was_made() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "measurements --rows 1000 --seed 7 data")
        .assert()
        .success()
        .stdout(is_match("^data  13[0-9]{3} bytes  1000 rows  seed 7\n$").unwrap())
        .stderr(is_empty());
    assert_eq!(names_in(dir.path()), ["data"]);
}

#[test]
fn quiet_says_nothing() {
    let dir = TempDir::new().unwrap();
    let run = mkdata(&dir, "measurements --rows 1000 --quiet data").assert();
    run.success().stdout(is_empty()).stderr(is_empty());
    assert_eq!(names_in(dir.path()), ["data"]);
}

#[test]
fn nothing_at_all_is_an_empty_file() {
    for amount in ["--size 0", "--rows 0"] {
        let dir = TempDir::new().unwrap();
        mkdata(&dir, &format!("measurements {amount} data"))
            .assert()
            .success()
            .stdout(diff("data  0 bytes  0 rows  seed 1\n"));
        assert_eq!(fs::read(dir.path().join("data")).unwrap(), b"");
    }
}

#[test]
fn a_new_file_has_the_usual_permissions() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "measurements --rows 1 data")
        .assert()
        .success();
    fs::write(dir.path().join("usual"), "").unwrap();
    let mode = |name| {
        fs::metadata(dir.path().join(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("data"), mode("usual"));
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("data"), "mine").unwrap();
    mkdata(&dir, "measurements --rows 1 data")
        .assert()
        .code(73)
        .stdout(is_empty())
        .stderr(one_line("exists already; --force replaces it"));
    assert_eq!(fs::read(dir.path().join("data")).unwrap(), b"mine");

    mkdata(&dir, "measurements --rows 1 --force data")
        .assert()
        .success();
    assert_ne!(fs::read(dir.path().join("data")).unwrap(), b"mine");
    assert_eq!(names_in(dir.path()), ["data"]);
}

#[test]
fn force_replaces_no_folder_and_no_link() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("file"), "mine").unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    for (name, cause) in [
        ("folder", "is a folder"),
        ("folder/", "is a folder"),
        (".", "is a folder"),
        ("..", "is a folder"),
        ("/", "is a folder"),
        ("link", "is no regular file"),
        ("/dev/null", "is no regular file"),
    ] {
        mkdata(&dir, &format!("measurements --rows 1 --force {name}"))
            .assert()
            .code(73)
            .stderr(one_line(cause));
    }
    assert_eq!(names_in(dir.path()), ["file", "folder", "link"]);
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"mine");
}

#[test]
fn an_output_that_cannot_be_made_is_one_line() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let long = "n".repeat(300);
    for (path, cause) in [
        ("missing/data", "No such file or directory"),
        ("file/data", "Not a directory"),
        (long.as_str(), "File name too long"),
    ] {
        mkdata(&dir, &format!("measurements --rows 1 {path}"))
            .assert()
            .code(73)
            .stdout(is_empty())
            .stderr(one_line(cause));
    }
    assert_eq!(names_in(dir.path()), ["file"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_one_line() {
    let dir = TempDir::new().unwrap();
    if fs::metadata(dir.path()).unwrap().uid() != 0 {
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o555)).unwrap();
        let run = mkdata(&dir, "measurements --rows 1 data").assert();
        run.code(73).stderr(one_line("Permission denied"));
        return;
    }
    // Root may write anywhere, except to /proc.
    if !Path::new("/proc/self").exists() {
        eprintln!("skipped: a_folder_that_cannot_be_written_is_one_line: root, and no /proc");
        return;
    }
    let run = mkdata(&dir, "measurements --rows 1 /proc/data").assert();
    run.code(73).stderr(one_line("/proc/data"));
}

#[test]
fn wrong_usage_exits_with_64() {
    let dir = TempDir::new().unwrap();
    for arguments in [
        "",
        "measurement data",
        "measurements",
        "measurements --size 1MB --rows 5 data",
        "measurements --size data",
        "measurements --size many data",
        "measurements --size 1XB data",
        "measurements --size -1 data",
        "measurements --size 99999999999999999999999 data",
        "measurements --size 17EiB data",
        "measurements --rows 18446744073709551616 data",
        "measurements --rows 1.5 data",
        "measurements --seed -1 data",
        "measurements data more",
    ] {
        let run = mkdata(&dir, arguments).assert();
        run.code(64).stdout(is_empty()).stderr(is_empty().not());
    }
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn more_than_the_disk_holds_is_refused_with_both_numbers() {
    let dir = TempDir::new().unwrap();
    for amount in ["--size 15EiB", "--rows 18446744073709551615"] {
        mkdata(&dir, &format!("measurements {amount} data"))
            .assert()
            .code(73)
            .stderr(one_line("").and(is_match("takes [0-9]{20} bytes, [0-9]+ are free").unwrap()));
    }
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn a_write_that_fails_midway_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    // A limit on the file's size stands for any error of write(2): 2 MiB, in blocks of 512 or 1024 bytes.
    let mkdata = env!("CARGO_BIN_EXE_mkdata");
    let script = "ulimit -f 2048; exec \"$0\" measurements --size 8MiB data";
    let command = assert_cmd::Command::new("/bin/sh")
        .current_dir(dir.path())
        .args(["-c", script, mkdata])
        .assert();
    command
        .code(74)
        .stdout(is_empty())
        .stderr(one_line("File too large"));
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let dir = TempDir::new().unwrap();
        stop_midway(&dir, "measurements --size 1GB data", signal);
        assert!(names_in(dir.path()).is_empty());
    }
}

/// Sends `signal` to a run that has begun to write, and sees it die by it.
pub fn stop_midway(dir: &TempDir, arguments: &str, signal: libc::c_int) {
    let mut child = mkdata_process(dir.path(), arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the temporary file is there", || {
        !names_in(dir.path()).is_empty()
    });
    assert_ne!(names_in(dir.path()), ["data"]);
    // SAFETY: a plain call; the child is ours and not reaped yet.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
    assert_eq!(child.wait().unwrap().signal(), Some(signal));
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let dir = TempDir::new().unwrap();
    let mut command = mkdata_process(dir.path(), "measurements --size 64MB data");
    // SAFETY: signal(2) is async-signal-safe, as what runs between fork and exec must be.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    wait_until("the temporary file is there", || {
        !names_in(dir.path()).is_empty()
    });
    // SAFETY: a plain call; the child is ours and not reaped yet.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGHUP) };
    assert!(child.wait().unwrap().success());
    assert_eq!(names_in(dir.path()), ["data"]);
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A tmpfs of 4 MiB on a folder, for root.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    pub fn mount() -> Result<Self, String> {
        let dir = TempDir::new().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "mkdata-test"])
            .arg(dir.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => Ok(Self(dir)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("mount: {error}")),
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_full_disk_is_seen_before_anything_is_written() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            eprintln!("skipped: a_full_disk_is_seen_before_anything_is_written: {why}");
            return;
        }
    };
    mkdata(&disk.0, "measurements --size 5MiB data")
        .assert()
        .code(73)
        .stderr(one_line("takes 5242880 bytes, 4194304 are free"));
    mkdata(&disk.0, "measurements --size 4MiB data")
        .assert()
        .success();
    assert_eq!(names_in(disk.path()), ["data"]);
}
