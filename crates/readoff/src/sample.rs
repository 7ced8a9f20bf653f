//! The sample file that is raced when none is named.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::environment::memory_available;
use crate::error::{Code, failure};
use crate::format::size;
use crate::hyperfine::process::Ended;
use crate::process;
use crate::programs::Programs;
use crate::progress::Progress;

/// The sample's size in bytes, where disk and memory have room for it.
const SIZE: u64 = 1 << 30;

/// The sample: made once, kept in the data folder, reused. It is about 1 GiB, or halved until it
/// takes no more than a quarter of the free memory and of the free disk.
///
/// # Errors
/// There is no data folder (an installed readoff has none), the sample can't be made, or a dry run
/// would have to make it.
pub fn sample(programs: &Programs, dry_run: bool, progress: &Progress) -> Result<PathBuf> {
    let folder = programs.data().ok_or_else(|| {
        failure(
            Code::Usage,
            "name a file: a sample is only made beside the project's own build",
        )
    })?;
    if dry_run && !folder.is_dir() {
        return Err(no_sample());
    }
    fs::create_dir_all(&folder)
        .map_err(|e| failure(Code::CantCreate, format!("{}: {e}", folder.display())))?;
    let path_of = |bytes: u64| folder.join(format!("measurements-{}MiB.txt", bytes >> 20));
    let memory = memory_available().unwrap_or(u64::MAX);
    let mut bytes = SIZE;
    // A sample that is there takes no more disk.
    let room = memory.min(disk_available(&folder).unwrap_or(u64::MAX)) / 4;
    while bytes > 1 << 20
        && bytes
            > if path_of(bytes).is_file() {
                memory / 4
            } else {
                room
            }
    {
        bytes /= 2;
    }
    let path = path_of(bytes);
    if dry_run && !path.is_file() {
        return Err(no_sample());
    }
    if !path.is_file() {
        progress.note(&format!(
            "making a sample of {}: {}",
            size(bytes),
            path.display()
        ));
        let mut mkdata = Command::new(programs.path("mkdata")?);
        mkdata
            .args(["measurements", "--quiet", "--size", &bytes.to_string()])
            .arg(&path);
        let finished = process::run(&mut mkdata, None).context("mkdata")?;
        if let Ended::Interrupted = finished.ended {
            return Err(failure(
                Code::Interrupted,
                "interrupted while the sample was made",
            ));
        }
        if !finished.succeeded() {
            return Err(failure(Code::CantCreate, finished.cause()));
        }
    }
    Ok(path)
}

fn no_sample() -> anyhow::Error {
    let what = "there is no sample yet, and a dry run makes none: name a file";
    failure(Code::Usage, what)
}

/// Bytes that we may still write to the filesystem of a folder (statvfs(3)).
fn disk_available(folder: &std::path::Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: statvfs is plain integers, for which zeros are valid.
    let mut space: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in 0, and statvfs(3) fills the struct that it is given.
    let failed = unsafe { libc::statvfs(path.as_ptr(), &mut space) } != 0;
    // The fields' types differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    (!failed).then_some(space.f_bavail as u64 * space.f_frsize as u64)
}
