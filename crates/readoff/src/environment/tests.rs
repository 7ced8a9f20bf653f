//! A laptop, a server and a machine that tells nothing, as their files describe them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use super::load::{Counters, CpuUse};
use super::throttle::{Throttled, frequency};
use super::tree::Tree;
use super::*;

/// A folder with these files.
fn machine(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// An Intel laptop on battery, its memory short, DAMON at work.
const LAPTOP: &[(&str, &str)] = &[
    (
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu vme\n\nprocessor\t: 1\n",
    ),
    (
        "proc/meminfo",
        "MemTotal:        8000000 kB\nMemAvailable:    1000000 kB\n\
             SwapCached:          4 kB\nSwapTotal:       2000000 kB\nSwapFree:        1500000 kB\n",
    ),
    ("proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\n"),
    ("proc/sys/vm/zone_reclaim_mode", "0\n"),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
        "acpi-cpufreq\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "800000\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "2\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
        "5\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_driver",
        "acpi-cpufreq\n",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq",
        "2400000\n",
    ),
    ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
    ("sys/devices/system/cpu/cpuidle/current_driver", "x\n"),
    ("sys/devices/system/cpu/smt/active", "1\n"),
    (
        "sys/devices/system/cpu/vulnerabilities/meltdown",
        "Mitigation: PTI\n",
    ),
    (
        "sys/devices/system/cpu/vulnerabilities/tsx",
        "Not affected\n",
    ),
    ("sys/class/power_supply/AC/type", "Mains\n"),
    ("sys/class/power_supply/AC/online", "0\n"),
    ("sys/class/power_supply/BAT0/type", "Battery\n"),
    ("sys/class/power_supply/BAT0/status", "Discharging\n"),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
    ("sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "1\n"),
    ("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n"),
];

#[test]
fn a_laptop_is_seen_as_it_is() {
    let folder = machine(LAPTOP);
    let seen = Environment::look_in(Tree(folder.path()), None);
    assert_eq!(seen.cpu.as_deref(), Some("Some CPU @ 2.00GHz"));
    assert_eq!(seen.memory, Some(8_000_000 * 1024));
    let cpu = &seen.processor;
    assert_eq!(cpu.governor.as_deref(), Some("performance, powersave"));
    assert_eq!(cpu.frequency_driver.as_deref(), Some("acpi-cpufreq"));
    assert_eq!((cpu.boost, cpu.smt), (Some(true), Some(true)));
    assert_eq!(cpu.power, Some(Power::Battery));
    let mitigations: Vec<_> = cpu.mitigations.iter().collect();
    assert_eq!(
        mitigations,
        [(&"meltdown".into(), &"Mitigation: PTI".into())]
    );
    let memory = &seen.virtual_memory;
    assert_eq!(memory.available, Some(1_000_000 * 1024));
    assert_eq!(memory.swap_used, Some(500_000 * 1024));
    assert_eq!(memory.huge_pages.as_deref(), Some("madvise"));
    assert_eq!(memory.huge_pages_defrag, None, "not told");
    assert_eq!(memory.reclaim, ["DAMON"]);
    assert_eq!(frequency(Tree(folder.path())), Some(2.4e9));
    assert_eq!(Throttled::read(Tree(folder.path())).by_heat, Some(7));
}

/// How warnings begin, in their order.
const WARNINGS: [&str; 10] = [
    "a debug build",
    "nfs:",
    "on battery",
    "CPU governor",
    "other processes",
    "the host keeps",
    "512.0 MB are swapped",
    "a virtual machine",
    "loop0",
    "DAMON",
];

/// How each warning begins.
fn warned(environment: &Environment) -> Vec<&str> {
    let start = |warning: &Warning| {
        let mut starts = WARNINGS.into_iter();
        let start = starts.find(|start| warning.what.starts_with(start));
        start.unwrap_or_else(|| panic!("{warning:?}"))
    };
    environment.warnings.iter().map(start).collect()
}

#[test]
fn warnings_stand_in_order_of_their_harm_each_with_its_remedy() {
    let folder = machine(LAPTOP);
    let mut seen = Environment::look_in(Tree(folder.path()), None);
    seen.build.profile = "debug".into();
    seen.filesystem = Some("nfs".into());
    seen.storage.residency_known = Some(false);
    seen.storage.device = Some(Device {
        name: "loop0".into(),
        loop_image: Some("/images/a".into()),
        ..Device::default()
    });
    seen.processor.hypervisor = Some("KVM".into());
    seen.load.cpu = Some(CpuUse {
        seconds_others: 0.3,
        others: 0.3,
        seconds_stolen: 0.1,
        stolen: 0.2,
    });
    seen.warnings = warning::warnings(&seen);
    assert_eq!(warned(&seen), WARNINGS);
    assert!(
        seen.warnings
            .iter()
            .all(|warning| !warning.remedy.is_empty())
    );

    // What is put right is no longer warned of.
    seen.processor.power = Some(Power::Mains);
    seen.storage.device.as_mut().unwrap().loop_direct_io = Some(true);
    seen.virtual_memory.swap_used = Some(1 << 20);
    seen.warnings = warning::warnings(&seen);
    let left = warned(&seen);
    for gone in ["on battery", "loop0", "512.0 MB are swapped"] {
        assert!(!left.contains(&gone), "{gone}");
    }
    assert_eq!(left.len(), WARNINGS.len() - 3);
}

#[test]
fn what_cannot_be_told_is_absent() {
    let empty = machine(&[]);
    let tree = Tree(empty.path());
    assert_eq!(VirtualMemory::look(tree), VirtualMemory::default());
    assert_eq!(Counters::read(tree), None);
    assert_eq!(Throttled::read(tree), Throttled::default());
    assert_eq!(frequency(tree), None);
    let storage = Storage::look(tree, Path::new("/"));
    assert_eq!((storage.mount_point, storage.device), (None, None));
    #[cfg(target_os = "linux")]
    assert_eq!(Processor::look(tree), Processor::default());
}

#[test]
fn a_battery_that_is_not_drawn_on_is_no_battery() {
    let with = |files: &[(&str, &str)]| {
        let folder = machine(files);
        Processor::look(Tree(folder.path())).power
    };
    let charging = [
        ("sys/class/power_supply/BAT0/type", "Battery"),
        ("sys/class/power_supply/BAT0/status", "Full"),
    ];
    assert_eq!(with(&charging), Some(Power::Mains));
    // A mouse's battery tells nothing about the machine.
    let mouse = [
        ("sys/class/power_supply/hid-1/type", "Battery"),
        ("sys/class/power_supply/hid-1/scope", "Device"),
        ("sys/class/power_supply/hid-1/status", "Discharging"),
    ];
    #[cfg(target_os = "linux")]
    assert_eq!(with(&mouse), None);
    #[cfg(not(target_os = "linux"))]
    let _ = mouse;
}

#[test]
fn a_virtual_machine_is_known_by_its_flag_or_its_firmware() {
    let with = |files: &[(&str, &str)]| {
        let folder = machine(files);
        Processor::look(Tree(folder.path())).hypervisor
    };
    // The name is this machine's own, whatever it is.
    let flagged = [("proc/cpuinfo", "flags\t: fpu hypervisor lahf_lm\n")];
    assert!(with(&flagged).is_some());
    let arm = [
        ("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("sys/class/dmi/id/product_name", "KVM Virtual Machine\n"),
    ];
    assert_eq!(with(&arm).as_deref(), Some("QEMU KVM Virtual Machine"));
}

#[test]
fn damon_is_seen_by_its_thread_where_its_settings_are_roots() {
    let folder = machine(&[
        ("sys/kernel/mm/damon/admin/kdamonds/0/pid", ""),
        ("sys/module/damon_reclaim/parameters/enabled", "Y\n"),
        ("sys/module/damon_lru_sort/parameters/enabled", "N\n"),
        ("proc/sys/vm/zone_reclaim_mode", "1\n"),
        ("proc/76/comm", "kdamond.0\n"),
    ]);
    let seen = VirtualMemory::look(Tree(folder.path()));
    assert_eq!(
        seen.reclaim,
        ["damon_reclaim", "DAMON", "zone_reclaim_mode 1"]
    );
}

#[test]
fn a_quota_is_read_from_our_own_cgroup_of_either_version() {
    let second = machine(&[
        ("proc/self/cgroup", "0::/user/a:b\n"),
        (
            "sys/fs/cgroup/user/a:b/cpu.stat",
            "usage_usec 5\nnr_throttled 3\n",
        ),
    ]);
    let first = machine(&[
        ("proc/self/cgroup", "4:cpu,cpuacct:/x\n0::/\n"),
        (
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.stat",
            "nr_periods 9\nnr_throttled 8\n",
        ),
    ]);
    let of = |folder: &TempDir| Throttled::read(Tree(folder.path())).by_quota;
    assert_eq!((of(&second), of(&first)), (Some(3), Some(8)));
}

const MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw,discard
30 27 7:0 / /mnt/an\\040image ro,noatime master:2 - squashfs /dev/loop0 ro
31 27 0:45 / /mnt/fs rw shared:3 - btrfs /dev/sdb rw,compress=zstd
32 31 0:50 / /mnt/fs rw - nfs4 server:/export rw,vers=4.2
";

fn disks() -> TempDir {
    let folder = machine(&[
        ("proc/self/mountinfo", MOUNTS),
        ("sys/devices/ata/block/sda/queue/rotational", "1\n"),
        (
            "sys/devices/ata/block/sda/queue/scheduler",
            "none [mq-deadline] kyber\n",
        ),
        ("sys/devices/ata/block/sda/queue/read_ahead_kb", "128\n"),
        ("sys/devices/ata/block/sda/queue/nr_requests", "64\n"),
        ("sys/devices/ata/block/sda/device/model", "A DISK  \n"),
        ("sys/devices/ata/block/sda/sda2/partition", "2\n"),
        (
            "sys/devices/virtual/block/loop0/loop/backing_file",
            "/images/a b\n",
        ),
        ("sys/devices/virtual/block/loop0/loop/dio", "0\n"),
        ("sys/devices/virtual/block/loop0/queue/scheduler", "none\n"),
    ]);
    let numbers = folder.path().join("sys/dev/block");
    fs::create_dir_all(&numbers).unwrap();
    symlink("../../devices/ata/block/sda/sda2", numbers.join("8:2")).unwrap();
    symlink("../../devices/virtual/block/loop0", numbers.join("7:0")).unwrap();
    folder
}

#[test]
fn a_file_on_a_partition_has_its_disks_queue() {
    let folder = disks();
    let seen = Storage::look(Tree(folder.path()), Path::new("/home/file"));
    assert_eq!(seen.mount_point.as_deref(), Some("/"));
    assert_eq!(seen.mount_options.as_deref(), Some("rw,relatime,discard"));
    let disk = Device {
        name: "sda".into(),
        model: Some("A DISK".into()),
        rotational: Some(true),
        scheduler: Some("mq-deadline".into()),
        read_ahead_kb: Some(128),
        nr_requests: Some(64),
        ..Device::default()
    };
    assert_eq!(seen.device, Some(disk));
}

#[test]
fn a_loop_device_names_its_image_and_a_mount_point_may_have_blanks() {
    let folder = disks();
    let seen = Storage::look(Tree(folder.path()), Path::new("/mnt/an image/file"));
    assert_eq!(seen.mount_options.as_deref(), Some("ro,noatime"));
    let device = seen.device.unwrap();
    assert_eq!((device.name.as_str(), device.rotational), ("loop0", None));
    assert_eq!(device.scheduler.as_deref(), Some("none"));
    assert_eq!(device.loop_image.as_deref(), Some("/images/a b"));
    assert_eq!(device.loop_direct_io, Some(false));
}

#[test]
fn of_two_mounts_on_one_point_the_last_is_seen() {
    let folder = disks();
    let seen = Storage::look(Tree(folder.path()), Path::new("/mnt/fs/file"));
    assert_eq!(seen.source.as_deref(), Some("server:/export"));
    assert_eq!(seen.device, None, "a network filesystem has none");
    let beside = Storage::look(Tree(folder.path()), Path::new("/mnt/fs2"));
    assert_eq!(beside.source.as_deref(), Some("/dev/sda2"));
}

#[test]
fn only_what_tells_machines_apart_stops_a_resumed_race() {
    let folder = machine(LAPTOP);
    let then = Environment::look_in(Tree(folder.path()), None);
    let mut now = then.clone();
    now.load.average = Some(9.0);
    now.processor.power = Some(Power::Mains);
    now.virtual_memory.available = None;
    now.warnings.clear();
    assert!(then.same_machine(&now));
    now.cpu = Some("another".into());
    assert!(!then.same_machine(&now));
}

#[test]
fn a_race_json_of_before_has_fewer_fields_and_is_still_read() {
    let text = r#"{"host":"h","system":"Linux 6 x86_64","cpu":null,"cpus":2,"memory":5,"filesystem":"ext4"}"#;
    let read: Environment = serde_json::from_str(text).unwrap();
    assert_eq!(read.storage, Storage::default());
    let again: Environment = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
}
