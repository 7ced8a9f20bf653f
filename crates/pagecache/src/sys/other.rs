//! Systems that this project doesn't know: files can be read, and nothing is known or evicted.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{Holder, MemoryLeft};
use crate::{Filesystem, Layout, Residency, Writer};

const UNKNOWN: &str = "this system's page cache isn't known to pagecache";

pub fn filesystem(_path: &Path) -> io::Result<Filesystem> {
    Ok(unknown_filesystem())
}

pub fn filesystem_of(_file: &File) -> io::Result<Filesystem> {
    Ok(unknown_filesystem())
}

fn unknown_filesystem() -> Filesystem {
    Filesystem {
        name: "unknown".to_owned(),
        magic: 0,
        has_cold_state: true,
        residency_known: true,
        synthetic: false,
    }
}

pub fn residency(_file: &File, total: u64, _filesystem: &Filesystem) -> io::Result<Residency> {
    Ok(Residency::unknown(total, UNKNOWN.to_owned()))
}

pub fn write_back(file: &File) -> io::Result<()> {
    file.sync_data()
}

pub fn drop_pages(_file: &File) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, UNKNOWN))
}

pub fn readahead_off(_file: &File) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, UNKNOWN))
}

pub fn prefetch(_file: &File, _offset: u64, _length: u64) {}

pub fn holders(_path: &Path) -> Vec<Holder> {
    Vec::new()
}

pub fn images_beneath(_file: &File) -> Vec<PathBuf> {
    Vec::new()
}

pub fn layout(_file: &File, _total: u64, _flush: bool) -> io::Result<Layout> {
    Err(io::Error::new(io::ErrorKind::Unsupported, UNKNOWN))
}

pub fn is_dax(_file: &File) -> bool {
    false
}

pub fn writers(_path: &Path) -> Vec<Writer> {
    Vec::new()
}

pub fn memory_left() -> Option<MemoryLeft> {
    None
}

pub fn purge_system() -> Result<(), (&'static str, String)> {
    Err(("the machine's cache", UNKNOWN.to_owned()))
}
