//! Finding a hyperfine that works.

use std::fmt;
use std::path::{Path, PathBuf};

/// A hyperfine that answered with a version that works.
#[derive(Debug, Clone)]
pub struct Hyperfine {
    /// The program, as an absolute path.
    pub path: PathBuf,
    /// What it says that it is.
    pub version: Version,
}

/// A version `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Hyperfine {
    /// Looks at `explicit`, else `$HYPERFINE`, else the PATH, else `candidates`.
    pub fn find(_explicit: Option<&Path>, _candidates: &[PathBuf]) -> anyhow::Result<Hyperfine> {
        todo!()
    }
}
