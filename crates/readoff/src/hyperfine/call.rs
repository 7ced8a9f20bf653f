//! One call of hyperfine: a block of runs of every contestant.

use super::process::{Ended, Group};
use super::quote::{for_shell, quote};
use super::{Export, Hyperfine};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What competes in a call.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// Its name in the export.
    pub name: String,
    /// Program and arguments; they arrive as they are here, whatever is in them.
    pub command: Vec<String>,
    /// Program and arguments of the step before every run, warmups included. Empty for none; then
    /// no contestant of the call has one.
    pub prepare: Vec<String>,
}

/// One call of hyperfine. Contestants run one after the other, each `warmup` + `runs` times.
#[derive(Debug, Clone)]
pub struct Call {
    /// In the order in which they run.
    pub contestants: Vec<Contestant>,
    /// Runs of each contestant before the timed ones.
    pub warmup: usize,
    /// Timed runs of each contestant, at least 1.
    pub runs: usize,
    /// The export's file, in `dir`. What was there before is removed.
    pub export: String,
    /// Where hyperfine and all that it starts run. It may be a path that is no UTF-8, which
    /// hyperfine takes in no argument.
    pub dir: PathBuf,
    /// Set for hyperfine and all that it starts.
    pub env: Vec<(OsString, OsString)>,
}

/// Why a call gave no full export.
#[derive(Debug)]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// Index of the contestant that failed or was running, where that is known.
    pub contestant: Option<usize>,
    message: String,
}

/// What happened to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// hyperfine could not be started, or can't be called like this.
    NotStarted,
    /// hyperfine ended with an error of its own or of a contestant.
    Failed,
    /// A signal that we didn't send ended hyperfine; every process of the call is gone.
    Killed,
    /// The flag was set; every process of the call is gone.
    Interrupted,
    /// The deadline passed; every process of the call is gone.
    Overdue,
    /// hyperfine ended well, but its export isn't what was asked for.
    BadExport,
}

impl fmt::Display for Failure {
    /// One line for a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    fn new(kind: FailureKind, contestant: Option<usize>, message: impl fmt::Display) -> Failure {
        // One line, whatever is quoted in it.
        let message = message.to_string().replace(|c: char| c.is_control(), " ");
        Failure {
            kind,
            contestant,
            message,
        }
    }
}

impl Call {
    /// hyperfine's arguments: valid for every version, whatever is in names and words.
    pub fn arguments(&self) -> Vec<String> {
        // `--output inherit`: what a failing program says reaches our standard error file; standard
        // output goes where `null` would send it too.
        let mut arguments: Vec<String> = ["-N", "--style", "none", "--output", "inherit"]
            .map(String::from)
            .into();
        arguments.extend([
            "--warmup".into(),
            self.warmup.to_string(),
            "--runs".into(),
            self.runs.to_string(),
        ]);
        // `=` and `--`: values and commands may begin with a dash.
        arguments.push(format!("--export-json={}", self.export));
        for contestant in &self.contestants {
            if !contestant.prepare.is_empty() {
                arguments.push(format!("--prepare={}", quote(&contestant.prepare)));
            }
            arguments.push(format!("--command-name={}", contestant.name));
        }
        arguments.push("--".into());
        arguments.extend(
            self.contestants
                .iter()
                .map(|contestant| quote(&contestant.command)),
        );
        arguments
    }

    /// The call as one line that can be pasted into a shell (a subshell: it changes the folder).
    pub fn shell_line(&self, hyperfine: &Hyperfine) -> String {
        let mut words = vec!["env".to_owned()];
        for (name, value) in &self.env {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            words.push(for_shell(&pair));
        }
        words.push(for_shell(hyperfine.path.as_os_str()));
        words.extend(
            self.arguments()
                .iter()
                .map(|word| for_shell(OsStr::new(word))),
        );
        format!(
            "(cd {} && {})",
            for_shell(self.dir.as_os_str()),
            words.join(" ")
        )
    }

    /// Runs the call and reads its export, which has `runs` runs of every contestant, in order.
    /// To be called from a thread that lives as long as the program (see [`Group::start`]).
    ///
    /// # Errors
    /// Everything else that can happen. No process of the call is left running, whatever happened.
    pub fn run(
        &self,
        hyperfine: &Hyperfine,
        interrupted: &AtomicBool,
        deadline: Option<Instant>,
    ) -> Result<Export, Failure> {
        let not_started = |why: &dyn fmt::Display| {
            let path = hyperfine.path.display();
            Failure::new(
                FailureKind::NotStarted,
                None,
                format!("{path}: can't be started: {why}"),
            )
        };
        if let Some(why) = self.mistake() {
            return Err(not_started(&why));
        }
        let (ended, said) = self
            .run_to_end(hyperfine, interrupted, deadline)
            .map_err(|error| not_started(&error))?;
        match ended {
            Ended::Itself(status) if status.success() => self.full_export(hyperfine),
            Ended::Itself(status) => Err(self.failed(status, &said)),
            Ended::Interrupted => Err(Failure::new(
                FailureKind::Interrupted,
                self.unfinished(),
                "interrupted",
            )),
            Ended::Overdue => {
                let running = self.unfinished();
                let message = format!("{} took too long and was ended", self.name(running));
                Err(Failure::new(FailureKind::Overdue, running, message))
            }
        }
    }

    /// What hyperfine would misunderstand.
    fn mistake(&self) -> Option<&'static str> {
        let prepares = self
            .contestants
            .iter()
            .filter(|contestant| !contestant.prepare.is_empty())
            .count();
        if self.contestants.is_empty()
            || self
                .contestants
                .iter()
                .any(|contestant| contestant.command.is_empty())
        {
            Some("there is no command")
        } else if self.runs == 0 {
            // hyperfine 1.x would run for ever.
            Some("there are no runs")
        } else if prepares != 0 && prepares != self.contestants.len() {
            Some("only some commands have a prepare step")
        } else {
            None
        }
    }

    /// How hyperfine ended, and the end of what it and its contestants wrote to standard error.
    fn run_to_end(
        &self,
        hyperfine: &Hyperfine,
        interrupted: &AtomicBool,
        deadline: Option<Instant>,
    ) -> io::Result<(Ended, String)> {
        // An export of an earlier call must not be taken for this one's.
        match fs::remove_file(self.dir.join(&self.export)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A file, since a pipe would have to be emptied all the while; it has no name.
        let mut stderr = tempfile::tempfile_in(&self.dir)?;
        let mut command = Command::new(&hyperfine.path);
        command
            .args(self.arguments())
            .current_dir(&self.dir)
            .envs(self.env.iter().cloned());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr.try_clone()?);
        let ended = Group::start(&mut command)?.wait(interrupted, deadline)?;
        Ok((ended, tail(&mut stderr)?))
    }

    fn full_export(&self, hyperfine: &Hyperfine) -> Result<Export, Failure> {
        let bad = |contestant, why: String| {
            let message = format!("hyperfine {} ended well, but {why}", hyperfine.version);
            Failure::new(FailureKind::BadExport, contestant, message)
        };
        let export = Export::read(&self.dir.join(&self.export))
            .map_err(|error| bad(None, format!("{error:#}")))?;
        let names: Vec<&str> = self
            .contestants
            .iter()
            .map(|contestant| contestant.name.as_str())
            .collect();
        if export.names() != names {
            let (got, asked) = (export.names().len(), names.len());
            let why = format!("gave results for {got} of {asked} commands, or under other names");
            return Err(bad(None, why));
        }
        for (index, name) in names.iter().enumerate() {
            let got = export.runs(name).map_or(0, |runs| runs.len());
            if got != self.runs {
                return Err(bad(
                    Some(index),
                    format!("gave {got} of {} runs of {name}", self.runs),
                ));
            }
        }
        Ok(export)
    }

    fn failed(&self, status: ExitStatus, said: &str) -> Failure {
        let contestant = self.unfinished();
        if let Some(signal) = status.signal() {
            let message = format!(
                "hyperfine was killed by signal {signal} while it ran {}",
                self.name(contestant)
            );
            return Failure::new(FailureKind::Killed, contestant, message);
        }
        let (cause, last_words) = cause(said);
        let cause = if cause.is_empty() {
            format!("hyperfine ended with {status}")
        } else {
            cause
        };
        let last_words = last_words
            .map(|line| format!(" (last on standard error: {line})"))
            .unwrap_or_default();
        let message = format!("{}: {cause}{last_words}", self.name(contestant));
        Failure::new(FailureKind::Failed, contestant, message)
    }

    /// The contestant that hyperfine was at when it ended early. It rewrites the export after each
    /// one that is finished; without a file it ended before the first.
    fn unfinished(&self) -> Option<usize> {
        let path = self.dir.join(&self.export);
        let finished = match fs::metadata(&path).ok()?.len() {
            0 => 0,
            _ => Export::read(&path).ok()?.names().len(),
        };
        (finished < self.contestants.len()).then_some(finished)
    }

    fn name(&self, contestant: Option<usize>) -> &str {
        contestant.map_or("hyperfine", |index| &self.contestants[index].name)
    }
}

/// The last 64 KiB of a file, as text.
fn tail(file: &mut File) -> io::Result<String> {
    const MOST: u64 = 64 << 10;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// hyperfine's own words without its advice, and the line before them, which is most likely what
/// the failing program said.
fn cause(said: &str) -> (String, Option<String>) {
    let said = said.trim_end();
    let begin = said.rfind("\nError: ").map_or(0, |newline| newline + 1);
    let own = said[begin..]
        .strip_prefix("Error: ")
        .unwrap_or_else(|| said.lines().last().unwrap_or_default());
    let end = [" Use the '", " Append ' || true'"]
        .iter()
        .filter_map(|advice| own.find(advice))
        .min();
    let own = own[..end.unwrap_or(own.len())].trim_end_matches('.');
    let before = said[..begin]
        .lines()
        .last()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    // A warning of hyperfine's is about an earlier contestant.
    let before = before.filter(|line| !line.starts_with("Warning: "));
    (own.to_owned(), before.map(str::to_owned))
}
