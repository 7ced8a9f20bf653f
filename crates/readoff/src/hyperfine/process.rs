//! A program in a process group of its own, watched until it ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How a group is ended, and how long we wait each time until it has. SIGKILL can't be refused; the
/// wait is for tidiness, and short, since where nobody reaps orphans (a container without an init)
/// the group never empties.
const ENDINGS: [(libc::c_int, Duration); 2] = [
    (libc::SIGTERM, Duration::from_secs(1)),
    (libc::SIGKILL, Duration::from_millis(250)),
];

/// How a watched program ended.
#[derive(Debug, Clone, Copy)]
pub enum Ended {
    /// By itself.
    Itself(ExitStatus),
    /// We ended it, because the flag was set.
    Interrupted,
    /// We ended it, because the deadline passed.
    Overdue,
}

/// A started program and all that it starts in turn: Ctrl-C in the terminal reaches only us, and
/// we pass it on to all of them. hyperfine leaves its child running when it alone is ended.
#[derive(Debug)]
pub struct Group {
    leader: Child,
}

impl Group {
    /// Starts `command` as the leader of a new process group. On Linux the kernel ends it when the
    /// calling *thread* ends, so call this from one that lives as long as the program.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(command: &mut Command) -> io::Result<Group> {
        command.process_group(0);
        end_with_us(command);
        Ok(Group {
            leader: command.spawn()?,
        })
    }

    /// Waits until the program ends, `interrupted` is set or `deadline` passes. Then ends what
    /// there still is of the group: also a program that ended by itself may leave something behind,
    /// as hyperfine does when it is killed.
    ///
    /// # Errors
    /// The system refused to wait.
    pub fn wait(
        &mut self,
        interrupted: &AtomicBool,
        deadline: Option<Instant>,
    ) -> io::Result<Ended> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.leader.try_wait()? {
                self.end();
                return Ok(Ended::Itself(status));
            }
            if interrupted.load(Ordering::SeqCst) {
                self.end();
                return Ok(Ended::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.end();
                return Ok(Ended::Overdue);
            }
            // The longer it runs the less often we look: at most 6 % is lost on a short call, and a
            // long one is disturbed 40 times a second.
            let pause = start.elapsed() / 16;
            thread::sleep(pause.clamp(Duration::from_millis(1), Duration::from_millis(25)));
        }
    }

    /// Ends what there is of the group: SIGTERM, and SIGKILL for what is left after a while.
    fn end(&mut self) {
        for (signal, patience) in ENDINGS {
            self.signal(signal);
            if self.is_gone_within(patience) {
                return;
            }
        }
    }

    /// Waits until the leader is reaped and the group has no member. Reaping the leader first is
    /// safe: no other process gets its number as long as the group has members.
    fn is_gone_within(&mut self, patience: Duration) -> bool {
        let start = Instant::now();
        while matches!(self.leader.try_wait(), Ok(None)) || self.signal(0) {
            if start.elapsed() >= patience {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Sends a signal to the group; false if it has no member any more.
    fn signal(&self, signal: libc::c_int) -> bool {
        let group = self.leader.id() as libc::pid_t;
        // SAFETY: killpg(3) takes two integers and touches no memory of ours.
        unsafe { libc::killpg(group, signal) == 0 }
    }
}

impl Drop for Group {
    /// A group that nobody waited for doesn't stay behind.
    fn drop(&mut self) {
        if matches!(self.leader.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// Has the kernel end the program when we are killed with no chance to do it ourselves:
/// PR_SET_PDEATHSIG, prctl(2).
#[cfg(target_os = "linux")]
fn end_with_us(command: &mut Command) {
    let parent = std::process::id() as libc::pid_t;
    let ask = move || {
        // SAFETY: prctl(2) with two integers and getppid(2) touch no memory.
        let orphaned = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            // We may have been killed before the kernel was asked.
            libc::getppid() != parent
        };
        if orphaned {
            Err(io::Error::from(io::ErrorKind::BrokenPipe))
        } else {
            Ok(())
        }
    };
    // SAFETY: the closure only makes system calls that are safe between fork and exec, and
    // allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// Only Linux has such a wish; elsewhere hyperfine finishes what it runs.
#[cfg(not(target_os = "linux"))]
fn end_with_us(_command: &mut Command) {}
