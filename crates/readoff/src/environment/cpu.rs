//! The CPUs: how fast they may run, what powers them, and who stands between them and us.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sys;
use super::tree::Tree;

/// What decides how fast the CPUs run. What can't be told is absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Processor {
    /// The frequency governors of all CPUs, each once.
    pub governor: Option<String>,
    /// The driver that obeys the governor.
    pub frequency_driver: Option<String>,
    /// Whether the clock may go beyond what can be kept up (turbo).
    pub boost: Option<bool>,
    /// Whether a core runs several threads at once.
    pub smt: Option<bool>,
    /// What the machine runs on.
    pub power: Option<Power>,
    /// The hypervisor, in a virtual machine.
    pub hypervisor: Option<String>,
    /// What the kernel does about the CPU's vulnerabilities, by name; those that this CPU doesn't
    /// have are left out.
    pub mitigations: BTreeMap<String, String>,
}

/// What a machine runs on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Power {
    /// Its battery.
    Battery,
    /// The mains; its battery, if it has one, is not drawn on.
    Mains,
}

impl Power {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Power::Battery => "battery",
            Power::Mains => "mains",
        }
    }
}

impl Processor {
    pub(super) fn look(tree: Tree) -> Processor {
        Processor {
            governor: of_all_cpus(tree, "scaling_governor"),
            frequency_driver: of_all_cpus(tree, "scaling_driver"),
            boost: boost(tree),
            smt: tree.switch("sys/devices/system/cpu/smt/active"),
            power: power(tree).or_else(sys::power),
            hypervisor: hypervisor(tree),
            mitigations: mitigations(tree),
        }
    }

    /// Whether the clock follows the load and so is low when a short run begins. `powersave` of the
    /// drivers that let the hardware choose is their normal mode (kernel documentation,
    /// admin-guide/pm/intel_pstate.rst), but ramps up too.
    pub(super) fn slow_governor(&self) -> Option<&str> {
        let governor = self.governor.as_deref()?;
        let slow = |name: &str| matches!(name, "powersave" | "conservative");
        governor.split(", ").any(slow).then_some(governor)
    }
}

/// The CPU's model, from /proc/cpuinfo.
pub(super) fn model(tree: Tree) -> Option<String> {
    let cpuinfo = tree.text("proc/cpuinfo")?;
    let value = cpuinfo_value(&cpuinfo, "model name")?;
    Some(value.to_string())
}

fn cpuinfo_value<'a>(cpuinfo: &'a str, field: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(name, _)| name.trim() == field)?;
    Some(value.trim())
}

/// The CPUs' folders that have a frequency, below `sys/devices/system/cpu`.
pub(super) fn cpus(tree: Tree) -> Vec<String> {
    let is_cpu = |name: &String| {
        name.strip_prefix("cpu")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = tree.names("sys/devices/system/cpu").into_iter();
    names
        .filter(is_cpu)
        .map(|name| format!("sys/devices/system/cpu/{name}"))
        .collect()
}

/// A cpufreq attribute of all CPUs, each value once.
fn of_all_cpus(tree: Tree, attribute: &str) -> Option<String> {
    let mut values: Vec<String> = cpus(tree)
        .iter()
        .filter_map(|cpu| tree.text(&format!("{cpu}/cpufreq/{attribute}")))
        .collect();
    values.sort();
    values.dedup();
    (!values.is_empty()).then(|| values.join(", "))
}

fn boost(tree: Tree) -> Option<bool> {
    let no_turbo = || tree.switch("sys/devices/system/cpu/intel_pstate/no_turbo");
    tree.switch("sys/devices/system/cpu/cpufreq/boost")
        .or_else(|| no_turbo().map(|off| !off))
}

/// By /sys/class/power_supply. A supply whose scope is a device is a mouse's or a headset's.
fn power(tree: Tree) -> Option<Power> {
    let mut discharging = None;
    for name in tree.names("sys/class/power_supply") {
        let of = |attribute: &str| {
            tree.text(&format!("sys/class/power_supply/{name}/{attribute}"))
                .unwrap_or_default()
        };
        match of("type").as_str() {
            _ if of("scope") == "Device" => {}
            "Battery" => {
                let now = of("status") == "Discharging";
                discharging = Some(discharging.unwrap_or(false) || now);
            }
            "Mains" | "USB" if of("online") == "1" => return Some(Power::Mains),
            _ => {}
        }
    }
    discharging.map(|discharging| match discharging {
        true => Power::Battery,
        false => Power::Mains,
    })
}

/// x86 says that there is a hypervisor in CPUID (a flag in /proc/cpuinfo); elsewhere the firmware's
/// names for the machine tell, where they do.
fn hypervisor(tree: Tree) -> Option<String> {
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo_value(&cpuinfo, "flags").unwrap_or_default();
    let flagged = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let firmware = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|name| tree.text(&format!("sys/class/dmi/id/{name}")))
        .collect::<Vec<_>>()
        .join(" ");
    let known = ["QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine"];
    let told = || {
        let virtual_machine = known.iter().any(|name| firmware.contains(name));
        virtual_machine.then(|| firmware.clone())
    };
    let named = tree.text("sys/hypervisor/type").or_else(told);
    if flagged {
        sys::cpuid_hypervisor()
            .or(named)
            .or(Some("a hypervisor without a name".into()))
    } else {
        named.or_else(sys::hypervisor)
    }
}

fn mitigations(tree: Tree) -> BTreeMap<String, String> {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let of = |name: String| {
        let text = tree.text(&format!("{folder}/{name}"))?;
        (text != "Not affected").then_some((name, text))
    };
    tree.names(folder).into_iter().filter_map(of).collect()
}
