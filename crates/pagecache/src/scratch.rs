//! The scratch folder, where strategies that write do so: the user's file is never written.
//!
//! One that was made here has a marker in it; a folder without it is never touched. In it, only
//! `copy` is ever written or removed. The strategies know the same two names.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::{Error, OneLine, describe, open, residency::size, sys};

const MARKER: &str = ".readoff-scratch";
const MARKER_TEXT: &str =
    "A scratch folder of readoff: \"copy\" in it is overwritten and removed.\n";
const COPY: &str = "copy";

/// Bytes a call of read(2) and write(2).
const BUFFER: usize = 1 << 20;

/// A folder with the marker in it.
pub(crate) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// The scratch folder of that name, made if there is nothing of that name yet.
    ///
    /// Fails with [`Error::NoInput`] where there is something else, [`Error::CannotCreate`] where it
    /// can't be made.
    pub(crate) fn make(folder: &Path) -> Result<Scratch, Error> {
        let scratch = Scratch::named(folder);
        match DirBuilder::new().mode(0o700).create(&scratch.folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Scratch::open(folder);
            }
            Err(cause) => return Err(Error::CannotCreate(scratch.folder, cause)),
        }
        match fs::write(scratch.marker(), MARKER_TEXT) {
            Ok(()) => Ok(scratch),
            Err(cause) => {
                let _ = fs::remove_file(scratch.marker());
                let _ = fs::remove_dir(&scratch.folder);
                Err(Error::CannotCreate(scratch.marker(), cause))
            }
        }
    }

    /// The scratch folder of that name. Fails with [`Error::NoInput`] where there is none.
    fn open(folder: &Path) -> Result<Scratch, Error> {
        let scratch = Scratch::named(folder);
        let refuse = |why: String| Error::NoInput(folder.to_owned(), why);
        let kind = fs::symlink_metadata(&scratch.folder)
            .map_err(|cause| refuse(cause.to_string()))?
            .file_type();
        if !kind.is_dir() {
            let what = if kind.is_file() {
                "a file"
            } else {
                describe(kind)
            };
            return Err(refuse(format!("is {what}, not a scratch folder")));
        }
        match fs::symlink_metadata(scratch.marker()) {
            Ok(found) if found.is_file() => Ok(scratch),
            _ => Err(refuse(format!(
                "is no scratch folder (there is no {MARKER} in it), so nothing in it is touched: \
                 name a folder that doesn't exist yet"
            ))),
        }
    }

    /// Without a slash at the end, which would follow a link.
    fn named(folder: &Path) -> Scratch {
        let folder = folder.components().collect();
        Scratch { folder }
    }

    fn marker(&self) -> PathBuf {
        self.folder.join(MARKER)
    }

    /// Where the copy is, if there is one.
    pub(crate) fn copy(&self) -> PathBuf {
        self.folder.join(COPY)
    }

    /// Removes the copy, if there is one. `keep` is never removed, by whatever name.
    ///
    /// Fails with [`Error::NoInput`] if what is there is no copy of ours.
    pub(crate) fn remove_copy(&self, keep: Option<&Metadata>) -> Result<(), Error> {
        let copy = self.copy();
        let found = match fs::symlink_metadata(&copy) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(cause) => return Err(Error::Io(copy, cause)),
        };
        let kind = found.file_type();
        if !kind.is_file() {
            let why = format!("is {}, no copy: remove it yourself", describe(kind));
            return Err(Error::NoInput(copy, why));
        }
        if keep.is_some_and(|keep| (keep.dev(), keep.ino()) == (found.dev(), found.ino())) {
            let why = "is the file itself, not a copy of it".to_owned();
            return Err(Error::NoInput(copy, why));
        }
        fs::remove_file(&copy).map_err(|cause| Error::Io(copy, cause))
    }

    /// Fails with [`Error::CannotCreate`] if `bytes` bytes have no space in the old copy's place.
    pub(crate) fn check_space(&self, bytes: u64) -> Result<(), Error> {
        let free = sys::free_bytes(&self.folder).map_err(Error::io(&self.folder))?;
        let old = fs::symlink_metadata(self.copy()).map_or(0, |old| old.blocks() * 512);
        match free.map(|free| free.saturating_add(old)) {
            Some(free) if bytes > free => {
                let why = format!("it needs {}, and {} are free", size(bytes), size(free));
                Err(Error::CannotCreate(self.copy(), io::Error::other(why)))
            }
            _ => Ok(()),
        }
    }

    /// Makes the copy, which isn't there: the bytes of `file` in blocks of its own, all on the
    /// device. (copy_file_range(2) may share blocks, and the first write to each would pay for it.)
    ///
    /// Where it fails, nothing is left.
    pub(crate) fn copy_from(&self, file: &Path) -> Result<(), Error> {
        let copy = self.copy();
        let source = open(file)?;
        let bytes = source.metadata().map_err(Error::io(file))?.len();
        let mut target = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&copy)
            .map_err(|cause| Error::CannotCreate(copy.clone(), cause))?;
        let copied = transfer(&source, &mut target, bytes).and_then(|done| {
            target.sync_all()?;
            Ok(done)
        });
        let failure = match copied {
            Ok(done) if done == bytes => return Ok(()),
            Ok(_) => {
                let why = "shrank while it was copied: run again when nobody writes it";
                Error::NotReached(file.to_owned(), why.to_owned())
            }
            Err(cause) => {
                let what = format!("copying {} failed: {cause}", OneLine(file));
                Error::Io(copy.clone(), io::Error::other(what))
            }
        };
        let _ = fs::remove_file(&copy);
        Err(failure)
    }
}

/// Removes a scratch folder: its copy, its marker and itself.
///
/// Fails with [`Error::NoInput`] if it is none, and with [`Error::NotReached`] if there are other
/// files in it: then only the copy goes.
pub fn remove_scratch(folder: &Path) -> Result<(), Error> {
    let scratch = Scratch::open(folder)?;
    scratch.remove_copy(None)?;
    for entry in fs::read_dir(&scratch.folder).map_err(Error::io(folder))? {
        let name = entry.map_err(Error::io(folder))?.file_name();
        if name != MARKER {
            let name = OneLine(Path::new(&name)).to_string();
            let why = format!("has {name} in it: only the copy was removed");
            return Err(Error::NotReached(folder.to_owned(), why));
        }
    }
    // rmdir(2) refuses "." as a name.
    let name = fs::canonicalize(&scratch.folder).map_err(Error::io(folder))?;
    fs::remove_file(scratch.marker())
        .and_then(|()| fs::remove_dir(name))
        .map_err(Error::io(folder))
}

/// Copies up to `bytes` bytes; returns how many there were.
fn transfer(source: &File, target: &mut File, bytes: u64) -> io::Result<u64> {
    let mut source = source.take(bytes);
    let mut buffer = vec![0; BUFFER];
    let mut done = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(done),
            Ok(n) => {
                target.write_all(&buffer[..n])?;
                done += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
