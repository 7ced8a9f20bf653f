//! What can go wrong, and the exit code of each.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// Why a file's cache couldn't be looked at or brought into a state.
#[derive(Debug)]
pub enum Error {
    /// The input is missing, unreadable or no regular file.
    NoInput(PathBuf, String),
    /// This system or filesystem can't have what was asked for.
    Unavailable(PathBuf, String),
    /// A file of ours can't be created.
    CannotCreate(PathBuf, io::Error),
    /// Reading or writing failed.
    Io(PathBuf, io::Error),
    /// The state can exist here but was not reached now.
    NotReached(PathBuf, String),
}

impl Error {
    /// The exit code of sysexits(3).
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NoInput(..) => 66,
            Error::Unavailable(..) => 69,
            Error::CannotCreate(..) => 73,
            Error::Io(..) => 74,
            Error::NotReached(..) => 75,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Error {
        |cause| Error::Io(path.to_owned(), cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::NoInput(path, why)
            | Error::Unavailable(path, why)
            | Error::NotReached(path, why) => write!(f, "{}: {why}", OneLine(path)),
            Error::CannotCreate(path, cause) => {
                write!(f, "{}: can't create: {cause}", OneLine(path))
            }
            Error::Io(path, cause) => write!(f, "{}: {cause}", OneLine(path)),
        }
    }
}

impl std::error::Error for Error {}

/// Shows a path on one line whatever is in its name: control characters are escaped.
pub struct OneLine<'a>(pub &'a Path);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for character in self.0.to_string_lossy().chars() {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        Ok(())
    }
}
