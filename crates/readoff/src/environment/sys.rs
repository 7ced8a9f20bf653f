//! What differs by system: Linux tells in files (see [`super::tree`]), macOS and the BSDs by
//! sysctl(8) and programs of their own.

use std::ffi::CStr;
use std::mem;

use super::cpu::Power;

/// Host name; and system, release and architecture (uname(2)).
pub fn uname() -> (String, String) {
    // SAFETY: utsname is plain arrays of characters, for which zeros are valid.
    let mut names: libc::utsname = unsafe { mem::zeroed() };
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

/// The load average of the last minute (getloadavg(3)).
pub fn load_average() -> Option<f64> {
    let mut average = [0.0];
    // SAFETY: getloadavg(3) writes as many numbers as it is told, and there is room for one.
    let written = unsafe { libc::getloadavg(average.as_mut_ptr(), 1) };
    (written == 1).then_some(average[0])
}

/// What /proc/stat counts in.
pub fn ticks_per_second() -> f64 {
    // SAFETY: sysconf(3) takes an integer and touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// Seconds in user mode of this process, and of all that it and its children started and waited for.
pub fn own_user_time() -> f64 {
    let of = |who| {
        // SAFETY: rusage is plain integers, for which zeros are valid.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        // SAFETY: getrusage(2) fills the struct that it is given.
        unsafe { libc::getrusage(who, &mut usage) };
        usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// The hypervisor's name in CPUID, leaf 0x4000_0000: twelve letters, by the convention that all of
/// them follow (kernel documentation, virt/kvm/x86/cpuid.rst). Only to be asked where the
/// CPU has the flag `hypervisor`.
#[cfg(target_arch = "x86_64")]
pub fn cpuid_hypervisor() -> Option<String> {
    // Newer compilers know it as safe.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 CPU has the instruction, and a leaf that it doesn't know is only garbage.
    let leaf = unsafe { std::arch::x86_64::__cpuid(0x4000_0000) };
    let letters: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|register| register.to_le_bytes())
        .collect();
    hypervisor_name(&letters)
}

/// Only x86 has the instruction.
#[cfg(not(target_arch = "x86_64"))]
pub fn cpuid_hypervisor() -> Option<String> {
    None
}

#[cfg(any(target_arch = "x86_64", test))]
fn hypervisor_name(letters: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(letters);
    let name = text.trim_matches(|c: char| c == '\0' || c == ' ');
    let known = match name {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU without KVM",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve" => "bhyve",
        other => other,
    };
    let printable = !known.is_empty() && known.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    printable.then(|| known.to_string())
}

#[cfg(target_os = "linux")]
mod own {
    use super::Power;

    // All of this is in files.
    pub fn cpu_model() -> Option<String> {
        None
    }
    pub fn memory() -> Option<u64> {
        None
    }
    pub fn power() -> Option<Power> {
        None
    }
    pub fn hypervisor() -> Option<String> {
        None
    }
}

#[cfg(not(target_os = "linux"))]
mod own {
    use std::process::Command;

    use super::Power;

    pub fn cpu_model() -> Option<String> {
        sysctl("machdep.cpu.brand_string").or_else(|| sysctl("hw.model"))
    }

    pub fn memory() -> Option<u64> {
        let bytes = sysctl("hw.memsize").or_else(|| sysctl("hw.physmem"))?;
        bytes.parse().ok()
    }

    /// FreeBSD knows whether the line is on; macOS's pmset(1) says what is drawn on.
    pub fn power() -> Option<Power> {
        if let Some(line) = sysctl("hw.acpi.acline") {
            return Some(if line == "0" {
                Power::Battery
            } else {
                Power::Mains
            });
        }
        let drawn = output(Command::new("pmset").args(["-g", "batt"]))?;
        if drawn.contains("Battery Power") {
            Some(Power::Battery)
        } else {
            drawn.contains("AC Power").then_some(Power::Mains)
        }
    }

    pub fn hypervisor() -> Option<String> {
        match sysctl("kern.vm_guest") {
            Some(name) => (name != "none").then_some(name),
            None => (sysctl("kern.hv_vmm_present")? == "1")
                .then(|| "a hypervisor without a name".into()),
        }
    }

    fn sysctl(name: &str) -> Option<String> {
        output(Command::new("sysctl").args(["-n", name]))
    }

    fn output(command: &mut Command) -> Option<String> {
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
        (output.status.success() && !text.is_empty()).then_some(text)
    }
}

pub use own::{cpu_model, hypervisor, memory, power};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hypervisor_has_the_name_that_people_know() {
        assert_eq!(hypervisor_name(b"KVMKVMKVM\0\0\0").unwrap(), "KVM");
        assert_eq!(hypervisor_name(b"Microsoft Hv").unwrap(), "Hyper-V");
        assert_eq!(hypervisor_name(b"bhyve bhyve ").unwrap(), "bhyve");
        assert_eq!(hypervisor_name(b" lrpepyh  vr").unwrap(), "lrpepyh  vr");
        assert_eq!(hypervisor_name(&[0; 12]), None);
        assert_eq!(hypervisor_name(&[0x80, 1, 2, 3]), None);
    }
}
