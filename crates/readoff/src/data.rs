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
use crate::hyperfine::process::Ended;
use crate::input::plain;
use crate::process;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::suite::Data;

/// The sample's size in bytes, where disk and memory have room for it.
const SAMPLE: u64 = 1 << 30;

/// Makes data where it is missing, once: it is kept in the data folder and reused.
#[derive(Debug)]
pub struct Maker<'a> {
    /// The project's programs.
    pub programs: &'a Programs,
    /// What the user sees.
    pub progress: &'a Progress,
    /// Nothing is made.
    pub dry_run: bool,
}

impl Maker<'_> {
    /// A suite's data, `scale` times the source's size.
    ///
    /// # Errors
    /// There is no data folder (an installed readoff has none), the data can't be made, or a dry
    /// run would have to make it.
    pub fn suite_data(&self, data: &Data, scale: Option<f64>) -> Result<PathBuf> {
        let bytes = (data.size as f64 * scale.unwrap_or(data.scale)) as u64;
        self.make(&data.kind, bytes, &data.args)
    }

    /// The sample: about 1 GiB of measurements, or halved until it takes no more than a quarter of
    /// the free memory and of the free disk.
    ///
    /// # Errors
    /// As [`Maker::suite_data`].
    pub fn sample(&self) -> Result<PathBuf> {
        let memory = memory_available().unwrap_or(u64::MAX);
        let disk = disk_available(&self.folder()?).unwrap_or(u64::MAX);
        let fits = |bytes: u64| {
            // A sample that is there takes no more disk.
            let exists = self
                .path("measurements", bytes, &[])
                .is_ok_and(|path| path.exists());
            bytes <= memory / 4 && (exists || bytes <= disk / 4)
        };
        let mut bytes = SAMPLE;
        while bytes > 1 << 20 && !fits(bytes) {
            bytes /= 2;
        }
        self.make("measurements", bytes, &[])
    }

    fn make(&self, kind: &str, bytes: u64, args: &[String]) -> Result<PathBuf> {
        let path = self.path(kind, bytes, args)?;
        if path.exists() {
            return Ok(path);
        }
        if self.dry_run {
            let what = "its data isn't made yet, and a dry run makes none: name a file";
            return Err(failure(Code::Usage, what));
        }
        let folder = self.folder()?;
        fs::create_dir_all(&folder).map_err(|e| {
            failure(
                Code::CantCreate,
                format!("{}: {}", folder.display(), plain(&e)),
            )
        })?;
        self.progress.note(&format!(
            "making {} of {kind}: {}",
            size(bytes),
            path.display()
        ));
        let mut mkdata = Command::new(self.programs.path("mkdata")?);
        mkdata
            .args([kind, "--quiet", "--size", &bytes.to_string()])
            .args(args)
            .arg(&path);
        let finished = process::run(&mut mkdata, None).context("mkdata")?;
        match (finished.succeeded(), &finished.ended) {
            (true, _) => Ok(path),
            (_, Ended::Interrupted) => Err(failure(
                Code::Interrupted,
                "interrupted while the data was made",
            )),
            _ => Err(failure(Code::CantCreate, finished.cause())),
        }
    }

    /// `<kind>-<bytes>`, with the arguments that make it another one.
    fn path(&self, kind: &str, bytes: u64, args: &[String]) -> Result<PathBuf> {
        let args: String = args.concat().replace("--", "-");
        Ok(self.folder()?.join(format!("{kind}-{bytes}{args}")))
    }

    fn folder(&self) -> Result<PathBuf> {
        self.programs.data().ok_or_else(|| {
            let what =
                "name a file: data is made only beside the project's own build, or in READOFF_DATA";
            failure(Code::Usage, what)
        })
    }
}

/// Bytes that we may still write to the filesystem of a folder, which may not exist yet (statvfs(3)).
fn disk_available(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    let path = CString::new(existing.as_os_str().as_bytes()).ok()?;
    // SAFETY: statvfs is plain integers, for which zeros are valid.
    let mut space: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in 0, and statvfs(3) fills the struct that it is given.
    let failed = unsafe { libc::statvfs(path.as_ptr(), &mut space) } != 0;
    // The fields' types differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    (!failed).then_some(space.f_bavail as u64 * space.f_frsize as u64)
}
