//! A place for a race, and a `readoff` that is run in it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// No call of `readoff` in these tests takes longer; one that does, hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of a test's own: its files, and the results below it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// On the build folder's disk: a temporary folder may be in memory, where nothing is ever cold.
    pub fn new() -> Place {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Place { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file of `size` bytes, with some newlines among them.
    pub fn file(&self, name: impl AsRef<OsStr>, size: usize) -> PathBuf {
        let path = self.path().join(name.as_ref());
        fs::write(&path, content(size)).unwrap();
        path
    }

    /// A program: a script for `sh`. Another process writes it: a file that this one writes, with a
    /// test beside it that forks just then, can't be executed for a moment ("Text file busy").
    pub fn script(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path().join(name);
        let write = r#"mkdir -p "${1%/*}" && rm -f "$1" && printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh"]).arg(&path).arg(script);
        assert!(shell.status().unwrap().success());
        path
    }

    /// Links to all of the project's programs, so that a test can put another one in their place.
    pub fn programs(&self) -> PathBuf {
        let folder = self.path().join("programs");
        fs::create_dir(&folder).unwrap();
        for entry in fs::read_dir(beside_readoff()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.contains('.') && path.is_file() {
                std::os::unix::fs::symlink(&path, folder.join(name)).unwrap();
            }
        }
        folder
    }

    pub fn results(&self) -> PathBuf {
        self.path().join("results")
    }

    /// The folders of all races so far, the oldest first.
    pub fn races(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.results()).into_iter().flatten();
        let mut races: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir() && !path.is_symlink())
            .collect();
        races.sort();
        races
    }

    /// The folder of the only race.
    pub fn race(&self) -> PathBuf {
        let races = self.races();
        assert_eq!(races.len(), 1, "{races:?}");
        races[0].clone()
    }

    /// Sees that nothing was published.
    pub fn has_no_race(&self) {
        assert_eq!(self.races(), [] as [PathBuf; 0]);
    }

    /// `readoff`, in this place, with some hyperfine.
    pub fn readoff<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Readoff {
        let mut command = Command::new(env!("CARGO_BIN_EXE_readoff"));
        command
            .current_dir(self.path())
            .args(arguments)
            .env("READOFF_SUITES", suites())
            .env("READOFF_RESULTS", self.results())
            .env_remove("READOFF_PROGRAMS")
            .env_remove("READOFF_RECORD")
            .env_remove("HYPERFINE")
            .stdin(Stdio::null());
        if let Some(hyperfine) = some_hyperfine() {
            command.env("HYPERFINE", hyperfine);
        }
        Readoff { command }
    }

    /// `readoff run FILE` with `--quiet`, so that standard error has errors and nothing else.
    pub fn race_on(&self, file: impl AsRef<OsStr>) -> Readoff {
        let words = [OsStr::new("run"), OsStr::new("--quiet"), file.as_ref()];
        self.readoff(words)
    }
}

/// A `readoff` about to run.
pub struct Readoff {
    pub command: Command,
}

impl Readoff {
    /// More arguments, divided by spaces.
    pub fn with(mut self, arguments: &str) -> Readoff {
        self.command.args(arguments.split_whitespace());
        self
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Readoff {
        self.command.arg(argument);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Readoff {
        self.command.env(name, value);
        self
    }

    pub fn without_env(mut self, name: &str) -> Readoff {
        self.command.env_remove(name);
        self
    }

    /// This hyperfine instead of whatever is there.
    pub fn under(self, hyperfine: &Path) -> Readoff {
        self.env("HYPERFINE", hyperfine)
    }

    /// Two entries, and so few rounds that it is soon over.
    pub fn small(self) -> Readoff {
        self.with("--entries read,mmap --rounds 2")
    }

    pub fn start(mut self) -> Running {
        let output = || tempfile::tempfile().unwrap();
        let (stdout, stderr) = (output(), output());
        self.command
            .stdout(stdout.try_clone().unwrap())
            .stderr(stderr.try_clone().unwrap());
        let child = self.command.spawn().unwrap();
        Running {
            child,
            stdout,
            stderr,
        }
    }

    /// Runs it to its end.
    pub fn run(self) -> Outcome {
        self.start().wait()
    }

    /// Runs it and sees that it succeeds.
    pub fn succeeds(self) -> Outcome {
        let outcome = self.run();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome
    }

    /// Runs it and sees that it fails as it should: with this exit code, and with one line on standard
    /// error that holds all of `says`.
    pub fn fails(self, code: i32, says: &[&str]) -> Outcome {
        let outcome = self.run();
        outcome.failed(code, says);
        outcome
    }
}

/// A `readoff` that runs.
pub struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Running {
    pub fn signal(&self, signal: libc::c_int) {
        let process = self.child.id() as libc::pid_t;
        // SAFETY: kill(2) takes two integers.
        let sent = unsafe { libc::kill(process, signal) } == 0;
        assert!(sent);
    }

    /// Waits for its end; one that doesn't come is a failure.
    pub fn wait(mut self) -> Outcome {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                self.signal(libc::SIGTERM);
                let status = self.child.wait().unwrap();
                let (stdout, stderr) = (text(self.stdout), text(self.stderr));
                panic!("hangs, then {status}; stdout: {stdout:?}, stderr: {stderr:?}");
            }
            thread::sleep(Duration::from_millis(5));
        };
        Outcome {
            code: status.code(),
            signal: status.signal(),
            stdout: text(self.stdout),
            stderr: text(self.stderr),
        }
    }
}

/// How it ended, and what it printed.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Sees that it failed with this exit code, and one line on standard error that holds all of `says`.
    pub fn failed(&self, code: i32, says: &[&str]) {
        assert_eq!((self.code, self.signal), (Some(code), None), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "one line: {self:?}");
        assert!(self.stderr.starts_with("readoff: "), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        for says in says {
            assert!(self.stderr.contains(says), "{says:?} is not in {self:?}");
        }
    }

    /// Sees that its standard output holds this.
    pub fn prints(&self, text: &str) {
        assert!(self.stdout.contains(text), "{text:?} is not in {self:?}");
    }
}

fn text(mut file: File) -> String {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits until something has come true.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Bytes with a newline here and there; the last byte is none.
pub fn content(size: usize) -> Vec<u8> {
    let byte = |i: usize| {
        if i % 37 == 11 {
            b'\n'
        } else {
            (i * i / 7) as u8 | 1
        }
    };
    let mut bytes: Vec<u8> = (0..size).map(byte).collect();
    if let Some(last) = bytes.last_mut() {
        *last = b'x';
    }
    bytes
}

pub fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hyperfine/suites")
}

pub fn beside_readoff() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_readoff")).parent().unwrap()
}

/// The real hyperfines that are there, by the variable that names each.
fn real_hyperfines() -> impl Iterator<Item = (&'static str, Option<OsString>)> {
    ["HYPERFINE_1_20", "HYPERFINE_2_0", "HYPERFINE_1_15"]
        .into_iter()
        .map(|variable| (variable, std::env::var_os(variable)))
}

fn some_hyperfine() -> Option<OsString> {
    let on_path = || Command::new("hyperfine").arg("--version").output().is_ok();
    real_hyperfines()
        .find_map(|(_, path)| path)
        .or_else(|| on_path().then(|| "hyperfine".into()))
}

/// Whether there is a hyperfine at all; a test without one is skipped by name.
pub fn has_hyperfine(test: &str) -> bool {
    let found = some_hyperfine().is_some();
    if !found {
        eprintln!("skipped: {test}: no hyperfine (HYPERFINE_1_20 is not set)");
    }
    found
}

/// The path of some real hyperfine, for a script that wraps it.
pub fn real_hyperfine(test: &str) -> Option<String> {
    has_hyperfine(test).then(|| some_hyperfine().unwrap().into_string().unwrap())
}

/// Runs a test with each hyperfine that is there.
pub fn each_version(test: &str, run: impl Fn(&Path)) {
    for (variable, path) in real_hyperfines() {
        match path {
            Some(path) => run(Path::new(&path)),
            None => eprintln!("skipped: {test}: {variable} is not set"),
        }
    }
}

pub fn is_root() -> bool {
    // SAFETY: geteuid(2) can't fail.
    unsafe { libc::geteuid() == 0 }
}

/// Whether a test that needs root can run; else it is skipped by name.
pub fn needs_root(test: &str) -> bool {
    if !is_root() {
        eprintln!("skipped: {test}: needs root");
    }
    is_root()
}

pub fn json(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// The rows of a race's `runs.csv` that count, each by column. Others are there where the machine was
/// disturbed, as it may be while tests run.
pub fn runs(race: &Path) -> Vec<Value> {
    let mut reader = csv::Reader::from_path(race.join("runs.csv")).unwrap();
    let head = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            let cells = head.iter().zip(row.iter());
            cells
                .map(|(name, cell)| (name.to_string(), Value::from(cell)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        })
        .filter(|row: &Value| row["counted"] == "yes")
        .collect()
}

/// A cell as a number.
pub fn number(row: &Value, column: &str) -> f64 {
    let cell = row[column].as_str().unwrap();
    cell.parse()
        .unwrap_or_else(|_| panic!("{column} is {cell:?} in {row}"))
}

/// The processes that have `text` in their command line.
#[cfg(target_os = "linux")]
pub fn processes_with(text: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        let line = fs::read(path.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let pid = path.file_name()?.to_str()?.parse::<u32>().ok()?;
        (line.contains(text) && pid != std::process::id()).then_some(line)
    });
    processes.collect()
}

/// The names in a race's `rounds` folder, sorted; without those of rounds that were run again.
pub fn rounds(race: &Path) -> Vec<String> {
    let entries = fs::read_dir(race.join("rounds")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains(".spoiled."))
        .collect();
    names.sort();
    names
}
