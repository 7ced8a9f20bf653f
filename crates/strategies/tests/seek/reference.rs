//! What the works must answer, computed plainly.

use crate::common;

/// The line that a strategy prints that visited so many places of so many bytes, with `digest` going
/// into the CRC-32.
pub fn line(work: &str, visits: usize, digest: &[u8], bytes: usize) -> String {
    let crc = common::reference("crc32", digest);
    format!("{work} {visits}:{crc}  {bytes} bytes\n")
}

/// The order in which `count` places are visited: each, in turn, is drawn from those that are left,
/// and the first one left takes its place.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut left: Vec<usize> = (0..count).collect();
    for first in 0..count {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut random = state;
        random = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^= random >> 31;
        let drawn = (u128::from(random) * (count - first) as u128) >> 64;
        left.swap(first, first + drawn as usize);
    }
    left
}

/// A row's fields.
pub type Row = Vec<Vec<u8>>;

/// The rows of a CSV file.
pub fn rows(csv: &[u8]) -> Vec<Row> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).flexible(true).from_reader(csv);
    reader
        .byte_records()
        .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
        .collect()
}

/// What of those rows goes into the CRC-32.
pub fn digest_of_rows<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<u8> {
    let mut digest = Vec::new();
    for row in rows {
        digest.extend((row.len() as u64).to_le_bytes());
        for field in row {
            digest.extend((field.len() as u64).to_le_bytes());
        }
        digest.extend(row.concat());
    }
    digest
}

/// The box of a video file.
pub struct Mp4Box {
    /// Four bytes.
    pub kind: Vec<u8>,
    /// Bytes of it.
    pub size: u64,
    /// How many bytes are read to know that: as many as a head may have, if there are so many.
    pub read: usize,
}

/// All boxes in `bytes`, which must be whole, in the order of the file.
pub fn boxes(bytes: &[u8]) -> Vec<Mp4Box> {
    const HOLD_BOXES: &str =
        "moov trak tref edts mdia minf dinf stbl mvex udta moof traf mfra dref stsd";
    let mut found = Vec::new();
    let mut rest = bytes;
    while rest.len() >= 8 {
        let number = |from: usize, to: usize| {
            let digits = rest[from..to].iter();
            digits.fold(0, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let (size, head) = match number(0, 4) {
            0 => (rest.len() as u64, 8),
            1 => (number(8, 16), 16),
            size => (size, 8),
        };
        found.push(Mp4Box {
            kind: rest[4..8].to_vec(),
            size,
            read: rest.len().min(16),
        });
        let name = String::from_utf8_lossy(&rest[4..8]);
        let (this, next) = rest.split_at(size as usize);
        if HOLD_BOXES.split(' ').any(|holds| holds == name) {
            let count = if name == "dref" || name == "stsd" {
                8
            } else {
                0
            };
            found.extend(boxes(this.get(head + count..).unwrap_or_default()));
        }
        rest = next;
    }
    found
}

/// The line that a strategy prints that visited those boxes.
pub fn line_of_boxes(boxes: &[Mp4Box]) -> String {
    let digest: Vec<u8> = boxes
        .iter()
        .flat_map(|found| [&found.kind[..], &found.size.to_le_bytes()].concat())
        .collect();
    let read = boxes.iter().map(|found| found.read).sum();
    line("boxes", boxes.len(), &digest, read)
}
