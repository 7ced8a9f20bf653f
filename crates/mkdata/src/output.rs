//! The output: checked before, written beside, on disk, then renamed into place.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use crate::error::{Error, Result};
use crate::sys;

/// Bytes that one write(2) takes.
pub const CHUNK: usize = 1 << 20;

/// How much data to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most so many bytes, and whole rows.
    Bytes(u64),
    /// Exactly so many rows.
    Rows(u64),
}

impl Limit {
    /// The bytes to expect if a row takes `row` bytes on average; as large as can be where that overflows.
    pub fn expected_bytes(self, row: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Rows(rows) => rows.saturating_mul(row),
        }
    }
}

/// A file to be made, not there yet.
pub struct Output {
    path: PathBuf,
    dir: PathBuf,
    force: bool,
    progress: ProgressBar,
}

impl Output {
    /// Looks whether `path` can become a new file of about `bytes` bytes (or may be replaced, with `force`).
    ///
    /// # Errors
    /// 73: `path` exists, is a folder, a link or a device, its folder is missing, or the disk has too little space.
    pub fn file(path: &Path, bytes: u64, force: bool, quiet: bool) -> Result<Self> {
        let output = Self::new(path, bytes, force, quiet)?;
        match fs::symlink_metadata(&output.path) {
            Ok(there) if there.is_dir() => {
                Err(Error::create(path, "is a folder; name a file in it"))
            }
            Ok(there) if !there.is_file() => {
                Err(Error::create(path, "is no regular file; name another one"))
            }
            Ok(_) if !force => Err(Error::create(path, "exists already; --force replaces it")),
            Ok(_) => Ok(output),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(output),
            Err(error) => Err(Error::create(path, error)),
        }
    }

    fn new(path: &Path, bytes: u64, force: bool, quiet: bool) -> Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(Error::create(path, "is a folder; name a file in it")); // `.`, `..`, `/`
        };
        let dir = match path.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        match sys::free_bytes(dir) {
            Ok(Some(free)) if free < bytes => Err(Error::create(
                path,
                format!(
                    "takes {bytes} bytes, {free} are free in {dir:?}; make it smaller or free some"
                ),
            )),
            Ok(_) => Ok(Self {
                path: dir.join(name),
                dir: dir.to_owned(),
                force,
                progress: progress(bytes, quiet),
            }),
            Err(error) => Err(Error::create(dir, error)),
        }
    }

    /// Makes the file: what `fill` writes goes to a temporary file in the same folder, which gets its name
    /// once its data is on disk. Returns what `fill` returned and the file's bytes.
    ///
    /// # Errors
    /// 73 where no file can be made in the folder, 74 where writing fails, or the signal that came. The
    /// temporary file is removed.
    pub fn write_file<T>(self, fill: impl FnOnce(&mut Sink) -> Result<T>) -> Result<(T, u64)> {
        let temporary = tempfile::Builder::new()
            .prefix(".mkdata-")
            .permissions(Permissions::from_mode(0o666)) // less the umask, as for any new file
            .tempfile_in(&self.dir)
            .map_err(|error| Error::create(&self.path, error))?;
        let mut sink = Sink::new(temporary.as_file(), &self.path, &self.progress);
        let filled = fill(&mut sink)?;
        let bytes = sink.finish()?;
        let named = if self.force {
            temporary.persist(&self.path)
        } else {
            temporary.persist_noclobber(&self.path)
        };
        named.map_err(|error| Error::create(&self.path, error.error))?;
        self.progress.finish_and_clear();
        Ok((filled, bytes))
    }
}

fn progress(bytes: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    // On stderr, and hidden by indicatif itself where that is no terminal.
    let style = "{wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}";
    ProgressBar::new(bytes)
        .with_style(ProgressStyle::with_template(style).expect("the template is well-formed"))
}

/// An open file that takes data in large pieces.
pub struct Sink<'a> {
    file: &'a File,
    path: &'a Path,
    progress: &'a ProgressBar,
    buffer: Vec<u8>,
    written: u64,
}

impl<'a> Sink<'a> {
    fn new(file: &'a File, path: &'a Path, progress: &'a ProgressBar) -> Self {
        Self {
            file,
            path,
            progress,
            buffer: Vec::with_capacity(2 * CHUNK),
            written: 0,
        }
    }

    /// Bytes taken so far.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Writes the whole chunks that have been appended.
    ///
    /// # Errors
    /// 74 where write(2) fails, or the signal that came.
    pub fn drain(&mut self) -> Result<()> {
        self.write_out(self.buffer.len() / CHUNK * CHUNK)
    }

    /// Appends what `row` appends, again and again until `limit` is reached; returns the number of rows.
    ///
    /// # Errors
    /// Those of [`Sink::drain`].
    pub fn rows(&mut self, limit: Limit, mut row: impl FnMut(&mut Vec<u8>)) -> Result<u64> {
        let (max_bytes, max_rows) = match limit {
            Limit::Bytes(bytes) => (bytes, u64::MAX),
            Limit::Rows(rows) => (u64::MAX, rows),
        };
        let mut rows = 0;
        while rows < max_rows {
            let before = self.buffer.len();
            row(&mut self.buffer);
            if self.position() > max_bytes {
                self.buffer.truncate(before);
                break;
            }
            rows += 1;
            if self.buffer.len() >= CHUNK {
                self.drain()?;
            }
        }
        Ok(rows)
    }

    /// Writes the rest and brings the file to disk; returns its bytes.
    fn finish(mut self) -> Result<u64> {
        self.write_out(self.buffer.len())?;
        let synced = self.file.sync_all();
        synced.map_err(|error| Error::write(self.path, &error))?;
        // A signal that came meanwhile: the file isn't named yet.
        sys::interrupted().map_or(Ok(self.written), |signal| Err(Error::Interrupted(signal)))
    }

    fn write_out(&mut self, count: usize) -> Result<()> {
        if let Some(signal) = sys::interrupted() {
            return Err(Error::Interrupted(signal));
        }
        let written = self.file.write_all(&self.buffer[..count]);
        written.map_err(|error| Error::write(self.path, &error))?;
        self.buffer.drain(..count);
        self.written += count as u64;
        self.progress.inc(count as u64);
        Ok(())
    }
}
