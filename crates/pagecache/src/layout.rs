//! How a file lies on its filesystem: what of it is really there, and in how many pieces.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, open, sys};

/// How a file lies on its filesystem. Sizes are bytes of the file, not of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The file's size.
    pub bytes: u64,
    /// Nothing is allocated there: reads give zeros, and no device is asked for them. Where
    /// [`Layout::extents`] is none, what is allocated but unwritten is among these, as far as
    /// SEEK_HOLE tells (cached, it counts as data).
    pub holes: u64,
    /// What only a list of the extents tells; none where the filesystem gives none.
    pub extents: Option<Extents>,
}

/// What FIEMAP tells of a file's extents (Linux, Documentation/filesystems/fiemap.rst).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Allocated, but never written: reads give zeros, and no device is asked.
    pub unwritten: u64,
    /// Compressed or encrypted.
    pub encoded: u64,
    /// Kept among the filesystem's metadata, not in blocks of its own.
    pub inline: u64,
    /// Shared with other files (reflinks) or snapshots.
    pub shared: u64,
    /// Written, but without a place on the device yet.
    pub delayed: u64,
    /// Stretches of the device that hold the data: extents that lie next to each other are one.
    pub pieces: u64,
    /// What of the file lies in these.
    pub in_pieces: u64,
}

impl Extents {
    /// Bytes of the file in a piece, on average; none where nothing lies in any.
    pub fn mean_piece(&self) -> Option<u64> {
        self.in_pieces.checked_div(self.pieces)
    }
}

/// How `path` lies on its filesystem: by FIEMAP, which anybody may ask of a file that they can read,
/// else by SEEK_HOLE. Never by st_blocks, which compression and preallocation make meaningless.
///
/// With `flush`, dirty pages are written first, so that all data has its place. Fails as [`open`] does;
/// with [`Error::Io`] where the filesystem tells nothing.
pub fn layout(path: &Path, flush: bool) -> Result<Layout, Error> {
    // An own description: SEEK_HOLE moves its offset.
    let file = open(path)?;
    let bytes = file.metadata().map_err(Error::io(path))?.len();
    sys::layout(&file, bytes, flush).map_err(Error::io(path))
}

/// Whether reads of `path` pass the page cache by, since its memory is the device (DAX). Fails as
/// [`open`] does.
pub fn is_dax(path: &Path) -> Result<bool, Error> {
    Ok(sys::is_dax(&open(path)?))
}
