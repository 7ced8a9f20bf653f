//! The second cache: the image of a loop device, which the kernel caches as any file.

use std::{
    ffi::OsString, fs, fs::File, os::fd::AsRawFd, os::unix::ffi::OsStringExt, path::PathBuf,
};

use super::mounts::mounts;

/// The image of the loop device that `file`'s filesystem is mounted from, if there is one and the
/// kernel caches it (with direct I/O it doesn't).
pub fn image_beneath(file: &File) -> Option<PathBuf> {
    // By the mount, not by st_dev: btrfs gives its files device numbers of their own.
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let id: u32 = info
        .lines()
        .find_map(|line| line.strip_prefix("mnt_id:"))?
        .trim()
        .parse()
        .ok()?;
    let source = mounts().into_iter().find(|mount| mount.id == id)?.source;
    let device = fs::canonicalize(source).ok()?;
    let block =
        fs::canonicalize(PathBuf::from("/sys/class/block").join(device.file_name()?)).ok()?;
    // A partition's folder lies in that of its device.
    let attributes = [block.join("loop"), block.parent()?.join("loop")]
        .into_iter()
        .find(|folder| folder.is_dir())?;
    let direct = fs::read_to_string(attributes.join("dio")).is_ok_and(|dio| dio.trim() == "1");
    if direct {
        return None;
    }
    let mut image = fs::read(attributes.join("backing_file")).ok()?;
    image.pop_if(|last| *last == b'\n');
    Some(PathBuf::from(OsString::from_vec(image)))
}
