//! The machine that a race ran on, as far as a reader of its results needs to know it.

use std::ffi::CStr;
use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::input::Input;

/// The machine. Sizes in bytes; what can't be told is absent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Environment {
    /// Host name.
    pub host: String,
    /// Operating system, its release, and the architecture (uname(2)).
    pub system: String,
    /// The CPU's model.
    pub cpu: Option<String>,
    /// CPUs that this process may use.
    pub cpus: usize,
    /// Memory.
    pub memory: Option<u64>,
    /// The filesystem that the file is on.
    pub filesystem: Option<String>,
}

impl Environment {
    /// Looks around.
    pub fn look(input: &Input) -> Environment {
        let (host, system) = uname();
        Environment {
            host,
            system,
            cpu: cpu_model(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory(),
            filesystem: pagecache::filesystem(&input.path)
                .ok()
                .map(|filesystem| filesystem.name.to_string()),
        }
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        let memory = self
            .memory
            .map(|bytes| format!("{} memory", crate::format::size(bytes)));
        let parts = [
            Some(self.host.clone()),
            Some(self.system.clone()),
            self.cpu.clone(),
            Some(format!("{} CPUs", self.cpus)),
            memory,
            self.filesystem.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The host's name.
pub fn host() -> String {
    uname().0
}

/// Host name; and system, release and architecture.
fn uname() -> (String, String) {
    // SAFETY: utsname is plain arrays of characters, for which zeros are valid.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: uname(2) fills the struct that it is given, with strings that end in 0.
    unsafe { libc::uname(&mut names) };
    let text = |field: &[libc::c_char]| {
        // SAFETY: the field is an array that uname(2) filled, or zeros; either way 0 ends it.
        unsafe { CStr::from_ptr(field.as_ptr()) }
            .to_string_lossy()
            .into_owned()
    };
    let system = [
        text(&names.sysname),
        text(&names.release),
        text(&names.machine),
    ];
    (text(&names.nodename), system.join(" "))
}

/// From Linux's `/proc/cpuinfo`, or the sysctl of macOS and the BSDs.
fn cpu_model() -> Option<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = line
        .and_then(|line| line.split(": ").nth(1))
        .map(str::to_string);
    model
        .or_else(|| sysctl("machdep.cpu.brand_string"))
        .or_else(|| sysctl("hw.model"))
}

/// From Linux's `/proc/meminfo`, or the sysctl of macOS and the BSDs. Bytes.
fn memory() -> Option<u64> {
    let sysctl = || {
        sysctl("hw.memsize")
            .or_else(|| sysctl("hw.physmem"))?
            .parse()
            .ok()
    };
    meminfo("MemTotal:").or_else(sysctl)
}

/// Memory that could be used without pushing anything else out, in bytes; only Linux tells.
pub fn memory_available() -> Option<u64> {
    meminfo("MemAvailable:")
}

fn meminfo(field: &str) -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let value = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !value.is_empty()).then_some(value)
}
