//! The file that is raced: what it is, and whether it is still the same.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure};

/// The name under which a file is raced whose own name hyperfine can't take.
pub const LINK: &str = "input";

/// The file that is raced.
#[derive(Debug)]
pub struct Input {
    /// Its absolute path.
    pub path: PathBuf,
    /// What it was when the race began.
    pub identity: Identity,
    argument: String,
}

/// What tells a file from another one and from its own later content.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Identity {
    /// The path, for people: bytes that are no UTF-8 are replaced.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Device and inode.
    pub inode: (u64, u64),
    /// Last change of the content, in nanoseconds since 1970.
    pub modified: i128,
}

impl Input {
    /// Looks at a file and sees that it can be raced.
    ///
    /// # Errors
    /// No such file, a folder, not readable, not a regular file, or one whose size says nothing of
    /// its content (as in `/proc`): exit code 66.
    pub fn open(path: &Path) -> Result<Input> {
        let refuse = |cause: &str| failure(Code::NoInput, format!("{}: {cause}", path.display()));
        let metadata = fs::metadata(path).map_err(|e| refuse(&plain(&e)))?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Err(refuse("is a folder; name a file"));
        } else if kind.is_fifo() || kind.is_socket() {
            return Err(refuse(
                "is a pipe or socket; only a regular file can be raced",
            ));
        } else if !kind.is_file() {
            return Err(refuse("is a device; only a regular file can be raced"));
        }
        let mut file = File::open(path).map_err(|e| refuse(&plain(&e)))?;
        if metadata.len() == 0 && matches!(file.read(&mut [0]), Ok(1..)) {
            return Err(refuse(
                "has content but no size (as files in /proc do); copy it and race the copy",
            ));
        }
        let path = std::path::absolute(path).context("the working folder is gone")?;
        let argument = path.to_str().map_or(format!("./{LINK}"), str::to_string);
        let identity = Identity::of(&path, &metadata);
        Ok(Input {
            path,
            identity,
            argument,
        })
    }

    /// What programs are given for the file: its absolute path, or, since hyperfine takes only
    /// UTF-8, the relative path of a link in the folder that they run in (see [`Input::link_in`]).
    pub fn argument(&self) -> &str {
        &self.argument
    }

    /// Makes the link that [`Input::argument`] may name.
    pub fn link_in(&self, folder: &Path) -> Result<()> {
        let Some(link) = self.link(folder).filter(|link| !link.is_symlink()) else {
            return Ok(());
        };
        symlink(&self.path, &link)
            .map_err(|e| failure(Code::CantCreate, format!("{}: {e}", link.display())))
    }

    /// The link in `folder` that [`Input::argument`] names, where it names one.
    pub fn link(&self, folder: &Path) -> Option<PathBuf> {
        match self.path.to_str() {
            Some(_) => None,
            None => Some(folder.join(LINK)),
        }
    }

    /// How the file changed since it was opened; `None` if it didn't.
    pub fn changed(&self) -> Option<String> {
        let now = match fs::metadata(&self.path) {
            Ok(metadata) => Identity::of(&self.path, &metadata),
            Err(error) => return Some(plain(&error)),
        };
        self.identity.difference(&now)
    }
}

impl Identity {
    fn of(path: &Path, metadata: &Metadata) -> Identity {
        Identity {
            path: path.to_string_lossy().into_owned(),
            bytes: metadata.len(),
            inode: (metadata.dev(), metadata.ino()),
            modified: i128::from(metadata.mtime()) * 1_000_000_000
                + i128::from(metadata.mtime_nsec()),
        }
    }

    /// What differs between two looks at a file; `None` where nothing does.
    pub fn difference(&self, now: &Identity) -> Option<String> {
        if self.path != now.path {
            Some(format!("is another file than {}", self.path))
        } else if self.inode != now.inode {
            Some("was replaced by another file".into())
        } else if self.bytes != now.bytes {
            let verb = if now.bytes < self.bytes {
                "shrank"
            } else {
                "grew"
            };
            Some(format!("{verb} from {} to {} bytes", self.bytes, now.bytes))
        } else if self.modified != now.modified {
            Some("was written to".into())
        } else {
            None
        }
    }
}

/// An error of the system without Rust's `(os error 2)`.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code_of;

    fn refusal(path: &str) -> String {
        let error = Input::open(Path::new(path)).unwrap_err();
        assert_eq!(code_of(&error), 66);
        error.to_string()
    }

    #[test]
    fn what_is_no_regular_file_is_refused() {
        assert_eq!(refusal("/no/such"), "/no/such: no such file or directory");
        assert_eq!(refusal("/"), "/: is a folder; name a file");
        assert!(refusal("/dev/zero").contains("is a device"));
        #[cfg(target_os = "linux")]
        assert!(refusal("/proc/self/status").contains("no size"));
    }

    #[test]
    fn a_change_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12").unwrap();
        let input = Input::open(&path).unwrap();
        assert_eq!(input.changed(), None);
        fs::write(&path, "1").unwrap();
        assert_eq!(input.changed().unwrap(), "shrank from 2 to 1 bytes");
        fs::write(&path, "21").unwrap();
        assert_eq!(input.changed().unwrap(), "was written to");
        fs::write(folder.path().join("b"), "12").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        assert_eq!(input.changed().unwrap(), "was replaced by another file");
        fs::remove_file(&path).unwrap();
        assert_eq!(input.changed().unwrap(), "no such file or directory");
    }
}
