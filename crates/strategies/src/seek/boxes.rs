//! The work `boxes`: walks the boxes of an MP4 or QuickTime file (ISO/IEC 14496-12, 4.2). A visit
//! reads the head of one box; what the box holds is skipped, unless it holds boxes.
//!
//! Walked into are the boxes that hold nothing but boxes, and the two that hold them behind a count,
//! `dref` and `stsd`. Those in `meta` and in the entries of `stsd` are left alone.

use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::places::Place;
use crate::exit::{Error, Exit, Result};

/// Bytes of a head with a 32-bit size: the size, the type.
const SHORT: u64 = 8;
/// Bytes of a head with a 64-bit size, which stands behind the type.
pub const LONG: u64 = 16;

/// How many boxes may stand one in another. In a video about ten do.
const DEEPEST: usize = 1 << 16;

/// A walk through the boxes of a file, and a CRC-32 over their types and sizes.
pub struct Boxes {
    file: PathBuf,
    /// Where the next box begins.
    position: u64,
    /// The ends of what the next box is in: of the file, then of the boxes, the innermost last.
    ends: Vec<u64>,
    head: Vec<u8>,
    crc: Hasher,
}

impl Boxes {
    /// Of `file`; nothing is there to be walked through before [`Boxes::start`].
    pub fn new(file: &Path) -> Boxes {
        Boxes {
            file: file.to_owned(),
            position: 0,
            ends: Vec::new(),
            head: Vec::with_capacity(LONG as usize),
            crc: Hasher::new(),
        }
    }

    /// Goes to the beginning of the file, which has `size` bytes.
    pub fn start(&mut self, size: u64) {
        self.ends = vec![size];
    }

    /// Where the head of the next box is, with the bytes that a 64-bit size would take.
    ///
    /// # Errors
    /// The file ends within it.
    pub fn place(&mut self) -> Result<Option<Place>> {
        self.head.clear();
        while let Some(&end) = self.ends.last() {
            let left = end - self.position;
            if left >= SHORT {
                return Ok(Some(Place {
                    offset: self.position,
                    len: left.min(LONG),
                }));
            }
            if left > 0 && self.ends.len() == 1 {
                return Err(self.bad("is cut within its head"));
            }
            // Too little for a box: QuickTime ends the list in `udta` with four zeros.
            self.position = end;
            self.ends.pop();
        }
        Ok(None)
    }

    /// The next bytes of the head.
    pub fn update(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
    }

    /// The head is complete: takes it in and goes on to the next box.
    ///
    /// # Errors
    /// Its size can't be; or boxes are nested too deeply.
    pub fn end(&mut self) -> Result<()> {
        let left = self.ends.last().expect("the box is in something") - self.position;
        let nested = self.ends.len() > 1;
        let (size, head) = sizes(&self.head, left, nested).map_err(|why| self.bad(&why))?;
        let kind: &[u8; 4] = self.head[4..8].try_into().expect("four bytes");
        self.crc.update(kind);
        self.crc.update(&size.to_le_bytes());
        match boxes_behind(kind).map(|bytes| head + bytes) {
            Some(first) if first <= size => {
                if self.ends.len() > DEEPEST {
                    return Err(self.bad(&format!("is in {DEEPEST} others: too deep")));
                }
                self.ends.push(self.position + size);
                self.position += first;
            }
            _ => self.position += size,
        }
        Ok(())
    }

    /// The CRC-32 of the boxes so far.
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// `why` completes a sentence on the box at `position`.
    fn bad(&self, why: &str) -> Error {
        let kind = self.head.get(4..8).unwrap_or_default().escape_ascii();
        let position = self.position;
        let cause = format_args!("no whole MP4 file: the box '{kind}' at byte {position} {why}");
        Error::of(&self.file, Exit::Changed, cause)
    }
}

/// Bytes of the box and of its head, which begins with `head`. `left` bytes are left of what the box
/// is in, which is another box if it is `nested`. The error tells of the box.
fn sizes(head: &[u8], left: u64, nested: bool) -> std::result::Result<(u64, u64), String> {
    let short = u32::from_be_bytes(head[..4].try_into().expect("four bytes"));
    let (size, head) = match short {
        0 if nested => return Err("goes to the end of the file, but is in another".into()),
        0 => (left, SHORT),
        1 => match head[SHORT as usize..].try_into() {
            Ok(long) => (u64::from_be_bytes(long), LONG),
            Err(_) => return Err("is cut within its head".into()),
        },
        _ => (short.into(), SHORT),
    };
    if size < head {
        return Err(format!("has {size} bytes, less than its head"));
    }
    if size > left {
        return Err(format!("has {size} bytes, but only {left} are left for it"));
    }
    Ok((size, head))
}

/// Bytes from the head to the first box inside, for a box that holds boxes.
fn boxes_behind(kind: &[u8; 4]) -> Option<u64> {
    match kind {
        b"moov" | b"trak" | b"tref" | b"edts" | b"mdia" | b"minf" | b"dinf" | b"stbl" | b"mvex"
        | b"udta" | b"moof" | b"traf" | b"mfra" => Some(0),
        // Version, flags and the number of entries.
        b"dref" | b"stsd" => Some(8),
        _ => None,
    }
}
