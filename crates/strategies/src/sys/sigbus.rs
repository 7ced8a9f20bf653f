//! SIGBUS under a mapped file, told in one line instead of a core.

use std::mem;
use std::ops::Range;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::OnceLock;

use libc::{c_int, c_void, siginfo_t};

use crate::exit::Exit;

/// What the handler needs, ready made: in a signal handler nothing may be allocated.
struct Mapped {
    fd: RawFd,
    size: u64,
    shrank: String,
    failed: String,
}

/// The file that is read.
static READ: OnceLock<Mapped> = OnceLock::new();

/// The file that is written, if there is one, and where it is mapped.
static WRITTEN: OnceLock<(Range<usize>, Mapped)> = OnceLock::new();

/// From now on, an access to a map of `fd` that the system can't satisfy ends the process with one
/// line that begins with `prefix`: the file shrank below `size` bytes, or it can't be read.
pub fn catch_sigbus(fd: RawFd, size: u64, prefix: String) {
    let failed = "a page of it can't be read: I/O error (SIGBUS)";
    READ.get_or_init(|| Mapped::new(fd, size, prefix, failed));
    install();
}

/// The same for `map`, a map of another file that is written to: it shrank, or the disk is full.
pub fn catch_sigbus_writing(map: Range<usize>, fd: RawFd, prefix: String) {
    let failed = "a page of it can't be had: the disk is full, or I/O error (SIGBUS)";
    WRITTEN.get_or_init(|| {
        let size = map.len() as u64;
        (map, Mapped::new(fd, size, prefix, failed))
    });
    install();
}

impl Mapped {
    fn new(fd: RawFd, size: u64, prefix: String, failed: &str) -> Mapped {
        Mapped {
            fd,
            size,
            shrank: format!(
                "{prefix}shrank while it was mapped: run again when nobody writes it\n"
            ),
            failed: format!("{prefix}{failed}\n"),
        }
    }
}

fn install() {
    // SAFETY: a zeroed sigaction is a valid one; the handler has the signature that SA_SIGINFO asks
    // for and calls only what signal-safety(7) allows.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_sigbus as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGBUS, &action, ptr::null_mut());
    }
}

/// Tells and exits. A SIGBUS of another cause (sent by kill(2), broken memory) has its usual effect.
extern "C" fn on_sigbus(_signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo_t; fstat, write, signal, raise and _exit are
    // async-signal-safe, and reading an initialised OnceLock is one atomic load.
    unsafe {
        let from_map = matches!((*info).si_code, libc::BUS_ADRERR | libc::BUS_OBJERR);
        let address = (*info).si_addr() as usize;
        let written = WRITTEN.get().filter(|(map, _)| map.contains(&address));
        let mapped = written.map(|(_, mapped)| mapped).or(READ.get());
        let (true, Some(mapped)) = (from_map, mapped) else {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
            libc::raise(libc::SIGBUS);
            return;
        };
        let mut now: libc::stat = mem::zeroed();
        let known = libc::fstat(mapped.fd, &mut now) == 0;
        let (line, exit) = if known && (now.st_size as u64) < mapped.size {
            (&mapped.shrank, Exit::Changed)
        } else {
            (&mapped.failed, Exit::Io)
        };
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(exit as c_int);
    }
}
