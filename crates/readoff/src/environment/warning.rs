//! What can spoil a measurement, and what to do about it.

use serde::{Deserialize, Serialize};

use super::Environment;
use super::cpu::Power;
use crate::format::size;

/// Swap in use beyond this share of memory is not just what an idle machine has put away.
const MUCH_SWAP: f64 = 0.01;

/// A fact that can spoil a measurement.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Warning {
    /// What it is, and what it does.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Warning {
    fn new(what: impl Into<String>, remedy: &str) -> Warning {
        Warning {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        format!("{}; {}", self.what, self.remedy)
    }
}

/// What spoils races in this environment, most harmful first: what makes the figures mean something
/// else than they say; what makes them wrong by tens of percent; what makes them noisy; and what only
/// limits what "cold" and "warm" mean.
pub(super) fn warnings(environment: &Environment) -> Vec<Warning> {
    let all = [
        debug_build(environment),
        unknown_residency(environment),
        battery(environment),
        governor(environment),
        busy(environment),
        steal(environment),
        swap(environment),
        virtual_machine(environment),
        loop_device(environment),
        reclaim(environment),
    ];
    all.into_iter().flatten().collect()
}

fn debug_build(environment: &Environment) -> Option<Warning> {
    (environment.build.profile == "debug").then(|| {
        Warning::new(
            "a debug build: its strategies are not compiled to be fast",
            "cargo build --release",
        )
    })
}

fn unknown_residency(environment: &Environment) -> Option<Warning> {
    (environment.storage.residency_known == Some(false)).then(|| {
        let filesystem = environment
            .filesystem
            .as_deref()
            .unwrap_or("its filesystem");
        Warning::new(
            format!(
                "{filesystem}: what is cached of the file can't be known, so no state is proved"
            ),
            "race a copy on a local disk",
        )
    })
}

fn battery(environment: &Environment) -> Option<Warning> {
    (environment.processor.power == Some(Power::Battery)).then(|| {
        Warning::new(
            "on battery: the machine saves power, and may save more as it drains",
            "plug it in",
        )
    })
}

fn governor(environment: &Environment) -> Option<Warning> {
    let governor = environment.processor.slow_governor()?;
    Some(Warning::new(
        format!("CPU governor {governor}: the clock is low when a run begins, and climbs"),
        "cpupower frequency-set --governor performance",
    ))
}

/// Where it can't be told who uses the CPUs, the load average has to do: more than half of them.
fn busy(environment: &Environment) -> Option<Warning> {
    let remedy = "end what else runs, or wait for it";
    match (environment.load.cpu, environment.load.average) {
        (Some(cpu), _) => cpu
            .others_spoil()
            .then(|| Warning::new(cpu.others_text(), remedy)),
        (None, Some(average)) => (average > environment.cpus as f64 / 2.0).then(|| {
            let what = format!(
                "the load average is {average:.1} on {} CPUs",
                environment.cpus
            );
            Warning::new(what, remedy)
        }),
        (None, None) => None,
    }
}

fn steal(environment: &Environment) -> Option<Warning> {
    let cpu = environment.load.cpu.filter(|cpu| cpu.stolen_spoils())?;
    Some(Warning::new(
        cpu.stolen_text(),
        "use a host that is less crowded, or dedicated CPUs",
    ))
}

fn swap(environment: &Environment) -> Option<Warning> {
    let used = environment.virtual_memory.swap_used?;
    (used as f64 > environment.memory? as f64 * MUCH_SWAP).then(|| {
        Warning::new(
            format!("{} are swapped out: memory is short, or was", size(used)),
            "end what uses the memory, then swapoff -a && swapon -a",
        )
    })
}

fn virtual_machine(environment: &Environment) -> Option<Warning> {
    let hypervisor = environment.processor.hypervisor.as_deref()?;
    Some(Warning::new(
        format!(
            "a virtual machine ({hypervisor}): its host may cache the disk, so cold may not be cold"
        ),
        "race on the host, or have the disk attached without a cache (cache=none)",
    ))
}

fn loop_device(environment: &Environment) -> Option<Warning> {
    let device = environment.storage.device.as_ref()?;
    let image = device.loop_image.as_deref()?;
    (device.loop_direct_io != Some(true)).then(|| {
        Warning::new(
            format!(
                "{} is the image {image}, which the kernel caches once more",
                device.name
            ),
            "losetup --direct-io=on, or race a copy on a disk",
        )
    })
}

fn reclaim(environment: &Environment) -> Option<Warning> {
    let reclaim = &environment.virtual_memory.reclaim;
    (!reclaim.is_empty()).then(|| {
        Warning::new(
            format!(
                "{} may take cached pages away though memory is free; a warm file is filled again where it lost some",
                reclaim.join(", ")
            ),
            "switch it off for the race",
        )
    })
}
