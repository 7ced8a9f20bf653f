//! Every kind of filesystem, made and mounted by the tests on loop devices. They need root, loop
//! devices and the mkfs tools, and are skipped by name where one is missing.

mod common;

use std::{
    fs::{self, File, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use common::{
    mounts::{IMAGE, Mount, overlay, root_folder, run},
    *,
};
use pagecache::{Action, Method};
use tempfile::TempDir;

const BYTES: u64 = 12 * MIB + 123;
const PAGES: u64 = BYTES.div_ceil(PAGE);

/// A filesystem of its own on a loop device, with a file in it.
fn mounted(test: &str, mkfs: &[&str], options: &str) -> Option<(Mount, PathBuf)> {
    let mount = mounts::mounted(test, mkfs, options)?;
    let file = mount.point.join("file");
    write(&file, BYTES);
    Some((mount, file))
}

/// The whole round on a filesystem that has a cold state.
fn every_state_is_reached(file: &Path, by: Method) {
    // Read from the disk, not left by write: where blocks are smaller than pages, mincore doesn't
    // call a page resident that was written in part, though it serves every read.
    pagecache().arg("evict").arg(file).assert().success();
    read(file);
    let line = prepare("cold", file);
    assert_eq!((line.by, line.action), (by, Action::Evicted));
    assert_all_but_reclaimed(line.found_resident.unwrap(), BYTES, "found");
    assert_eq!(line.resident, Some(0));
    assert_eq!(resident_pages(file), 0);

    let line = prepare("warm", file);
    assert_eq!(line.action, Action::Filled);
    assert_all_but_reclaimed(line.resident.unwrap(), BYTES, "prepared");
    assert_all_but_reclaimed(resident_pages(file), PAGES, "filled");
    assert_all_but_reclaimed(status(file)["resident"].as_u64().unwrap(), BYTES, "status");
    assert_eq!(prepare("warm", file).action, Action::Verified);

    pagecache().arg("evict").arg(file).assert().success();
    assert_eq!(resident_pages(file), 0);
    assert_eq!(status(file)["resident"], 0);

    pagecache()
        .args(["fill", "--how", "random"])
        .arg(file)
        .assert()
        .success();
    assert_all_but_reclaimed(resident_pages(file), PAGES, "filled");
}

fn a_loop_mounted_one(test: &str, mkfs: &[&str], options: &str) {
    let Some((mount, file)) = mounted(test, mkfs, options) else {
        return;
    };
    every_state_is_reached(&file, Method::Cachestat);
    // The second cache: beneath a cold file the image is cold, too.
    let line = prepare("cold", &file);
    assert_eq!(line.notes, Vec::<String>::new());
    let beneath = resident_pages(&mount.image());
    assert!(
        beneath <= IMAGE / PAGE / 100,
        "{beneath} pages of the image are resident"
    );
}

#[test]
fn ext4() {
    a_loop_mounted_one("ext4", &["mkfs.ext4", "-q"], "rw");
}

#[test]
fn xfs() {
    a_loop_mounted_one("xfs", &["mkfs.xfs", "-q"], "rw");
}

#[test]
fn btrfs() {
    a_loop_mounted_one("btrfs", &["mkfs.btrfs", "-q"], "rw");
}

#[test]
fn btrfs_compressed() {
    a_loop_mounted_one(
        "btrfs_compressed",
        &["mkfs.btrfs", "-q"],
        "compress-force=zstd",
    );
}

#[test]
fn squashfs() {
    let Some((folder, image)) = squashfs_image("squashfs") else {
        return;
    };
    let arguments = ["-o", "loop,ro", image.to_str().unwrap()];
    let Some(mount) = Mount::new("squashfs", folder, &arguments) else {
        return;
    };
    every_state_is_reached(&mount.point.join("file"), Method::Cachestat);
}

#[test]
fn fuse_is_unknown_and_acted_on_all_the_same() {
    const NAME: &str = "fuse_is_unknown_and_acted_on_all_the_same";
    let Some((folder, image)) = squashfs_image(NAME) else {
        return;
    };
    let point = folder.path().join("mounted");
    fs::create_dir(&point).unwrap();
    let mount = Mount { point, folder };
    let mut squashfuse = Command::new("squashfuse");
    squashfuse.args([&image, &mount.point]);
    let Some(()) = run(NAME, &mut squashfuse) else {
        return;
    };
    let file = mount.point.join("file");
    for (state, action) in [("warm", Action::Filled), ("cold", Action::Evicted)] {
        let line = prepare(state, &file);
        assert_eq!((line.by, line.action), (Method::Unknown, action));
        assert_eq!(
            (line.found_resident, line.resident, line.dirty),
            (None, None, None)
        );
        assert!(
            line.notes[0].contains("fuse has a cache of its own"),
            "{:?}",
            line.notes
        );
    }
    assert!(status(&file)["resident"].is_null());
}

/// The image of a squashfs with one file in it, and the folder that it's in.
fn squashfs_image(test: &str) -> Option<(TempDir, PathBuf)> {
    let folder = root_folder(test)?;
    let (source, image) = (folder.path().join("source"), folder.path().join("image"));
    fs::create_dir(&source).unwrap();
    write(&source.join("file"), BYTES);
    let mut mksquashfs = Command::new("mksquashfs");
    mksquashfs
        .args([&source, &image])
        .args(["-quiet", "-no-progress"]);
    run(test, &mut mksquashfs)?;
    Some((folder, image))
}

#[test]
fn an_image_that_can_t_be_read_is_a_second_cache_that_stays() {
    const NAME: &str = "an_image_that_can_t_be_read_is_a_second_cache_that_stays";
    let Some((mount, file)) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    fs::set_permissions(mount.image(), Permissions::from_mode(0o600)).unwrap();
    let binary = public_copy(&mount.folder);
    let mut command = Command::new(binary);
    command.uid(65534).gid(65534).arg("evict").arg(&file);
    let Ok(output) = command.output() else {
        return eprintln!("skipped: {NAME}: nobody can't enter the build's folder");
    };
    assert!(output.status.success(), "{output:?}");
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        words.contains("is a second cache, and was not evicted"),
        "{words}"
    );
    assert!(words.contains("ermission denied"), "{words}");
    assert_eq!(resident_pages(&file), 0);
}

#[test]
fn an_image_read_by_direct_io_is_no_second_cache() {
    const NAME: &str = "an_image_read_by_direct_io_is_no_second_cache";
    let Some((mount, file)) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let device = Command::new("findmnt")
        .args(["-no", "SOURCE"])
        .arg(&mount.point)
        .output();
    let device = String::from_utf8(device.unwrap().stdout).unwrap();
    let mut losetup = Command::new("losetup");
    losetup.args(["--direct-io=on", device.trim()]);
    let Some(()) = run(NAME, &mut losetup) else {
        return;
    };
    // Who else reads the image is not evicted: the file never passes through those pages.
    read(&mount.image());
    let resident = resident_pages(&mount.image());
    pagecache().arg("evict").arg(&file).assert().success();
    assert_eq!(resident_pages(&mount.image()), resident);
}

#[test]
fn overlayfs_where_cachestat_is_blind() {
    const NAME: &str = "overlayfs_where_cachestat_is_blind";
    let Some((below, _)) = mounted(NAME, &["mkfs.ext4", "-q"], "rw") else {
        return;
    };
    let fill = |lower: &Path| write(&lower.join("in lower"), BYTES);
    let Some(mount) = overlay(NAME, &below.point, fill) else {
        return;
    };
    write(&mount.point.join("in upper"), BYTES);
    for name in ["in lower", "in upper"] {
        let file = mount.point.join(name);
        every_state_is_reached(&file, Method::Mincore);
        // The loop device is beneath the layers.
        assert_eq!(prepare("cold", &file).notes, Vec::<String>::new());
        let beneath = resident_pages(&below.image());
        assert!(
            beneath <= IMAGE / PAGE / 100,
            "{beneath} pages of the image are resident"
        );
    }
}

#[test]
fn tmpfs_has_no_cold_state() {
    const NAME: &str = "tmpfs_has_no_cold_state";
    let Some(folder) = root_folder(NAME) else {
        return;
    };
    let Some(mount) = Mount::new(NAME, folder, &["-t", "tmpfs", "none"]) else {
        return;
    };
    let file = mount.point.join("file");
    write(&file, BYTES);
    for command in [&["evict"][..], &["prepare", "--state", "cold"]] {
        let output = pagecache().args(command).arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(69));
        assert!(one_line(&output.stderr).contains("no cold state"));
    }
    assert_eq!(prepare("warm", &file).action, Action::Verified);
    pagecache().arg("fill").arg(&file).assert().success();
    assert_eq!(status(&file)["resident"], BYTES);

    let sparse = mount.point.join("sparse");
    File::create(&sparse).unwrap().set_len(BYTES).unwrap();
    let output = pagecache()
        .args(["prepare", "--state", "warm"])
        .arg(&sparse)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(69));
    assert!(one_line(&output.stderr).contains("holes of a file in memory"));
}
