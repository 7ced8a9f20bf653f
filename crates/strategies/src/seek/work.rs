//! What is visited, and what is done with it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crc32fast::Hasher;

use super::boxes::{self, Boxes};
use super::index::Index;
use super::latency::Latencies;
use super::places::{Place, Places};
use super::rows::{self, Rows};
use super::{Args, Kind};
use crate::exit::{Error, Exit, Result};
use crate::record::Record;
use crate::run;

/// A work of the family, and how far it has got.
pub struct Work {
    task: Task,
    /// Where blocks and rows are.
    places: Places,
    /// How many visits there were, and how many there may be.
    visits: usize,
    most: usize,
    latencies: Option<Latencies>,
}

enum Task {
    /// A CRC-32 over all blocks.
    Blocks(Hasher),
    Rows(Box<Rows>),
    Boxes(Boxes),
}

impl Work {
    /// What was asked for, and no visit yet.
    pub(super) fn new(args: &Args) -> Work {
        let file = args.line.file();
        Work {
            task: match args.kind {
                Kind::Blocks => Task::Blocks(Hasher::new()),
                Kind::Rows => Task::Rows(Box::new(Rows::new(file))),
                Kind::Boxes => Task::Boxes(Boxes::new(file)),
            },
            places: Places::default(),
            visits: 0,
            most: args.visits,
            latencies: args.latency.then(Latencies::new),
        }
    }

    /// Finds out what is to be visited in `file`, and in which order.
    ///
    /// # Errors
    /// The row index is missing, or not one of this file; without one, those of [`rows::find`].
    pub(super) fn prepare(&mut self, args: &Args, file: &Path, metadata: &Metadata) -> Result<()> {
        let size = metadata.size();
        let places = &mut self.places;
        match (&mut self.task, &args.index) {
            (Task::Blocks(_), _) => {
                (0..size)
                    .step_by(args.block)
                    .for_each(|offset| places.begin(offset));
            }
            (Task::Rows(_), None) => rows::find(file, size, |offsets| {
                offsets.iter().for_each(|&offset| places.begin(offset));
                Ok(())
            })?,
            (Task::Rows(_), Some(path)) => {
                let index = Index::open(path)?.ok_or_else(|| {
                    Error::of(path, Exit::Changed, "no row index: `row-index` makes one")
                })?;
                index.read(file, metadata, |offset| places.begin(offset))?;
            }
            (Task::Boxes(boxes), _) => boxes.start(size),
        }
        places.end(size);
        places.arrange(args.seed, args.visits);
        Ok(())
    }

    /// The most bytes that a visit reads.
    pub(super) fn longest(&self) -> u64 {
        match self.task {
            Task::Boxes(_) => boxes::LONG,
            Task::Blocks(_) | Task::Rows(_) => self.places.longest(),
        }
    }

    /// What the next visit reads, if there is one.
    ///
    /// # Errors
    /// Those of [`Boxes::place`].
    pub(super) fn place(&mut self) -> Result<Option<Place>> {
        if self.visits == self.most {
            return Ok(None);
        }
        match &mut self.task {
            Task::Boxes(boxes) => boxes.place(),
            Task::Blocks(_) | Task::Rows(_) => Ok(self.places.list().get(self.visits).copied()),
        }
    }

    /// The next bytes of a visit.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.task {
            Task::Blocks(crc) => crc.update(bytes),
            Task::Rows(rows) => rows.update(bytes),
            Task::Boxes(boxes) => boxes.update(bytes),
        }
    }

    /// The visit of `place` has all its bytes.
    ///
    /// # Errors
    /// Those of [`Rows::end`] and of [`Boxes::end`].
    pub(super) fn end(&mut self, place: Place) -> Result<()> {
        match &mut self.task {
            Task::Blocks(_) => {}
            Task::Rows(rows) => rows.end(place.offset)?,
            Task::Boxes(boxes) => boxes.end()?,
        }
        self.visits += 1;
        Ok(())
    }

    /// Where the time of each visit is kept, if that was asked for.
    pub(super) fn latencies(&mut self) -> Option<&mut Latencies> {
        self.latencies.as_mut()
    }
}

impl run::Work for Work {
    fn name(&self) -> &'static str {
        match self.task {
            Task::Blocks(_) => "blocks",
            Task::Rows(_) => "rows",
            Task::Boxes(_) => "boxes",
        }
    }

    /// How many visits there were, and a CRC-32 over what they read, in that order.
    fn answer(&self) -> String {
        let crc = match &self.task {
            Task::Blocks(crc) => crc.clone().finalize(),
            Task::Rows(rows) => rows.crc(),
            Task::Boxes(boxes) => boxes.crc(),
        };
        format!("{}:{crc:08x}", self.visits)
    }

    fn tell(&self, record: &mut Record) {
        record.seconds_visit = record.seconds_touch;
        record.latency = self.latencies.as_ref().and_then(Latencies::summary);
    }
}
