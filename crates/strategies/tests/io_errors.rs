//! A file with a page that can't be read is one line, not a core and not a hang.

#![cfg(target_os = "linux")] // Loop devices.

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{assert_refused, command, random, strategies, unavailable};

/// A file on a filesystem whose image is cut off in the middle of it.
struct Damaged {
    mount: PathBuf,
    _folder: tempfile::TempDir,
}

impl Damaged {
    /// `None`, with the reason, where no image can be mounted.
    fn new() -> Option<Damaged> {
        let folder = tempfile::tempdir().unwrap();
        let (image, mount) = (folder.path().join("image"), folder.path().join("mount"));
        File::create(&image).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(&mount).unwrap();
        if !runs("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), &image]) || !attach(&image, &mount) {
            eprintln!(
                "skipped: a page that can't be read: needs root, mkfs.ext4 and a loop device"
            );
            return None;
        }
        let damaged = Damaged {
            mount,
            _folder: folder,
        };
        fs::write(damaged.file(), random(40 << 20)).unwrap();
        // Mounted anew, nothing of it is in memory.
        assert!(runs("umount", &[&damaged.mount]));
        assert!(attach(&image, &damaged.mount));
        File::options()
            .write(true)
            .open(&image)
            .unwrap()
            .set_len(40 << 20)
            .unwrap();
        Some(damaged)
    }

    fn file(&self) -> PathBuf {
        self.mount.join("file")
    }
}

impl Drop for Damaged {
    fn drop(&mut self) {
        runs("umount", &[&self.mount]);
    }
}

fn attach(image: &Path, mount: &Path) -> bool {
    runs("mount", &["-o".as_ref(), "loop".as_ref(), image, mount])
}

fn runs(program: &str, args: &[&Path]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// `MAP_POPULATE` would try the page for ever, and a map raises SIGBUS.
#[test]
fn a_page_that_cannot_be_read_is_an_io_error() {
    let Some(damaged) = Damaged::new() else {
        return;
    };
    for strategy in strategies("scan") {
        let mut command = command(&strategy);
        command
            .arg(damaged.file())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{strategy} hangs");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let output = child.wait_with_output().unwrap();
        if !unavailable(&strategy, &output) {
            let file = damaged.file();
            assert_refused(&strategy, &output, 74, file.to_str().unwrap());
        }
    }
}
