//! From finished rounds to figures: what is on disk is read, merged, and judged.

use std::fmt::Write;

use anyhow::{Context, Result};
use pagecache::Prepared;
use serde::Serialize;

use crate::error::{Code, failure};
use crate::hyperfine::{self, Export, Statistics};
use crate::left_behind::{LeftBehind, left_behind, prepared};
use crate::neighbours::{self, Neighbour, Place};
use crate::outliers::{self, Spread, Timed};
use crate::plan::{Order, Phase, Plan, State};
use crate::results::{Folder, RoundFiles};
use crate::round_log::{self, Latency, Record};
use crate::verdict::Verdict;
use crate::watch::{WatchedRound, watched};

/// What came out in one state.
#[derive(Clone, Debug, Serialize)]
pub struct StateTally {
    /// The state.
    pub state: State,
    /// How the cache was filled: by whom before the first round, and by the same again where pages
    /// were lost; `none` for a cold one, `found` for one raced as it was found.
    pub fill: &'static str,
    /// Finished rounds.
    pub rounds: usize,
    /// The verdict in one plain sentence.
    pub sentence: String,
    /// The verdict; none in grouped order, where nothing is paired.
    pub verdict: Option<Verdict>,
    /// What the entry before does to a run; empty in grouped order.
    pub neighbours: Vec<Neighbour>,
    /// One sentence where a neighbour counts for more than the lead that decides.
    pub neighbours_warning: Option<String>,
    /// A row an entry, fastest first.
    pub rows: Vec<Row>,
    /// What each entry left of the file in the page cache.
    pub left_behind: Vec<LeftBehind>,
    /// What the machine did in each round, also in those that don't count.
    pub watched: Vec<WatchedRound>,
    /// All timed runs, in the order in which they ran.
    #[serde(skip)]
    pub runs: Vec<TimedRun>,
    /// The runs of rounds that were spoiled and run again: they don't count.
    #[serde(skip)]
    pub left_out: Vec<TimedRun>,
    /// All rounds' exports in one.
    #[serde(skip)]
    pub export: Export,
}

impl StateTally {
    /// The numbers of the finished rounds, ascending.
    pub fn round_numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.runs.iter().map(|run| run.round).collect();
        numbers.dedup();
        numbers
    }
}

/// One entry's figures in a state: over all runs, times in seconds, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The label.
    pub entry: String,
    /// Timed runs.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; none for one run.
    pub stddev: Option<f64>,
    /// Median.
    pub median: f64,
    /// Shortest.
    pub min: f64,
    /// Longest.
    pub max: f64,
    /// Quartiles, and runs far beyond them.
    #[serde(flatten)]
    pub spread: Spread,
    /// Time over the reference's, paired by round; 1 for the reference itself.
    pub ratio: Option<f64>,
    /// The ratio's 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Mean user time.
    pub user: Option<f64>,
    /// Mean system time.
    pub system: Option<f64>,
    /// Median minor faults; none for an external.
    pub minor_faults: Option<f64>,
    /// Median major faults.
    pub major_faults: Option<f64>,
    /// Median bytes read from the device.
    pub device_bytes: Option<f64>,
    /// Largest peak resident set.
    pub peak_rss: Option<u64>,
    /// Median seconds until the whole file had arrived, for a strategy with two phases.
    pub arrive: Option<f64>,
    /// Median seconds of the work after that.
    pub touch: Option<f64>,
    /// Median seconds of the visits.
    pub visit: Option<f64>,
    /// Each visit's time, where it was measured: from the run in the middle.
    pub latency: Option<Latency>,
}

/// One timed run: a row of `runs.csv`.
#[derive(Clone, Debug)]
pub struct TimedRun {
    /// The label.
    pub entry: String,
    /// The round, from 1.
    pub round: u32,
    /// The entry's place in the round, from 1.
    pub position: usize,
    /// The entry before it in the round.
    pub predecessor: Option<String>,
    /// The run within its block, from 1.
    pub run: usize,
    /// hyperfine's figures.
    pub timed: hyperfine::Run,
    /// The state's proof.
    pub prepared: Prepared,
    /// What it said of itself.
    pub record: Option<Record>,
}

impl Row {
    /// Median seconds of a part of the run; none where the entry doesn't tell that part apart.
    pub fn seconds(&self, phase: Phase) -> Option<f64> {
        match phase {
            Phase::Wall => Some(self.median),
            Phase::Arrive => self.arrive,
            Phase::Touch => self.touch,
            Phase::Visit => self.visit,
        }
    }
}

/// So many bytes as a share of what was prepared for a run; an empty file is all resident.
pub fn share(resident: Option<u64>, run: &TimedRun) -> Option<f64> {
    resident.map(|resident| match run.prepared.bytes {
        0 => 1.0,
        bytes => resident as f64 / bytes as f64,
    })
}

impl TimedRun {
    /// Seconds of a part of the run; none where the entry doesn't tell that part apart.
    pub fn seconds(&self, phase: Phase) -> Option<f64> {
        let record = || self.record.as_ref();
        match phase {
            Phase::Wall => Some(self.timed.seconds),
            Phase::Arrive => record()?.seconds_arrive,
            Phase::Touch => record()?.seconds_touch,
            Phase::Visit => record()?.seconds_visit,
        }
    }
}

/// Reads and judges the finished rounds of every state that has some.
///
/// # Errors
/// A finished round's files can't be read.
pub fn tally(plan: &Plan, folder: &Folder) -> Result<Vec<StateTally>> {
    let mut tallies = Vec::new();
    for state in &plan.states {
        let numbers = folder.finished(*state);
        if !numbers.is_empty() {
            tallies.push(tally_state(plan, folder, *state, &numbers)?);
        }
    }
    Ok(tallies)
}

fn tally_state(plan: &Plan, folder: &Folder, state: State, numbers: &[u32]) -> Result<StateTally> {
    let mut exports = Vec::new();
    let mut runs = Vec::new();
    let mut logs = Vec::new();
    for number in numbers {
        let (export, of_round) = round(plan, folder, state, *number)?;
        runs.extend(of_round);
        let log = round_log::read(&folder.round(state, *number).log)?;
        logs.push(prepared(&export, log, plan.block(state).all()));
        exports.push(export);
    }
    let mut left_out = Vec::new();
    for number in folder.spoiled(state) {
        let files = folder.spoiled_round(state, number);
        left_out.extend(read_round(plan, state, number, &files)?.1);
    }
    let labels: Vec<String> = plan
        .entries_in(state)
        .iter()
        .map(|e| e.name.clone())
        .collect();
    let (verdict, neighbours, sentence) = match plan.order {
        Order::Balanced => {
            let judge = match plan.until_settled {
                true => Verdict::sequential,
                false => Verdict::new,
            };
            let medians = medians(&labels, numbers, &runs, plan.decides);
            let verdict = judge(&labels, &medians, &plan.reference);
            let neighbours = neighbours::estimate(&labels, numbers, &medians, &places(&runs));
            let sentence = verdict.sentence(state.name());
            (Some(verdict), neighbours, sentence)
        }
        Order::Grouped => (None, vec![], grouped_sentence(state, &labels, &runs)),
    };
    let rows = rows(plan, &labels, &runs, verdict.as_ref());
    let fill = match state {
        State::AsIs => "found",
        _ => state.fill().unwrap_or("none"),
    };
    let export = Export::merge(exports)?;
    Ok(StateTally {
        state,
        fill,
        rounds: numbers.len(),
        sentence,
        neighbours_warning: verdict
            .as_ref()
            .and_then(|verdict| neighbours::warning(&neighbours, verdict)),
        neighbours,
        verdict,
        rows,
        left_behind: left_behind(&logs),
        watched: watched(folder, state)?,
        runs,
        left_out,
        export,
    })
}

/// A row an entry, sorted by the part of the run that decides.
fn rows(plan: &Plan, labels: &[String], runs: &[TimedRun], verdict: Option<&Verdict>) -> Vec<Row> {
    let row = |label: &String| row(label, runs, verdict, &plan.reference);
    let mut rows: Vec<Row> = labels.iter().filter_map(row).collect();
    let deciding = |row: &Row| row.seconds(plan.decides).unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| deciding(a).total_cmp(&deciding(b)));
    rows
}

/// Who ran before whom: the first run of each block tells.
fn places(runs: &[TimedRun]) -> Vec<Place<'_>> {
    let firsts = runs.iter().filter(|run| run.run == 1);
    let places = firsts.map(|run| Place {
        entry: &run.entry,
        round: run.round,
        predecessor: run.predecessor.as_deref(),
    });
    places.collect()
}

/// Reads a finished round.
pub(crate) fn round(
    plan: &Plan,
    folder: &Folder,
    state: State,
    number: u32,
) -> Result<(Export, Vec<TimedRun>)> {
    read_round(plan, state, number, &folder.round(state, number))
}

/// A round's export, and its timed runs.
fn read_round(
    plan: &Plan,
    state: State,
    number: u32,
    files: &RoundFiles,
) -> Result<(Export, Vec<TimedRun>)> {
    let export = Export::read(&files.export)?;
    let log = round_log::read(&files.log)?;
    let runs = timed_runs(plan, state, number, &export, &log)
        .with_context(|| files.log.display().to_string())?;
    Ok((export, runs))
}

/// Puts a round's export and log side by side. The log has warmups too, first in each block.
fn timed_runs(
    plan: &Plan,
    state: State,
    round: u32,
    export: &Export,
    log: &[round_log::Run],
) -> Result<Vec<TimedRun>> {
    let block = plan.block(state);
    let names = export.names();
    let expected = names.len() * block.all() as usize;
    if log.len() != expected {
        let what = format!("{} runs are logged, {expected} were made", log.len());
        return Err(failure(Code::Data, what));
    }
    let mut timed = Vec::new();
    for (index, blocks) in log.chunks(block.all() as usize).enumerate() {
        let name = names.get(index).context("more runs logged than exported")?;
        let exported = export.runs(name).context("an entry without runs")?;
        let counted = &blocks[(block.warmup as usize).min(blocks.len())..];
        for (run, (figures, logged)) in exported.iter().zip(counted).enumerate() {
            timed.push(TimedRun {
                entry: name.to_string(),
                round,
                position: index + 1,
                predecessor: index.checked_sub(1).map(|before| names[before].to_string()),
                run: run + 1,
                timed: *figures,
                prepared: logged.prepared.clone(),
                record: logged.record.clone(),
            });
        }
    }
    Ok(timed)
}

/// Each entry's median in each round.
pub(crate) fn medians(
    labels: &[String],
    rounds: &[u32],
    runs: &[TimedRun],
    phase: Phase,
) -> Vec<Vec<Option<f64>>> {
    let cell = |label: &String, round: &u32| {
        let times = runs
            .iter()
            .filter(|run| run.entry == *label && run.round == *round);
        median(
            &times
                .filter_map(|run| run.seconds(phase))
                .collect::<Vec<_>>(),
        )
    };
    labels
        .iter()
        .map(|label| rounds.iter().map(|round| cell(label, round)).collect())
        .collect()
}

fn row(label: &str, runs: &[TimedRun], verdict: Option<&Verdict>, reference: &str) -> Option<Row> {
    let own: Vec<&TimedRun> = runs.iter().filter(|run| run.entry == label).collect();
    let of_records = |figure: &dyn Fn(&Record) -> Option<f64>| {
        let figures = own.iter().filter_map(|run| figure(run.record.as_ref()?));
        median(&figures.collect::<Vec<_>>())
    };
    let times: Vec<f64> = own.iter().map(|run| run.timed.seconds).collect();
    let statistics = statistics(&times)?;
    let timed = |run: &&TimedRun| Timed {
        round: run.round,
        run: run.run,
        seconds: run.timed.seconds,
    };
    let timed: Vec<Timed> = own.iter().map(timed).collect();
    let mean = |figure: &dyn Fn(&hyperfine::Run) -> Option<f64>| {
        let figures: Option<Vec<f64>> = own.iter().map(|run| figure(&run.timed)).collect();
        Some(crate::tally::statistics(&figures?)?.mean)
    };
    let standing = verdict.and_then(|v| v.entries.iter().find(|standing| standing.label == label));
    let to_reference = standing.and_then(|standing| standing.to_reference.as_ref());
    let itself = (label == reference && verdict.is_some()).then_some(1.0);
    Some(Row {
        entry: label.into(),
        runs: statistics.count,
        mean: statistics.mean,
        stddev: statistics.stddev(),
        median: statistics.median,
        min: statistics.min,
        max: statistics.max,
        spread: outliers::spread(&timed),
        ratio: to_reference.map(|comparison| comparison.ratio).or(itself),
        interval: to_reference.and_then(|comparison| comparison.low.zip(comparison.high)),
        user: mean(&|run| run.user),
        system: mean(&|run| run.system),
        minor_faults: of_records(&|record| Some(record.minor_faults as f64)),
        major_faults: of_records(&|record| Some(record.major_faults as f64)),
        device_bytes: of_records(&|record| Some(record.device_bytes? as f64)),
        peak_rss: own
            .iter()
            .filter_map(|run| run.record.as_ref()?.peak_rss)
            .max(),
        arrive: of_records(&|record| record.seconds_arrive),
        touch: of_records(&|record| record.seconds_touch),
        visit: of_records(&|record| record.seconds_visit),
        latency: own
            .get(own.len() / 2)
            .and_then(|run| run.record.as_ref()?.latency.clone()),
    })
}

pub(crate) fn statistics(values: &[f64]) -> Option<Statistics> {
    (!values.is_empty()).then(|| Statistics::of(values))
}

fn median(values: &[f64]) -> Option<f64> {
    Some(statistics(values)?.median)
}

/// What hyperfine itself would say of one block each: the ratio of the means, its error
/// propagated from both standard deviations (as in hyperfine's own relative speed).
fn grouped_sentence(state: State, labels: &[String], runs: &[TimedRun]) -> String {
    let mut means: Vec<(f64, f64, &String)> = labels
        .iter()
        .filter_map(|label| {
            let times = runs
                .iter()
                .filter(|run| run.entry == *label)
                .map(|run| run.timed.seconds);
            let statistics = statistics(&times.collect::<Vec<_>>())?;
            Some((statistics.mean, statistics.stddev().unwrap_or(0.0), label))
        })
        .collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sentence = format!("{}: ", state.name());
    if let [(fast, fast_sd, first), (slow, slow_sd, second), ..] = means[..] {
        let ratio = slow / fast;
        let error = ratio * ((slow_sd / slow).powi(2) + (fast_sd / fast).powi(2)).sqrt();
        let _ = write!(
            sentence,
            "{first} ran {ratio:.2} ± {error:.2} times as fast as {second}; a block each is not paired, \
             so no winner is named"
        );
    } else {
        let _ = write!(sentence, "nothing to compare");
    }
    sentence
}
