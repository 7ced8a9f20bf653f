//! Lines of text that arrives in chunks.

use std::cell::Cell;
use std::mem::MaybeUninit;

use super::Lines;
use crate::buffer;
use crate::exit::Result;

/// Text that arrives in chunks. What a chunk leaves of an unfinished line is carried over and stands
/// before the next chunk, so that each line is in one piece. Where lines are split, all text is
/// kept: the memory grows to the size of the file.
pub struct Chunks {
    text: Vec<u8>,
    most: usize,
}

impl Chunks {
    /// Chunks of at most `most` bytes.
    ///
    /// # Errors
    /// One chunk is more than the memory available.
    pub fn new(most: usize, lines: &Lines) -> Result<Chunks> {
        buffer::check(most, lines.path())?;
        let text = Vec::new();
        Ok(Chunks { text, most })
    }

    /// Where the next chunk goes.
    pub fn room(&mut self, lines: &Lines) -> &mut [MaybeUninit<u8>] {
        if !lines.splits() {
            self.text.drain(..self.text.len() - lines.unfinished());
        }
        let needed = self.text.len() + self.most;
        if needed > self.text.capacity() {
            // More than the file's own size is never needed.
            let largest = (lines.size() as usize).saturating_add(self.most);
            let size = (2 * needed).min(largest).max(needed);
            self.text.reserve_exact(size - self.text.len());
        }
        &mut self.text.spare_capacity_mut()[..self.most]
    }

    /// The chunk has arrived: `length` bytes.
    ///
    /// # Errors
    /// As [`Lines::text`].
    ///
    /// # Safety
    /// So many bytes were written to the room.
    pub unsafe fn arrived(&mut self, length: usize, lines: &mut Lines) -> Result<()> {
        let before = self.text.len();
        // SAFETY: as the caller promises.
        unsafe { self.text.set_len(before + length) };
        lines.text(Cell::from_mut(&mut self.text[before..]).as_slice_of_cells())
    }

    /// No chunk follows.
    ///
    /// # Errors
    /// As [`Lines::finish`].
    pub fn finish(self, lines: Lines) -> Result<()> {
        lines.finish(vec![self.text.leak()])
    }
}
