//! The option of strategies that read through C's stdio.

use std::mem;
use std::path::Path;
use std::ptr;
use std::str::FromStr;

use crate::args::{Flag, Size};
use crate::buffer;
use crate::exit::Result;

/// The option.
pub const FLAG: Flag = Flag {
    name: "stdio-buffer",
    value: "BUFFER",
    help: "the stream's own, by setvbuf(3): default, none or a size",
};

/// How a stdio stream buffers: `default` (the C library's own choice), `none`, or a size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StdioBuffer {
    /// What the C library chooses; glibc takes the file's block size.
    #[default]
    Default,
    /// `_IONBF`.
    None,
    /// `_IOFBF` with a buffer of this many bytes.
    Size(usize),
}

impl StdioBuffer {
    /// Has `stream`, which reads `file`, buffer like this: setvbuf(3).
    ///
    /// # Errors
    /// The buffer is larger than memory.
    ///
    /// # Safety
    /// `stream` is open, and nothing has been read from it.
    pub unsafe fn apply(self, stream: *mut libc::FILE, file: &Path) -> Result<()> {
        match self {
            StdioBuffer::Default => {}
            // SAFETY: as the caller promises.
            StdioBuffer::None => unsafe {
                libc::setvbuf(stream, ptr::null_mut(), libc::_IONBF, 0);
            },
            StdioBuffer::Size(bytes) => {
                // glibc ignores the size unless it is given the buffer itself.
                let mut own = buffer::allocate(bytes, file)?;
                // SAFETY: as the caller promises; the buffer has `bytes` bytes.
                unsafe { libc::setvbuf(stream, own.as_mut_ptr().cast(), libc::_IOFBF, bytes) };
                // The stream uses it until the process ends.
                mem::forget(own);
            }
        }
        Ok(())
    }
}

impl FromStr for StdioBuffer {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "default" => Ok(StdioBuffer::Default),
            "none" => Ok(StdioBuffer::None),
            _ => match text.parse() {
                Ok(Size(bytes)) => Ok(StdioBuffer::Size(bytes)),
                Err(why) => Err(format!("neither default, none nor a size: {why}")),
            },
        }
    }
}
