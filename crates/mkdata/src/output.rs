//! The output: checked before, written beside, brought to disk, then renamed into place.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Common;
use crate::error::{Error, Result};
use crate::sink::Sink;
use crate::sys;

/// A file or a folder to be made, not there yet.
pub struct Output {
    path: PathBuf,
    /// The folder it is in.
    dir: PathBuf,
    force: bool,
    progress: ProgressBar,
}

impl Output {
    /// Looks whether a new file of about `bytes` bytes can be made (or replaced, with `--force`).
    ///
    /// # Errors
    /// 73: the path exists or is no regular file, its folder is missing, or the disk has too little space.
    pub fn file(common: &Common, bytes: u64) -> Result<Self> {
        Self::new(common, bytes, |there, _| {
            if there.is_dir() {
                Err("is a folder; name a file in it")
            } else if !there.is_file() {
                Err("is no regular file; name another one")
            } else {
                Ok(())
            }
        })
    }

    /// Looks whether a new folder with about `bytes` bytes in it can be made. With `--force` a folder is
    /// replaced that holds nothing but what [`Output::write_folder`] has made.
    ///
    /// # Errors
    /// 73, as for [`Output::file`].
    pub fn folder(common: &Common, bytes: u64) -> Result<Self> {
        Self::new(common, bytes, |there, path| {
            if !there.is_dir() {
                Err("is no folder; name another one")
            } else if !holds_only_ours(path).unwrap_or(false) {
                Err("is a folder with other files in it; name another one")
            } else {
                Ok(())
            }
        })
    }

    fn new(
        common: &Common,
        bytes: u64,
        replaceable: impl FnOnce(&Metadata, &Path) -> std::result::Result<(), &'static str>,
    ) -> Result<Self> {
        let failed = |cause: &str| Err(Error::create(&common.path, cause));
        let Some(name) = common.path.file_name() else {
            return failed("is a folder of its own; name something in it"); // `.`, `..`, `/`
        };
        let dir = match common.path.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        let path = dir.join(name);
        match fs::symlink_metadata(&path) {
            Ok(there) => match replaceable(&there, &path) {
                Err(cause) => return failed(cause),
                Ok(()) if !common.force => return failed("exists already; --force replaces it"),
                Ok(()) => {}
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return failed(&error.to_string()),
        }
        match sys::free_bytes(dir) {
            Ok(Some(free)) if free < bytes => failed(&format!(
                "takes {bytes} bytes, {free} are free in {dir:?}; make it smaller or free some"
            )),
            Ok(_) => Ok(Self {
                path,
                dir: dir.to_owned(),
                force: common.force,
                progress: progress(bytes, common.quiet),
            }),
            Err(error) => Err(Error::create(dir, error)),
        }
    }

    /// Makes the file: what `fill` writes goes to a temporary file in the same folder, which gets its name
    /// once its data is on disk. Returns what `fill` returned and the file's bytes.
    ///
    /// # Errors
    /// 73 where no file can be made in the folder, 74 where writing fails, or the signal that came. The
    /// temporary file is removed.
    pub fn write_file<T>(self, fill: impl FnOnce(&mut Sink) -> Result<T>) -> Result<(T, u64)> {
        let temporary = temporary()
            .permissions(Permissions::from_mode(0o666)) // less the umask, as for any new file
            .tempfile_in(&self.dir)
            .map_err(|error| Error::create(&self.path, error))?;
        let mut sink = Sink::new(temporary.as_file(), &self.path, &self.progress);
        let filled = fill(&mut sink)?;
        let bytes = sink.finish()?;
        let named = if self.force {
            temporary.persist(&self.path)
        } else {
            temporary.persist_noclobber(&self.path)
        };
        named.map_err(|error| Error::create(&self.path, error.error))?;
        Ok((filled, bytes))
    }

    /// Makes the folder with `files` files in it, `F_01.txt` and so on; `fill` writes the one with this index.
    /// They go to a temporary folder, from which the folder is moved once all data is on disk. Returns the sum
    /// of what `fill` returned, and the bytes of all files.
    ///
    /// # Errors
    /// As for [`Output::write_file`].
    pub fn write_folder(
        self,
        files: usize,
        mut fill: impl FnMut(usize, &mut Sink) -> Result<u64>,
    ) -> Result<(u64, u64)> {
        let create = |error| Error::create(&self.path, error);
        let temporary = temporary().tempdir_in(&self.dir).map_err(create)?;
        let new = temporary.path().join("new");
        fs::create_dir(&new).map_err(create)?;
        let digits = files.to_string().len().max(2);
        let (mut filled, mut bytes) = (0, 0);
        for index in 0..files {
            let name = format!("F_{:0digits$}.txt", index + 1);
            let file = File::create_new(new.join(&name)).map_err(create)?;
            let path = self.path.join(&name);
            let mut sink = Sink::new(&file, &path, &self.progress);
            filled += fill(index, &mut sink)?;
            bytes += sink.finish()?;
        }
        // What is there goes to the temporary folder, and with it.
        let old = temporary.path().join("old");
        if self.force && self.path.exists() {
            fs::rename(&self.path, &old).map_err(create)?;
        }
        if let Err(error) = fs::rename(&new, &self.path) {
            // Ours couldn't be named: what was there gets its name back, if anything was.
            let _ = fs::rename(&old, &self.path);
            return Err(create(error));
        }
        Ok((filled, bytes))
    }
}

/// How temporary files and folders are made: hidden, and removed when dropped.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mkdata-");
    builder
}

/// Whether a folder holds only files with names such as `F_01.txt`.
fn holds_only_ours(dir: &Path) -> io::Result<bool> {
    for entry in dir.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix("F_")?.strip_suffix(".txt"));
        let ours = number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
        if !ours || !entry.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A bar on stderr, which indicatif hides where that is no terminal, and removes when it is dropped.
fn progress(bytes: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = "{wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}";
    ProgressBar::new(bytes)
        .with_style(ProgressStyle::with_template(style).expect("the template is well-formed"))
}
