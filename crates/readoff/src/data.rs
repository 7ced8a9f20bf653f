//! The data that is raced when no file is named: the sample, or what a suite asks for.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::environment::memory_available;
use crate::error::{Code, failure};
use crate::format::size;
use crate::process;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::suite::Data;

/// The sample's size in bytes, where disk and memory have room for it.
const SAMPLE: u64 = 1 << 30;

/// Makes a suite's data where it is missing, `scale` times the source's size; made once, kept in the
/// data folder, reused.
///
/// # Errors
/// There is no data folder (an installed readoff has none), or the data can't be made.
pub fn suite_data(
    data: &Data,
    scale: Option<f64>,
    programs: &Programs,
    progress: &Progress,
) -> Result<PathBuf> {
    let bytes = (data.size as f64 * scale.unwrap_or(data.scale)) as u64;
    make(&data.kind, bytes, &data.args, programs, progress)
}

/// The sample: about 1 GiB of measurements, or halved until it takes no more than a quarter of the
/// free memory and of the free disk.
///
/// # Errors
/// As [`suite_data`].
pub fn sample(programs: &Programs, progress: &Progress) -> Result<PathBuf> {
    let memory = memory_available().unwrap_or(u64::MAX);
    let disk = disk_available(&folder(programs)?).unwrap_or(u64::MAX);
    let fits = |bytes: u64| {
        // A sample that is there takes no more disk.
        let exists = path("measurements", bytes, &[], programs).is_ok_and(|path| path.exists());
        bytes <= memory / 4 && (exists || bytes <= disk / 4)
    };
    let mut bytes = SAMPLE;
    while bytes > 1 << 20 && !fits(bytes) {
        bytes /= 2;
    }
    make("measurements", bytes, &[], programs, progress)
}

fn make(
    kind: &str,
    bytes: u64,
    args: &[String],
    programs: &Programs,
    progress: &Progress,
) -> Result<PathBuf> {
    let path = path(kind, bytes, args, programs)?;
    if path.exists() {
        return Ok(path);
    }
    progress.note(&format!(
        "making {} of {kind}: {}",
        size(bytes),
        path.display()
    ));
    let mut mkdata = Command::new(programs.path("mkdata")?);
    mkdata
        .args([kind, "--quiet", "--size", &bytes.to_string()])
        .args(args)
        .arg(&path);
    let finished = process::run(&mut mkdata, None).context("mkdata")?;
    match finished.succeeded() {
        true => Ok(path),
        false => Err(failure(Code::CantCreate, finished.cause())),
    }
}

/// `<kind>-<bytes>`, with the arguments that make it another one.
fn path(kind: &str, bytes: u64, args: &[String], programs: &Programs) -> Result<PathBuf> {
    let args: String = args.concat().replace("--", "-");
    Ok(folder(programs)?.join(format!("{kind}-{bytes}{args}")))
}

fn folder(programs: &Programs) -> Result<PathBuf> {
    let folder = programs.data().ok_or_else(|| {
        let what =
            "name a file: data is only made beside the project's own build, or in READOFF_DATA";
        failure(Code::Usage, what)
    })?;
    fs::create_dir_all(&folder)
        .map_err(|e| failure(Code::CantCreate, format!("{}: {e}", folder.display())))?;
    Ok(folder)
}

/// Bytes that we may still write to the filesystem of a folder (statvfs(3)).
fn disk_available(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: statvfs is plain integers, for which zeros are valid.
    let mut space: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in 0, and statvfs(3) fills the struct that it is given.
    let failed = unsafe { libc::statvfs(path.as_ptr(), &mut space) } != 0;
    // The fields' types differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    (!failed).then_some(space.f_bavail as u64 * space.f_frsize as u64)
}
