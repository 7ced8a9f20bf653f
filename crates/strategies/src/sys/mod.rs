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

use std::mem::MaybeUninit;
use std::ops::Sub;
use std::time::Duration;

#[cfg(target_os = "freebsd")]
pub use freebsd::*;
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(target_os = "macos")]
pub use macos::*;
pub use sigbus::catch_sigbus;

/// The most bytes that read(2) takes in one call: macOS refuses more than `INT_MAX`, Linux reads at
/// most 0x7ffff000.
pub const READ_MAX: usize = libc::c_int::MAX as usize;

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: takes no memory of ours; every system has this value.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
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
