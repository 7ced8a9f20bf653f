//! The second cache: the image of a loop device, which the kernel caches as any file.

use std::{
    ffi::OsString,
    fs,
    fs::File,
    os::fd::AsRawFd,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use super::mounts::{Mount, mounts, unescape};

/// An overlay may lie on overlays; so deep that the kernel allows no more (FILESYSTEM_MAX_STACK_DEPTH).
const DEEPEST: u32 = 2;

/// The images of the loop devices that `file`'s filesystem lies on and that the kernel caches (with
/// direct I/O it doesn't): one at most, but for overlayfs, each of whose layers may have one.
pub fn images_beneath(file: &File) -> Vec<PathBuf> {
    let mut images = Vec::new();
    add_images(file, &mounts(), DEEPEST, &mut images);
    images
}

fn add_images(file: &File, mounts: &[Mount], deepest: u32, images: &mut Vec<PathBuf>) {
    let Some(mount) = mount_of(file, mounts) else {
        return;
    };
    if mount.fstype == "overlay" && deepest > 0 {
        // A layer that can't be opened here (it may be another container's) can't be looked beneath.
        for layer in layers(&mount.super_options) {
            if let Ok(layer) = File::open(layer) {
                add_images(&layer, mounts, deepest - 1, images);
            }
        }
    } else if let Some(image) = image_of(&mount.source).filter(|image| !images.contains(image)) {
        images.push(image);
    }
}

/// By the mount, not by st_dev: btrfs gives its files device numbers of their own.
fn mount_of<'a>(file: &File, mounts: &'a [Mount]) -> Option<&'a Mount> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let id: u32 = info
        .lines()
        .find_map(|line| line.strip_prefix("mnt_id:"))?
        .trim()
        .parse()
        .ok()?;
    mounts.iter().find(|mount| mount.id == id)
}

/// The folders of an overlay's layers (Documentation/filesystems/overlayfs.rst): `upperdir=`, and
/// `lowerdir=` with several between colons. Relative ones can't be found: to what, isn't told.
fn layers(options: &str) -> Vec<PathBuf> {
    let mut layers = Vec::new();
    for option in options.split(',') {
        let Some((key, value)) = option.split_once('=') else {
            continue;
        };
        let value = unescape(value.as_bytes());
        match key {
            "upperdir" | "lowerdir+" | "datadir+" => layers.push(value),
            "lowerdir" => layers.extend(split_at_colons(value.as_os_str().as_bytes())),
            _ => {}
        }
    }
    layers.retain(|layer| layer.is_absolute());
    layers
}

/// A colon, or whatever else, that is part of a name has a backslash before it. Of two colons, the
/// second begins the data-only layers.
fn split_at_colons(paths: &[u8]) -> Vec<PathBuf> {
    let mut parts = vec![Vec::new()];
    let mut bytes = paths.iter().copied();
    while let Some(byte) = bytes.next() {
        let last = parts.last_mut().expect("one is there from the beginning");
        match byte {
            b':' => parts.push(Vec::new()),
            b'\\' => last.extend(bytes.next()),
            byte => last.push(byte),
        }
    }
    let path = |part| PathBuf::from(OsString::from_vec(part));
    parts.into_iter().map(path).collect()
}

/// The image of a loop device, if it is one and the kernel caches it.
fn image_of(source: &Path) -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_s_layers_are_found_in_its_options() {
        let options =
            r"rw,lowerdir=/lo\134:w\134\054\040er:/b::/data:c,upperdir=/up,workdir=/w,uuid=on";
        let expected = ["/lo:w, er", "/b", "/data", "/up"].map(PathBuf::from);
        assert_eq!(layers(options), expected);
    }
}
