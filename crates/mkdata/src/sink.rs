//! How much data, and where it goes.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use indicatif::ProgressBar;

use crate::error::{Error, Result};
use crate::sys;

/// Bytes that one write(2) takes.
pub const CHUNK: usize = 1 << 20;

/// How much data to make.
#[derive(Clone, Copy)]
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

    /// The most bytes and the most rows.
    pub fn bytes_and_rows(self) -> (u64, u64) {
        match self {
            Self::Bytes(bytes) => (bytes, u64::MAX),
            Self::Rows(rows) => (u64::MAX, rows),
        }
    }
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
    /// Takes data for `file`; errors name `path`.
    pub fn new(file: &'a File, path: &'a Path, progress: &'a ProgressBar) -> Self {
        Self {
            file,
            path,
            progress,
            buffer: Vec::with_capacity(2 * CHUNK),
            written: 0,
        }
    }

    /// Where to append. Call [`Sink::drain`] about every [`CHUNK`] bytes.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
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
        let (max_bytes, max_rows) = limit.bytes_and_rows();
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
    ///
    /// # Errors
    /// 74 where write(2) or fsync(2) fails, or the signal that came.
    pub fn finish(mut self) -> Result<u64> {
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
