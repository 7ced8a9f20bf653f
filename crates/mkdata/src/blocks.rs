//! Data without rows: zeros, and bytes that no compression makes smaller.

use crate::error::Result;
use crate::rng::Rng;
use crate::sink::{CHUNK, Sink};

/// Writes `size` zeros. They are written, so the file is no hole.
///
/// # Errors
/// Those of [`Sink::drain`].
pub fn write_zeros(sink: &mut Sink, size: u64) -> Result<()> {
    write(sink, size, |out, count| out.resize(out.len() + count, 0))
}

/// Writes `size` random bytes.
///
/// # Errors
/// Those of [`Sink::drain`].
pub fn write_random(sink: &mut Sink, size: u64, rng: &mut Rng) -> Result<()> {
    write(sink, size, |out, count| rng.append_bytes(out, count))
}

/// Writes `size` random characters, as [`Rng::append_chars`] has them.
///
/// # Errors
/// Those of [`Sink::drain`].
pub fn write_chars(sink: &mut Sink, size: u64, rng: &mut Rng) -> Result<()> {
    write(sink, size, |out, count| rng.append_chars(out, count))
}

/// Appends `size` bytes, at most a chunk at a time.
#[inline]
fn write(sink: &mut Sink, size: u64, mut append: impl FnMut(&mut Vec<u8>, usize)) -> Result<()> {
    let mut left = size;
    while left > 0 {
        let count = left.min(CHUNK as u64);
        append(sink.buffer(), count as usize);
        left -= count;
        if sink.buffer().len() >= CHUNK {
            sink.drain()?;
        }
    }
    Ok(())
}
