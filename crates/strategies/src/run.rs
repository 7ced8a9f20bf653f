//! One run of a strategy: from checking its input to what is told of it.

use std::cmp::Ordering;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::RawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::args::{self, Args};
use crate::exit::{self, Error, Exit, Result};
use crate::record::Record;
use crate::sys::{self, Usage};

/// What a family does with the bytes. How it takes them is the family's own affair.
pub trait Work {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What it computed. All strategies of the family must agree on it.
    fn answer(&self) -> String;
    /// Adds to the record what only this family tells.
    fn tell(&self, _record: &mut Record) {}
}

/// A run: its file, its clock and phases, and its work.
pub struct Run<W> {
    file: PathBuf,
    json: bool,
    before: Metadata,
    device_before: Option<u64>,
    usage_before: Usage,
    start: Instant,
    opened: Duration,
    arrived: Option<Duration>,
    pub(crate) work: W,
    pub(crate) bytes: u64,
}

impl<W: Work> Run<W> {
    /// Checks that the file is a regular one with content of its own, and starts the clock.
    ///
    /// # Errors
    /// [`Exit::NoInput`], with the reason. Nothing is opened before it is known to be a regular
    /// file: opening a FIFO would wait for its writer.
    pub fn new(args: &Args, work: W) -> Result<Run<W>> {
        let file = args.file();
        let before = input(file)?;
        Ok(Run {
            file: file.to_owned(),
            json: args.has(args::JSON.name),
            before,
            device_before: sys::device_bytes(),
            usage_before: Usage::now(),
            start: Instant::now(),
            opened: Duration::ZERO,
            arrived: None,
            work,
            bytes: 0,
        })
    }

    /// The file to read.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The file's size in bytes when the run began.
    pub fn size(&self) -> u64 {
        self.before.size()
    }

    /// What the file was when the run began.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.before
    }

    /// Bytes worked on so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file is open: what follows is arrival.
    pub fn opened(&mut self) {
        self.opened = self.start.elapsed();
    }

    /// The whole file has arrived: what follows is touching it.
    pub fn arrived(&mut self) {
        self.arrived = Some(self.start.elapsed());
    }

    /// From now on, an access to a map of `fd`, the open file, that the system can't satisfy
    /// (SIGBUS) ends the process with one line: the file shrank, or it can't be read.
    pub fn catch_sigbus(&self, fd: RawFd) {
        let prefix = format!("{}: {}: ", exit::program(), exit::printable(self.path()));
        sys::catch_sigbus(fd, self.size(), prefix);
    }

    /// The file can't be opened.
    pub fn cannot_open(&self, cause: &io::Error) -> Error {
        Error::open(self.path(), cause)
    }

    /// This strategy can't be had here.
    pub fn unavailable(&self, why: &str) -> Error {
        Error::of(self.path(), Exit::Unavailable, why)
    }

    /// The call named failed for `cause`, at `offset` of the file where that is known.
    pub fn failed(&self, call: &str, offset: Option<u64>, cause: &io::Error) -> Error {
        Error::call(self.path(), call, offset, cause)
    }

    /// The C function named has just failed at `offset` of the file. `Ok` if a signal interrupted
    /// it, and it is to be called again.
    ///
    /// # Errors
    /// As [`Run::failed`], for any other reason that `errno` tells.
    pub fn again_if_interrupted(&self, call: &str, offset: u64) -> Result<()> {
        let cause = io::Error::last_os_error();
        match cause.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            _ => Err(self.failed(call, Some(offset), &cause)),
        }
    }

    /// The file changed during the run.
    pub(crate) fn changed(&self, how: &str) -> Error {
        let cause = format_args!("{how} while it was read: run again when nobody writes it");
        Error::of(self.path(), Exit::Changed, cause)
    }

    /// Stops the clock, and logs and prints what is to be told of the run.
    ///
    /// # Errors
    /// [`Exit::Changed`] if the file is not what it was when the run began; or the outcome can't be
    /// written.
    pub(crate) fn deliver(self) -> Result<()> {
        let end = self.start.elapsed();
        let usage = Usage::now() - self.usage_before;
        let device_bytes = sys::device_bytes()
            .zip(self.device_before)
            .map(|(now, then)| now - then);
        self.check_unchanged()?;
        let seconds = |from: Duration, to: Duration| (to - from).as_secs_f64();
        let mut record = Record {
            strategy: exit::program(),
            work: self.work.name(),
            answer: self.work.answer(),
            bytes: self.bytes,
            seconds_open: self.opened.as_secs_f64(),
            seconds_arrive: self.arrived.map(|arrived| seconds(self.opened, arrived)),
            seconds_touch: self.arrived.map(|arrived| seconds(arrived, end)),
            seconds_arrive_touch: match self.arrived {
                Some(_) => None,
                None => Some(seconds(self.opened, end)),
            },
            seconds: end.as_secs_f64(),
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            device_bytes,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            peak_rss: sys::peak_rss(),
            user: usage.user.as_secs_f64(),
            system: usage.system.as_secs_f64(),
            seconds_visit: None,
            latency: None,
        };
        self.work.tell(&mut record);
        record.deliver(self.json)
    }

    /// Fails with [`Exit::Changed`] if the file is not what it was when the run began.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let now = fs::metadata(self.path()).map_err(|_| self.changed("went away"))?;
        let then = &self.before;
        if (now.dev(), now.ino()) != (then.dev(), then.ino()) {
            return Err(self.changed("was replaced"));
        }
        match now.size().cmp(&then.size()) {
            Ordering::Less => return Err(self.changed("shrank")),
            Ordering::Greater => return Err(self.changed("grew")),
            Ordering::Equal => {}
        }
        if (now.mtime(), now.mtime_nsec()) != (then.mtime(), then.mtime_nsec()) {
            return Err(self.changed("was written to"));
        }
        Ok(())
    }
}

/// What there is to know of `file`, which is to be read.
///
/// # Errors
/// It isn't there, or no regular file that its size tells the truth of.
pub(crate) fn input(file: &Path) -> Result<Metadata> {
    let metadata = fs::metadata(file).map_err(|cause| Error::open(file, &cause))?;
    check_input(file, &metadata)?;
    Ok(metadata)
}

/// Fails unless `file` is a regular file that its size tells the truth of.
fn check_input(file: &Path, metadata: &Metadata) -> Result<()> {
    let refuse = |what: &str| Err(Error::of(file, Exit::NoInput, what));
    let kind = metadata.file_type();
    if kind.is_dir() {
        return refuse("a folder: name a file in it");
    }
    if kind.is_fifo() {
        return refuse("a FIFO: copy what it gives to a file first");
    }
    if kind.is_char_device() || kind.is_block_device() {
        return refuse("a device: copy what it gives to a file first");
    }
    if !kind.is_file() {
        return refuse("no regular file");
    }
    if sys::is_made_by_kernel(file) {
        return refuse(
            "made by the kernel as it is read, its size says nothing: copy it to a file first",
        );
    }
    // Files of FUSE, too, may have content that their size doesn't tell of.
    if metadata.size() == 0 {
        let mut byte = [0];
        let read = File::open(file).and_then(|mut file| file.read(&mut byte));
        if read.map_err(|cause| Error::open(file, &cause))? > 0 {
            return refuse("its size is 0 but it has content: copy it to a file first");
        }
    }
    Ok(())
}
