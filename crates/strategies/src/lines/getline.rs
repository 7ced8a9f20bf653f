//! All lines of a stream.

use std::ptr;
use std::slice;

use super::{Lines, end_with_nul};
use crate::exit::Result;

/// Calls getline(3) until the end of the file. The next line goes where this one is, which grows to
/// the longest; where lines are split, each is kept and getline allocates another.
///
/// # Errors
/// The stream can't be read, or as [`Lines::finish`].
///
/// # Safety
/// `stream` is open.
pub unsafe fn getlines(mut lines: Lines, stream: *mut libc::FILE) -> Result<()> {
    let (mut line, mut capacity) = (ptr::null_mut(), 0);
    let mut kept = Vec::new();
    loop {
        // SAFETY: as the caller promises; getline allocates the line and keeps its capacity.
        let n = unsafe { libc::getline(&mut line, &mut capacity, stream) };
        if n >= 0 {
            lines.line(n as usize)?;
            if lines.splits() {
                // SAFETY: the line has n bytes and stays until the process ends.
                let text: &mut [u8] = unsafe { slice::from_raw_parts_mut(line.cast(), n as usize) };
                end_with_nul(text);
                kept.push(&*text);
                (line, capacity) = (ptr::null_mut(), 0);
            }
        // SAFETY: as the caller promises.
        } else if unsafe { libc::feof(stream) } != 0 {
            return lines.finish(kept);
        } else {
            lines.again_if_interrupted("getline", lines.bytes())?;
        }
    }
}
