//! The file that is written: `copy` in a scratch folder, and never any other.
//!
//! A scratch folder has a marker in it; `pagecache prepare --scratch` makes it, and the copies that
//! are rewritten in place. It knows the same two names.

use std::fmt::Display;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bytesize::ByteSize;

use crate::exit::{self, Error, Exit, Result};
use crate::sys;

const MARKER: &str = ".readoff-scratch";
const COPY: &str = "copy";

/// How a scratch folder and the copy in it come to be.
pub(super) const MAKE_IT: &str =
    "`pagecache prepare --state as-is --scratch DIR --copy FILE` makes one";

/// How a copy begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Space {
    /// Without blocks: they are found as bytes arrive.
    Hole,
    /// With blocks for all of it.
    Allocated,
}

/// The file that is written, open for reading and writing.
pub struct Target {
    /// The open file.
    pub file: File,
    path: PathBuf,
}

impl Target {
    /// `folder`/copy, made if missing, then emptied. There is space for the bytes of `source`.
    ///
    /// # Errors
    /// [`Exit::NoInput`] if `folder` is no scratch folder; [`Exit::CannotCreate`], with the reason,
    /// if there can't be such a file, or what is there isn't ours; [`Exit::Unavailable`] if the
    /// filesystem can't give it blocks.
    pub(super) fn create(folder: &Path, source: &Metadata, space: Space) -> Result<Target> {
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        let (target, found) = Target::open_ours(folder, source, options, Exit::CannotCreate)?;
        target.check_space(source.size(), found.blocks() * 512)?;
        // Not where it is empty: what ext4 sees emptied, it writes to the device at close(2).
        if found.size() > 0 {
            let emptied = target.file.set_len(0);
            emptied.map_err(|cause| target.failed("ftruncate", None, &cause))?;
        }
        // None can be given to an empty file.
        if space == Space::Allocated && source.size() > 0 {
            let allocated = sys::preallocate(target.file.as_raw_fd(), source.size());
            allocated.map_err(|cause| target.failed("preallocation", None, &cause))?;
        }
        Ok(target)
    }

    /// `folder`/copy, which is as large as `source`.
    ///
    /// # Errors
    /// [`Exit::NoInput`], with the reason, if it isn't there, isn't ours, or `folder` is no scratch
    /// folder.
    pub(super) fn open(folder: &Path, source: &Metadata) -> Result<Target> {
        let (target, found) = Target::open_ours(folder, source, OpenOptions::new(), Exit::NoInput)?;
        if found.size() != source.size() {
            let (size, expected) = (found.size(), source.size());
            let cause =
                format_args!("no copy of the file: {size} bytes, not {expected}: {MAKE_IT}");
            return Err(Error::of(&target.path, Exit::NoInput, cause));
        }
        Ok(target)
    }

    /// Follows no link, waits for nothing, and takes nothing that could be somebody's file.
    fn open_ours(
        folder: &Path,
        source: &Metadata,
        mut options: OpenOptions,
        exit: Exit,
    ) -> Result<(Target, Metadata)> {
        check_folder(folder)?;
        let path = folder.join(COPY);
        let refuse = |why: &dyn Display| Error::of(&path, exit, why);
        options.read(true).write(true);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options
            .open(&path)
            .map_err(|cause| match cause.raw_os_error() {
                Some(libc::ELOOP | libc::EMLINK) => {
                    refuse(&"a symbolic link, not a copy of the file")
                }
                Some(libc::ENOENT) => {
                    refuse(&format_args!("no copy of the file is there: {MAKE_IT}"))
                }
                _ => refuse(&format_args!("can't open for writing: {cause}")),
            })?;
        let found = file.metadata().map_err(|cause| refuse(&cause))?;
        if !found.is_file() {
            return Err(refuse(&"no regular file"));
        }
        if (found.dev(), found.ino()) == (source.dev(), source.ino()) {
            return Err(refuse(&"the file itself, not a copy of it"));
        }
        if found.nlink() != 1 {
            return Err(refuse(
                &"it has a second name (a hard link): it may be a file of yours",
            ));
        }
        Ok((Target { file, path }, found))
    }

    fn check_space(&self, needed: u64, own: u64) -> Result<()> {
        let free = sys::free_bytes(self.file.as_raw_fd());
        let free = free.map_err(|cause| self.failed("fstatvfs", None, &cause))?;
        match free.map(|free| free.saturating_add(own)) {
            Some(free) if needed > free => {
                let (needed, free) = (ByteSize(needed), ByteSize(free));
                let cause = format_args!("can't create: it needs {needed}, and {free} are free");
                Err(Error::of(&self.path, Exit::CannotCreate, cause))
            }
            _ => Ok(()),
        }
    }

    /// Fails if it hasn't `size` bytes now.
    pub(super) fn check_size(&self, size: u64) -> Result<()> {
        let found = self.file.metadata();
        let found = found.map_err(|cause| self.failed("fstat", None, &cause))?;
        if found.size() == size {
            return Ok(());
        }
        let cause = "changed its size while it was written: let no other program write it";
        Err(Error::of(&self.path, Exit::Changed, cause))
    }

    /// From now on, an access to its `size` bytes, mapped at `map`, that the system can't satisfy
    /// (SIGBUS) ends the process with one line: where a hole is written to, the disk may be full.
    pub fn catch_sigbus(&self, map: *const u8, size: usize) {
        let prefix = format!("{}: {}: ", exit::program(), exit::printable(&self.path));
        let map = map as usize;
        sys::catch_sigbus_writing(map..map + size, self.file.as_raw_fd(), prefix);
    }

    /// The byte at `offset` isn't the file's plus one.
    pub fn wrong_at(&self, offset: u64) -> Error {
        let cause = format_args!("byte {offset} of it is not that of the file plus one");
        Error::of(&self.path, Exit::Changed, cause)
    }

    /// The call named failed for `cause`, at `offset` of it where that is known.
    pub fn failed(&self, call: &str, offset: Option<u64>, cause: &io::Error) -> Error {
        Error::call(&self.path, call, offset, cause)
    }

    /// The C function named has just failed at `offset` of it. `Ok` if a signal interrupted it, and
    /// it is to be called again.
    ///
    /// # Errors
    /// As [`Target::failed`], for any other reason that `errno` tells.
    pub fn again_if_interrupted(&self, call: &str, offset: u64) -> Result<()> {
        let cause = io::Error::last_os_error();
        match cause.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            _ => Err(self.failed(call, Some(offset), &cause)),
        }
    }
}

fn check_folder(folder: &Path) -> Result<()> {
    // Without a slash at the end, which would follow a link.
    let name: PathBuf = folder.components().collect();
    let kind = fs::symlink_metadata(&name).map_err(|cause| Error::open(folder, &cause))?;
    let marker = fs::symlink_metadata(name.join(MARKER));
    if kind.is_dir() && marker.is_ok_and(|marker| marker.is_file()) {
        return Ok(());
    }
    let cause = format_args!("no scratch folder (one has {MARKER} in it): {MAKE_IT}");
    Err(Error::of(folder, Exit::NoInput, cause))
}
