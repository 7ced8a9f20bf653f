//! One race at a time: two on one machine would time each other.
//!
//! The lock is a file beside the results, `.lock`, since nothing is written elsewhere: races whose
//! results go to different folders don't see each other so, only as load (see
//! [`crate::environment::load`]). The kernel lets go of it when its holder ends, however it does, and
//! no program that we start inherits it (std opens all files with O_CLOEXEC). The file stays: to
//! remove it would let a third take another file of the same name while a second waits for this one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::error::{Code, failure};
use crate::input::plain;
use crate::process::INTERRUPTED;
use crate::progress::Progress;

/// The lock's name in the results' folder.
const NAME: &str = ".lock";

/// How often it is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Held as long as we race.
#[derive(Debug)]
pub struct RaceLock(File);

impl RaceLock {
    /// Takes the lock of a results' folder, which is made where it is missing; with `wait`, as soon
    /// as the race that has it is over.
    ///
    /// # Errors
    /// Another race is under way, and we don't wait: exit code 75. Interrupted while waiting: 130.
    /// The lock can't be made: 73.
    pub fn take(root: &Path, wait: bool, progress: &Progress) -> Result<RaceLock> {
        let path = root.join(NAME);
        let cannot = |path: &Path, e: &io::Error| {
            let what = format!("{}: can't make it: {}", path.display(), plain(e));
            failure(Code::CantCreate, what)
        };
        fs::create_dir_all(root).map_err(|e| cannot(root, &e))?;
        let mut options = OpenOptions::new();
        let open = options.write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(|e| cannot(&path, &e))?;
        while !try_flock(&file) {
            let holder = holder(&path);
            if !wait {
                let what = format!(
                    "another race is under way: {holder} ({}); --wait begins when it is over",
                    path.display()
                );
                return Err(failure(Code::TryAgain, what));
            }
            progress.note_once(&format!("waiting for another race to end: {holder}"));
            if INTERRUPTED.load(Ordering::SeqCst) {
                let what = "interrupted while waiting for another race";
                return Err(failure(Code::Interrupted, what));
            }
            thread::sleep(PAUSE);
        }
        let lock = RaceLock(file);
        // For people only: a full disk doesn't stop the race here.
        let _ = lock.sign();
        Ok(lock)
    }

    /// As [`RaceLock::take`], for the race in `folder`: with the lock beside it, or, if it is one of a
    /// folder's races, with that of the whole.
    pub fn take_for(folder: &Path, wait: bool, progress: &Progress) -> Result<RaceLock> {
        let above: Vec<PathBuf> = folder
            .ancestors()
            .skip(1)
            .take(2)
            .map(Path::to_path_buf)
            .collect();
        let locked = above.iter().find(|root| root.join(NAME).is_file());
        let root = locked.or(above.first()).map_or(folder, |root| root);
        RaceLock::take(root, wait, progress)
    }

    /// Writes who we are, and since when.
    fn sign(&self) -> io::Result<()> {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        self.0.set_len(0)?;
        (&self.0).write_all(format!("process {}, since {now}\n", process::id()).as_bytes())
    }
}

impl Drop for RaceLock {
    /// Nobody holds it any more, so it names nobody.
    fn drop(&mut self) {
        let _ = self.0.set_len(0);
    }
}

/// What the holder wrote; nothing in the moment before it has.
fn holder(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    match text.trim() {
        "" => "who has it is not known yet".into(),
        holder => holder.into(),
    }
}

/// Takes a file for this process alone, by flock(2); false where another has it. Some network
/// filesystems know no locks; there, nobody is kept out.
pub fn try_flock(file: &File) -> bool {
    // SAFETY: flock(2) takes two integers and touches no memory of ours.
    let taken = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
    !(taken && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(root: &Path) -> Result<RaceLock> {
        RaceLock::take(root, false, &Progress::new(true))
    }

    #[test]
    fn the_second_is_told_who_is_first_and_the_third_comes_after() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("results");
        let first = take(&root).unwrap();
        let refused = take(&root).unwrap_err();
        assert_eq!(crate::error::code_of(&refused), 75);
        let says = format!("process {}, since ", process::id());
        assert!(refused.to_string().contains(&says), "{refused}");
        drop(first);
        assert_eq!(fs::read_to_string(root.join(NAME)).unwrap(), "");
        take(&root).unwrap();
    }

    #[test]
    fn a_race_of_a_folder_is_locked_with_the_whole() {
        let root = tempfile::tempdir().unwrap();
        let race = root.path().join("whole/race");
        let whole = take(root.path()).unwrap();
        let progress = Progress::new(true);
        assert!(RaceLock::take_for(&race, false, &progress).is_err());
        assert!(RaceLock::take_for(&root.path().join("other"), false, &progress).is_err());
        drop(whole);
        RaceLock::take_for(&race, false, &progress).unwrap();
    }
}
