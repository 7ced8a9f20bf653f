//! The family `seek`, against plain references.

mod bad_input;
mod blocks;
mod boxes;
#[path = "../common/mod.rs"]
mod common;
mod options;
mod reference;
mod row_index;
mod rows;

use std::fs;
use std::path::Path;

use common::{command, strategies, unavailable};

/// Runs every strategy of the family with the options on `file`, and asserts that it prints just
/// that.
#[track_caller]
fn assert_all_print(options: &[&str], file: &Path, expected: &str) {
    for strategy in strategies("seek") {
        let mut command = command(&strategy);
        let output = command.args(options).arg(file).output().unwrap();
        if unavailable(&strategy, &output) {
            continue;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(stdout, expected, "{command:?}: {stderr}");
        assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    }
}

/// Runs every strategy of the family with the options on `file`, and asserts that it refuses it.
#[track_caller]
fn assert_all_refuse(options: &[&str], file: &Path, exit: i32, about: &str) {
    for strategy in strategies("seek") {
        let output = command(&strategy).args(options).arg(file).output().unwrap();
        if !unavailable(&strategy, &output) {
            common::assert_refused(&strategy, &output, exit, about);
        }
    }
}

/// A file of those bytes, in a folder of its own.
fn file_of(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, bytes).unwrap();
    (folder, file)
}
