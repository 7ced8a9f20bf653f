//! The environment as lines for a person: `readoff env`, and the report.

use super::{Device, Environment, Processor, Storage, VirtualMemory};
use crate::format::size;

/// A name, and what is known under it.
type Fact = (&'static str, Option<String>);

impl Environment {
    /// Every fact that could be told: a name, and the fact.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let load = &self.load;
        let build = &self.build;
        let mut facts: Vec<Fact> = vec![
            ("host", Some(self.host.clone())),
            ("system", Some(self.system.clone())),
            ("CPU", self.cpu.clone()),
            ("CPUs", Some(self.cpus.to_string())),
        ];
        facts.extend(self.processor.facts());
        facts.extend([
            (
                "load average",
                load.average.map(|load| format!("{load:.2}")),
            ),
            ("other processes", load.cpu.map(|cpu| of_cpus(cpu.others))),
            ("steal", load.cpu.map(|cpu| percent(cpu.stolen))),
            ("memory", self.memory.map(size)),
        ]);
        facts.extend(self.virtual_memory.facts());
        facts.push(("filesystem", self.filesystem.clone()));
        facts.extend(self.storage.facts());
        let commit = build.commit.as_ref();
        let commit = commit.map_or(String::new(), |commit| format!(", commit {commit}"));
        let built = format!("{}, {} build{commit}", build.version, build.profile);
        facts.push(("readoff", Some(built)));
        let known = facts.into_iter();
        known
            .filter_map(|(name, fact)| Some((name, fact?)))
            .collect()
    }
}

impl Processor {
    fn facts(&self) -> Vec<Fact> {
        let mitigations: Vec<String> = self
            .mitigations
            .iter()
            .map(|(name, state)| format!("{name}: {state}"))
            .collect();
        vec![
            ("governor", self.governor.clone()),
            ("frequency driver", self.frequency_driver.clone()),
            ("boost", self.boost.map(on_off)),
            ("SMT", self.smt.map(on_off)),
            ("power", self.power.map(|power| power.name().into())),
            ("hypervisor", self.hypervisor.clone()),
            ("mitigations", some(mitigations.join("; "))),
        ]
    }
}

impl VirtualMemory {
    fn facts(&self) -> Vec<Fact> {
        let swap = self.swap.zip(self.swap_used).map(|(all, used)| match all {
            0 => "none".into(),
            _ => format!("{} of {} used", size(used), size(all)),
        });
        vec![
            ("memory available", self.available.map(size)),
            ("swap", swap),
            ("huge pages", self.huge_pages.clone()),
            ("huge pages, defrag", self.huge_pages_defrag.clone()),
            ("huge pages, shmem", self.huge_pages_shmem.clone()),
            ("proactive reclaim", some(self.reclaim.join(", "))),
        ]
    }
}

impl Storage {
    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            ("mounted at", self.mount_point.clone()),
            ("mount options", self.mount_options.clone()),
            ("mounted from", self.source.clone()),
        ];
        if let Some(device) = &self.device {
            facts.extend(device.facts());
        }
        facts
    }
}

impl Device {
    fn facts(&self) -> Vec<Fact> {
        let model = self.model.as_ref();
        let model = model.map_or(String::new(), |model| format!(" ({model})"));
        vec![
            ("device", Some(format!("{}{model}", self.name))),
            (
                "rotational",
                self.rotational
                    .map(|yes| if yes { "yes" } else { "no" }.into()),
            ),
            ("I/O scheduler", self.scheduler.clone()),
            (
                "readahead",
                self.read_ahead_kb.map(|kib| format!("{kib} KiB")),
            ),
            (
                "requests queued",
                self.nr_requests.map(|most| format!("at most {most}")),
            ),
            ("loop image", self.loop_image.clone()),
            ("loop direct I/O", self.loop_direct_io.map(on_off)),
        ]
    }
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.into()
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn of_cpus(share: f64) -> String {
    format!("{} of the CPUs", percent(share))
}
