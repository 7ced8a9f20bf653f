//! Which files the arguments mean.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use pagecache::{Error, OneLine, describe, filesystem};

use crate::commands::{complain, say};

/// The files named and those below the folders named, in order, each once. What isn't a regular file
/// in a folder is named on stderr and passed over; links are not followed there. The second value is
/// the exit code of the first folder that couldn't be read, or 0.
pub fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, u8) {
    let mut walk = Walk::default();
    for path in paths {
        if path.is_dir() {
            walk.folder(path);
        } else {
            // Whether it's there and can be read is for the one who opens it to say.
            walk.add(path.clone());
        }
    }
    (walk.files, walk.code)
}

#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    /// Device and inode: a hard link is no second file.
    seen: HashSet<(u64, u64)>,
    code: u8,
}

impl Walk {
    fn folder(&mut self, top: &Path) {
        // A stack of our own: folders may be nested deeper than ours reaches.
        let mut pending = vec![top.to_owned()];
        while let Some(path) = pending.pop() {
            match fs::symlink_metadata(&path).map(|metadata| metadata.file_type()) {
                Err(cause) => self.fail(&path, cause.to_string()),
                Ok(kind) if kind.is_file() => self.add(path),
                Ok(kind) if kind.is_dir() || path == top => self.push_entries(&path, &mut pending),
                Ok(kind) => say(format_args!(
                    "{}: passed over: {}",
                    OneLine(&path),
                    describe(kind)
                )),
            }
        }
    }

    fn push_entries(&mut self, folder: &Path, pending: &mut Vec<PathBuf>) {
        if filesystem(folder).is_ok_and(|filesystem| filesystem.synthetic) {
            return self.fail(
                folder,
                "has no files, only what the kernel makes up".to_owned(),
            );
        }
        let entries = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        match entries {
            Err(cause) => self.fail(folder, cause.to_string()),
            Ok(entries) => {
                let mut entries: Vec<PathBuf> = entries;
                entries.sort_unstable_by(|a, b| b.cmp(a));
                pending.append(&mut entries);
            }
        }
    }

    fn add(&mut self, path: PathBuf) {
        let is_new = match fs::metadata(&path) {
            Ok(metadata) => self.seen.insert((metadata.dev(), metadata.ino())),
            Err(_) => true,
        };
        if is_new {
            self.files.push(path);
        }
    }

    fn fail(&mut self, path: &Path, why: String) {
        let code = complain(&Error::NoInput(path.to_owned(), why));
        if self.code == 0 {
            self.code = code;
        }
    }
}
