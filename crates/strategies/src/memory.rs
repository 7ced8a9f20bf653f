//! Memory that can't be had ends the process with one line, not with abort(3) or the system's
//! out-of-memory killer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytesize::ByteSize;

use crate::buffer;
use crate::exit::{Error, Exit};
use crate::sys;

/// The file that memory is for, and the bytes that were available.
static LIMIT: OnceLock<(PathBuf, u64)> = OnceLock::new();

/// From now on the process gets at most the memory that is available now (setrlimit(2),
/// `RLIMIT_DATA`), for a strategy whose need depends on what is in `file`. A file too small to
/// exhaust memory isn't worth asking for.
pub fn limit(file: &Path, size: u64) {
    if size < buffer::UNCHECKED as u64 {
        return;
    }
    if let Some(available) = sys::memory_available() {
        LIMIT.get_or_init(|| (file.to_owned(), available));
        limit_data(available);
    }
}

/// Has the system refuse this process more than `bytes` of memory of its own, where it looks at that
/// (setrlimit(2), `RLIMIT_DATA`: Linux since 4.7 counts all private writable memory).
fn limit_data(bytes: u64) {
    // SAFETY: getrlimit fills the struct, setrlimit reads it. Where they fail, nothing is limited.
    unsafe {
        let mut limit = MaybeUninit::<libc::rlimit>::uninit();
        if libc::getrlimit(libc::RLIMIT_DATA, limit.as_mut_ptr()) == 0 {
            let mut limit = limit.assume_init();
            limit.rlim_cur = limit.rlim_cur.min(bytes as libc::rlim_t);
            libc::setrlimit(libc::RLIMIT_DATA, &limit);
        }
    }
}

/// The system's allocator, but for what it does where there is no more memory.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: all is System's; where that returns NULL, so does this, or it doesn't return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.realloc(at, layout, size) }, size)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

fn or_end(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Tells and exits; returns only if there isn't even memory to tell.
#[cold]
fn end(bytes: usize) {
    static TELLING: AtomicBool = AtomicBool::new(false);
    if TELLING.swap(true, Ordering::Relaxed) {
        return;
    }
    let bytes = ByteSize(bytes as u64);
    let error = match LIMIT.get() {
        Some((file, available)) => {
            let available = ByteSize(*available);
            let cause = format_args!("can't allocate {bytes}, {available} were available");
            Error::of(file, Exit::Unavailable, cause)
        }
        None => Error::new(Exit::Unavailable, format_args!("can't allocate {bytes}")),
    };
    process::exit(error.tell().into());
}
