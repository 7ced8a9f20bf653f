//! What the tests share. The judge is always a mincore(2) of the tests' own, run by the file's owner.
#![allow(missing_docs, dead_code, reason = "each test binary uses its own part")]

pub mod mounts;

use std::{
    fs::{self, File},
    io::Write,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    ptr,
    time::Duration,
};

use assert_cmd::Command;
use tempfile::TempDir;

pub const PAGE: u64 = 4096;
pub const MIB: u64 = 1 << 20;

/// `pagecache`, ended if it hangs.
pub fn pagecache() -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("pagecache");
    command.timeout(Duration::from_secs(60));
    command.env_remove("READOFF_RECORD");
    command
}

/// A folder on the disk that the build is on; none, with a word, if files there have no cold state
/// or one that can't be seen.
pub fn folder(test: &str) -> Option<TempDir> {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let filesystem = pagecache::filesystem(folder.path()).unwrap();
    if filesystem.has_cold_state && filesystem.residency_known {
        return Some(folder);
    }
    eprintln!("skipped: {test}: the build is on {}", filesystem.name);
    None
}

pub fn is_root() -> bool {
    // SAFETY: geteuid has no arguments and can't fail.
    unsafe { libc::geteuid() == 0 }
}

/// Writes `bytes` that repeat only at a distance, so that a compressing filesystem has something to
/// do, and syncs them.
pub fn write(path: &Path, bytes: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(&contents(bytes)).unwrap();
    file.sync_all().unwrap();
}

pub fn contents(bytes: u64) -> Vec<u8> {
    (0..bytes)
        .map(|index| (index / 7 * 31 % 251) as u8)
        .collect()
}

/// Reads the page at each index alone.
pub fn touch_pages(path: &Path, indices: &[u64]) {
    let file = File::open(path).unwrap();
    // SAFETY: no memory is passed.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    for index in indices {
        file.read_exact_at(&mut [0], index * PAGE).unwrap();
    }
}

pub fn read(path: &Path) {
    fs::read(path).unwrap();
}

/// A mapping of a file, for as long as it lives.
pub struct Map {
    address: *mut libc::c_void,
    length: usize,
}

impl Map {
    pub fn new(path: &Path) -> Map {
        let file = File::open(path).unwrap();
        let length = file.metadata().unwrap().len() as usize;
        // SAFETY: a new shared mapping that the kernel places.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        assert_ne!(address, libc::MAP_FAILED);
        Map { address, length }
    }

    /// Reads the first byte of each page of the first `bytes`.
    pub fn touch(&self, bytes: u64) {
        for offset in (0..bytes as usize).step_by(PAGE as usize) {
            // SAFETY: within the mapping, and the tests don't shrink mapped files.
            unsafe { self.address.cast::<u8>().add(offset).read_volatile() };
        }
    }

    pub fn lock(&self, bytes: u64) {
        // SAFETY: within the mapping.
        assert_eq!(unsafe { libc::mlock(self.address, bytes as usize) }, 0);
    }

    pub fn resident_pages(&self) -> u64 {
        let mut vector = vec![0u8; self.length.div_ceil(PAGE as usize)];
        // SAFETY: the mapping has `length` bytes and the vector one a page.
        let result = unsafe { libc::mincore(self.address, self.length, vector.as_mut_ptr()) };
        assert_eq!(result, 0);
        vector.iter().filter(|bits| *bits & 1 == 1).count() as u64
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing borrows it.
        unsafe { libc::munmap(self.address, self.length) };
    }
}

/// That `pages` are all of `of`, as far as that can be had: background reclaim (DAMON, kswapd) takes
/// pages of an idle file at any time, which is why the program calls 99 % warm.
pub fn assert_all_but_reclaimed(pages: u64, of: u64, what: &str) {
    assert!(
        pages <= of && pages * 100 >= of * 99,
        "{what}: {pages} of {of}"
    );
}

/// The judge: pages in core.
pub fn resident_pages(path: &Path) -> u64 {
    Map::new(path).resident_pages()
}

/// Minor faults of this thread while it touches all of a new mapping of `path`.
pub fn faults_of_a_scan(path: &Path, bytes: u64) -> i64 {
    let faults = || {
        // SAFETY: all fields are integers; the buffer is of the call's own type.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_minflt
        }
    };
    let map = Map::new(path);
    let before = faults();
    map.touch(bytes);
    faults() - before
}

/// The first file's object in `pagecache status --json`.
pub fn status(path: &Path) -> serde_json::Value {
    let output = pagecache()
        .args(["status", "--json"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["files"][0].clone()
}

/// `pagecache prepare --state STATE PATH`; returns the line it logged.
pub fn prepare(state: &str, path: &Path) -> pagecache::Prepared {
    let log = TempDir::new().unwrap();
    let log = log.path().join("log");
    pagecache()
        .env("READOFF_RECORD", &log)
        .args(["prepare", "--state", state])
        .arg(path)
        .assert()
        .success();
    let lines = logged(&log);
    assert_eq!(lines.len(), 1);
    lines.into_iter().next().unwrap()
}

/// The prepare lines of a log.
pub fn logged(log: &Path) -> Vec<pagecache::Prepared> {
    let text = fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| {
            assert!(line.starts_with(r#"{"kind":"prepare","#), "{line}");
            serde_json::from_str(line).unwrap()
        })
        .collect()
}

/// What a command said on stderr, which is one line.
pub fn one_line(output: &[u8]) -> String {
    let text = String::from_utf8(output.to_vec()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// A copy of the binary that anybody can run, in a folder that anybody can enter.
pub fn public_copy(folder: &TempDir) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("pagecache");
    fs::copy(assert_cmd::cargo::cargo_bin!("pagecache"), &copy).unwrap();
    copy
}
