//! The check: every entry once, untimed, and all must agree. A fast wrong answer wins no race.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::error::{Code, failure};
use crate::family::{self, control_work};
use crate::hyperfine::process::Ended;
use crate::input::Input;
use crate::plan::{Entry, Plan, State};
use crate::process::{self, Finished};
use crate::programs::Programs;
use crate::progress::Progress;
use crate::round_log::Record;

/// What the check found.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Checked {
    /// The answer of the work that sees order, on which all entries agree.
    pub control: String,
    /// The answer of the race's own work, with which every timed run is compared.
    pub answer: String,
    /// The bytes that every timed run works on: the file's, but for `seek`, which may leave some out.
    #[serde(default)]
    pub bytes: u64,
    /// About how long an entry takes on a warm file, in seconds, by label.
    pub warm_seconds: BTreeMap<String, f64>,
    /// About how long the reference takes on a cold file, in seconds.
    pub cold_seconds: Option<f64>,
}

/// How often the reference is timed cold, of which the shorter counts: a device that was idle takes its
/// time, and what is taken for too long leaves entries out of the race.
pub const COLD_RUNS: usize = 2;

/// Runs every entry of the plan once. Entries that can't run here are moved to the skipped ones.
///
/// # Errors
/// Two strategies disagree (exit code 65), one fails, or we are interrupted.
pub fn check(
    plan: &mut Plan,
    input: &Input,
    programs: &Programs,
    folder: &Path,
    progress: &Progress,
) -> Result<Checked> {
    let runner = Runner { input, folder };
    let work = control_work(&plan.family, &plan.work).to_string();
    let mut checked = Checked::default();
    let mut first: Option<(String, Record)> = None;
    let (own, externals): (Vec<Entry>, Vec<Entry>) = in_order(plan)
        .into_iter()
        .partition(|entry| entry.external.is_none());
    for entry in own {
        progress.say(&format!("checking {}", entry.name));
        family::prepare(plan, &entry, input, programs, folder)?;
        let start = Instant::now();
        let Some(record) = runner.strategy(&entry, &work, plan)? else {
            continue;
        };
        checked
            .warm_seconds
            .insert(entry.name.clone(), start.elapsed().as_secs_f64());
        family::verify(plan, &entry.name, input, programs, folder)?;
        match &first {
            None => first = Some((entry.name, record)),
            Some(first) => agree(first, (&entry.name, &record))
                .map_err(|error| void_by_change(input).unwrap_or(error))?,
        }
    }
    let Some((_, first)) = first else {
        return Err(nothing_runs(plan));
    };
    checked.control = first.answer;
    time_reference(plan, &runner, programs, &mut checked)?;
    if !externals.is_empty() {
        let newlines = runner.newlines(plan, programs)?;
        for entry in externals {
            progress.say(&format!("checking {}", entry.name));
            let start = Instant::now();
            match runner.external(&entry, newlines)? {
                Ok(()) => {
                    checked
                        .warm_seconds
                        .insert(entry.name, start.elapsed().as_secs_f64());
                }
                Err(reason) => plan.skip(&entry.name, reason),
            }
        }
    }
    Ok(checked)
}

/// Whether the check evicts the file to learn how long a cold run takes. What is to be raced as it was
/// found is not.
pub fn times_cold(plan: &Plan) -> bool {
    plan.states.contains(&State::Cold) && !plan.states.contains(&State::AsIs)
}

/// The reference first: what it answers is what the others are held against.
fn in_order(plan: &Plan) -> Vec<Entry> {
    let mut entries = plan.entries.clone();
    entries.sort_by_key(|entry| entry.name != plan.reference);
    entries
}

fn nothing_runs(plan: &Plan) -> anyhow::Error {
    let reasons: Vec<String> = plan
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.name, skipped.reason))
        .collect();
    failure(
        Code::Unavailable,
        format!("nothing to race here: {}", reasons.join("; ")),
    )
}

/// What voids a race whose file changed: then nobody answers wrong.
fn void_by_change(input: &Input) -> Option<anyhow::Error> {
    let what = format!(
        "the race is void: {} {}",
        input.path.display(),
        input.changed()?
    );
    Some(failure(Code::Data, what))
}

fn agree(first: &(String, Record), other: (&str, &Record)) -> Result<()> {
    let (a, b) = (&first.1, other.1);
    if a.answer == b.answer && a.bytes == b.bytes {
        return Ok(());
    }
    let what = format!(
        "the race is void: {} answers {} {} over {} bytes, {} answers {} over {} bytes",
        first.0, a.work, a.answer, a.bytes, other.0, b.answer, b.bytes
    );
    Err(failure(Code::Data, what))
}

/// Runs the reference with the race's own work, warm and cold: its answer, and how long it takes.
fn time_reference(
    plan: &mut Plan,
    runner: &Runner,
    programs: &Programs,
    checked: &mut Checked,
) -> Result<()> {
    let entry = in_order(plan)
        .into_iter()
        .find(|entry| entry.external.is_none());
    let entry = entry.context("no strategy is left")?;
    let work = plan.work.clone();
    family::prepare(plan, &entry, runner.input, programs, runner.folder)?;
    let start = Instant::now();
    let record = runner.strategy(&entry, &work, plan)?;
    let record = record.context("the reference ran, then would not")?;
    checked.answer = record.answer;
    checked.bytes = record.bytes;
    checked
        .warm_seconds
        .insert(entry.name.clone(), start.elapsed().as_secs_f64());
    if !times_cold(plan) {
        return Ok(());
    }
    let mut evict = Command::new(programs.path("pagecache")?);
    evict
        .current_dir(runner.folder)
        .arg("evict")
        .arg(&runner.input.path);
    for _ in 0..COLD_RUNS {
        // Where this filesystem has no cold state, its round says so.
        if !runner.run(&mut evict, None)?.succeeded() {
            break;
        }
        family::prepare(plan, &entry, runner.input, programs, runner.folder)?;
        let start = Instant::now();
        runner.strategy(&entry, &work, plan)?;
        let cold = start.elapsed().as_secs_f64();
        checked.cold_seconds = Some(checked.cold_seconds.map_or(cold, |least| least.min(cold)));
    }
    Ok(())
}

struct Runner<'a> {
    input: &'a Input,
    folder: &'a Path,
}

impl Runner<'_> {
    fn run(&self, command: &mut Command, limit: Option<Duration>) -> Result<Finished> {
        uninterrupted(process::run(command, limit), command)
    }

    /// A strategy's record, or `None` where it isn't available here and was moved to the skipped.
    fn strategy(&self, entry: &Entry, work: &str, plan: &mut Plan) -> Result<Option<Record>> {
        let arguments = entry.with_work(work);
        let mut command = Command::new(&arguments[0]);
        command
            .current_dir(self.folder)
            .args(&arguments[1..])
            .arg("--json");
        let finished = self.run(&mut command, None)?;
        if finished.succeeded() {
            let record = serde_json::from_str(&finished.stdout);
            return record.map(Some).map_err(|e| {
                let what = format!("{}: its record can't be read: {e}", entry.name);
                failure(Code::Software, what)
            });
        }
        match (finished.code(), void_by_change(self.input)) {
            (Some(69), _) => {
                plan.skip(
                    &entry.name,
                    strip_prefix(finished.cause(), &arguments[0], self.input),
                );
                Ok(None)
            }
            (_, Some(void)) => Err(void),
            (Some(code), None) => {
                let code = Code::of_program(code);
                Err(failure(code, finished.cause()))
            }
            (None, None) => Err(failure(
                Code::Software,
                format!("{} was killed", entry.name),
            )),
        }
    }

    /// Newlines in the file, and whether bytes follow the last one.
    fn newlines(&self, plan: &mut Plan, programs: &Programs) -> Result<(u64, bool)> {
        let command = vec![
            programs.path("scan-read")?,
            "--work".into(),
            "newlines".into(),
            self.input.argument().into(),
        ];
        let entry = Entry {
            name: "scan-read".into(),
            command,
            ..in_order(plan)[0].clone()
        };
        let record = self
            .strategy(&entry, "newlines", plan)?
            .context("scan-read can't run here")?;
        let mut last = [b'\n'];
        if record.bytes > 0 {
            let mut file = File::open(&self.input.path)?;
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let newlines = record
            .answer
            .parse()
            .context("scan-read --work newlines: no number")?;
        Ok((newlines, last != [b'\n']))
    }

    /// Runs an external; the inner error is the reason to leave it out.
    fn external(&self, entry: &Entry, newlines: (u64, bool)) -> Result<Result<(), String>> {
        let Some(facts) = &entry.external else {
            return Ok(Ok(()));
        };
        let mut command = Command::new(&entry.command[0]);
        command.current_dir(self.folder).args(&entry.command[1..]);
        let limit = Some(Duration::from_secs_f64(facts.limit));
        let finished = match facts.counts_lines {
            Some(_) => self.run(&mut command, limit)?,
            // It may print all of the file.
            None => {
                let finished = process::run_for_status(command.stdout(Stdio::null()), limit);
                uninterrupted(finished, &command)?
            }
        };
        if let Ended::Overdue = finished.ended {
            return Ok(Err(format!("took longer than {} s", facts.limit)));
        }
        if !finished.succeeded() {
            let code = finished
                .code()
                .map_or("a signal".into(), |code| format!("exit code {code}"));
            return Ok(Err(format!("{code}: {}", finished.cause())));
        }
        let Some(counts_lines) = facts.counts_lines else {
            return Ok(Ok(()));
        };
        let expected = newlines.0 + u64::from(counts_lines && newlines.1);
        let first = finished
            .stdout
            .split(|c: char| !c.is_ascii_digit())
            .find(|word| !word.is_empty());
        Ok(match first {
            Some(number) if number.parse() == Ok(expected) => Ok(()),
            Some(number) => Err(format!("answers {number}, where {expected} is right")),
            None => Err("prints no number".into()),
        })
    }
}

fn uninterrupted(finished: io::Result<Finished>, command: &Command) -> Result<Finished> {
    let finished =
        finished.with_context(|| command.get_program().to_string_lossy().into_owned())?;
    match finished.ended {
        Ended::Interrupted => Err(failure(Code::Interrupted, "interrupted during the check")),
        _ => Ok(finished),
    }
}

/// The cause alone: without the program and the file, which the reader has in front of them.
fn strip_prefix(line: &str, program: &str, input: &Input) -> String {
    let program = Path::new(program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let mut rest = line;
    for prefix in [&*program, &*input.path.to_string_lossy(), input.argument()] {
        rest = rest
            .strip_prefix(prefix)
            .map_or(rest, |r| r.trim_start_matches([':', ' ']));
    }
    rest.to_string()
}
