//! Filling the cache with one file, in a known way.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    path::Path,
};

use clap::ValueEnum;

use crate::{
    Error, Residency, State, evict::drop_pages_of, memory::refuse_larger_than_memory, open,
    residency, sys,
};

/// Large enough that system calls cost nothing, small enough for a core's cache.
const BUFFER: usize = 256 << 10;

/// The order of a random fill is the same in every run.
const SEED: u64 = 0x5eed;

/// How the cache is filled. It decides the size of the folios, and so what mapping them costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fill {
    /// One sequential read with the system's readahead: large folios
    Readahead,
    /// Page by page in random order without readahead: small folios
    Random,
}

/// Evicts `path`, fills the cache with all of it, and returns what is resident then.
///
/// Fails with [`Error::Unavailable`], before time is spent, if the file is larger than the memory
/// left; with [`Error::NotReached`] if it couldn't be evicted, or less than 99 % is resident.
pub fn fill(path: &Path, how: Fill) -> Result<Residency, Error> {
    let file = open(path)?;
    let bytes = file.metadata().map_err(Error::io(path))?.len();
    refuse_larger_than_memory(path, bytes)?;
    fill_open(path, &file, how)
}

pub(crate) fn fill_open(path: &Path, file: &File, how: Fill) -> Result<Residency, Error> {
    let filesystem = sys::filesystem_of(file).map_err(Error::io(path))?;
    if filesystem.has_cold_state {
        drop_pages_of(path, file)?;
    }
    // An own description: readahead's state and advice belong to it.
    let reader = open(path)?;
    match how {
        Fill::Readahead => read_in_order(&reader),
        Fill::Random => read_at_random(&reader),
    }
    .map_err(Error::io(path))?;
    let look = residency(file).map_err(Error::io(path))?;
    if look.holds(State::Warm) == Some(false) {
        return Err(why_it_left(path, &look, filesystem.has_cold_state));
    }
    Ok(look)
}

/// Reads to the end, wherever that is by now.
pub(crate) fn read_in_order(mut file: &File) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Asks for every page alone and doesn't wait, so that the device has many to work on: eight times as
/// fast as waiting for each, and the same small folios. Then reads every page, which waits for those
/// still in flight, loads what was only a hint to the system, and sees errors.
fn read_at_random(file: &File) -> io::Result<()> {
    sys::readahead_off(file)?;
    let page = sys::page_size();
    let mut pages: Vec<u64> = (0..file.metadata()?.len().div_ceil(page)).collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut pages);
    for number in &pages {
        sys::prefetch(file, number * page, page);
    }
    let mut byte = [0];
    for number in pages {
        // A page past the end of a file that shrank reads nothing.
        file.read_at(&mut byte, number * page)?;
    }
    Ok(())
}

fn why_it_left(path: &Path, look: &Residency, evictable: bool) -> Error {
    if evictable {
        let why = format!("{look} after filling: memory was reclaimed meanwhile");
        return Error::NotReached(path.to_owned(), why);
    }
    let why = format!("{look}: holes of a file in memory stay out of it, as does what is swapped");
    Error::Unavailable(path.to_owned(), why)
}
