//! Files that can't be visited, and files that change meanwhile.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{assert_refused, command, run, strategies, unavailable};
use crate::{assert_all_refuse, file_of};

#[test]
fn what_is_no_regular_file_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let path = CString::new(fifo.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    for work in ["blocks", "rows", "boxes"] {
        let options = ["--work", work];
        assert_all_refuse(&options, Path::new("no/such/file"), 66, "No such file");
        assert_all_refuse(&options, folder.path(), 66, "a folder");
        assert_all_refuse(&options, &fifo, 66, "a FIFO");
        assert_all_refuse(&options, Path::new("/dev/zero"), 66, "a device");
        if cfg!(target_os = "linux") {
            let made = Path::new("/proc/self/status");
            assert_all_refuse(&options, made, 66, "made by the kernel");
        }
    }
}

#[test]
fn a_block_or_buffer_larger_than_memory_is_refused() {
    let (_folder, file) = file_of(b"small");
    // No more is read at once than there is.
    for strategy in strategies("seek") {
        let output = command(&strategy)
            .args(["--block", "100TiB"])
            .arg(&file)
            .output();
        let output = output.unwrap();
        assert!(output.status.success() || unavailable(&strategy, &output));
    }
    let mut stream = command("seek-bufreader");
    let output = stream.args(["--buffer", "100TiB"]).arg(&file).output();
    let about = "100.0 TiB is more than the memory available, ";
    assert_refused("seek-bufreader", &output.unwrap(), 69, about);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    if let Err(why) = File::create(&file).unwrap().set_len(15 << 40) {
        eprintln!("skipped: a block larger than memory: the filesystem has no such file: {why}");
        return;
    }
    for strategy in ["seek-pread", "seek-direct"] {
        let output = command(strategy)
            .args(["--block", "14TiB"])
            .arg(&file)
            .output();
        assert_refused(strategy, &output.unwrap(), 69, "14.0 TiB is more than");
    }
}

/// Runs the strategy and changes its file as soon as it has opened it. Again, if it was through
/// before the change.
fn run_while(strategy: &str, change: impl Fn(&Path)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for _ in 0..50 {
        File::create(&file).unwrap().set_len(64 << 20).unwrap();
        let mut command = command(strategy);
        command
            .args(["--block", "4096", "--order", "shuffled"])
            .arg(&file);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while !has_opened(&child, &file) && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(50));
        }
        change(&file);
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            return output;
        }
    }
    panic!("{strategy}: the file never changed in time");
}

fn has_opened(child: &Child, file: &Path) -> bool {
    let Ok(fds) = fs::read_dir(format!("/proc/{}/fd", child.id())) else {
        return false;
    };
    fds.flatten()
        .any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target == file))
}

#[cfg(target_os = "linux")] // /proc tells when a strategy has opened its file.
#[test]
fn a_file_that_changes_is_told() {
    let open = |file: &Path| File::options().write(true).open(file).unwrap();
    for strategy in strategies("seek") {
        let output = run_while(&strategy, |file| open(file).set_len(4096).unwrap());
        if unavailable(&strategy, &output) {
            continue;
        }
        assert_refused(&strategy, &output, 65, "shrank while it was");
        let output = run_while(&strategy, |file| open(file).set_len(65 << 20).unwrap());
        assert_refused(&strategy, &output, 65, "grew while it was read");
        let output = run_while(&strategy, |file| {
            let other = file.with_extension("new");
            File::create(&other).unwrap().set_len(64 << 20).unwrap();
            fs::rename(other, file).unwrap();
        });
        assert_refused(&strategy, &output, 65, "was replaced while it was read");
        let output = run_while(&strategy, |file| fs::remove_file(file).unwrap());
        assert_refused(&strategy, &output, 65, "went away while it was read");
    }
}

#[test]
fn odd_names_are_read_and_told_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"two words"[..], b"new\nline", b"-dash", b"\xff\xfe"] {
        let name = std::ffi::OsStr::from_bytes(name);
        fs::write(folder.path().join(name), "a\n\"").unwrap();
        for strategy in strategies("seek") {
            let mut there = command(&strategy);
            there
                .current_dir(folder.path())
                .args(["--work", "rows", "--"]);
            let output = there.arg(name).output().unwrap();
            if !unavailable(&strategy, &output) {
                assert_refused(&strategy, &output, 65, "the row at byte 2 has a quote");
            }
        }
    }
    assert_refused(
        "seek-pread",
        &run("seek-pread", ["a\nb"]),
        66,
        "a\\nb: can't open",
    );
}
