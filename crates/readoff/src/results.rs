//! The results folder: where a race is published, and how nothing in it is ever half-written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::error::{Code, failure};
use crate::input::{LINK, plain};
use crate::plan::State;
use crate::race_lock::try_flock;

/// What tells a spoiled round's files from those of the round that replaced it.
const SPOILED: &str = ".spoiled";

/// The folder of one race.
#[derive(Debug)]
pub struct Folder {
    /// Its absolute path.
    pub path: PathBuf,
    /// Open and locked as long as we race in it.
    _lock: File,
}

/// The files of one round. The export is the last to get its name: where it is, the round is whole.
#[derive(Debug)]
pub struct RoundFiles {
    /// hyperfine's own export.
    pub export: PathBuf,
    /// The round's log: prepare lines and records.
    pub log: PathBuf,
}

impl Folder {
    /// Makes `<UTC time>-<host>-<suite>` under `root`, an absolute path.
    ///
    /// # Errors
    /// The folder can't be made: exit code 73.
    pub fn create(root: &Path, host: &str, suite: &str) -> Result<Folder> {
        let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        };
        let name: String = format!("{time}-{host}-{suite}")
            .chars()
            .map(plain)
            .collect();
        fs::create_dir_all(root).map_err(|e| cannot("make", root, &e))?;
        let names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}-{n}")));
        for name in names {
            let path = root.join(name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let rounds = path.join("rounds");
                    fs::create_dir(&rounds).map_err(|e| cannot("make", &rounds, &e))?;
                    return Folder::lock(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot("make", &path, &error)),
            }
        }
        unreachable!("the names never end")
    }

    /// The absolute path of an earlier race's folder, without links.
    ///
    /// # Errors
    /// There is no race in it: exit code 66.
    pub fn find(path: &Path) -> Result<PathBuf> {
        let refuse = |why: &str| failure(Code::NoInput, format!("{}: {why}", path.display()));
        // Not `latest`, which is a link that will be made anew.
        let real = fs::canonicalize(path).map_err(|e| refuse(&plain(&e)))?;
        if !real.join("race.json").is_file() {
            return Err(refuse("no race.json in it; name the folder of a race"));
        }
        Ok(real)
    }

    /// An earlier race's folder, for `--resume`.
    ///
    /// # Errors
    /// There is no race in it (exit code 66), or somebody races in it just now (75).
    pub fn open(path: &Path) -> Result<Folder> {
        Folder::lock(Folder::find(path)?)
    }

    /// Takes a folder for this process alone. The kernel lets go of it when we end, however we do.
    fn lock(path: PathBuf) -> Result<Folder> {
        let lock = File::open(&path).map_err(|e| cannot("lock", &path, &e))?;
        if !try_flock(&lock) {
            let what = format!(
                "{}: this race is under way; wait for its end",
                path.display()
            );
            return Err(failure(Code::TryAgain, what));
        }
        Ok(Folder { path, _lock: lock })
    }

    /// The file that is raced, where a link in the folder names it (see `Input::link_in`).
    pub fn input(&self) -> Option<PathBuf> {
        fs::read_link(self.path.join(LINK)).ok()
    }

    /// The files of a finished round.
    pub fn round(&self, state: State, number: u32) -> RoundFiles {
        self.files(&format!("{}-{number:03}", state.name()))
    }

    /// The files of a round that was run again, since the machine spoiled it.
    pub fn spoiled_round(&self, state: State, number: u32) -> RoundFiles {
        self.files(&format!("{}-{number:03}{SPOILED}", state.name()))
    }

    /// The names that a round's files have until it is whole.
    pub fn partial(&self) -> RoundFiles {
        self.files("partial")
    }

    fn files(&self, name: &str) -> RoundFiles {
        let file = |end: &str| self.path.join(format!("rounds/{name}.{end}"));
        RoundFiles {
            export: file("json"),
            log: file("log.jsonl"),
        }
    }

    /// Gives a round's files their names. A round of this number that is there was spoiled: it is
    /// kept beside. Its export goes first, so that at no moment half of a round counts.
    pub fn finish_round(&self, state: State, number: u32) -> Result<()> {
        let (before, aside) = (self.round(state, number), self.spoiled_round(state, number));
        if before.export.exists() {
            for (from, to) in [(before.export, aside.export), (before.log, aside.log)] {
                fs::rename(&from, &to).map_err(|e| cannot("write", &to, &e))?;
            }
        }
        let (from, to) = (self.partial(), self.round(state, number));
        for (from, to) in [(from.log, to.log), (from.export, to.export)] {
            fs::rename(&from, &to).map_err(|e| cannot("write", &to, &e))?;
        }
        Ok(())
    }

    /// Removes what an interrupted round left.
    pub fn clear_partial(&self) {
        let partial = self.partial();
        for path in [partial.export, partial.log] {
            let _ = fs::remove_file(path);
        }
    }

    /// The numbers of the finished rounds of a state, ascending.
    pub fn finished(&self, state: State) -> Vec<u32> {
        self.numbers(state, ".json")
    }

    /// The numbers of the rounds that were spoiled and run again, ascending. One that a kill left
    /// without its log can't be read any more.
    pub fn spoiled(&self, state: State) -> Vec<u32> {
        let mut numbers = self.numbers(state, &format!("{SPOILED}.json"));
        numbers.retain(|number| self.spoiled_round(state, *number).log.exists());
        numbers
    }

    fn numbers(&self, state: State, suffix: &str) -> Vec<u32> {
        let prefix = format!("{}-", state.name());
        let entries = fs::read_dir(self.path.join("rounds")).into_iter().flatten();
        let mut numbers: Vec<u32> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| {
                name.strip_prefix(&prefix)?
                    .strip_suffix(suffix)?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Writes a file whole or not at all: beside its place, then renamed into it.
    ///
    /// # Errors
    /// The disk is full or read-only: exit code 73. What was there before stays.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let write = || -> io::Result<()> {
            let readable = PermissionsExt::from_mode(0o644);
            let mut file = tempfile::Builder::new()
                .prefix(".writing-")
                .permissions(readable)
                .tempfile_in(&self.path)?;
            file.write_all(content)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|e| cannot("write", &path, &e))
    }

    /// Points `latest`, beside the folder, at it. It is a convenience: where it can't be made (a
    /// filesystem without links), the race counts all the same.
    pub fn point_latest(&self) {
        let (Some(root), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return;
        };
        let beside = root.join(format!(".latest-{}", std::process::id()));
        if symlink(name, &beside).is_ok() && fs::rename(&beside, root.join("latest")).is_err() {
            let _ = fs::remove_file(&beside);
        }
    }
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    failure(
        Code::CantCreate,
        format!("{}: can't {verb} it: {}", path.display(), plain(error)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_races_in_the_same_second_get_folders_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let a = Folder::create(root.path(), "my host/1", "scan").unwrap();
        let b = Folder::create(root.path(), "my host/1", "scan").unwrap();
        assert_ne!(a.path, b.path);
        assert!(a.path.to_string_lossy().contains("-my-host-1-scan"));
        b.point_latest();
        assert_eq!(
            fs::canonicalize(root.path().join("latest")).unwrap(),
            fs::canonicalize(&b.path).unwrap()
        );
    }

    #[test]
    fn a_round_counts_once_its_export_has_its_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(root.path(), "h", "s").unwrap();
        for path in [folder.partial().export, folder.partial().log] {
            fs::write(path, "").unwrap();
        }
        assert!(folder.finished(State::Warm).is_empty());
        folder.finish_round(State::Warm, 3).unwrap();
        assert_eq!(folder.finished(State::Warm), [3]);
        assert!(folder.finished(State::WarmRandom).is_empty());
    }

    #[test]
    fn a_round_that_is_run_again_is_kept_beside_the_new_one() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(root.path(), "h", "s").unwrap();
        for content in ["first", "second"] {
            for path in [folder.partial().export, folder.partial().log] {
                fs::write(path, content).unwrap();
            }
            folder.finish_round(State::Warm, 3).unwrap();
        }
        assert_eq!(folder.finished(State::Warm), [3]);
        assert_eq!(folder.spoiled(State::Warm), [3]);
        let (new, old) = (
            folder.round(State::Warm, 3),
            folder.spoiled_round(State::Warm, 3),
        );
        for (path, content) in [
            (&new.export, "second"),
            (&new.log, "second"),
            (&old.export, "first"),
            (&old.log, "first"),
        ] {
            assert_eq!(fs::read_to_string(path).unwrap(), content);
        }
        fs::remove_file(old.log).unwrap();
        assert_eq!(folder.spoiled(State::Warm), [] as [u32; 0], "killed then");
    }

    #[test]
    fn a_file_is_written_whole_and_readable_by_all() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(root.path(), "h", "s").unwrap();
        folder.write("a.json", b"1").unwrap();
        folder.write("a.json", b"22").unwrap();
        assert_eq!(fs::read(folder.path.join("a.json")).unwrap(), b"22");
        let left = fs::read_dir(&folder.path).unwrap().count();
        assert_eq!(left, 2, "a.json and rounds, no temporary file");
    }
}
