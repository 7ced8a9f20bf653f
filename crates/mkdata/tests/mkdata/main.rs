//! `mkdata` as its users run it.

use std::path::Path;
use std::process::Command as Process;

use assert_cmd::Command;
use tempfile::TempDir;

mod blocks;
mod csv;
mod measurements;
mod mp4;
mod output;
mod text;

/// `mkdata` with these words as arguments, run in `dir`.
fn mkdata(dir: &TempDir, arguments: &str) -> Command {
    Command::from_std(mkdata_process(dir.path(), arguments))
}

fn mkdata_process(dir: &Path, arguments: &str) -> Process {
    let mut command = Process::new(env!("CARGO_BIN_EXE_mkdata"));
    command.current_dir(dir).args(arguments.split_whitespace());
    command
}

/// What `mkdata` writes for these arguments, as bytes.
fn made(arguments: &str) -> Vec<u8> {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, &format!("{arguments} data"))
        .assert()
        .success();
    std::fs::read(dir.path().join("data")).unwrap()
}

/// The names in `dir`, sorted: what a run has left behind.
fn names_in(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().into_string().unwrap()
    };
    let mut names: Vec<String> = dir.read_dir().unwrap().map(name).collect();
    names.sort();
    names
}
