//! The row index: a file that says where the rows of another file begin, so that this is found out
//! once, and not in every run.
//!
//! It begins with the eight letters `rowindex`. Then come 64-bit numbers, little-endian: of the data
//! its size, the time of its last change (nanoseconds) and its inode; how many rows there are; a
//! CRC-32 over the offsets and over the four numbers before; and the offset of each row, ascending.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek as _, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::rows;
use crate::exit::{Error, Exit, Result, printable};
use crate::run;
use crate::sys::{self, HeldSignals};

/// How a row index begins.
const MAGIC: [u8; 8] = *b"rowindex";

/// A row index that is there. Whether it is whole, and of which data, is to be seen.
pub struct Index {
    path: PathBuf,
    file: File,
    size: u64,
    head: Head,
}

impl Index {
    /// Opens the file; `None` if it is no row index.
    ///
    /// # Errors
    /// It can't be read.
    pub fn open(path: &Path) -> Result<Option<Index>> {
        let size = run::input(path)?.size();
        let mut file = File::open(path).map_err(|cause| Error::open(path, &cause))?;
        let mut head = [0; Head::SIZE];
        match file.read_exact(&mut head) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(cause) => return Err(Error::call(path, "read", Some(0), &cause)),
        }
        Ok(Head::from_bytes(&head).map(|head| Index {
            path: path.to_owned(),
            file,
            size,
            head,
        }))
    }

    /// Calls `begin` with the offset of each row of `data`, and returns how many there are. Only
    /// then is it known that the index isn't damaged.
    ///
    /// # Errors
    /// [`Exit::Changed`] if the index is of another file, of this one as it was before, or damaged;
    /// or it can't be read.
    pub fn read(
        mut self,
        data: &Path,
        metadata: &Metadata,
        mut begin: impl FnMut(u64),
    ) -> Result<u64> {
        if self.head.identity != identity(metadata) {
            return Err(self.unusable(data, "of another file, or older than the last change of it"));
        }
        let bytes = self.head.rows.checked_mul(8);
        if bytes.and_then(|bytes| bytes.checked_add(Head::SIZE as u64)) != Some(self.size) {
            return Err(self.unusable(data, "damaged"));
        }
        let mut buffer = vec![0; 1 << 20];
        let mut crc = Hasher::new();
        let mut left = self.size - Head::SIZE as u64;
        let mut least = 0;
        while left > 0 {
            let most = left.min(buffer.len() as u64) as usize;
            let offsets = &mut buffer[..most];
            self.file
                .read_exact(offsets)
                .map_err(|cause| Error::call(&self.path, "read", Some(self.size - left), &cause))?;
            crc.update(offsets);
            for offset in offsets.as_chunks().0 {
                let offset = u64::from_le_bytes(*offset);
                if offset < least || offset >= metadata.size() {
                    return Err(self.unusable(data, "damaged"));
                }
                begin(offset);
                least = offset + 1;
            }
            left -= most as u64;
        }
        match self.head.crc == self.head.checksum(crc) {
            true => Ok(self.head.rows),
            false => Err(self.unusable(data, "damaged")),
        }
    }

    fn unusable(&self, data: &Path, why: &str) -> Error {
        let remake = format!("`row-index {} {}`", printable(data), printable(&self.path));
        let cause = format_args!("the row index is {why}: make it again by {remake}");
        Error::of(&self.path, Exit::Changed, cause)
    }
}

/// A row index that was asked for.
#[derive(Debug, PartialEq)]
pub struct Made {
    /// How many rows the data has.
    pub rows: u64,
    /// Whether the index was there already, and is still right.
    pub found: bool,
}

/// Makes the row index of `data` at `index`, unless it is there: written beside, brought to disk and
/// then renamed.
///
/// # Errors
/// `data` can't be read, changes meanwhile, or has a quote that is never closed; `index` is there and
/// no row index ([`Exit::CannotCreate`]), or can't be written.
pub fn make(data: &Path, index: &Path) -> Result<Made> {
    let metadata = run::input(data)?;
    match fs::metadata(index) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => {}
        Err(cause) => return Err(cannot_create(index, &cause)),
        Ok(there) if !there.is_file() => return Err(taken(index, "no regular file")),
        Ok(_) => {
            let there = Index::open(index)?.ok_or_else(|| taken(index, "no row index"))?;
            if let Ok(rows) = there.read(data, &metadata, |_| ()) {
                return Ok(Made { rows, found: true });
            }
        }
    }
    let rows = write(data, &metadata, index)?;
    Ok(Made { rows, found: false })
}

fn write(data: &Path, metadata: &Metadata, index: &Path) -> Result<u64> {
    // Dropped after the temporary file.
    let signals = HeldSignals::hold();
    sys::ignore_sigxfsz();
    let folder = match index.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".row-index-")
        .permissions(Permissions::from_mode(0o666)) // less the umask, as for any new file
        .tempfile_in(folder)
        .map_err(|cause| cannot_create(index, &cause))?;
    let failed = |cause: io::Error| Error::call(index, "writing", None, &cause);
    let mut file = BufWriter::new(temporary.as_file());
    file.write_all(&[0; Head::SIZE]).map_err(failed)?;
    let (mut crc, mut rows) = (Hasher::new(), 0);
    let mut bytes = Vec::new();
    let found = rows::find(data, metadata.size(), |offsets| {
        if signals.pending() {
            return Err(Error::of(index, Exit::Io, "interrupted"));
        }
        bytes.clear();
        bytes.extend(offsets.iter().copied().flat_map(u64::to_le_bytes));
        crc.update(&bytes);
        rows += offsets.len() as u64;
        file.write_all(&bytes).map_err(failed)
    });
    // If it did, whatever else was found comes from that.
    if identity(&run::input(data)?) != identity(metadata) {
        let cause = "changed while it was read: run again when nobody writes it";
        return Err(Error::of(data, Exit::Changed, cause));
    }
    found?;
    let head = Head::new(identity(metadata), rows, crc);
    file.rewind()
        .and_then(|()| file.write_all(&head.to_bytes()))
        .and_then(|()| file.flush())
        .and_then(|()| file.get_ref().sync_all())
        .map_err(failed)?;
    drop(file);
    match temporary.persist(index) {
        Ok(_) => Ok(rows),
        Err(cause) => Err(cannot_create(index, &cause.error)),
    }
}

fn cannot_create(index: &Path, cause: &io::Error) -> Error {
    Error::of(
        index,
        Exit::CannotCreate,
        format_args!("can't create: {cause}"),
    )
}

fn taken(index: &Path, what: &str) -> Error {
    let cause = format_args!("is there and {what}: name another file for the index");
    Error::of(index, Exit::CannotCreate, cause)
}

/// What an index knows its data by: size, time of the last change in nanoseconds, inode.
fn identity(data: &Metadata) -> [u64; 3] {
    let seconds = data.mtime().wrapping_mul(1_000_000_000);
    let changed = seconds.wrapping_add(data.mtime_nsec());
    [data.size(), changed as u64, data.ino()]
}

/// What stands before the offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Head {
    identity: [u64; 3],
    rows: u64,
    crc: u64,
}

impl Head {
    /// Bytes of it.
    const SIZE: usize = 8 * 6;

    /// `crc` has seen the offsets.
    fn new(identity: [u64; 3], rows: u64, crc: Hasher) -> Head {
        let mut head = Head {
            identity,
            rows,
            crc: 0,
        };
        head.crc = head.checksum(crc);
        head
    }

    fn to_bytes(self) -> [u8; Head::SIZE] {
        let [size, changed, inode] = self.identity;
        let numbers = [size, changed, inode, self.rows, self.crc];
        let mut bytes = [0; Head::SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; Head::SIZE]) -> Option<Head> {
        let (magic, numbers) = bytes.as_chunks().0.split_first()?;
        let [size, changed, inode, rows, crc] = numbers.try_into().ok()?;
        let number = |bytes| u64::from_le_bytes(bytes);
        (*magic == MAGIC).then(|| Head {
            identity: [number(size), number(changed), number(inode)],
            rows: number(rows),
            crc: number(crc),
        })
    }

    /// What its `crc` should be, where `crc` has seen the offsets.
    fn checksum(&self, mut crc: Hasher) -> u64 {
        crc.update(&self.to_bytes()[8..Head::SIZE - 8]);
        crc.finalize().into()
    }
}
