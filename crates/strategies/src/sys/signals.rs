//! Signals that end a process, held back while something must be cleared away first.

use std::mem::MaybeUninit;
use std::ptr;

/// Holds back SIGINT, SIGTERM and SIGHUP until it is dropped; then what came meanwhile has its
/// effect.
pub struct HeldSignals {
    before: libc::sigset_t,
}

impl HeldSignals {
    /// From now on.
    pub fn hold() -> HeldSignals {
        let mut held = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigemptyset fills the set that the others then use; sigprocmask fills `before`, and
        // can't fail with valid arguments.
        unsafe {
            libc::sigemptyset(held.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(held.as_mut_ptr(), signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, held.as_ptr(), before.as_mut_ptr());
            HeldSignals {
                before: before.assume_init(),
            }
        }
    }

    /// Whether one is waiting.
    pub fn pending(&self) -> bool {
        let mut pending = MaybeUninit::uninit();
        // SAFETY: sigpending fills the set.
        unsafe {
            libc::sigpending(pending.as_mut_ptr());
            [libc::SIGINT, libc::SIGTERM, libc::SIGHUP]
                .into_iter()
                .any(|signal| libc::sigismember(pending.as_ptr(), signal) == 1)
        }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: sets the mask that was there before.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}
