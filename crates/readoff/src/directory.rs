//! A folder as input: each file raced by itself, then the whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::contest::{Driver, Effort};
use crate::error::{Code, code_of, failure};
use crate::format::{Table, markdown_escape, printable, ratio, seconds, size};
use crate::input::{Input, plain};
use crate::output::print;
use crate::plan::{Choice, Plan, State};
use crate::race::Race;
use crate::results::Folder;
use crate::suite::Suite;

/// What came out of a folder: `folder.json`.
#[derive(Debug, Serialize)]
struct Summary {
    /// The folder that was raced.
    path: String,
    /// A block a file.
    files: Vec<FileSummary>,
    /// What was passed over, and why.
    passed_over: Vec<String>,
    /// The whole, by state and entry.
    whole: Vec<WholeRow>,
}

/// One file of the folder.
#[derive(Debug, Serialize)]
struct FileSummary {
    /// Its name.
    name: String,
    /// Bytes.
    bytes: u64,
    /// Newlines.
    lines: u64,
    /// Runs of bytes that are no ASCII white space.
    words: u64,
    /// Its race's folder, in this one.
    race: String,
    /// A sentence a state.
    verdicts: Vec<String>,
}

/// One entry over all files, in one state.
#[derive(Debug, PartialEq, Serialize)]
struct WholeRow {
    state: State,
    entry: String,
    /// Files in which it has a ratio.
    files: usize,
    /// Geometric mean over files of its time over the reference's.
    ratio: f64,
    /// Files in which it is the one winner.
    wins: usize,
}

/// Races every regular file of a folder, and publishes the races and the whole under `root`.
///
/// # Errors
/// No file in it can be raced; interrupted; the race of one is void or failed: its exit code, when the
/// others are done. A single file that can't be raced is passed over and named.
pub fn race_directory(
    driver: &Driver,
    suite: &Suite,
    choice: &Choice,
    effort: Effort,
    path: &Path,
    root: &Path,
) -> Result<()> {
    let (inputs, mut passed_over) = inputs_in(path)?;
    passed_over
        .iter()
        .for_each(|line| driver.progress.note(&format!("passed over: {line}")));
    let host = crate::environment::host();
    let folder = Folder::create(root, &host, &suite.name)?;
    let total: u64 = inputs.iter().map(|input| input.identity.bytes).sum();
    let mut races = Vec::new();
    let mut failed = None;
    for input in &inputs {
        // Half of the time is shared by size, half equally: small files need rounds too.
        let share =
            0.5 / inputs.len() as f64 + 0.5 * input.identity.bytes as f64 / total.max(1) as f64;
        let effort = Effort {
            budget: effort.budget * share,
            ..effort
        };
        let raced = Plan::new(suite, choice, &driver.programs, input)
            .and_then(|plan| driver.race(plan, effort, input, &folder.path, false));
        match raced {
            Ok((outcome, race_folder)) => races.push((outcome.race, race_folder)),
            // Interrupted, or nothing more can be written.
            Err(error)
                if [Code::Interrupted as u8, Code::CantCreate as u8].contains(&code_of(&error)) =>
            {
                publish(path, &races, &passed_over, &folder)?;
                let place = printable(&folder.path.to_string_lossy());
                if code_of(&error) != Code::Interrupted as u8 {
                    return Err(error.context(place));
                }
                let what = format!(
                    "{place}: interrupted; races that are finished are kept, but a folder's can't be gone on with"
                );
                return Err(failure(Code::Interrupted, what));
            }
            Err(error) => {
                let line = format!("{}: {error:#}", input.path.display());
                driver.progress.note(&format!("passed over: {line}"));
                passed_over.push(line);
                // What can't be raced here is no failure; a void race is one.
                let harmless = [Code::NoInput as u8, Code::Unavailable as u8];
                if !harmless.contains(&code_of(&error)) {
                    failed = failed.or(Some(error));
                }
            }
        }
    }
    let text = publish(path, &races, &passed_over, &folder)?;
    let place = printable(&folder.path.to_string_lossy());
    if let Some(error) = failed {
        return Err(error.context(format!("the others are in {place}")));
    }
    if races.is_empty() {
        let what = format!("{}: none of its files could be raced", path.display());
        return Err(failure(Code::NoInput, what));
    }
    print(&format!("{text}published in {place}\n"))
}

/// The regular files of a folder, by name; and what else there is, with the reason.
fn inputs_in(path: &Path) -> Result<(Vec<Input>, Vec<String>)> {
    let cannot =
        |e: std::io::Error| failure(Code::NoInput, format!("{}: {}", path.display(), plain(&e)));
    let entries = fs::read_dir(path).map_err(cannot)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry.map_err(cannot)?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    let mut inputs = Vec::new();
    let mut passed_over = Vec::new();
    for path in paths {
        match Input::open(&path) {
            Ok(input) if input.identity.bytes == 0 => {
                passed_over.push(format!("{}: is empty", path.display()))
            }
            Ok(input) => inputs.push(input),
            Err(error) => passed_over.push(error.to_string()),
        }
    }
    if inputs.is_empty() {
        return Err(failure(
            Code::NoInput,
            format!("{}: has no file that can be raced", path.display()),
        ));
    }
    Ok((inputs, passed_over))
}

/// Writes `folder.json` and `report.md`; returns what the terminal shows.
fn publish(
    path: &Path,
    races: &[(Race, Folder)],
    passed_over: &[String],
    folder: &Folder,
) -> Result<String> {
    let files = races
        .iter()
        .map(|(race, race_folder)| file_summary(race, race_folder))
        .collect::<Result<_>>()?;
    let whole = whole(races.iter().map(|(race, _)| race));
    let path = path.to_string_lossy().into_owned();
    let summary = Summary {
        path,
        files,
        passed_over: passed_over.to_vec(),
        whole,
    };
    folder.write(
        "folder.json",
        (serde_json::to_string_pretty(&summary)? + "\n").as_bytes(),
    )?;
    folder.write("report.md", markdown(&summary, races).as_bytes())?;
    folder.point_latest();
    let mut text = String::new();
    for file in &summary.files {
        text += &format!(
            "{}  {} lines  {} words  {}\n",
            printable(&file.name),
            file.lines,
            file.words,
            size(file.bytes)
        );
        file.verdicts
            .iter()
            .for_each(|verdict| text += &format!("  {verdict}\n"));
    }
    Ok(text + "\n" + &whole_table(&summary).text())
}

fn file_summary(race: &Race, folder: &Folder) -> Result<FileSummary> {
    // A name that is no UTF-8 is only whole in the link.
    let file = folder.input().unwrap_or_else(|| (&race.input.path).into());
    let content = fs::File::open(file)?;
    let (lines, words) = count(content)?;
    let name = Path::new(&race.input.path).file_name().unwrap_or_default();
    Ok(FileSummary {
        name: name.to_string_lossy().into_owned(),
        bytes: race.input.bytes,
        lines,
        words,
        race: folder
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        verdicts: race
            .states
            .iter()
            .map(|tally| tally.sentence.clone())
            .collect(),
    })
}

/// Newlines and words, as `wc` counts them in the C locale.
fn count(mut content: impl std::io::Read) -> std::io::Result<(u64, u64)> {
    let mut buffer = vec![0; 1 << 20];
    let (mut lines, mut words, mut in_word) = (0, 0, false);
    loop {
        let n = content.read(&mut buffer)?;
        if n == 0 {
            return Ok((lines, words));
        }
        for byte in &buffer[..n] {
            lines += u64::from(*byte == b'\n');
            let space = byte.is_ascii_whitespace() || *byte == 0x0b;
            words += u64::from(!space && !in_word);
            in_word = !space;
        }
    }
}

/// Every entry over all files, by state, fastest first.
fn whole<'a>(races: impl Iterator<Item = &'a Race> + Clone) -> Vec<WholeRow> {
    let mut rows: Vec<WholeRow> = Vec::new();
    for state in State::ALL {
        let tallies = races
            .clone()
            .flat_map(|race| &race.states)
            .filter(|tally| tally.state == state);
        let mut of_state: Vec<(String, Vec<f64>, usize)> = Vec::new();
        for tally in tallies {
            let winner = tally
                .verdict
                .as_ref()
                .and_then(|verdict| verdict.winner.as_ref());
            for row in &tally.rows {
                let Some(ratio) = row.ratio else { continue };
                let at = of_state.iter().position(|(entry, ..)| *entry == row.entry);
                let at = at.unwrap_or_else(|| {
                    of_state.push((row.entry.clone(), Vec::new(), 0));
                    of_state.len() - 1
                });
                of_state[at].1.push(ratio.ln());
                of_state[at].2 += usize::from(winner == Some(&row.entry));
            }
        }
        let mut new: Vec<WholeRow> = of_state
            .into_iter()
            .map(|(entry, logs, wins)| {
                let ratio = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
                WholeRow {
                    state,
                    entry,
                    files: logs.len(),
                    ratio,
                    wins,
                }
            })
            .collect();
        new.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        rows.extend(new);
    }
    rows
}

fn whole_table(summary: &Summary) -> Table {
    let head = [
        "entry",
        "state",
        "files",
        "× reference (geometric mean)",
        "won",
    ]
    .map(String::from);
    let row = |row: &WholeRow| {
        let won = format!("{} of {}", row.wins, row.files);
        vec![
            row.entry.clone(),
            row.state.name().into(),
            row.files.to_string(),
            ratio(row.ratio),
            won,
        ]
    };
    Table {
        head: head.into(),
        rows: summary.whole.iter().map(row).collect(),
    }
}

fn markdown(summary: &Summary, races: &[(Race, Folder)]) -> String {
    let mut text = format!(
        "# {}\n\n{}\n",
        markdown_escape(&summary.path),
        whole_table(summary).markdown()
    );
    for (file, (race, _)) in summary.files.iter().zip(races) {
        let (name, bytes) = (markdown_escape(&file.name), size(file.bytes));
        text += &format!(
            "## {name}\n\n{} lines, {} words, {bytes}: [race]({}/report.md)\n\n",
            file.lines, file.words, file.race
        );
        for tally in &race.states {
            text += &format!("- {}\n", markdown_escape(&tally.sentence));
            let medians: Vec<String> = tally
                .rows
                .iter()
                .map(|row| format!("{} {}", row.entry, seconds(row.median)))
                .collect();
            text += &format!("  - {}\n", markdown_escape(&medians.join(", ")));
        }
        text.push('\n');
    }
    for line in &summary.passed_over {
        text += &format!("- passed over: {}\n", markdown_escape(line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_wc_does_also_over_the_buffers_edge() {
        assert_eq!(count(&b""[..]).unwrap(), (0, 0));
        assert_eq!(count(&b"a b\nc\n"[..]).unwrap(), (2, 3));
        assert_eq!(count(&b" a\x0b\tb"[..]).unwrap(), (0, 2));
        let long = vec![b'x'; (1 << 20) + 1];
        assert_eq!(count(&long[..]).unwrap(), (0, 1));
    }
}
