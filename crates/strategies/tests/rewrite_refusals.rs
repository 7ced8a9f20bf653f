//! A rewrite writes to `copy` in a scratch folder or not at all, and says in one line why not.

mod common;
#[path = "common/rewriting.rs"]
mod rewriting;

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{assert_refused, command, random, run};
use rewriting::{ALL, COPY, INPLACE, Scene, everything, make_scratch};

/// Runs every program with that scratch folder and file: each refuses, and nothing has changed.
#[track_caller]
fn assert_nothing_is_touched(scene: &Scene, scratch: &Path, file: &Path, exit: i32, about: &str) {
    let before = everything(scene.folder.path());
    for strategy in ALL {
        let mut command = command(strategy);
        command.arg("--scratch").arg(scratch).arg(file);
        assert_refused(strategy, &command.output().unwrap(), exit, about);
        assert!(everything(scene.folder.path()) == before, "{strategy}");
    }
}

/// The same where the folder is right and what is in it isn't: to create a copy fails with 73, to
/// find one with 66.
#[track_caller]
fn assert_copy_is_not_touched(scene: &Scene, about: &str) {
    let before = everything(scene.folder.path());
    for strategy in ALL {
        let output = scene.run(strategy, [] as [&str; 0]);
        let exit = if COPY.contains(&strategy) { 73 } else { 66 };
        assert_refused(strategy, &output, exit, about);
        assert!(everything(scene.folder.path()) == before, "{strategy}");
    }
}

fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn without_a_scratch_folder_it_says_how_to_make_one() {
    let scene = Scene::new(b"mine");
    for strategy in ALL {
        let about = "--scratch DIR is missing: `pagecache prepare";
        assert_refused(strategy, &run(strategy, [&scene.file]), 64, about);
    }
    assert_eq!(fs::read(&scene.file).unwrap(), b"mine");
}

#[test]
fn a_folder_without_the_marker_is_not_written_to() {
    let scene = Scene::new(b"mine");
    fs::write(scene.folder.path().join("copy"), "mine too").unwrap();
    fs::create_dir(scene.folder.path().join("empty")).unwrap();
    let empty = scene.folder.path().join("empty");
    for folder in [scene.folder.path(), &empty, Path::new("/"), Path::new(".")] {
        assert_nothing_is_touched(&scene, folder, &scene.file, 66, "no scratch folder");
    }
    assert_nothing_is_touched(&scene, &scene.file, &scene.file, 66, "no scratch folder");
    let missing = scene.folder.path().join("missing");
    assert_nothing_is_touched(&scene, &missing, &scene.file, 66, "No such file");
    // A marker that is a link or a folder is none.
    symlink(&scene.file, empty.join(".readoff-scratch")).unwrap();
    assert_nothing_is_touched(&scene, &empty, &scene.file, 66, "no scratch folder");
    fs::remove_file(empty.join(".readoff-scratch")).unwrap();
    fs::create_dir(empty.join(".readoff-scratch")).unwrap();
    assert_nothing_is_touched(&scene, &empty, &scene.file, 66, "no scratch folder");
}

#[test]
fn a_link_to_a_scratch_folder_is_not_followed() {
    let scene = Scene::new(b"mine");
    let link = scene.folder.path().join("link");
    symlink(&scene.scratch, &link).unwrap();
    for name in [link.clone(), link.join(""), link.join(".")] {
        assert_nothing_is_touched(&scene, &name, &scene.file, 66, "no scratch folder");
    }
}

#[test]
fn a_copy_that_is_a_link_is_not_followed() {
    let scene = Scene::new(b"mine");
    let other = scene.folder.path().join("other");
    fs::write(&other, "also").unwrap();
    for target in [&scene.file, &other, Path::new("nowhere")] {
        symlink(target, scene.copy()).unwrap();
        assert_copy_is_not_touched(&scene, "a symbolic link");
        fs::remove_file(scene.copy()).unwrap();
    }
}

#[test]
fn a_copy_with_a_second_name_is_not_written_to() {
    let scene = Scene::new(b"mine");
    fs::hard_link(&scene.file, scene.copy()).unwrap();
    assert_copy_is_not_touched(&scene, "the file itself");
    fs::remove_file(scene.copy()).unwrap();
    let other = scene.folder.path().join("other");
    fs::write(&other, "also").unwrap();
    fs::hard_link(&other, scene.copy()).unwrap();
    assert_copy_is_not_touched(&scene, "a hard link");
}

#[test]
fn the_file_itself_is_not_written_to_where_it_lies_in_the_copy_s_place() {
    let mut scene = Scene::new(b"");
    scene.file = scene.copy();
    fs::write(&scene.file, "mine").unwrap();
    assert_copy_is_not_touched(&scene, "the file itself");
    // By another path, too.
    let link = scene.folder.path().join("link");
    symlink(scene.copy(), &link).unwrap();
    scene.file = link;
    assert_copy_is_not_touched(&scene, "the file itself");
}

#[test]
fn a_copy_that_is_no_file_is_not_waited_for() {
    let scene = Scene::new(b"mine");
    fs::create_dir(scene.copy()).unwrap();
    assert_copy_is_not_touched(&scene, "Is a directory");
    fs::remove_dir(scene.copy()).unwrap();
    make_fifo(&scene.copy());
    assert_copy_is_not_touched(&scene, "no regular file");
}

#[test]
fn in_place_there_must_be_a_copy_of_the_file_s_size() {
    let scene = Scene::new(b"12345");
    for strategy in [INPLACE[0], INPLACE[1], "verify-rewrite"] {
        let refused = |about| {
            let output = scene.run(strategy, [] as [&str; 0]);
            assert_refused(strategy, &output, 66, about);
        };
        refused("no copy of the file is there: `pagecache prepare");
        for content in ["", "1234", "123456"] {
            fs::write(scene.copy(), content).unwrap();
            refused("bytes, not 5: `pagecache prepare");
            assert_eq!(fs::read_to_string(scene.copy()).unwrap(), content);
        }
        fs::remove_file(scene.copy()).unwrap();
    }
}

#[test]
fn a_file_that_can_t_be_read_leaves_the_copy_alone() {
    let scene = Scene::new(b"mine");
    fs::write(scene.copy(), "from another run").unwrap();
    let fifo = scene.folder.path().join("fifo");
    make_fifo(&fifo);
    for (file, about) in [
        (scene.folder.path(), "a folder"),
        (&scene.folder.path().join("missing"), "No such file"),
        (&fifo, "a FIFO"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        assert_nothing_is_touched(&scene, &scene.scratch, file, 66, about);
    }
}

#[test]
fn options_that_are_wrong_are_usage_errors() {
    let scene = Scene::new(b"mine");
    for strategy in [&COPY[..], &INPLACE[..]].concat() {
        for (args, about) in [
            (["--chunk", "0"], "at least 1 byte"),
            (["--chunk", "many"], "--chunk"),
            (["--sync", "all"], "not one of none, data"),
            (["--target", "full"], "--target"),
            (["--work", "xor"], "not one of add-one"),
        ] {
            scene.prepare(strategy);
            assert_refused(strategy, &scene.run(strategy, args), 64, about);
        }
    }
    for strategy in INPLACE {
        let output = scene.run(strategy, ["--target", "hole"]);
        assert_refused(strategy, &output, 64, "--target");
    }
    for strategy in [
        "rewrite-stdio-copy",
        "rewrite-read-write-copy",
        "rewrite-pwrite-inplace",
    ] {
        scene.prepare(strategy);
        let output = scene.run(strategy, ["--chunk", "1PiB"]);
        assert_refused(
            strategy,
            &output,
            69,
            "1.0 PiB is more than the memory available",
        );
    }
}

#[test]
fn a_limit_of_a_file_s_size_is_an_error_and_not_the_end() {
    let scene = Scene::new(&random(100_000));
    let limited = |strategy: &str, target: &str| {
        scene.prepare(strategy);
        let mut command = scene.command(strategy);
        command.args(["--target", target]);
        let limit = libc::rlimit {
            rlim_cur: 50_000,
            rlim_max: 50_000,
        };
        // SAFETY: setrlimit is async-signal-safe, and `limit` is moved into the closure.
        unsafe {
            command.pre_exec(move || {
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
                Ok(())
            });
        }
        command.output().unwrap()
    };
    for (strategy, call) in [
        ("rewrite-read-write-copy", "write failed at byte 50000: "),
        ("rewrite-stdio-copy", "fwrite failed: "),
        ("rewrite-mmap-copy", "ftruncate failed: "),
    ] {
        let about = format!("{call}File too large");
        assert_refused(strategy, &limited(strategy, "hole"), 74, &about);
        let output = limited(strategy, "allocated");
        if !common::unavailable(strategy, &output) {
            // That blocks are asked for at all shows here.
            assert_refused(
                strategy,
                &output,
                74,
                "preallocation failed: File too large",
            );
        }
    }
}

/// A tmpfs of that size, which needs root. `None`, with the reason, where it can't be had.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new(test: &str, size: &str) -> Option<Disk> {
        let disk = Disk(tempfile::tempdir().unwrap());
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"]);
        match mount.arg(disk.0.path()).output() {
            Ok(output) if output.status.success() => Some(disk),
            _ => {
                eprintln!("skipped: {test}: needs root to mount a tmpfs");
                None
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn a_disk_that_is_too_small_is_told_before_anything_is_written() {
    const NAME: &str = "a_disk_that_is_too_small_is_told_before_anything_is_written";
    let Some(disk) = Disk::new(NAME, "1m") else {
        return;
    };
    let mut scene = Scene::new(&random(2 << 20));
    scene.scratch = disk.0.path().join("scratch");
    make_scratch(&scene.scratch);
    fs::write(scene.copy(), "from another run").unwrap();
    for strategy in COPY {
        let output = scene.run(strategy, [] as [&str; 0]);
        let about = "can't create: it needs 2.0 MiB, and 1020.0 KiB are free";
        assert_refused(strategy, &output, 73, about);
        assert_eq!(fs::read(scene.copy()).unwrap(), b"from another run");
    }
    // The space of the old copy counts: it is emptied.
    fs::write(&scene.file, random(900 << 10)).unwrap();
    for strategy in COPY.iter().cycle().take(6) {
        let output = scene.run(strategy, [] as [&str; 0]);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_disk_that_fills_up_in_place_is_one_line_and_no_core() {
    const NAME: &str = "a_disk_that_fills_up_in_place_is_one_line_and_no_core";
    let Some(disk) = Disk::new(NAME, "1m") else {
        return;
    };
    let mut scene = Scene::new(&[0; 3 << 20]);
    scene.scratch = disk.0.path().join("scratch");
    make_scratch(&scene.scratch);
    for (strategy, about) in [
        (
            "rewrite-mmap-inplace",
            "the disk is full, or I/O error (SIGBUS)",
        ),
        ("rewrite-pwrite-inplace", "pwrite failed at byte "),
    ] {
        // A hole of that size: its blocks aren't there.
        File::create(scene.copy())
            .unwrap()
            .set_len(3 << 20)
            .unwrap();
        let output = scene.run(strategy, [] as [&str; 0]);
        assert_refused(strategy, &output, 74, about);
        fs::remove_file(scene.copy()).unwrap();
    }
}

/// A size that takes a while to write.
#[cfg(target_os = "linux")]
const SLOW: usize = 48 << 20;

/// Runs the strategy, and `change` as soon as its copy has its size or grows. Again, if the
/// strategy was through before.
#[cfg(target_os = "linux")]
fn run_while(scene: &Scene, strategy: &str, prepare: impl Fn(), change: impl Fn()) -> Output {
    for _ in 0..50 {
        prepare();
        let mut command = scene.command(strategy);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while !has_open(&child, &scene.copy()) && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(50));
        }
        change();
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            return output;
        }
    }
    panic!("{strategy}: the change never came in time");
}

#[cfg(target_os = "linux")]
fn has_open(child: &Child, file: &Path) -> bool {
    let Ok(fds) = fs::read_dir(format!("/proc/{}/fd", child.id())) else {
        return false;
    };
    fs::metadata(file).is_ok_and(|found| found.len() > 0)
        && fds
            .flatten()
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target == file))
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_somebody_else_fills_up_is_one_line_and_no_core() {
    const NAME: &str = "a_disk_that_somebody_else_fills_up_is_one_line_and_no_core";
    let Some(disk) = Disk::new(NAME, "50m") else {
        return;
    };
    let mut scene = Scene::new(b"");
    let file = File::options().write(true).open(&scene.file).unwrap();
    file.set_len(SLOW as u64).unwrap();
    scene.scratch = disk.0.path().join("scratch");
    make_scratch(&scene.scratch);
    let other = disk.0.path().join("other");
    for (strategy, about) in [
        (
            "rewrite-mmap-copy",
            "the disk is full, or I/O error (SIGBUS)",
        ),
        ("rewrite-read-write-copy", "write failed at byte "),
        ("rewrite-stdio-copy", "failed: No space left"),
    ] {
        let prepare = || {
            let _ = fs::remove_file(&other);
            let _ = fs::remove_file(scene.copy());
        };
        let fill_up = || {
            // As much as there is.
            let _ = fs::write(&other, vec![1; 40 << 20]);
        };
        let output = run_while(&scene, strategy, prepare, fill_up);
        assert_refused(strategy, &output, 74, about);
    }
}

/// A folder in memory, so that no test waits for a disk.
#[cfg(target_os = "linux")]
fn in_memory(test: &str, bytes: &[u8]) -> Option<Scene> {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) => Some(Scene::within(folder, bytes)),
        Err(cause) => {
            eprintln!("skipped: {test}: /dev/shm: {cause}");
            None
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_or_a_copy_that_shrinks_meanwhile_is_told() {
    const NAME: &str = "a_file_or_a_copy_that_shrinks_meanwhile_is_told";
    let Some(scene) = in_memory(NAME, &vec![1; SLOW]) else {
        return;
    };
    let resize = |path: &Path, size: usize| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_len(size as u64).unwrap();
    };
    let prepare = |strategy: &str| {
        resize(&scene.file, SLOW);
        scene.prepare(strategy);
    };
    // write(2) where the copy was is no error: there `verify-rewrite` sees the hole.
    for strategy in ["rewrite-mmap-copy", INPLACE[0], INPLACE[1]] {
        let shrink = || resize(&scene.copy(), 5000);
        let output = run_while(&scene, strategy, || prepare(strategy), shrink);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_refused(strategy, &output, 65, "/copy: ");
        assert!(
            stderr.contains("shrank") || stderr.contains("its size"),
            "{stderr}"
        );
    }
    for strategy in COPY {
        let shrink = || resize(&scene.file, 5000);
        let output = run_while(&scene, strategy, || prepare(strategy), shrink);
        assert_refused(strategy, &output, 65, "shrank while it was");
    }
}
