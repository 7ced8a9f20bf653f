//! What the tests share: the strategies, files to read, and a plain reference for every work.

#![allow(dead_code, reason = "not every test file uses everything")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The works of the family `scan`.
pub const WORKS: [&str; 7] = [
    "xor",
    "sum",
    "newlines",
    "newlines-u32",
    "newlines-u64",
    "crc32",
    "touch",
];

/// Every strategy of a family, as `src/bin/` has them: a new file is tested without being named.
pub fn strategies(family: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .filter(|name| name.starts_with(&format!("{family}-")))
        .collect();
    names.sort();
    assert!(names.len() > 1, "{family}: {names:?}");
    names
}

/// The strategy's program, built by Cargo for this test.
pub fn program(strategy: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_scan-read")).with_file_name(strategy)
}

/// The strategy as a command, with no record to append unless a test asks for one.
pub fn command(strategy: &str) -> Command {
    let mut command = Command::new(program(strategy));
    command.env_remove("READOFF_RECORD");
    command
}

/// Runs the strategy to its end.
pub fn run(strategy: &str, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    command(strategy).args(args).output().unwrap()
}

/// Whether the strategy said that it can't run on this system or filesystem.
pub fn unavailable(strategy: &str, output: &Output) -> bool {
    let unavailable = output.status.code() == Some(69);
    if unavailable {
        eprint!(
            "skipped: {strategy}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    unavailable
}

/// Asserts that the output is one line on stderr that begins with the program's name and contains
/// `about`, nothing on stdout, and that exit code.
#[track_caller]
pub fn assert_refused(strategy: &str, output: &Output, exit: i32, about: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{strategy}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{strategy}: {stderr}");
    assert!(stderr.starts_with(&format!("{strategy}: ")), "{stderr}");
    assert!(stderr.contains(about), "{strategy}: {stderr}");
    assert!(output.stdout.is_empty(), "{strategy}");
}

/// What a work must answer, computed byte by byte.
pub fn reference(work: &str, bytes: &[u8]) -> String {
    match work {
        "xor" => format!("{:02x}", bytes.iter().fold(0, |xor, byte| xor ^ byte)),
        "sum" => bytes
            .iter()
            .map(|&byte| u64::from(byte))
            .sum::<u64>()
            .to_string(),
        "newlines" | "newlines-u32" | "newlines-u64" => bytes
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            .to_string(),
        "crc32" => format!("{:08x}", crc32(bytes)),
        "touch" => bytes
            .iter()
            .step_by(4096)
            .map(|&byte| u64::from(byte))
            .sum::<u64>()
            .to_string(),
        _ => panic!("no such work: {work}"),
    }
}

/// CRC-32 (IEEE 802.3, reflected polynomial 0xedb88320), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    })
}

/// The line that a strategy prints for a file of these bytes.
pub fn expected(work: &str, bytes: &[u8]) -> String {
    format!("{work} {}  {} bytes\n", reference(work, bytes), bytes.len())
}

/// That many random bytes, the same ones each time.
pub fn random(length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(length as u64);
    (0..length).map(|_| random.u8(..)).collect()
}

/// Lines of random letters, up to `longest` bytes each, with `newline` after each; `length` bytes
/// in all, so the last line may be cut.
pub fn text(length: usize, longest: usize, newline: &str) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(longest as u64);
    let mut text = Vec::new();
    while text.len() < length {
        let line = random.usize(0..=longest);
        text.extend((0..line).map(|_| random.lowercase() as u8));
        text.extend(newline.as_bytes());
    }
    text.truncate(length);
    text
}
