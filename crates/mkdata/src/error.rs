//! Why no data was made.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// Why no data was made. Nothing is left behind in either case.
#[derive(Debug)]
pub enum Error {
    /// A line for stderr and the exit code of sysexits(3).
    Failed {
        /// 64 usage, 73 can't create, 74 I/O error.
        code: u8,
        /// File, cause and what to do, without the program's name.
        message: String,
    },
    /// This signal came; the program is to die by it once it has cleaned up.
    Interrupted(libc::c_int),
}

impl Error {
    /// What was asked for makes no sense (64).
    pub fn usage(path: &Path, cause: impl Display) -> Self {
        Self::new(64, path, cause)
    }

    /// The output can't be created (73).
    pub fn create(path: &Path, cause: impl Display) -> Self {
        Self::new(73, path, cause)
    }

    /// Writing failed midway (74).
    pub fn write(path: &Path, cause: &io::Error) -> Self {
        Self::new(74, path, format!("{cause}; nothing was left behind"))
    }

    // The path is quoted and escaped, so that any name stays on one line.
    fn new(code: u8, path: &Path, cause: impl Display) -> Self {
        Self::Failed {
            code,
            message: format!("{path:?}: {cause}"),
        }
    }
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;
