//! Holes by lseek(2) with SEEK_HOLE and SEEK_DATA.

use std::{fs::File, io, os::fd::AsRawFd};

use crate::Layout;

/// The holes of the first `total` bytes. Moves the offset of `file`. Fails with EINVAL where the
/// filesystem has no such thing.
pub fn layout(file: &File, total: u64) -> io::Result<Layout> {
    let mut holes = 0;
    let mut end = 0;
    while end < total {
        let data = match seek(file, end, libc::SEEK_DATA) {
            // There is no more data.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => total,
            found => found?.min(total),
        };
        holes += data - end;
        end = match seek(file, data, libc::SEEK_HOLE) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => total,
            found => found?.min(total),
        };
    }
    Ok(Layout {
        bytes: total,
        holes,
        extents: None,
    })
}

fn seek(file: &File, offset: u64, whence: libc::c_int) -> io::Result<u64> {
    // SAFETY: no memory is passed. Sizes of files fit off_t.
    let found = unsafe { libc::lseek(file.as_raw_fd(), offset as libc::off_t, whence) };
    u64::try_from(found).map_err(|_| io::Error::last_os_error())
}
