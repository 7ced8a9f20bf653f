//! Ends a call that would spin for ever on a read error.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::exit::{Error, Result};
use crate::sys;

/// How long the process may get no larger before the file is looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// Watches mmap(2) with `MAP_POPULATE` until it is dropped. Over a page that can't be read, Linux
/// tries that page again and again (seen on 6.18), and only the end of the process ends it. So
/// where the process gets no more pages for a while, a second thread reads the file itself, and
/// if it meets the error, it ends the process with it. A device that is merely slow is waited for.
pub struct Watchdog {
    done: Arc<AtomicBool>,
    thread: Thread,
}

impl Watchdog {
    /// Watches a call that reads `file`.
    ///
    /// # Errors
    /// No second thread can be had.
    pub fn start(file: &Path) -> Result<Watchdog> {
        let done = Arc::new(AtomicBool::new(false));
        let path = file.to_owned();
        let stop = Arc::clone(&done);
        let thread = thread::Builder::new()
            .spawn(move || watch(&path, &stop))
            .map_err(|cause| Error::call(file, "starting a thread", None, &cause))?;
        Ok(Watchdog {
            done,
            thread: thread.thread().clone(),
        })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

fn watch(path: &Path, stop: &AtomicBool) {
    let mut largest = sys::peak_rss();
    loop {
        thread::park_timeout(PATIENCE);
        if stop.load(Ordering::Acquire) {
            return;
        }
        let now = sys::peak_rss();
        if now == largest
            && let Err(error) = read_through(path)
        {
            process::exit(error.tell().into());
        }
        largest = now;
    }
}

/// Reads the file to its end, or to the first error.
fn read_through(path: &Path) -> Result<()> {
    let mut file = File::open(path).map_err(|cause| Error::open(path, &cause))?;
    let mut buffer = vec![0; 64 << 10];
    let mut offset = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => offset += n as u64,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Error::call(path, "read", Some(offset), &cause)),
        }
    }
}
