//! What else the machine does: CPU time of other processes, and time that a host keeps from us.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sys;
use super::tree::Tree;

/// The largest share of all CPU time that other processes may use. What they use is missing to a
/// strategy that uses all CPUs, and more than a tenth is more than most differences that decide.
const MOST_BY_OTHERS: f64 = 0.10;

/// The largest share that a host may keep from us of the time in which we would have run. It is
/// added to our own times as it is, so it must stay within the noise of a quiet machine.
const MOST_STOLEN: f64 = 0.05;

/// Less than this, in seconds, spoils nothing: the kernel counts in ticks of mostly 10 ms, and
/// fewer than five say little.
const LEAST: f64 = 0.05;

/// How long is looked before a race.
const SAMPLE: Duration = Duration::from_millis(250);

/// How busy the machine is. What can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Load {
    /// The load average of the last minute. Races of before have their part in it.
    pub average: Option<f64>,
    /// What happened in a quarter of a second, in which we did nothing.
    pub cpu: Option<CpuUse>,
}

impl Load {
    /// The load average of the last minute.
    pub fn average() -> Option<f64> {
        sys::load_average()
    }

    /// Looks for [`SAMPLE`].
    pub(super) fn look(tree: Tree) -> Load {
        let before = Counters::read(tree);
        if before.is_some() {
            thread::sleep(SAMPLE);
        }
        Load {
            average: Load::average(),
            cpu: before
                .zip(Counters::read(tree))
                .map(|(before, after)| after.since(&before)),
        }
    }
}

/// Who used the CPUs for a while.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CpuUse {
    /// Seconds that other processes computed, over all CPUs. Only their user mode: the kernel's own
    /// threads work for us too (they decompress btrfs, say), and have none.
    pub seconds_others: f64,
    /// The same, as a share of all CPUs' time.
    pub others: f64,
    /// Seconds that the host of a virtual machine gave to somebody else while a CPU of ours had
    /// something to run.
    pub seconds_stolen: f64,
    /// The same, as a share of the time in which they had.
    pub stolen: f64,
}

impl CpuUse {
    /// Whether other processes use too much.
    pub fn others_spoil(&self) -> bool {
        self.others > MOST_BY_OTHERS && self.seconds_others >= LEAST
    }

    /// Whether too much was stolen.
    pub fn stolen_spoils(&self) -> bool {
        self.stolen > MOST_STOLEN && self.seconds_stolen >= LEAST
    }

    /// `other processes use 23 % of the CPUs`.
    pub fn others_text(&self) -> String {
        let percent = self.others * 100.0;
        format!("other processes use {percent:.0} % of the CPUs")
    }

    /// `the host keeps 7 % of our CPU time (steal)`.
    pub fn stolen_text(&self) -> String {
        let percent = self.stolen * 100.0;
        format!("the host keeps {percent:.0} % of our CPU time (steal)")
    }
}

/// CPU time since the system started, over all CPUs, and our own part. Seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counters {
    /// In user mode, of everybody.
    user: f64,
    /// All that was computed.
    busy: f64,
    idle: f64,
    stolen: f64,
    /// In user mode, of this process and of all that it started and waited for.
    own: f64,
}

impl Counters {
    /// The counters now; none where the system has no /proc/stat.
    pub fn read(tree: Tree) -> Option<Counters> {
        Counters::parse(
            &tree.text("proc/stat")?,
            sys::ticks_per_second(),
            sys::own_user_time(),
        )
    }

    /// The first line of /proc/stat, see proc_stat(5). Guests' time is part of `user`.
    fn parse(stat: &str, ticks: f64, own: f64) -> Option<Counters> {
        let fields: Vec<f64> = stat
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map(|field| field.parse().map(|ticks_of: f64| ticks_of / ticks))
            .collect::<Result<_, _>>()
            .ok()?;
        let [user, nice, system, idle, iowait, irq, softirq, stolen, ..] = fields[..] else {
            return None;
        };
        Some(Counters {
            user: user + nice,
            busy: user + nice + system + irq + softirq,
            idle: idle + iowait,
            stolen,
            own,
        })
    }

    /// What happened since an earlier look. A counter may step back a little (iowait does, by
    /// proc_stat(5)); then nothing happened.
    pub fn since(&self, before: &Counters) -> CpuUse {
        let passed = |counter: fn(&Counters) -> f64| (counter(self) - counter(before)).max(0.0);
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let (busy, stolen) = (passed(|c| c.busy), passed(|c| c.stolen));
        let all = busy + stolen + passed(|c| c.idle);
        let others = (passed(|c| c.user) - passed(|c| c.own)).max(0.0);
        CpuUse {
            seconds_others: others,
            others: share(others, all),
            seconds_stolen: stolen,
            stolen: share(stolen, busy + stolen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two CPUs for a second; of 1.2 s in user mode, `own` are ours.
    fn a_second(own: f64, stolen: f64) -> CpuUse {
        let first = "cpu  1000 100 300 5000 70 5 6 10 0 0\ncpu0 1 2 3\n";
        let idle = 5000.0 + 200.0 - 120.0 - 20.0 - stolen * 100.0;
        let second = format!(
            "cpu  1110 110 318 {idle} 70 6 7 {} 0 0\n",
            10.0 + stolen * 100.0
        );
        let before = Counters::parse(first, 100.0, 3.0).unwrap();
        let after = Counters::parse(&second, 100.0, 3.0 + own).unwrap();
        after.since(&before)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn what_others_use_is_what_we_did_not() {
        let quiet = a_second(1.2, 0.0);
        assert!(
            near(quiet.others, 0.0) && !quiet.others_spoil(),
            "{quiet:?}"
        );
        let loud = a_second(0.9, 0.0);
        assert!(near(loud.others, 0.15) && loud.others_spoil(), "{loud:?}");
        assert_eq!(loud.others_text(), "other processes use 15 % of the CPUs");
    }

    #[test]
    fn steal_is_a_share_of_the_time_that_was_asked_for() {
        let some = a_second(1.2, 0.06);
        assert!(near(some.stolen, 0.06 / 1.46) && !some.stolen_spoils());
        let much = a_second(1.2, 0.1);
        assert!(
            near(much.stolen, 0.1 / 1.5) && much.stolen_spoils(),
            "{much:?}"
        );
    }

    #[test]
    fn a_few_ticks_of_a_short_round_spoil_nothing() {
        let few = CpuUse {
            seconds_others: 0.04,
            others: 0.5,
            seconds_stolen: 0.04,
            stolen: 0.5,
        };
        assert!(!few.others_spoil() && !few.stolen_spoils());
    }

    #[test]
    fn our_own_time_may_be_counted_more_finely_and_nothing_is_negative() {
        assert!(near(a_second(1.3, 0.0).others, 0.0));
        let counters = Counters::parse("cpu 1 1 1 1 1 1 1 1 0 0", 100.0, 0.0).unwrap();
        let nothing = counters.since(&counters);
        assert_eq!(nothing, CpuUse::default());
    }

    #[test]
    fn what_is_no_proc_stat_tells_nothing() {
        for text in ["", "cpu", "cpu 1 2 3", "cpu a b c d e f g h", "intr 1 2"] {
            assert_eq!(Counters::parse(text, 100.0, 0.0), None, "{text:?}");
        }
    }
}
