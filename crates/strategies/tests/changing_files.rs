//! A file that changes while it is read is never a wrong answer, a core or a hang.

#![cfg(target_os = "linux")] // /proc tells when a strategy has opened its file.

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use common::{assert_refused, command, strategies, unavailable};

/// A hole: fast to make, slow enough to read that there is time to change it.
const SIZE: u64 = 256 << 20;

/// Runs the strategy on a hole and changes that as soon as the strategy has opened or mapped it.
/// Again, if the strategy was through before the change.
fn run_while(strategy: &str, change: impl Fn(&Path)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for _ in 0..50 {
        File::create(&file).unwrap().set_len(SIZE).unwrap();
        let mut command = command(strategy);
        command.args(["--work", "touch"]).arg(&file);
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

fn truncate(file: &Path) {
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_len(4096)
        .unwrap();
}

#[test]
fn a_file_that_shrinks_is_told() {
    for strategy in strategies("scan") {
        let output = run_while(&strategy, truncate);
        if !unavailable(&strategy, &output) {
            assert_refused(&strategy, &output, 65, "shrank while it was");
        }
    }
}

#[test]
fn a_file_that_grows_is_told() {
    for strategy in strategies("scan") {
        let output = run_while(&strategy, |file| {
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_len(SIZE + 5)
                .unwrap();
        });
        if !unavailable(&strategy, &output) {
            assert_refused(&strategy, &output, 65, "grew while it was read");
        }
    }
}

#[test]
fn a_file_that_is_written_to_is_told() {
    for strategy in strategies("scan") {
        let output = run_while(&strategy, |file| {
            std::io::Write::write_all(&mut File::options().write(true).open(file).unwrap(), b"x")
                .unwrap();
        });
        if !unavailable(&strategy, &output) {
            assert_refused(&strategy, &output, 65, "was written to while it was read");
        }
    }
}

#[test]
fn a_file_that_is_replaced_or_removed_is_told() {
    for strategy in strategies("scan") {
        let replaced = run_while(&strategy, |file| {
            let other = file.with_extension("new");
            File::create(&other).unwrap().set_len(SIZE).unwrap();
            fs::rename(other, file).unwrap();
        });
        if unavailable(&strategy, &replaced) {
            continue;
        }
        assert_refused(&strategy, &replaced, 65, "was replaced while it was read");
        let removed = run_while(&strategy, |file| fs::remove_file(file).unwrap());
        assert_refused(&strategy, &removed, 65, "went away while it was read");
    }
}

#[test]
fn a_map_of_a_file_that_shrinks_is_no_core() {
    for strategy in strategies("scan")
        .iter()
        .filter(|name| name.contains("mmap"))
    {
        // Until the change comes while the strategy is in the map, not after.
        let in_the_map = (0..50).any(|_| {
            let output = run_while(strategy, truncate);
            assert_refused(strategy, &output, 65, "shrank while it was");
            String::from_utf8_lossy(&output.stderr).contains("shrank while it was mapped")
        });
        assert!(in_the_map, "{strategy}: the file never shrank in time");
    }
}
