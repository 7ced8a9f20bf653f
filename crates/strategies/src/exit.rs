//! How a strategy starts and ends: the frame of `main`, the one error type, the exit codes.

use std::ffi::CString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Why a run failed, as its exit code says it: sysexits(3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exit {
    /// `EX_USAGE`: the command line is wrong.
    Usage = 64,
    /// `EX_DATAERR`: the file changed during the run, or isn't what the work reads.
    Changed = 65,
    /// `EX_NOINPUT`: no such file, or none that can be read.
    NoInput = 66,
    /// `EX_UNAVAILABLE`: this can't be had on this system, filesystem or memory.
    Unavailable = 69,
    /// `EX_CANTCREAT`: an output can't be created.
    CannotCreate = 73,
    /// `EX_IOERR`: reading or writing failed.
    Io = 74,
}

/// What went wrong, told in one line on stderr.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    file: Option<PathBuf>,
    cause: String,
}

/// The result of what can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that concerns no file.
    pub fn new(exit: Exit, cause: impl Display) -> Error {
        Error {
            exit,
            file: None,
            cause: cause.to_string(),
        }
    }

    /// An error that concerns `file`.
    pub fn of(file: &Path, exit: Exit, cause: impl Display) -> Error {
        Error {
            exit,
            file: Some(file.to_owned()),
            cause: cause.to_string(),
        }
    }

    /// `file` can't be opened or looked at.
    pub fn open(file: &Path, cause: &io::Error) -> Error {
        let exit = match cause.raw_os_error() {
            Some(libc::EIO) => Exit::Io,
            Some(libc::ENOMEM | libc::EMFILE | libc::ENFILE) => Exit::Unavailable,
            _ => Exit::NoInput,
        };
        Error::of(file, exit, format_args!("can't open: {cause}"))
    }

    /// The call named failed for `cause`, at `offset` of `file` where that is known.
    pub fn call(file: &Path, call: &str, offset: Option<u64>, cause: &io::Error) -> Error {
        let exit = match cause.raw_os_error() {
            Some(libc::ENOMEM | libc::ENODEV | libc::ENOSYS | libc::EOPNOTSUPP) => {
                Exit::Unavailable
            }
            // Where one call opens and reads.
            Some(libc::ENOENT | libc::EACCES) => Exit::NoInput,
            _ if cause.kind() == io::ErrorKind::OutOfMemory => Exit::Unavailable,
            _ => Exit::Io,
        };
        let place = offset
            .map(|offset| format!(" at byte {offset}"))
            .unwrap_or_default();
        Error::of(file, exit, format_args!("{call} failed{place}: {cause}"))
    }

    /// Tells it on stderr, in one line, and gives the exit code.
    pub fn tell(&self) -> u8 {
        // Nobody is left to tell if stderr fails too.
        let _ = io::stderr().write_all(self.line().as_bytes());
        self.exit as u8
    }

    /// One line: the program, the file, the cause.
    fn line(&self) -> String {
        match &self.file {
            Some(file) => format!("{}: {}: {}\n", program(), printable(file), self.cause),
            None => format!("{}: {}\n", program(), self.cause),
        }
    }
}

static PROGRAM: OnceLock<&'static str> = OnceLock::new();

/// The name of this strategy, as given to [`main`].
pub fn program() -> &'static str {
    PROGRAM.get_or_init(|| "strategies")
}

/// The frame of every `main`: runs, and turns an error into one line on stderr and an exit code.
/// `program` is `env!("CARGO_BIN_NAME")`.
pub fn main(program: &'static str, run: impl FnOnce() -> Result<()>) -> ExitCode {
    PROGRAM.get_or_init(|| program);
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(error.tell()),
    }
}

/// Writes `text` to stdout.
///
/// # Errors
/// stdout is full, closed, or a pipe that nobody reads.
pub fn print(text: &str) -> Result<()> {
    let written = if crate::sys::stdout_was_closed() {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    } else {
        let mut stdout = io::stdout();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
    };
    written.map_err(|cause| Error::new(Exit::Io, format_args!("can't write to stdout: {cause}")))
}

/// `path` on one line, whatever is in its name: what is no UTF-8 is replaced, control characters
/// are escaped.
pub fn printable(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .fold(String::new(), |mut line, c| {
            if c.is_control() {
                line.extend(c.escape_default());
            } else {
                line.push(c);
            }
            line
        })
}

/// `path` as C's functions take it.
///
/// # Errors
/// It has a NUL byte, which no file name has.
pub fn c_path(path: &Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::of(path, Exit::NoInput, "a NUL byte in the name"))
}
