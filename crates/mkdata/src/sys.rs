//! What only the operating system knows: free space and signals. All of it is POSIX.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;

/// The signal that asked us to stop; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
}

/// From now on SIGINT, SIGTERM and SIGHUP are noted for [`interrupted`] instead of killing the process,
/// except those that were ignored already (nohup). A file over RLIMIT_FSIZE is an error of write(2)
/// instead of a SIGXFSZ.
pub fn catch_signals() {
    // SAFETY: sigaction and signal get valid pointers and signal numbers; a zeroed sigaction is a valid one
    // (no flags, empty mask), and the handler only stores to an atomic, which is async-signal-safe.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            if action.sa_sigaction != libc::SIG_IGN {
                action = std::mem::zeroed();
                action.sa_sigaction = note as *const () as libc::sighandler_t;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// The signal that asked us to stop, if one did.
pub fn interrupted() -> Option<c_int> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Dies by `signal`, so that the caller (a shell, say) sees how it ended.
pub fn die_by(signal: c_int) -> ! {
    // SAFETY: plain calls with a valid signal number; SIG_DFL is a valid disposition.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    std::process::exit(128 + signal)
}

/// Bytes that an unprivileged process can still write to the filesystem of `dir`; `None` where the
/// filesystem doesn't say (it claims to have no blocks at all).
///
/// # Errors
/// Those of statvfs(3).
pub fn free_bytes(dir: &Path) -> io::Result<Option<u64>> {
    let path = CString::new(dir.as_os_str().as_bytes())?;
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` ends with a NUL and `stat` has room for the result.
    if unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: statvfs returned 0, so it has filled `stat`.
    let stat = unsafe { stat.assume_init() };
    // The fields' widths differ between systems.
    #[allow(clippy::unnecessary_cast)]
    let (blocks, free, size) = (
        stat.f_blocks as u64,
        stat.f_bavail as u64,
        stat.f_frsize as u64,
    );
    Ok((blocks != 0).then(|| free.saturating_mul(size)))
}
