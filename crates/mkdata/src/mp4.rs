//! A fragmented MP4 file (ISO/IEC 14496-12): uncompressed video, every picture random.
//!
//! `ftyp` and `moov`, then a `moof` and an `mdat` a fragment, the first `mdat` with a 64-bit size. A `free` box
//! at the end fills the file up to the size that was asked for.

use crate::blocks::{write_random, write_zeros};
use crate::error::Result;
use crate::rng::Rng;
use crate::sink::Sink;

const WIDTH: u32 = 160;
const HEIGHT: u32 = 90;
/// A picture of 24-bit RGB, bytes.
const PICTURE: u32 = 3 * WIDTH * HEIGHT;
/// A fragment has between one picture and so many.
const MOST_PICTURES: u64 = 8;
/// Pictures a second.
const RATE: u32 = 25;
/// The size and the type of a box, bytes.
const BOX_HEAD: u64 = 8;
/// The identity transformation, in the fixed-point form of `mvhd` and `tkhd`.
const MATRIX: [u32; 9] = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30];

/// The least that such a file takes, bytes: one fragment of one picture, and an empty `free` box.
pub fn least_size() -> u64 {
    let mut boxes = Boxes::default();
    boxes.head();
    boxes.fragment(1, 0, 1);
    boxes.bytes.len() as u64 + u64::from(PICTURE) + BOX_HEAD
}

/// Writes exactly `size` bytes, at least [`least_size`]; returns the number of boxes, nested ones included.
///
/// # Errors
/// Those of [`Sink::drain`].
pub fn write(sink: &mut Sink, size: u64, seed: u64) -> Result<u64> {
    let mut rng = Rng::new(seed);
    let mut boxes = Boxes::default();
    boxes.head();
    sink.buffer().append(&mut boxes.bytes);
    let (mut sequence, mut first_picture) = (1, 0);
    loop {
        let left = size - sink.position();
        let fit = left.saturating_sub(fragment_head(sequence) + BOX_HEAD) / u64::from(PICTURE);
        let pictures = (1 + rng.below(MOST_PICTURES)).min(fit);
        if pictures == 0 {
            break;
        }
        boxes.fragment(sequence, first_picture, pictures as u32);
        sink.buffer().append(&mut boxes.bytes);
        write_random(sink, pictures * u64::from(PICTURE), &mut rng)?;
        sequence += 1;
        first_picture += pictures;
    }
    let free = size - sink.position();
    boxes.words(&[free as u32]); // less than a fragment
    boxes.bytes.extend_from_slice(b"free");
    boxes.count += 1;
    sink.buffer().append(&mut boxes.bytes);
    write_zeros(sink, free - BOX_HEAD)?;
    Ok(boxes.count)
}

/// What a fragment takes beside its pictures, bytes.
fn fragment_head(sequence: u32) -> u64 {
    let mut boxes = Boxes::default();
    boxes.fragment(sequence, 0, 0);
    boxes.bytes.len() as u64
}

/// Boxes one after the other. All numbers are big-endian.
#[derive(Default)]
struct Boxes {
    bytes: Vec<u8>,
    /// Of all boxes begun, also those whose bytes were taken away since.
    count: u64,
}

impl Boxes {
    fn words(&mut self, words: &[u32]) {
        let bytes = words.iter().flat_map(|word| word.to_be_bytes());
        self.bytes.extend(bytes);
    }

    /// A box with 32-bit words, then whatever `rest` appends: bytes or further boxes.
    fn container(&mut self, kind: &[u8; 4], words: &[u32], rest: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.words(&[0]);
        self.bytes.extend_from_slice(kind);
        self.words(words);
        rest(self);
        let size = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&size.to_be_bytes());
        self.count += 1;
    }

    fn leaf(&mut self, kind: &[u8; 4], words: &[u32]) {
        self.container(kind, words, |_| ());
    }

    /// `ftyp` and `moov`.
    fn head(&mut self) {
        let brand = |name: &[u8; 4]| u32::from_be_bytes(*name);
        let compatible = [brand(b"isom"), brand(b"iso6"), brand(b"mp41")];
        self.leaf(
            b"ftyp",
            &[&[brand(b"isom"), 0x200], &compatible[..]].concat(),
        );
        self.container(b"moov", &[], |moov| {
            // Version and times, timescale, duration (that of the fragments counts), rate, volume, reserved.
            let begin = [0, 0, 0, RATE, 0, 1 << 16, 1 << 24, 0, 0];
            let end = [0, 0, 0, 0, 0, 0, 2]; // reserved, next track
            moov.leaf(b"mvhd", &[&begin[..], &MATRIX, &end].concat());
            moov.container(b"trak", &[], Self::track);
            moov.container(b"mvex", &[], |mvex| {
                // Track 1, sample description 1, and what holds for every sample: duration, size, flags.
                mvex.leaf(b"trex", &[0, 1, 1, 1, PICTURE, 0]);
            });
        });
    }

    fn track(&mut self) {
        // Flags (enabled, in movie, in preview) and times, track 1, duration, layer, volume, each with reserved ones.
        let begin = [7, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let end = [WIDTH << 16, HEIGHT << 16];
        self.leaf(b"tkhd", &[&begin[..], &MATRIX, &end].concat());
        self.container(b"mdia", &[], |mdia| {
            mdia.leaf(b"mdhd", &[0, 0, 0, RATE, 0, 0x55c4 << 16]); // language: undetermined
            let handler = [0, 0, u32::from_be_bytes(*b"vide"), 0, 0, 0];
            mdia.container(b"hdlr", &handler, |hdlr| {
                hdlr.bytes.extend_from_slice(b"mkdata\0");
            });
            mdia.container(b"minf", &[], |minf| {
                minf.leaf(b"vmhd", &[1, 0, 0]);
                minf.container(b"dinf", &[], |dinf| {
                    // One entry: the data is in this file.
                    dinf.container(b"dref", &[0, 1], |dref| dref.leaf(b"url ", &[1]));
                });
                minf.container(b"stbl", &[], |stbl| {
                    stbl.container(b"stsd", &[0, 1], Self::sample_description);
                    // No samples outside the fragments.
                    stbl.leaf(b"stts", &[0, 0]);
                    stbl.leaf(b"stsc", &[0, 0]);
                    stbl.leaf(b"stsz", &[0, 0, 0]);
                    stbl.leaf(b"stco", &[0, 0]);
                });
            });
        });
    }

    /// Uncompressed RGB, the `raw ` of QuickTime.
    fn sample_description(&mut self) {
        // Reserved and data reference 1, reserved, size, 72 dots an inch both ways, reserved, pictures a sample
        // and the coder's name (none), depth.
        let inch = 72 << 16;
        let size = WIDTH << 16 | HEIGHT;
        let begin = [0, 1, 0, 0, 0, 0, size, inch, inch, 0];
        let end = [1 << 16, 0, 0, 0, 0, 0, 0, 0, 24];
        self.container(b"raw ", &[&begin[..], &end].concat(), |raw| {
            raw.bytes.extend_from_slice(&[0xff, 0xff]); // no colour table
        });
    }

    /// A fragment without its pictures: `moof`, and the head of `mdat`; a 64-bit one in the first fragment.
    fn fragment(&mut self, sequence: u32, first_picture: u64, pictures: u32) {
        let start = self.bytes.len();
        self.container(b"moof", &[], |moof| {
            moof.leaf(b"mfhd", &[0, sequence]);
            moof.container(b"traf", &[], |traf| {
                traf.leaf(b"tfhd", &[0x02_0000, 1]); // offsets count from the moof; track 1
                let time = [(first_picture >> 32) as u32, first_picture as u32];
                traf.leaf(b"tfdt", &[1 << 24, time[0], time[1]]);
                traf.leaf(b"trun", &[1, pictures, 0]); // with an offset to the first picture, set below
            });
        });
        let offset_at = self.bytes.len() - 4;
        let size = u64::from(pictures) * u64::from(PICTURE);
        if sequence == 1 {
            let size = size + 2 * BOX_HEAD;
            self.words(&[1]);
            self.bytes.extend_from_slice(b"mdat");
            self.words(&[(size >> 32) as u32, size as u32]);
        } else {
            self.words(&[(size + BOX_HEAD) as u32]);
            self.bytes.extend_from_slice(b"mdat");
        }
        self.count += 1;
        let offset = (self.bytes.len() - start) as u32;
        self.bytes[offset_at..offset_at + 4].copy_from_slice(&offset.to_be_bytes());
    }
}
