//! What a person reads at the end: the table on the terminal, and `report.md`.

use std::collections::BTreeSet;
use std::fmt::Write;

use pagecache::Action;

use crate::environment::Warning;
use crate::format::{Table, count, markdown_escape, printable, rate, ratio, seconds, size};
use crate::hyperfine::quote;
use crate::left_behind::LeftBehind;
use crate::neighbours;
use crate::plan::{Order, Phase};
use crate::race::{Race, Status};
use crate::source;
use crate::tally::{Row, StateTally, TimedRun, share};
use crate::watch;

/// The sentences and tables of all states, for a terminal.
pub fn terminal(race: &Race) -> String {
    let mut text = String::new();
    for tally in &race.states {
        let table = table(race, tally).text();
        let _ = writeln!(text, "{}\n", tally.sentence);
        if let Some(why) = unproved(tally) {
            let _ = writeln!(text, "not proved: {why}\n");
        }
        let _ = writeln!(text, "{table}");
        if let Some(warning) = &tally.neighbours_warning {
            let _ = write!(text, "{}\n\n", printable(warning));
        }
    }
    if let Some(source) = &race.plan.source {
        let table = source::table(source, &race.plan, &race.states, race.input.bytes);
        let _ = write!(
            text,
            "beside the source: {}\n\n{}\n",
            source.title,
            table.text()
        );
        for claim in source::claims(source, &race.states) {
            let _ = writeln!(text, "{claim}");
        }
    }
    text
}

/// The report of a race in Markdown.
pub fn markdown(race: &Race) -> String {
    let mut text = head(race);
    let warnings = race.file.warnings.iter().chain(&race.environment.warnings);
    list(&mut text, "Warnings", warnings.map(Warning::line));
    for tally in &race.states {
        let _ = write!(text, "## {}\n\n{}\n", tally.state.name(), proof(tally));
        let _ = write!(text, "\n{}\n", table(race, tally).markdown());
        phases(race, tally, &mut text);
        spread(tally, &mut text);
    }
    beside_source(race, &mut text);
    let skipped = race.plan.skipped.iter();
    list(
        &mut text,
        "Left out",
        skipped.map(|s| format!("{}: {}", s.name, s.reason)),
    );
    list(&mut text, "Notes", race.notes.iter().cloned());
    list(&mut text, "The file", race.file.lines().into_iter());
    list(&mut text, "What was raced", raced(race).into_iter());
    let machine = race.environment.facts().into_iter();
    list(
        &mut text,
        "Machine",
        machine.map(|(name, fact)| format!("{name}: {fact}")),
    );
    text.push_str("## Again\n\nOne entry by hand:\n\n");
    for entry in &race.plan.entries {
        let _ = writeln!(text, "    {}", printable(&quote(&entry.command)));
    }
    text
}

/// What was raced, how it stands, and a sentence a state.
fn head(race: &Race) -> String {
    let mut text = format!(
        "# {}: {}\n\n",
        race.plan.suite,
        markdown_escape(&race.input.path)
    );
    match &race.status {
        Status::Void(reason) => {
            let _ = write!(text, "**Void:** {}\n\n", markdown_escape(reason));
        }
        Status::Interrupted | Status::Running => {
            text.push_str("**Not finished.** `readoff run --resume` goes on with it.\n\n");
        }
        Status::Finished => {}
    }
    for tally in &race.states {
        let sentence = markdown_escape(&capitalised(&tally.sentence));
        let _ = write!(text, "**{sentence}**\n\n");
    }
    text
}

fn beside_source(race: &Race, text: &mut String) {
    let Some(source) = &race.plan.source else {
        return;
    };
    let table = source::table(source, &race.plan, &race.states, race.input.bytes).markdown();
    let title = markdown_escape(&source.title);
    let _ = write!(text, "## Beside the source\n\n{title}\n\n{table}\n");
    list(
        text,
        "What it concluded",
        source::claims(source, &race.states).into_iter(),
    );
}

fn raced(race: &Race) -> Vec<String> {
    let (input, plan) = (&race.input, &race.plan);
    let mut facts = vec![
        format!(
            "File: {}, {} bytes ({})",
            input.path,
            input.bytes,
            size(input.bytes)
        ),
        format!(
            "Work: {}; all entries agree: {}",
            plan.work, race.checked.answer
        ),
        format!("Machine: {}", race.environment.line()),
        format!(
            "hyperfine {}, readoff {}, {}",
            race.hyperfine.version, race.readoff, race.started
        ),
    ];
    let memory = plan
        .memory
        .map(|bytes| format!("Memory limit of the whole race: {}", size(bytes)));
    facts.extend(memory);
    facts
}

/// A column of a state's table: its head, and its cell in an entry's row.
type Column = (String, Box<dyn Fn(&Row) -> String>);

/// The table of a state: what the verdict's reader wants to see first.
fn table(race: &Race, tally: &StateTally) -> Table {
    let columns = columns(race);
    let row = |row: &Row| columns.iter().map(|(_, cell)| cell(row)).collect();
    Table {
        head: columns.iter().map(|(head, _)| head.clone()).collect(),
        rows: tally.rows.iter().map(row).collect(),
    }
}

fn columns(race: &Race) -> Vec<Column> {
    let or_dash = |value: Option<f64>| value.map_or("—".into(), seconds);
    // What was worked on: a seek may leave most of the file out.
    let bytes = race.checked.bytes;
    let mut columns: Vec<Column> = Vec::new();
    let mut add = |head: &str, cell: Box<dyn Fn(&Row) -> String>| columns.push((head.into(), cell));
    add("entry", Box::new(|row| row.entry.clone()));
    let decides = race.plan.decides;
    if decides != Phase::Wall {
        add(
            decides.name(),
            Box::new(move |row| or_dash(row.seconds(decides))),
        );
    }
    add("GB/s", Box::new(move |row| rate(bytes, row.median)));
    let mean = |row: &Row| match row.stddev {
        Some(stddev) => format!("{} ± {}", seconds(row.mean), seconds(stddev)),
        None => seconds(row.mean),
    };
    add("mean ± σ", Box::new(mean));
    add("median", Box::new(|row| seconds(row.median)));
    add("min", Box::new(|row| seconds(row.min)));
    if race.plan.order == Order::Balanced {
        let reference = format!("× {}", race.plan.reference);
        add(
            &reference,
            Box::new(|row| row.ratio.map_or("—".into(), ratio)),
        );
        let interval = |row: &Row| match row.interval {
            Some((low, high)) => format!("{}–{}", ratio(low), ratio(high)),
            None => "—".into(),
        };
        add("95 % interval", Box::new(interval));
    }
    let faults = |row: &Row| match row.minor_faults.zip(row.major_faults) {
        Some((minor, major)) => format!("{:.0}", minor + major),
        None => "—".into(),
    };
    add("faults", Box::new(faults));
    add("user", Box::new(move |row| or_dash(row.user)));
    add("system", Box::new(move |row| or_dash(row.system)));
    columns
}

/// How the state was proved, over all timed runs.
fn proof(tally: &StateTally) -> String {
    let shares = tally
        .runs
        .iter()
        .filter_map(|run| share(run.prepared.resident, run));
    let shares: Vec<f64> = shares.collect();
    let (runs, rounds) = (tally.runs.len(), tally.rounds);
    let fill = match tally.fill {
        // Something else may have, in a cache that can't be looked into.
        "none" if shares.len() < runs => "evicted here before each".to_string(),
        "none" => "nothing filled the cache".to_string(),
        "found" => "the cache as it was found".to_string(),
        how => format!("cache filled by {how}"),
    };
    let least = shares.iter().copied().reduce(f64::min);
    let most = shares.iter().copied().reduce(f64::max);
    let known = match least.zip(most) {
        Some((least, most)) if shares.len() == runs => {
            format!(
                "{:.2}–{:.2} % of the file resident before each",
                least * 100.0,
                most * 100.0
            )
        }
        _ => "how much of the file was resident is **unknown** here".to_string(),
    };
    let mut text = format!(
        "{}, {}; {fill}; {known}.\n",
        count(rounds, "round"),
        count(runs, "run")
    );
    let refilled = tally
        .runs
        .iter()
        .filter(|run| run.prepared.action == Action::Filled)
        .count();
    if refilled > 0 {
        let _ = writeln!(
            text,
            "Pages were lost and filled again before {refilled} of the runs."
        );
    }
    let left: Vec<String> = tally.left_behind.iter().filter_map(left_less).collect();
    if !left.is_empty() {
        let _ = writeln!(
            text,
            "Less than 99 % of the file was found resident after runs of: {}.",
            markdown_escape(&left.join(", "))
        );
    }
    if let Some(summary) = watch::summary(&tally.watched) {
        let _ = writeln!(text, "{}", markdown_escape(&summary));
    }
    let notes: BTreeSet<&String> = tally
        .runs
        .iter()
        .flat_map(|run| &run.prepared.notes)
        .collect();
    for note in notes {
        let _ = writeln!(text, "- {}", markdown_escape(note));
    }
    text
}

/// Why the state that a race asked for is not known to have been there; none where it is.
fn unproved(tally: &StateTally) -> Option<String> {
    let unknown = |run: &&TimedRun| run.prepared.resident.is_none();
    let run = tally.runs.iter().find(unknown)?;
    let why = run.prepared.notes.first().map_or("", String::as_str);
    Some(format!(
        "how much of the file was resident is unknown here: {why}"
    ))
}

/// An entry that leaves less than the whole file in the cache: how often, and how little.
fn left_less(left: &LeftBehind) -> Option<String> {
    let less = left.runs - left.whole;
    (less > 0).then(|| {
        let least = left.least * 100.0;
        format!(
            "{} ({less} of {}, down to {least:.1} %)",
            left.entry, left.runs
        )
    })
}

/// File to memory, then touch: for the strategies that have two phases.
fn phases(race: &Race, tally: &StateTally, text: &mut String) {
    let bytes = race.input.bytes;
    let rows: Vec<Vec<String>> = tally
        .rows
        .iter()
        .filter_map(|row| {
            let (arrive, touch) = row.arrive.zip(row.touch)?;
            let cells = [
                seconds(arrive),
                rate(bytes, arrive),
                seconds(touch),
                rate(bytes, touch),
            ];
            Some(std::iter::once(row.entry.clone()).chain(cells).collect())
        })
        .collect();
    if !rows.is_empty() {
        let head = ["two phases", "file to memory", "GB/s", "touch", "GB/s"].map(str::to_string);
        let table = Table {
            head: head.to_vec(),
            rows,
        };
        let _ = writeln!(text, "{}", table.markdown());
    }
}

/// Runs far from the others, and what the entry before does to a run.
fn spread(tally: &StateTally, text: &mut String) {
    for row in &tally.rows {
        let Some(furthest) = &row.spread.furthest else {
            continue;
        };
        let line = format!(
            "{}: {} of {} runs are outliers; the furthest took {}, in round {}, where the middle half took {}–{}",
            row.entry,
            row.spread.outliers,
            row.runs,
            seconds(furthest.seconds),
            furthest.round,
            seconds(row.spread.lower_quartile),
            seconds(row.spread.upper_quartile),
        );
        let _ = writeln!(text, "- {}", markdown_escape(&line));
    }
    if tally.rows.iter().any(|row| row.spread.outliers > 0) {
        let fence = "beyond the quartiles by more than 1.5 of the range between them";
        let _ = write!(
            text,
            "\nOutliers are {fence}. They count like all others.\n\n"
        );
    }
    if !tally.neighbours.is_empty() {
        let table = neighbours::table(&tally.neighbours).markdown();
        let _ = writeln!(text, "{table}");
    }
    if let Some(warning) = &tally.neighbours_warning {
        let _ = write!(text, "**{}**\n\n", markdown_escape(warning));
    }
}

fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items
        .map(|item| format!("- {}\n", markdown_escape(&item)))
        .collect();
    if !items.is_empty() {
        let _ = write!(text, "## {title}\n\n{}\n", items.concat());
    }
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
