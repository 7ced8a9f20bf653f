//! The work `rows`: one CSV row a visit, into a list of strings. And where rows begin.
//!
//! A row is what the crate `csv-core` takes for one: RFC 4180, with fields parted by commas, quoted
//! where they hold a comma, a quote or a newline; CRLF, LF or CR ends it. Empty lines are no rows. A
//! byte order mark before the first row isn't part of it.

use std::fs::File;
use std::hint;
use std::io::{ErrorKind, Read, Seek as _, SeekFrom};
use std::iter;
use std::mem;
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use csv_core::ReadRecordResult;

use crate::exit::{Error, Exit, Result};

/// UTF-8's byte order mark.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Reads rows, and keeps a CRC-32 over their fields and of how many there are in each.
pub struct Rows {
    file: PathBuf,
    parser: csv_core::Reader,
    /// The text of the row's fields, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// How much of both the row has so far.
    text_len: usize,
    ends_len: usize,
    whole: bool,
    /// The number of fields and the length of each, for the CRC-32.
    shape: Vec<u8>,
    crc: Hasher,
}

impl Rows {
    /// For rows of `file`.
    pub fn new(file: &Path) -> Rows {
        Rows {
            file: file.to_owned(),
            parser: parser(),
            text: vec![0; 1024],
            ends: vec![0; 32],
            text_len: 0,
            ends_len: 0,
            whole: false,
            shape: Vec::new(),
            crc: Hasher::new(),
        }
    }

    /// The next bytes of a row.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !(self.whole || bytes.is_empty()) {
            let text = &mut self.text[self.text_len..];
            let ends = &mut self.ends[self.ends_len..];
            let (outcome, read, wrote, ended) = self.parser.read_record(bytes, text, ends);
            bytes = &bytes[read..];
            self.text_len += wrote;
            self.ends_len += ended;
            match outcome {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => self.whole = true,
            }
        }
    }

    /// The row that began at `offset` ends here.
    ///
    /// # Errors
    /// It doesn't: one of its quotes isn't closed.
    pub fn end(&mut self, offset: u64) -> Result<()> {
        // The last row of a file may end without a newline.
        self.update(b"\n");
        if !self.whole {
            return Err(unclosed(&self.file, offset));
        }
        let row = self.fields();
        self.shape.clear();
        for number in iter::once(row.len()).chain(row.iter().map(Vec::len)) {
            self.shape.extend((number as u64).to_le_bytes());
        }
        self.crc.update(&self.shape);
        // In one go: an update a field would take a fifth of the visit.
        self.crc.update(&self.text[..self.text_len]);
        // The list is what a row is read for, and is made though nobody looks at it here.
        hint::black_box(row);
        (self.text_len, self.ends_len, self.whole) = (0, 0, false);
        Ok(())
    }

    /// The row as a list of strings.
    fn fields(&self) -> Vec<Vec<u8>> {
        let mut start = 0;
        let field = |&end: &usize| self.text[mem::replace(&mut start, end)..end].to_vec();
        self.ends[..self.ends_len].iter().map(field).collect()
    }

    /// The CRC-32 of the rows so far.
    pub fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }
}

/// Reads `file`, which has `size` bytes, and calls `found` again and again with the offsets of the
/// next rows, in order; at least once a MiB, so maybe with none.
///
/// # Errors
/// `file` can't be read, or ends within quotes; or those of `found`.
pub fn find(file: &Path, size: u64, mut found: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
    let mut input = File::open(file).map_err(|cause| Error::open(file, &cause))?;
    let mark = skip_mark(file, &mut input)?;
    let mut finder = Finder::new(mark);
    // If the file grows meanwhile, it might do so for ever.
    let mut input = input.take(size.saturating_sub(mark));
    let mut buffer = vec![0; 1 << 20];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return finder.end().map_err(|row| unclosed(file, row)),
            Ok(n) => found(finder.update(&buffer[..n]))?,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(Error::call(file, "read", Some(finder.offset), &cause)),
        }
    }
}

/// Goes to the first byte behind the byte order mark, if there is one, and returns its offset.
fn skip_mark(file: &Path, input: &mut File) -> Result<u64> {
    let mut first = Vec::new();
    let read = input.take(MARK.len() as u64).read_to_end(&mut first);
    read.map_err(|cause| Error::call(file, "read", Some(0), &cause))?;
    let length = if first == MARK { MARK.len() } else { 0 } as u64;
    let sought = input.seek(SeekFrom::Start(length));
    sought.map_err(|cause| Error::call(file, "lseek", Some(length), &cause))
}

/// Finds where rows begin, in bytes that come piece by piece.
struct Finder {
    parser: csv_core::Reader,
    /// For what the parser copies, and nobody reads.
    text: Vec<u8>,
    ends: [usize; 64],
    offset: u64,
    /// Where the row that isn't at its end yet began.
    row: Option<u64>,
    found: Vec<u64>,
}

impl Finder {
    fn new(offset: u64) -> Finder {
        Finder {
            parser: parser(),
            text: vec![0; 1 << 16],
            ends: [0; 64],
            offset,
            row: None,
            found: Vec::new(),
        }
    }

    /// Where the rows begin that begin in `bytes`.
    fn update(&mut self, mut bytes: &[u8]) -> &[u64] {
        self.found.clear();
        while let Some(first) = bytes.first() {
            let between = self.row.is_none();
            let read = if between && matches!(first, b'\r' | b'\n') {
                1
            } else {
                if between {
                    self.found.push(self.offset);
                    self.row = Some(self.offset);
                }
                let (outcome, read, ..) =
                    self.parser
                        .read_record(bytes, &mut self.text, &mut self.ends);
                if outcome == ReadRecordResult::Record {
                    self.row = None;
                }
                read
            };
            self.offset += read as u64;
            bytes = &bytes[read..];
        }
        &self.found
    }

    /// The bytes end here; the error is where the row began whose quote isn't closed.
    fn end(&mut self) -> std::result::Result<(), u64> {
        let Some(row) = self.row else { return Ok(()) };
        // A newline ends any row but one within quotes.
        let (outcome, ..) = self
            .parser
            .read_record(b"\n", &mut self.text, &mut self.ends);
        match outcome {
            ReadRecordResult::Record => Ok(()),
            _ => Err(row),
        }
    }
}

/// A parser that takes no first bytes for a byte order mark: a row may begin with such bytes, and
/// in a shuffled order any row may be the first.
fn parser() -> csv_core::Reader {
    let mut parser = csv_core::Reader::new();
    // Once it has read something, it looks for none. An empty line is no row.
    parser.read_record(b"\n", &mut [0], &mut [0]);
    parser
}

fn unclosed(file: &Path, row: u64) -> Error {
    let cause = format!("the row at byte {row} has a quote that is never closed: mend that row");
    Error::of(file, Exit::Changed, cause)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Whether a file of those bytes ends within quotes.
    fn ends_within_quotes(bytes: &[u8]) -> bool {
        let (mut within, mut field_begins) = (false, true);
        let mut rest = bytes;
        while let [first, more @ ..] = rest {
            rest = more;
            match (first, within) {
                (b'"', true) => match rest {
                    [b'"', more @ ..] => rest = more,
                    _ => within = false,
                },
                (b'"', false) => within = field_begins,
                _ => {}
            }
            field_begins = matches!(first, b',' | b'\r' | b'\n');
        }
        within
    }

    /// Where rows begin in bytes that come in pieces of that size; or the row with the quote.
    fn offsets(bytes: &[u8], piece: usize) -> std::result::Result<Vec<u64>, u64> {
        let mut finder = Finder::new(0);
        let mut offsets = Vec::new();
        for bytes in bytes.chunks(piece) {
            offsets.extend(finder.update(bytes));
        }
        finder.end().map(|()| offsets)
    }

    fn crc_by_the_crate_csv(bytes: &[u8]) -> (usize, u32) {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true);
        let (mut count, mut crc) = (0, Hasher::new());
        for row in reader.from_reader(bytes).byte_records() {
            let row = row.unwrap();
            count += 1;
            crc.update(&(row.len() as u64).to_le_bytes());
            row.iter()
                .for_each(|field| crc.update(&(field.len() as u64).to_le_bytes()));
            crc.update(row.as_slice());
        }
        (count, crc.finalize())
    }

    proptest! {
        #[test]
        fn rows_are_those_of_the_crate_csv(
            bytes in vec(prop::sample::select(b"ab,,\"\"\"\n\n\r\xef\xbb\xbf".as_slice()), 0..50),
            piece in 1_usize..10,
        ) {
            // The mark at the beginning of a file is not the finder's business.
            let bytes = [b"\n", &bytes[..]].concat();
            let found = offsets(&bytes, piece);
            prop_assert_eq!(found.is_err(), ends_within_quotes(&bytes));
            let Ok(mut ends) = found else { return Ok(()) };
            let mut rows = Rows::new(Path::new("file"));
            let begins = ends.clone();
            ends.push(bytes.len() as u64);
            for (&begin, &end) in begins.iter().zip(&ends[1..]) {
                let row = &bytes[begin as usize..end as usize];
                row.chunks(piece).for_each(|bytes| rows.update(bytes));
                rows.end(begin).unwrap();
            }
            prop_assert_eq!((begins.len(), rows.crc()), crc_by_the_crate_csv(&bytes));
        }
    }
}
