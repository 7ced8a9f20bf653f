//! Which files can be looked at, and what their filesystem can do.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

use crate::{Error, sys};

/// What the filesystem under a file means for its cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filesystem {
    /// Its name, or the magic in hexadecimal where that isn't known.
    pub name: String,
    /// `f_type` of statfs(2).
    pub magic: u64,
    /// False where files live in memory only (tmpfs, ramfs): nothing can be evicted.
    pub has_cold_state: bool,
    /// False where another cache, on this machine or across the network, stands behind the page
    /// cache or instead of it (ZFS, NFS, FUSE): no figure would be a proof.
    pub residency_known: bool,
    /// True where the kernel makes files up as they are read (proc, sysfs): these are no input.
    pub synthetic: bool,
}

/// The filesystem that `path` lies on, by statfs(2). Fails as that does.
pub fn filesystem(path: &Path) -> io::Result<Filesystem> {
    sys::filesystem(path)
}

/// Opens a regular file for reading. Never blocks, whatever `path` is.
///
/// Fails with [`Error::NoInput`] on what is missing, unreadable, made up by the kernel, or no
/// regular file.
pub fn open(path: &Path) -> Result<File, Error> {
    let refuse = |why: String| Error::NoInput(path.to_owned(), why);
    // Looking first: opening a device can have effects, and opening a FIFO waits for its writer.
    // O_NONBLOCK is for the FIFO that takes the file's place in between.
    let kind = fs::metadata(path)
        .map_err(|cause| refuse(cause.to_string()))?
        .file_type();
    require_regular(kind).map_err(refuse)?;
    let filesystem = filesystem(path).map_err(|cause| refuse(cause.to_string()))?;
    if filesystem.synthetic {
        return Err(refuse(format!(
            "{} makes its files up as they are read: they have no page cache",
            filesystem.name
        )));
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|cause| refuse(cause.to_string()))?;
    let kind = file.metadata().map_err(Error::io(path))?.file_type();
    require_regular(kind).map_err(refuse)?;
    Ok(file)
}

fn require_regular(kind: FileType) -> Result<(), String> {
    if kind.is_file() {
        return Ok(());
    }
    Err(format!("is {}, not a regular file", describe(kind)))
}

/// What a file that is not regular is, in words.
pub fn describe(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_char_device() => "a character device",
        kind if kind.is_block_device() => "a block device",
        _ => "a special file",
    }
}
