//! What is done with the lines.

use std::io::{self, BufWriter, Write};
use std::mem;
use std::slice;

use crc32fast::Hasher;

use crate::run;

/// The works of the family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Where each line begins, kept.
    Index,
    /// That, and the contents of each line kept, a NUL written over its newline.
    Split,
    /// How many lines.
    Count,
}

impl Kind {
    /// All of them; the first is the default.
    pub const ALL: [Kind; 3] = [Kind::Index, Kind::Split, Kind::Count];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Index => "index",
            Kind::Split => "split",
            Kind::Count => "count",
        }
    }
}

/// What is known of the lines so far.
#[derive(Debug)]
pub struct Work {
    kind: Kind,
    begin: u64,
    starts: Vec<u64>,
    lines: u64,
    longest: u64,
    proof: String,
}

impl Work {
    /// A work of that kind on nothing yet.
    pub fn new(kind: Kind) -> Work {
        Work {
            kind,
            begin: 0,
            starts: Vec::new(),
            lines: 0,
            longest: 0,
            proof: String::new(),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where in the file the line begins that hasn't ended.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// That line ends before `end`, a place in the file; there the next one begins.
    #[inline(always)]
    pub fn end_line(&mut self, end: u64) {
        if self.kind != Kind::Count {
            self.starts.push(self.begin);
        }
        self.lines += 1;
        self.longest = self.longest.max(end - self.begin);
        self.begin = end;
    }

    /// Goes over what was kept, for the answer: CRC-32 over the places where lines begin, 64-bit
    /// numbers, lowest byte first; and one over the contents that were `kept`.
    pub(super) fn prove(&mut self, kept: Vec<&'static [u8]>) {
        if self.kind == Kind::Count {
            return;
        }
        let starts = mem::take(&mut self.starts).leak();
        for start in &mut *starts {
            *start = start.to_le();
        }
        // SAFETY: numbers may be looked at as the bytes that they are.
        let starts =
            unsafe { slice::from_raw_parts(starts.as_ptr().cast(), mem::size_of_val(starts)) };
        self.proof = format!(":{:08x}", crc32fast::hash(starts));
        if self.kind == Kind::Split {
            self.proof += &format!(":{:08x}", crc32(kept.leak()));
        }
    }
}

impl run::Work for Work {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// How many lines, the bytes of the longest, and the CRC-32 of what was kept.
    fn answer(&self) -> String {
        format!("{}:{}{}", self.lines, self.longest, self.proof)
    }
}

/// CRC-32 over all pieces. Short ones are gathered first: the fast way needs some length.
fn crc32(pieces: &[&[u8]]) -> u32 {
    #[derive(Debug)]
    struct Sink(Hasher);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = BufWriter::with_capacity(32 << 10, Sink(Hasher::new()));
    for piece in pieces {
        sink.write_all(piece).expect("a sum takes all");
    }
    sink.into_inner().expect("a sum takes all").0.finalize()
}
