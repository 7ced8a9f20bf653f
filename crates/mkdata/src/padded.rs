//! Short texts that are appended fast.

/// A text in a fixed-size array: to append the whole array and cut it is much faster than to append
/// exactly as many bytes as the text has.
#[derive(Clone, Copy)]
pub struct Padded<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Padded<N> {
    /// Holds `text`, at most `N` bytes.
    pub fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Self {
            bytes,
            len: text.len(),
        }
    }

    /// Appends the text.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}
