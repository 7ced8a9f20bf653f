//! What differs between systems, in one place: Linux first, macOS and FreeBSD beside it.
//!
//! Every system's file has the same items; what is the same on all is here.

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod sigbus;
mod signals;

use std::io;
use std::mem::MaybeUninit;
use std::ops::Sub;
use std::os::fd::RawFd;
use std::time::Duration;

#[cfg(target_os = "freebsd")]
pub use freebsd::*;
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(target_os = "macos")]
pub use macos::*;
pub use sigbus::{catch_sigbus, catch_sigbus_writing};
pub use signals::HeldSignals;

/// The most bytes that read(2) takes in one call: macOS refuses more than `INT_MAX`, Linux reads at
/// most 0x7ffff000.
pub const READ_MAX: usize = libc::c_int::MAX as usize;

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: takes no memory of ours; every system has this value.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Bytes that an unprivileged process can still write to the filesystem of `fd`: fstatvfs(3). `None`
/// where it doesn't say (it claims to have no blocks at all).
///
/// # Errors
/// Those of fstatvfs(3).
pub fn free_bytes(fd: RawFd) -> io::Result<Option<u64>> {
    let mut space = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: fstatvfs fills the struct where it returns 0.
    let space = unsafe {
        if libc::fstatvfs(fd, space.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        space.assume_init()
    };
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let (blocks, free) = (space.f_blocks as u64, space.f_bavail as u64);
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let block_size = space.f_frsize as u64;
    Ok((blocks > 0).then(|| free.saturating_mul(block_size)))
}

/// A write over the limit of a file's size (RLIMIT_FSIZE) is an error from now on, not the end of the
/// process by SIGXFSZ.
pub fn ignore_sigxfsz() {
    // SAFETY: SIG_IGN is no function of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// What this process has used: getrusage(2).
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Page faults served without the device.
    pub minor_faults: u64,
    /// Page faults that waited for the device.
    pub major_faults: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time was up.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Used until now.
    pub fn now() -> Usage {
        let usage = rusage();
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        Usage {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

impl Sub for Usage {
    type Output = Usage;

    /// What was used since `earlier`.
    fn sub(self, earlier: Usage) -> Usage {
        Usage {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            minor_faults: self.minor_faults - earlier.minor_faults,
            major_faults: self.major_faults - earlier.major_faults,
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
            involuntary_switches: self.involuntary_switches - earlier.involuntary_switches,
        }
    }
}

fn rusage() -> libc::rusage {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: getrusage fills the struct; it can't fail with RUSAGE_SELF and a valid pointer.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}
