//! The raced file: how it lies on its filesystem, what its content is like, who writes to it, and
//! what of that makes a race mean something else than it says.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use pagecache::{Extents, Layout, Writer};
use serde::{Deserialize, Serialize};

use crate::environment::Warning;
use crate::format::size;
use crate::input::Input;

/// A share of the file beyond this spoils: as much as may be resident of a cold one.
const MUCH: f64 = 0.01;

/// A file is fragmented if it lies in so many pieces, and they are so small on average, in bytes. A
/// disk that turns reads a MiB in about the time of one seek; readahead's requests are smaller.
const MANY_PIECES: u64 = 16;
const SMALL_PIECE: u64 = 1 << 20;

/// Blocks that are sampled, and the size of each in bytes: what filesystems and disks deduplicate.
const SAMPLES: u64 = 256;
const BLOCK: u64 = 4096;

/// Repeated blocks beyond this share of the sampled are not just the odd run of zeros.
const MANY_REPEATED: f64 = 0.1;

/// The raced file. Sizes in bytes; what can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct FileFacts {
    /// How it lies on its filesystem.
    pub layout: Option<Layout>,
    /// It lives in memory only (tmpfs, ramfs).
    pub in_memory: bool,
    /// Another cache stands behind this machine's page cache, or instead of it: a network or FUSE
    /// filesystem, or ZFS.
    pub other_cache: bool,
    /// Reads pass the page cache by, since its memory is the device.
    pub dax: bool,
    /// Who may write to it just now.
    pub writers: Vec<Writer>,
    /// Whether its content repeats.
    pub blocks: Option<Blocks>,
    /// What spoils the meaning of a race, most harmful first.
    pub warnings: Vec<Warning>,
}

/// What a sample of evenly spaced blocks shows of the content.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Blocks {
    /// Blocks of 4 KiB that were looked at.
    pub sampled: u64,
    /// Those that are the same as one before.
    pub repeated: u64,
    /// Those that are zeros.
    pub zeros: u64,
}

impl FileFacts {
    /// Looks at the file, not into it. With `flush`, dirty pages are written first, so that all of it
    /// has its place; what is raced as it was found must stay dirty.
    pub fn look(input: &Input, flush: bool) -> FileFacts {
        let filesystem = pagecache::filesystem(&input.path).ok();
        let mut facts = FileFacts {
            layout: pagecache::layout(&input.path, flush).ok(),
            in_memory: filesystem.as_ref().is_some_and(|f| !f.has_cold_state),
            other_cache: filesystem.is_some_and(|f| !f.residency_known),
            dax: pagecache::is_dax(&input.path).unwrap_or(false),
            writers: pagecache::writers(&input.path),
            blocks: None,
            warnings: Vec::new(),
        };
        let warnings = [
            facts.dax_warning(),
            facts.zeros_warning(),
            facts.inline_warning(),
            facts.encoded_warning(),
            facts.pieces_warning(),
            facts.writers_warning(),
        ];
        facts.warnings = warnings.into_iter().flatten().collect();
        facts
    }

    /// Looks into it: at a few blocks, which the check has just read.
    pub fn sample(&mut self, input: &Input) {
        self.blocks = Blocks::sample(&input.path, input.identity.bytes)
            .ok()
            .flatten();
        // Where holes are warned of, that they are all alike is no news.
        let news =
            |blocks: &Blocks| blocks.repeated > blocks.zeros || self.zeros_warning().is_none();
        let warning = self.blocks.filter(news).and_then(Blocks::warning);
        self.warnings.extend(warning);
    }

    /// What is known, each in a few words.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self
            .layout
            .iter()
            .flat_map(layout_lines)
            .collect::<Vec<_>>();
        let mut add = |holds: bool, line: &str| {
            if holds {
                lines.push(line.into());
            }
        };
        add(
            self.layout.is_none(),
            "how it lies on its filesystem can't be told",
        );
        add(self.in_memory, "in memory only");
        add(self.other_cache, "on a filesystem with a cache of its own");
        add(self.dax, "read past the page cache (DAX)");
        lines.extend(
            self.writers
                .iter()
                .map(|w| format!("open for writing: {w}")),
        );
        lines.extend(self.blocks.map(|blocks| {
            let Blocks {
                sampled,
                repeated,
                zeros,
            } = blocks;
            format!("{sampled} blocks sampled: {repeated} repeated, {zeros} zeros")
        }));
        lines
    }

    fn extents(&self) -> Option<&Extents> {
        self.layout.as_ref()?.extents.as_ref()
    }

    /// A number of bytes as a share of the file, where that is enough to spoil.
    fn much(&self, bytes: u64) -> Option<String> {
        let total = self.layout.as_ref()?.bytes;
        (bytes as f64 > MUCH * total as f64).then(|| percent(bytes, total))
    }

    fn dax_warning(&self) -> Option<Warning> {
        self.dax.then(|| {
            let what = "the file is mapped to its device's memory (DAX): there is no page cache to be cold or warm";
            warning(what, "race a copy on a filesystem that is mounted without dax")
        })
    }

    fn zeros_warning(&self) -> Option<Warning> {
        let unwritten = self.extents().map_or(0, |extents| extents.unwritten);
        let share = self.much(self.layout.as_ref()?.holes + unwritten)?;
        let what = format!(
            "{share} of the file is holes or was never written: zeros are made up for it and no device \
             is read, so its times say nothing of files with data"
        );
        Some(warning(
            what,
            "cp --sparse=never FILE COPY, and race the copy",
        ))
    }

    fn inline_warning(&self) -> Option<Warning> {
        (self.extents()?.inline > 0).then(|| {
            let what = "the file's data lies among the filesystem's metadata, which eviction leaves in memory: \
                        it is never quite cold";
            warning(what, "race a file of more than a few KiB")
        })
    }

    fn encoded_warning(&self) -> Option<Warning> {
        let share = self.much(self.extents()?.encoded)?;
        let what = format!(
            "{share} of the file is compressed or encrypted by its filesystem: that is undone in cold times, \
             and O_DIRECT may go through the page cache"
        );
        let remedy = "race a copy in a folder without compression, unless that is what you ask";
        Some(warning(what, remedy))
    }

    fn pieces_warning(&self) -> Option<Warning> {
        let pieces = self.extents()?.pieces;
        let mean = self.extents()?.mean_piece()?;
        (pieces >= MANY_PIECES && mean < SMALL_PIECE).then(|| {
            let what = format!(
                "the file is fragmented, {pieces} pieces of {} on average: cold reads wait for more requests",
                size(mean)
            );
            warning(what, "cp FILE COPY where much space is free, and race the copy")
        })
    }

    fn writers_warning(&self) -> Option<Warning> {
        let names: Vec<String> = self.writers.iter().map(Writer::to_string).collect();
        (!names.is_empty()).then(|| {
            let what = format!(
                "{} can write to the file: the race is void as soon as that happens",
                names.join(", ")
            );
            warning(what, "end it, or race a copy")
        })
    }
}

impl Blocks {
    /// Looks at evenly spaced whole blocks; none if there are fewer than two.
    fn sample(path: &Path, bytes: u64) -> io::Result<Option<Blocks>> {
        let all = bytes / BLOCK;
        let sampled = all.min(SAMPLES);
        if sampled < 2 {
            return Ok(None);
        }
        let file = File::open(path)?;
        let mut seen = HashSet::new();
        let (mut repeated, mut zeros) = (0, 0);
        for index in 0..sampled {
            let mut block = vec![0; BLOCK as usize];
            // 128 bits: the product may be larger than 64.
            let number = u128::from(index) * u128::from(all) / u128::from(sampled);
            file.read_exact_at(&mut block, number as u64 * BLOCK)?;
            zeros += u64::from(block.iter().all(|byte| *byte == 0));
            repeated += u64::from(!seen.insert(block));
        }
        Ok(Some(Blocks {
            sampled,
            repeated,
            zeros,
        }))
    }

    fn warning(self) -> Option<Warning> {
        let Blocks {
            sampled, repeated, ..
        } = self;
        (repeated as f64 > MANY_REPEATED * sampled as f64).then(|| {
            let what = format!(
                "{} of the file's blocks repeat, by a sample of {sampled}: XOR cancels over two that are the \
                 same, and a disk or host that compresses reads them faster than others",
                percent(repeated, sampled)
            );
            warning(what, "race a file whose content is like that of the files you mean")
        })
    }
}

fn layout_lines(layout: &Layout) -> Vec<String> {
    let share = |bytes| percent(bytes, layout.bytes);
    let holes = format!("holes {}", share(layout.holes));
    let Some(extents) = &layout.extents else {
        return vec![holes];
    };
    let shares = [
        ("never written", extents.unwritten),
        ("compressed or encrypted", extents.encoded),
        ("among the metadata", extents.inline),
        ("shared with other files", extents.shared),
        ("not on the device yet", extents.delayed),
    ];
    let shares = shares
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(what, bytes)| format!("{what} {}", share(bytes)));
    let pieces = extents.mean_piece().map(|mean| match extents.pieces {
        1 => "in one piece on the device".into(),
        pieces => format!(
            "in {pieces} pieces on the device, {} on average",
            size(mean)
        ),
    });
    std::iter::once(holes).chain(shares).chain(pieces).collect()
}

/// A share for people; what isn't nothing doesn't look like it.
fn percent(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && percent < 0.1 {
        "under 0.1 %".into()
    } else {
        format!("{percent:.1} %")
    }
}

fn warning(what: impl Into<String>, remedy: &str) -> Warning {
    Warning {
        what: what.into(),
        remedy: remedy.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(extents: Extents, holes: u64, bytes: u64) -> FileFacts {
        let layout = Layout {
            bytes,
            holes,
            extents: Some(extents),
        };
        FileFacts {
            layout: Some(layout),
            ..FileFacts::default()
        }
    }

    #[test]
    fn a_share_that_isn_t_nothing_doesn_t_look_like_it() {
        assert_eq!(percent(0, 10), "0.0 %");
        assert_eq!(percent(1, 1 << 40), "under 0.1 %");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }

    #[test]
    fn holes_and_what_was_never_written_count_together() {
        let unwritten = Extents {
            unwritten: 6,
            ..Extents::default()
        };
        let facts = with(unwritten, 5, 1000);
        assert!(facts.zeros_warning().unwrap().what.starts_with("1.1 % of"));
        assert_eq!(with(Extents::default(), 5, 1000).zeros_warning(), None);
        assert_eq!(
            with(Extents::default(), 0, 0).zeros_warning(),
            None,
            "an empty file"
        );
    }

    #[test]
    fn a_file_is_fragmented_only_in_many_small_pieces() {
        let pieces = |pieces, mean| {
            let extents = Extents {
                pieces,
                in_pieces: pieces * mean,
                ..Extents::default()
            };
            with(extents, 0, pieces * mean).pieces_warning().is_some()
        };
        assert!(pieces(16, SMALL_PIECE - 1));
        assert!(!pieces(15, 4096), "a small file in a few pieces");
        assert!(!pieces(1000, SMALL_PIECE), "a large file in large ones");
        assert!(!pieces(0, 0));
    }

    #[test]
    fn repeated_blocks_are_seen_in_a_sample() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let sample = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            Blocks::sample(&path, content.len() as u64).unwrap()
        };
        assert_eq!(
            sample(&[1; 2 * BLOCK as usize - 1]),
            None,
            "one whole block"
        );
        let zeros = sample(&vec![0; 1 << 21]).unwrap();
        assert_eq!(
            zeros,
            Blocks {
                sampled: 256,
                repeated: 255,
                zeros: 256
            }
        );
        assert!(zeros.warning().is_some());

        // The same twice over: XOR would be 0.
        let once: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
        let twice = sample(&[once.clone(), once.clone()].concat()).unwrap();
        assert_eq!((twice.sampled, twice.repeated), (256, 128));
        let once = sample(&once).unwrap();
        assert_eq!((once.repeated, once.warning()), (0, None));
    }
}
