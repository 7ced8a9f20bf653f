//! The project's own programs, which the driver knows only as programs that it runs.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::error::{Code, failure, near_match};
use crate::input::plain;
use crate::process;

/// Where the strategies, `pagecache` and the suites are.
#[derive(Debug)]
pub struct Programs {
    folder: PathBuf,
    found: Vec<String>,
}

/// What a program says of itself.
#[derive(Debug)]
pub struct Help(String);

impl Programs {
    /// Looks in the folder of this very program, or in `$READOFF_PROGRAMS`.
    pub fn find() -> Result<Programs> {
        let folder = match env::var_os("READOFF_PROGRAMS") {
            // Absolute, since they are run from another folder.
            Some(folder) => std::path::absolute(folder).context("READOFF_PROGRAMS")?,
            None => env::current_exe()
                .context("this program's own folder is unknown")?
                .parent()
                .map(Path::to_path_buf)
                .unwrap_or_default(),
        };
        let entries = fs::read_dir(&folder)
            .map_err(|e| failure(Code::Unavailable, format!("{}: {e}", folder.display())))?;
        let mut found: Vec<String> = entries
            .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_file()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.contains('.'))
            .collect();
        found.sort();
        Ok(Programs { folder, found })
    }

    /// The programs of a family, sorted.
    pub fn strategies(&self, family: &str) -> Vec<String> {
        let prefix = format!("{family}-");
        self.found
            .iter()
            .filter(|name| name.starts_with(&prefix))
            .cloned()
            .collect()
    }

    /// The absolute path of a program.
    ///
    /// # Errors
    /// It isn't there (not built, or a misspelt name), or its folder's name is not UTF-8, which
    /// hyperfine takes in no argument.
    pub fn path(&self, name: &str) -> Result<String> {
        if !self.found.iter().any(|found| found == name) {
            let near = near_match(name, self.found.iter().map(String::as_str));
            let what = format!("{name} is not in {}{near}", self.folder.display());
            return Err(failure(Code::Unavailable, what));
        }
        self.folder
            .join(name)
            .into_os_string()
            .into_string()
            .map_err(|path| {
                let what =
                    format!("{path:?}: hyperfine can't run a program whose path is not UTF-8");
                failure(Code::Unavailable, what)
            })
    }

    /// What a program prints for `-h`; the error is a reason to skip it.
    pub fn help(&self, name: &str) -> Result<Help, String> {
        let path = self.path(name).map_err(|e| e.to_string())?;
        let finished = process::run(Command::new(&path).arg("-h"), None)
            .map_err(|e| format!("{path}: {}", plain(&e)))?;
        Ok(Help(finished.stdout))
    }

    /// Sees, before a large file is read, that a strategy takes this work and these options: it gets
    /// `/` in place of the file, which it refuses, but only once it has understood the rest.
    ///
    /// # Errors
    /// What it says of its command line: exit code 64.
    pub fn accepts(&self, command: &[String]) -> Result<()> {
        let mut try_it = Command::new(&command[0]);
        let finished = process::run(try_it.args(&command[1..]).arg("/"), None)
            .with_context(|| command[0].clone())?;
        match finished.code() {
            Some(64) => Err(failure(Code::Usage, finished.cause())),
            _ => Ok(()),
        }
    }

    /// A fingerprint of each program's content, by path, so that a race notices a new build.
    pub fn fingerprints<'a>(
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<BTreeMap<String, String>> {
        let mut fingerprints = BTreeMap::new();
        for path in paths {
            if !fingerprints.contains_key(path) {
                let content = fs::read(path).with_context(|| path.to_string())?;
                fingerprints.insert(path.into(), format!("{:08x}", crc32fast::hash(&content)));
            }
        }
        Ok(fingerprints)
    }

    /// The folder of the suites: `$READOFF_SUITES`, or `hyperfine/suites` beside a folder above.
    pub fn suites(&self) -> Result<PathBuf> {
        if let Some(folder) = env::var_os("READOFF_SUITES") {
            return Ok(folder.into());
        }
        let above = self
            .folder
            .ancestors()
            .map(|folder| folder.join("hyperfine/suites"));
        above.into_iter().find(|folder| folder.is_dir()).ok_or_else(|| {
            let what = "no hyperfine/suites above the program: name the suites' folder in READOFF_SUITES";
            failure(Code::Unavailable, what)
        })
    }

    /// Where the project's own installer puts hyperfine.
    pub fn installed_hyperfine(&self) -> Option<PathBuf> {
        Some(self.target()?.join("hyperfine/bin/hyperfine"))
    }

    /// The data folder: `$READOFF_DATA`, or `data` in the project's build folder.
    pub fn data(&self) -> Option<PathBuf> {
        let from_env = env::var_os("READOFF_DATA").map(PathBuf::from);
        from_env.or_else(|| Some(self.target()?.join("data")))
    }

    /// The folder that Cargo builds into, if that is where these programs are: it marks it so.
    fn target(&self) -> Option<&Path> {
        let target = self.folder.parent()?;
        target.join("CACHEDIR.TAG").is_file().then_some(target)
    }
}

impl Help {
    /// The program's one-line description.
    pub fn about(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }

    /// Whether it takes an option.
    pub fn has_option(&self, option: &str) -> bool {
        self.0
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .any(|word| word == option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_as_a_whole_word() {
        let help = Help("Reads.\n\n  --stdio-buffer <SIZE>  x [default: 1]\n".into());
        assert!(help.has_option("--stdio-buffer"));
        assert!(!help.has_option("--buffer"));
        assert_eq!(help.about(), "Reads.");
    }
}
