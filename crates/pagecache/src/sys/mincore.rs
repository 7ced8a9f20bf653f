//! Residency by mincore(2).

use std::{fs::File, io};

use memmap2::MmapOptions;

/// Mapped at a time: bounds the address space and the vector, and is a multiple of any page size.
const WINDOW: u64 = 1 << 30;

/// How many bytes of the first `total` are in pages that mincore(2) calls resident, at most
/// `total`. Nothing is touched, so nothing is loaded. Fails as mmap(2) does.
pub fn resident_bytes(file: &File, total: u64) -> io::Result<u64> {
    let page = super::page_size();
    let mut pages = 0;
    let mut vector = Vec::new();
    for offset in (0..total).step_by(WINDOW as usize) {
        let length = WINDOW.min(total - offset) as usize;
        let map = MmapOptions::new()
            .offset(offset)
            .len(length)
            .map_raw_read_only(file)?;
        vector.resize(length.div_ceil(page as usize), 0u8);
        // SAFETY: the mapping covers `length` bytes from a page bound on, and the vector has one
        // byte a page of it. mincore looks at the page cache only, so a file that has shrunk does
        // no harm.
        let result =
            unsafe { libc::mincore(map.as_mut_ptr().cast(), length, vector.as_mut_ptr().cast()) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        // Bit 0 is "in core" on every system.
        pages += vector.iter().map(|bits| u64::from(bits & 1)).sum::<u64>();
    }
    Ok((pages * page).min(total))
}
