//! What the tests of the family `rewrite` share: a file, and a scratch folder beside it.

#![allow(dead_code, reason = "not every test file uses everything")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::command;

/// The strategies that write a second file.
pub const COPY: [&str; 3] = [
    "rewrite-mmap-copy",
    "rewrite-read-write-copy",
    "rewrite-stdio-copy",
];

/// The strategies that write to a copy that is there.
pub const INPLACE: [&str; 2] = ["rewrite-mmap-inplace", "rewrite-pwrite-inplace"];

/// Every program that takes `--scratch`.
pub const ALL: [&str; 6] = [
    COPY[0],
    COPY[1],
    COPY[2],
    INPLACE[0],
    INPLACE[1],
    "verify-rewrite",
];

pub struct Scene {
    pub folder: TempDir,
    pub file: PathBuf,
    pub scratch: PathBuf,
}

impl Scene {
    /// A file of these bytes, and an empty scratch folder.
    pub fn new(bytes: &[u8]) -> Scene {
        Scene::within(tempfile::tempdir().unwrap(), bytes)
    }

    /// The same in a folder of the caller's.
    pub fn within(folder: TempDir, bytes: &[u8]) -> Scene {
        let (file, scratch) = (folder.path().join("file"), folder.path().join("scratch"));
        fs::write(&file, bytes).unwrap();
        make_scratch(&scratch);
        Scene {
            folder,
            file,
            scratch,
        }
    }

    pub fn copy(&self) -> PathBuf {
        self.scratch.join("copy")
    }

    /// Makes what the strategy needs: a fresh copy for one that works in place, none for others.
    pub fn prepare(&self, strategy: &str) {
        let _ = fs::remove_file(self.copy());
        if !COPY.contains(&strategy) {
            fs::copy(&self.file, self.copy()).unwrap();
        }
    }

    pub fn command(&self, strategy: &str) -> Command {
        let mut command = command(strategy);
        command.arg("--scratch").arg(&self.scratch).arg(&self.file);
        command
    }

    pub fn run(&self, strategy: &str, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
        self.command(strategy).args(args).output().unwrap()
    }
}

/// What `pagecache prepare --scratch` makes.
pub fn make_scratch(folder: &Path) {
    fs::create_dir(folder).unwrap();
    fs::write(folder.join(".readoff-scratch"), "a scratch folder\n").unwrap();
}

/// Every byte plus one: the reference.
pub fn plus_one(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .map(|&byte| if byte == 255 { 0 } else { byte + 1 })
        .collect()
}

/// The line that a strategy prints for a file of these bytes.
pub fn told(bytes: &[u8]) -> String {
    let sum: u64 = plus_one(bytes).iter().map(|&byte| u64::from(byte)).sum();
    format!("add-one {sum}  {} bytes\n", bytes.len())
}

/// Every file, folder and link below `folder`, with what is in it and which one it is.
pub fn everything(folder: &Path) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let contents = if metadata.is_file() {
            fs::read(&path).unwrap()
        } else if metadata.is_dir() {
            found.extend(everything(&path));
            Vec::new()
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            target.into_os_string().into_encoded_bytes()
        } else {
            Vec::new()
        };
        found.insert(path, (metadata.ino(), contents));
    }
    found
}
