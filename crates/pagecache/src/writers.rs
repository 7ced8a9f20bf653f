//! Who may change a file while it is looked at.

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

use crate::sys;

/// A process that has a file open for writing, or mapped so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Its number.
    pub pid: u32,
    /// Its name; control characters are escaped.
    pub name: String,
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

/// Every process that may write to the file at `path` just now, as far as this system shows: on Linux,
/// one's own, or with root all of this PID namespace; none elsewhere.
pub fn writers(path: &Path) -> Vec<Writer> {
    sys::writers(path)
}
