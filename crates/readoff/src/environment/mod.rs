//! The machine that a race ran on: what it is, how it stands, and what of that can spoil a
//! measurement.
//!
//! Every fact is looked up where the system tells it without root; what can't be told is absent,
//! never 0.

mod build;
mod cpu;
mod facts;
pub mod load;
mod memory;
mod storage;
mod sys;
pub mod throttle;
pub mod tree;
mod warning;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use build::Build;
pub use cpu::{Power, Processor};
pub use load::Load;
pub use memory::{VirtualMemory, memory_available};
pub use storage::{Device, Storage};
pub use warning::Warning;

use crate::format::size;
use tree::Tree;

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
    /// What decides how fast the CPUs run.
    #[serde(default)]
    pub processor: Processor,
    /// How memory is managed.
    #[serde(default)]
    pub virtual_memory: VirtualMemory,
    /// What the file lies on.
    #[serde(default)]
    pub storage: Storage,
    /// How busy the machine was.
    #[serde(default)]
    pub load: Load,
    /// How readoff was built.
    #[serde(default)]
    pub build: Build,
    /// What can spoil a measurement, most harmful first.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Environment {
    /// Looks around, and at what `file` lies on. Takes a quarter of a second, to see how busy the
    /// machine is.
    pub fn look(file: Option<&Path>) -> Environment {
        Environment::look_in(Tree::own(), file)
    }

    fn look_in(tree: Tree, file: Option<&Path>) -> Environment {
        let (host, system) = sys::uname();
        let filesystem = file.and_then(|file| pagecache::filesystem(file).ok());
        let real = file.and_then(|file| std::fs::canonicalize(file).ok());
        let mut environment = Environment {
            host,
            system,
            cpu: cpu::model(tree).or_else(sys::cpu_model),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory::total(tree),
            filesystem: filesystem.map(|filesystem| filesystem.name),
            processor: Processor::look(tree),
            virtual_memory: VirtualMemory::look(tree),
            storage: real.map_or_else(Storage::default, |real| Storage::look(tree, &real)),
            load: Load::look(tree),
            build: Build::own(),
            warnings: Vec::new(),
        };
        environment.warnings = warning::warnings(&environment);
        environment
    }

    /// Whether both looks are at the same machine, as far as one race can't mix two: load, power
    /// and settings may change and are watched instead.
    pub fn same_machine(&self, other: &Environment) -> bool {
        let identity = |environment: &Environment| {
            let Environment {
                host,
                system,
                cpu,
                cpus,
                memory,
                filesystem,
                ..
            } = environment.clone();
            (host, system, cpu, cpus, memory, filesystem)
        };
        identity(self) == identity(other)
    }

    /// One line for a person.
    pub fn line(&self) -> String {
        let memory = self.memory.map(|bytes| format!("{} memory", size(bytes)));
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
    sys::uname().0
}
