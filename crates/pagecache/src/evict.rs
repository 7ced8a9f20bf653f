//! Eviction of one file, without root, and of the whole machine, with it.

use std::{fs::File, path::Path, thread, time::Duration};

use crate::{
    Error, Method, OneLine, Residency, State, open, residency,
    sys::{self, Holder},
};

/// Waits before each attempt, in milliseconds. Pages whose read was in flight survive the first
/// attempt and were seen gone 5 ms later; what is still there after these is held by somebody.
const WAITS: [u64; 8] = [0, 2, 5, 10, 20, 50, 100, 200];

/// What an eviction found and what it left.
#[derive(Debug)]
pub struct Evicted {
    /// On arrival.
    pub before: Residency,
    /// At the end; [`Method::Unknown`] where nothing could be proved.
    pub after: Residency,
    /// What the caller should know of caches beneath.
    pub notes: Vec<String>,
}

/// Evicts `path` from the page cache: dirty pages are written to the device first.
///
/// Under a loop device the image is a second cache: it is evicted too where it is readable, else a
/// note says so. Where residency can't be told, the file is evicted and the result says unknown.
/// Fails with [`Error::Unavailable`] where files live in memory only, and with
/// [`Error::NotReached`] and the reason if more than 1 % stays.
pub fn evict(path: &Path) -> Result<Evicted, Error> {
    evict_open(path, &open(path)?)
}

pub(crate) fn evict_open(path: &Path, file: &File) -> Result<Evicted, Error> {
    let before = residency(file).map_err(Error::io(path))?;
    let after = drop_pages_of(path, file)?;
    let notes = evict_beneath(file);
    Ok(Evicted {
        before,
        after,
        notes,
    })
}

/// [`evict`] without what lies beneath.
pub(crate) fn drop_pages_of(path: &Path, file: &File) -> Result<Residency, Error> {
    require_cold_state(path, file)?;
    let mut look = residency(file).map_err(Error::io(path))?;
    for (attempt, wait) in WAITS.into_iter().enumerate() {
        thread::sleep(Duration::from_millis(wait));
        // A clean file is spared the flush of the device's cache that a sync brings.
        if look.dirty != Some(0) {
            sys::write_back(file).map_err(Error::io(path))?;
        }
        sys::drop_pages(file).map_err(Error::io(path))?;
        look = residency(file).map_err(Error::io(path))?;
        // Only cachestat sees pages in flight: the other methods need a second look.
        let sees_all = look.by == Method::Cachestat || attempt > 0;
        if sees_all && look.holds(State::Cold) != Some(false) {
            return Ok(look);
        }
    }
    Err(Error::NotReached(
        path.to_owned(),
        why_it_stays(path, &look),
    ))
}

/// Fails where files live in memory only. Nothing is left of an empty file, even there.
pub(crate) fn require_cold_state(path: &Path, file: &File) -> Result<(), Error> {
    let filesystem = sys::filesystem_of(file).map_err(Error::io(path))?;
    if filesystem.has_cold_state || file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(());
    }
    let why = format!(
        "{} keeps files in memory only: they have no cold state",
        filesystem.name
    );
    Err(Error::Unavailable(path.to_owned(), why))
}

/// Evicts the images of the loop devices that `file` lies on; a note for each where that can't be
/// done or proved. A second cache that stays makes a run less cold, not wrong, so it is no error.
pub(crate) fn evict_beneath(file: &File) -> Vec<String> {
    let images = sys::images_beneath(file);
    images
        .iter()
        .filter_map(|image| evict_image(image))
        .collect()
}

fn evict_image(image: &Path) -> Option<String> {
    let evicted = open(image).and_then(|file| drop_pages_of(image, &file));
    let name = OneLine(image);
    match evicted {
        Ok(look) if look.resident.is_some() => None,
        Ok(_) => Some(format!(
            "the loop device's image {name} is a second cache: evicted, which can't be proved here"
        )),
        Err(error) => Some(format!(
            "the loop device's image is a second cache, and was not evicted: {error}"
        )),
    }
}

fn why_it_stays(path: &Path, look: &Residency) -> String {
    let holders = sys::holders(path);
    let cause = if !holders.is_empty() {
        let names: Vec<String> = holders.iter().map(Holder::to_string).collect();
        format!("{}; end it, or have it unmap the file", names.join(", "))
    } else if look.dirty.is_some_and(|dirty| dirty > 0) {
        "its pages are dirty again as soon as they are written: end who writes to it".to_owned()
    } else {
        "in use by a process that can't be seen from here (another user's shows only to root), \
         or being read right now"
            .to_owned()
    };
    format!("{look} after eviction: {cause}")
}

/// Drops every clean page of the machine: Linux's drop_caches, macOS's purge(8). Needs root.
///
/// Fails with [`Error::Unavailable`] where the system has no such thing or denies it.
pub fn purge_system() -> Result<(), Error> {
    sys::purge_system().map_err(|(path, why)| Error::Unavailable(path.into(), why))
}
