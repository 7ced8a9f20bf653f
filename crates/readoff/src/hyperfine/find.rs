//! Finding a hyperfine that works.

use super::process::{Ended, Group};
use anyhow::{Context, Result, anyhow, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The oldest version that works: Debian 12's.
const OLDEST: Version = Version(1, 15, 0);

/// A hyperfine that answered with a version that works.
#[derive(Debug, Clone)]
pub struct Hyperfine {
    /// The program, as an absolute path.
    pub path: PathBuf,
    /// What it says that it is.
    pub version: Version,
}

/// A version `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The version in `hyperfine 1.20.0`; a suffix such as `-beta` is ignored.
    fn parse(output: &str) -> Option<Version> {
        let version = output.strip_prefix("hyperfine ")?.lines().next()?;
        let mut numbers = version.splitn(3, '.').map(|part| {
            let end = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            part[..end].parse().ok()
        });
        Some(Version(
            numbers.next()??,
            numbers.next()??,
            numbers.next()??,
        ))
    }
}

impl Hyperfine {
    /// Finds hyperfine: `explicit` (a path, or a name on the PATH), else `$HYPERFINE`, else
    /// `hyperfine` on the PATH, else the first that works of `candidates`. What somebody asked for
    /// by name has to work; what is merely found is passed over if it doesn't.
    ///
    /// # Errors
    /// One line: nothing found, or not what works, naming the version found and the oldest that
    /// works.
    pub fn find(explicit: Option<&Path>, candidates: &[PathBuf]) -> Result<Hyperfine> {
        let from_env = env::var_os("HYPERFINE").filter(|path| !path.is_empty());
        let asked_for = match (explicit, &from_env) {
            (Some(path), _) => Some(path.as_os_str()),
            (None, Some(path)) => Some(path.as_os_str()),
            (None, None) => None,
        };
        search(asked_for, env::var_os("PATH"), candidates)
    }

    /// Asks the program at `path` for its version.
    fn probe(path: &Path) -> Result<Hyperfine> {
        let path = std::path::absolute(path)?;
        let output = version_output(&path)
            .with_context(|| format!("{}: can't be asked for its version", path.display()))?;
        let version = Version::parse(&output).ok_or_else(|| {
            let said = output.lines().next().unwrap_or_default().trim();
            anyhow!(
                "{}: no hyperfine that works here: asked for its version it said {said:?}, \
                 and {OLDEST} is the oldest that works",
                path.display()
            )
        })?;
        if version < OLDEST {
            bail!(
                "{}: hyperfine {version} is too old: {OLDEST} is the oldest that works",
                path.display()
            );
        }
        Ok(Hyperfine { path, version })
    }
}

fn search(
    asked_for: Option<&OsStr>,
    paths: Option<OsString>,
    candidates: &[PathBuf],
) -> Result<Hyperfine> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    if let Some(asked_for) = asked_for {
        let path = which::which_in(asked_for, paths, here).map_err(|_| {
            anyhow!(
                "{}: no such program; it should be hyperfine",
                asked_for.display()
            )
        })?;
        return Hyperfine::probe(&path);
    }
    let on_path = which::which_in("hyperfine", paths, here).ok();
    let existing = candidates.iter().filter(|path| path.exists()).cloned();
    let mut problem = None;
    for path in on_path.into_iter().chain(existing) {
        match Hyperfine::probe(&path) {
            Ok(hyperfine) => return Ok(hyperfine),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    Err(problem.unwrap_or_else(|| {
        anyhow!("hyperfine: not found on the PATH; install it with your package manager or hyperfine/install.sh")
    }))
}

/// What a program prints for `--version`. It may be any program: it gets little time, and little of
/// what it says is read.
fn version_output(path: &Path) -> Result<String> {
    let mut command = Command::new(path);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let (mut reader, writer) = std::io::pipe()?;
    let mut group = Group::start(command.stdout(writer))?;
    // Our copy of the writing end would keep the pipe from ending.
    drop(command);
    let deadline = Instant::now() + Duration::from_secs(5);
    match group.wait(&AtomicBool::new(false), Some(deadline))? {
        Ended::Itself(_) => {}
        _ => bail!("it does not end"),
    }
    let mut output = [0; 256];
    let length = reader.read(&mut output)?;
    Ok(String::from_utf8_lossy(&output[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn program(folder: &TempDir, name: &str, says: &str) -> PathBuf {
        let path = folder.path().join(name);
        // Written by another process: a file that this one writes, with a test beside it that forks
        // just then, can't be executed for a moment ("Text file busy").
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
        let status = Command::new("sh")
            .args(["-c", write, "sh"])
            .arg(&path)
            .arg(says)
            .status();
        assert!(status.unwrap().success());
        path
    }

    fn error_of(result: Result<Hyperfine>) -> String {
        let error = format!("{:#}", result.unwrap_err());
        assert!(!error.contains('\n'), "more than one line: {error}");
        error
    }

    #[test]
    fn a_version_is_read_with_or_without_a_suffix() {
        assert_eq!(
            Version::parse("hyperfine 1.15.0\n"),
            Some(Version(1, 15, 0))
        );
        assert_eq!(
            Version::parse("hyperfine 2.10.3-beta.1\n"),
            Some(Version(2, 10, 3))
        );
        assert_eq!(Version::parse("hyperfine 2.10\n"), None);
        assert_eq!(Version::parse("1.15.0\n"), None);
    }

    #[test]
    fn what_was_asked_for_is_used() {
        let folder = TempDir::new().unwrap();
        let path = program(&folder, "mine", "echo hyperfine 1.16.1");
        let found = search(Some(path.as_os_str()), None, &[]).unwrap();
        assert_eq!((found.path, found.version), (path, Version(1, 16, 1)));
    }

    #[test]
    fn a_version_too_old_is_named_with_the_oldest_that_works() {
        let folder = TempDir::new().unwrap();
        let path = program(&folder, "old", "echo hyperfine 1.11.0");
        let error = error_of(search(Some(path.as_os_str()), None, &[]));
        assert!(
            error.contains("1.11.0") && error.contains("1.15.0"),
            "{error}"
        );
    }

    #[test]
    fn another_program_is_recognised() {
        let folder = TempDir::new().unwrap();
        for says in [
            "echo hello; echo more",
            "exit 1",
            "while :; do echo endless; done",
        ] {
            let path = program(&folder, "other", says);
            let error = error_of(search(Some(path.as_os_str()), None, &[]));
            assert!(
                error.contains("other") && error.contains("version"),
                "{error}"
            );
        }
        let error = error_of(search(Some(OsStr::new("/no/such/hyperfine")), None, &[]));
        assert!(error.contains("/no/such/hyperfine"), "{error}");
    }

    #[test]
    fn one_on_the_path_that_is_too_old_is_passed_over() {
        let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        program(&old, "hyperfine", "echo hyperfine 1.11.0");
        let installed = program(&new, "hyperfine", "echo hyperfine 1.20.0");
        let paths = Some(old.path().as_os_str().to_owned());
        let missing = PathBuf::from("/no/such/hyperfine");
        let found = search(None, paths.clone(), &[missing.clone(), installed.clone()]).unwrap();
        assert_eq!((found.path, found.version), (installed, Version(1, 20, 0)));
        assert!(error_of(search(None, paths, std::slice::from_ref(&missing))).contains("1.11.0"));
        assert!(error_of(search(None, Some("".into()), &[missing])).contains("not found"));
    }
}
