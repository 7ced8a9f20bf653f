//! How files lie on real filesystems: what FIEMAP and SEEK_HOLE say of them, and who may write them.
//! Those on loop devices need root and the mkfs tools, and are skipped by name where one is missing.

mod common;

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::Path,
    process::{self, Command},
};

use common::{
    mounts::{Mount, mounted, overlay, root_folder, run},
    *,
};
use pagecache::{Extents, Layout, State, is_dax, layout, require_possible, writers};

fn extents(path: &Path) -> (Layout, Extents) {
    let layout = layout(path, true).unwrap();
    let extents = layout.extents.clone().expect("FIEMAP works here");
    (layout, extents)
}

/// Data in the first and the third of four MiB.
fn write_sparse(path: &Path) {
    let file = File::create(path).unwrap();
    file.write_all_at(&contents(MIB), 0).unwrap();
    file.write_all_at(&contents(MIB), 2 * MIB).unwrap();
    file.set_len(4 * MIB).unwrap();
    file.sync_all().unwrap();
}

fn allocate(path: &Path, bytes: u64) {
    let file = File::create(path).unwrap();
    // SAFETY: no memory is passed.
    let result = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as i64) };
    assert_eq!(result, 0);
}

fn on_a_disk_of_its_own(test: &str, mkfs: &[&str]) {
    let Some(mount) = mounted(test, mkfs, "rw") else {
        return;
    };
    let sparse = mount.point.join("sparse");
    write_sparse(&sparse);
    let (found, extents_of_it) = extents(&sparse);
    assert_eq!((found.bytes, found.holes), (4 * MIB, 2 * MIB));
    assert_eq!(extents_of_it.unwritten, 0);
    assert_eq!(extents_of_it.in_pieces, 2 * MIB);

    // Cached, it is data for SEEK_HOLE. Not here.
    let allocated = mount.point.join("allocated");
    allocate(&allocated, 3 * MIB);
    read(&allocated);
    let (found, extents_of_it) = extents(&allocated);
    assert_eq!((found.holes, extents_of_it.unwritten), (0, 3 * MIB));
    assert_eq!(extents_of_it.mean_piece(), None);

    let hole = mount.point.join("hole");
    File::create(&hole).unwrap().set_len(MIB + 1).unwrap();
    assert_eq!(extents(&hole).0.holes, MIB + 1);

    let odd = mount.point.join("odd");
    write(&odd, MIB + 123);
    let (found, extents_of_it) = extents(&odd);
    assert_eq!((found.holes, extents_of_it.in_pieces), (0, MIB + 123));
    assert!(extents_of_it.pieces >= 1);

    let empty = mount.point.join("empty");
    File::create(&empty).unwrap();
    assert_eq!(layout(&empty, true).unwrap().holes, 0);
}

#[test]
fn holes_and_what_was_never_written_on_ext4() {
    on_a_disk_of_its_own(
        "holes_and_what_was_never_written_on_ext4",
        &["mkfs.ext4", "-q"],
    );
}

#[test]
fn holes_and_what_was_never_written_on_xfs() {
    on_a_disk_of_its_own(
        "holes_and_what_was_never_written_on_xfs",
        &["mkfs.xfs", "-q"],
    );
}

#[test]
fn holes_and_what_was_never_written_on_btrfs() {
    on_a_disk_of_its_own(
        "holes_and_what_was_never_written_on_btrfs",
        &["mkfs.btrfs", "-q"],
    );
}

#[test]
fn a_reflink_shares_its_extents() {
    const NAME: &str = "a_reflink_shares_its_extents";
    let Some(mount) = mounted(NAME, &["mkfs.xfs", "-q"], "rw") else {
        return;
    };
    let (original, clone) = (mount.point.join("original"), mount.point.join("clone"));
    write(&original, MIB);
    assert_eq!(extents(&original).1.shared, 0);
    let mut copy = Command::new("cp");
    copy.arg("--reflink=always").args([&original, &clone]);
    let Some(()) = run(NAME, &mut copy) else {
        return;
    };
    for file in [&original, &clone] {
        let (found, extents) = extents(file);
        assert_eq!((found.holes, extents.shared), (0, MIB));
    }
}

#[test]
fn compressed_and_inlined_extents_on_btrfs() {
    const NAME: &str = "compressed_and_inlined_extents_on_btrfs";
    let Some(mount) = mounted(NAME, &["mkfs.btrfs", "-q"], "compress-force=zstd") else {
        return;
    };
    let (large, small) = (mount.point.join("large"), mount.point.join("small"));
    write(&large, 4 * MIB);
    let (found, packed) = extents(&large);
    assert_eq!((found.holes, packed.encoded), (0, 4 * MIB));
    assert_eq!(packed.mean_piece(), None);
    fs::write(&small, "a few words").unwrap();
    let (found, inline) = extents(&small);
    assert_eq!((found.holes, inline.inline), (0, 11));
}

#[test]
fn what_was_just_written_has_its_place_only_once_it_is_flushed() {
    const NAME: &str = "what_was_just_written_has_its_place_only_once_it_is_flushed";
    let Some(mount) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let path = mount.point.join("file");
    File::create(&path)
        .unwrap()
        .write_all(&contents(4 * MIB))
        .unwrap();
    let delayed = |flush| layout(&path, flush).unwrap().extents.unwrap().delayed;
    assert_eq!(delayed(false), 4 * MIB);
    assert_eq!(delayed(true), 0);
}

#[test]
fn a_file_in_many_pieces() {
    const NAME: &str = "a_file_in_many_pieces";
    let Some(mount) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let path = mount.point.join("file");
    write(&path, 64 * PAGE);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    // Every second block is taken out: what is left closes up in the file, not on the device.
    for index in 1..32 {
        let (mode, at) = (libc::FALLOC_FL_COLLAPSE_RANGE, (index * PAGE) as i64);
        // SAFETY: no memory is passed.
        let result = unsafe { libc::fallocate(file.as_raw_fd(), mode, at, PAGE as i64) };
        assert_eq!(result, 0);
    }
    let (found, pieces) = extents(&path);
    assert_eq!((found.bytes, found.holes), (33 * PAGE, 0));
    assert!(pieces.pieces >= 32, "{pieces:?}");
    assert_eq!(pieces.mean_piece(), Some(33 * PAGE / pieces.pieces));
}

#[test]
fn an_overlay_tells_of_its_layers() {
    const NAME: &str = "an_overlay_tells_of_its_layers";
    let Some(below) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let fill = |lower: &Path| write_sparse(&lower.join("sparse"));
    let Some(mount) = overlay(NAME, &below.point, fill) else {
        return;
    };
    let (found, extents) = extents(&mount.point.join("sparse"));
    assert_eq!((found.holes, extents.in_pieces), (2 * MIB, 2 * MIB));
}

#[test]
fn tmpfs_tells_of_holes_and_has_no_cold_state() {
    const NAME: &str = "tmpfs_tells_of_holes_and_has_no_cold_state";
    let Some(folder) = root_folder(NAME) else {
        return;
    };
    let Some(mount) = Mount::new(NAME, folder, &["-t", "tmpfs", "none"]) else {
        return;
    };
    let sparse = mount.point.join("sparse");
    write_sparse(&sparse);
    let found = layout(&sparse, true).unwrap();
    assert_eq!((found.holes, found.extents), (2 * MIB, None));
    let refusal = require_possible(&sparse, State::Cold, 4 * MIB).unwrap_err();
    assert_eq!(refusal.exit_code(), 69);
    assert!(refusal.to_string().contains("no cold state"), "{refusal}");
    // It is in memory already, however little is left.
    require_possible(&sparse, State::Warm, u64::MAX).unwrap();
}

#[test]
fn a_file_larger_than_memory_can_be_cold_but_not_warm() {
    const NAME: &str = "a_file_larger_than_memory_can_be_cold_but_not_warm";
    let Some(folder) = folder(NAME) else {
        return;
    };
    let path = folder.path().join("file");
    write(&path, MIB);
    for state in [State::Cold, State::Warm, State::WarmRandom, State::AsIs] {
        require_possible(&path, state, MIB).unwrap();
    }
    for state in [State::Warm, State::WarmRandom] {
        let refusal = require_possible(&path, state, u64::MAX).unwrap_err();
        assert_eq!(refusal.exit_code(), 69);
        assert!(
            refusal.to_string().contains("resident at once"),
            "{refusal}"
        );
    }
    require_possible(&path, State::Cold, u64::MAX).unwrap();
    assert!(!is_dax(&path).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn who_may_write_is_named_and_who_only_reads_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, PAGE);
    let named = || writers(&path).iter().any(|w| w.pid == process::id());
    let reader = File::open(&path).unwrap();
    assert!(!named());
    let writer = OpenOptions::new().append(true).open(&path).unwrap();
    assert!(named());
    drop(writer);
    assert!(!named());

    // A mapping stays when its descriptor is closed.
    let writer = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new shared mapping that the kernel places.
    let map = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            PAGE as usize,
            protection,
            libc::MAP_SHARED,
            writer.as_raw_fd(),
            0,
        )
    };
    assert_ne!(map, libc::MAP_FAILED);
    drop(writer);
    assert!(named());
    // SAFETY: ours, and nothing borrows it.
    unsafe { libc::munmap(map, PAGE as usize) };
    assert!(!named());
    drop(reader);
}
