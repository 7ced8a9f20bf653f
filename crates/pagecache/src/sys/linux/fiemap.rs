//! A file's extents, by the ioctl FIEMAP (Documentation/filesystems/fiemap.rst). And, from the same
//! look at the inode, whether it is accessed by DAX.

use std::{fs::File, io, mem, os::fd::AsRawFd};

use super::super::seek_hole;
use crate::{Extents, Layout};

/// `struct fiemap` of linux/fiemap.h, without the extents that follow it.
#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent` of linux/fiemap.h. Bytes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// Extents asked for in one call.
const BATCH: usize = 256;

#[repr(C)]
struct Request {
    header: Header,
    extents: [Extent; BATCH],
}

/// `FS_IOC_FIEMAP` of linux/fs.h.
const FS_IOC_FIEMAP: libc::Ioctl = libc::_IOWR::<Header>(b'f' as u32, 11);

const FLAG_SYNC: u32 = 0x1;
const LAST: u32 = 0x1;
/// No place on the device is told; set also where data is delayed, inline or encoded elsewhere.
const UNKNOWN: u32 = 0x2;
const DELALLOC: u32 = 0x4;
const ENCODED: u32 = 0x8;
const DATA_INLINE: u32 = 0x200;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// By FIEMAP, else (tmpfs, squashfs, FUSE and NFS have none) by SEEK_HOLE.
pub fn layout(file: &File, total: u64, flush: bool) -> io::Result<Layout> {
    by_fiemap(file, total, flush).or_else(|_| seek_hole::layout(file, total))
}

fn by_fiemap(file: &File, total: u64, flush: bool) -> io::Result<Layout> {
    let mut survey = Survey::default();
    let mut start = 0;
    while start < total {
        let found = ask(file, start, flush && start == 0)?;
        for extent in &found {
            survey.add(extent, total);
        }
        match found.last() {
            // A filesystem that doesn't get on must not make us ask for ever.
            Some(last) if last.flags & LAST == 0 && last.end() > start => start = last.end(),
            _ => break,
        }
    }
    Ok(Layout {
        bytes: total,
        holes: total.saturating_sub(survey.allocated),
        extents: Some(survey.extents),
    })
}

/// The next extents from `start` on, in order.
fn ask(file: &File, start: u64, flush: bool) -> io::Result<Vec<Extent>> {
    // SAFETY: all fields are integers, of which zero is one.
    let mut request: Box<Request> = Box::new(unsafe { mem::zeroed() });
    request.header = Header {
        start,
        length: u64::MAX - start,
        flags: if flush { FLAG_SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
    };
    // SAFETY: the request is of the ioctl's own layout, and has room for as many extents as it says.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = (request.header.mapped_extents as usize).min(BATCH);
    Ok(request.extents[..mapped].to_vec())
}

impl Extent {
    fn end(&self) -> u64 {
        self.logical.saturating_add(self.length)
    }
}

/// What the extents amount to so far.
#[derive(Default)]
struct Survey {
    allocated: u64,
    extents: Extents,
    /// Where on the device the last piece ends.
    piece_end: Option<u64>,
}

impl Survey {
    /// Extents come in whole blocks, and xfs has some past the end: only the file's own bytes count.
    fn add(&mut self, extent: &Extent, total: u64) {
        let bytes = extent.end().min(total).saturating_sub(extent.logical);
        let has = |flag: u32| extent.flags & flag != 0;
        self.allocated += bytes;
        for (flag, sum) in [
            (UNWRITTEN, &mut self.extents.unwritten),
            (ENCODED, &mut self.extents.encoded),
            (DATA_INLINE, &mut self.extents.inline),
            (SHARED, &mut self.extents.shared),
            (DELALLOC, &mut self.extents.delayed),
        ] {
            *sum += if has(flag) { bytes } else { 0 };
        }
        // An encoded extent doesn't say how much of the device it takes, so not where it ends.
        if bytes == 0 || has(UNWRITTEN | ENCODED | DATA_INLINE | DELALLOC | UNKNOWN) {
            return;
        }
        self.extents.in_pieces += bytes;
        if self.piece_end != Some(extent.physical) {
            self.extents.pieces += 1;
        }
        self.piece_end = extent.physical.checked_add(extent.length);
    }
}

/// Whether `file` is accessed by DAX, by statx(2) (Linux 5.8 on; before that nothing tells).
pub fn is_dax(file: &File) -> bool {
    // SAFETY: all fields are integers, of which zero is one.
    let mut found: libc::statx = unsafe { mem::zeroed() };
    // SAFETY: an empty path with AT_EMPTY_PATH means the descriptor; the buffer is of the call's type.
    let result = unsafe {
        libc::statx(
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            0,
            &raw mut found,
        )
    };
    result == 0 && found.stx_attributes & libc::STATX_ATTR_DAX as u64 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, physical: u64, length: u64, flags: u32) -> Extent {
        Extent {
            logical,
            physical,
            length,
            reserved64: [0; 2],
            flags,
            reserved: [0; 3],
        }
    }

    fn survey(extents: &[Extent], total: u64) -> Survey {
        let mut survey = Survey::default();
        extents.iter().for_each(|extent| survey.add(extent, total));
        survey
    }

    #[test]
    fn neighbours_on_the_device_are_one_piece() {
        let near = [extent(0, 800, 100, 0), extent(100, 900, 50, LAST)];
        assert_eq!(survey(&near, 150).extents.pieces, 1);
        let far = [extent(0, 800, 100, 0), extent(100, 950, 50, LAST)];
        let far = survey(&far, 150).extents;
        assert_eq!((far.pieces, far.mean_piece()), (2, Some(75)));
    }

    #[test]
    fn what_lies_past_the_end_of_the_file_doesn_t_count() {
        let preallocated = [
            extent(0, 0, 4096, 0),
            extent(4096, 4096, 1 << 20, UNWRITTEN),
        ];
        let survey = survey(&preallocated, 4000);
        assert_eq!((survey.allocated, survey.extents.unwritten), (4000, 0));
    }

    #[test]
    fn compressed_extents_are_no_pieces_for_their_ends_aren_t_told() {
        let packed = [extent(0, 0, 100, ENCODED), extent(100, 7, 100, ENCODED)];
        let extents = survey(&packed, 200).extents;
        assert_eq!(
            (extents.encoded, extents.pieces, extents.mean_piece()),
            (200, 0, None)
        );
    }
}
