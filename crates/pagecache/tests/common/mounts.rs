//! Filesystems of the tests' own, on loop devices.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::{MIB, folder, is_root};

/// An image's size: xfs has no smaller ones.
pub const IMAGE: u64 = 304 * MIB;

/// A mounted filesystem; unmounted at the end, whatever happens. Its loop device goes with it.
pub struct Mount {
    pub point: PathBuf,
    pub folder: TempDir,
}

impl Mount {
    /// Runs `mount ARGUMENTS POINT`.
    pub fn new(test: &str, folder: TempDir, arguments: &[&str]) -> Option<Mount> {
        let point = folder.path().join("mounted");
        fs::create_dir(&point).unwrap();
        let mount = Mount { point, folder };
        run(
            test,
            Command::new("mount").args(arguments).arg(&mount.point),
        )?;
        Some(mount)
    }

    pub fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.point).output();
    }
}

/// None, with a word, if the command is missing or fails.
pub fn run(test: &str, command: &mut Command) -> Option<()> {
    let why = match command.output() {
        Ok(output) if output.status.success() => return Some(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr)
            .trim()
            .replace('\n', " "),
        Err(error) => error.to_string(),
    };
    eprintln!("skipped: {test}: {:?}: {why}", command.get_program());
    None
}

pub fn root_folder(test: &str) -> Option<TempDir> {
    if !is_root() {
        eprintln!("skipped: {test}: needs root to mount");
        return None;
    }
    folder(test)
}

/// A filesystem of its own on a loop device.
pub fn mounted(test: &str, mkfs: &[&str], options: &str) -> Option<Mount> {
    let folder = root_folder(test)?;
    let image = folder.path().join("image");
    File::create(&image).unwrap().set_len(IMAGE).unwrap();
    run(test, Command::new(mkfs[0]).args(&mkfs[1..]).arg(&image))?;
    let options = format!("loop,{options}");
    Mount::new(test, folder, &["-o", &options, image.to_str().unwrap()])
}

/// An overlay of two folders in `below`, of which the lower one has what `fill` puts there.
pub fn overlay(test: &str, below: &Path, fill: impl FnOnce(&Path)) -> Option<Mount> {
    let layers = ["lower", "upper", "work"].map(|name| below.join(name));
    for layer in &layers {
        fs::create_dir(layer).unwrap();
    }
    fill(&layers[0]);
    let [lower, upper, work] = layers.each_ref().map(|layer| layer.to_str().unwrap());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let arguments = ["-t", "overlay", "overlay", "-o", &options];
    Mount::new(test, TempDir::new().unwrap(), &arguments)
}
