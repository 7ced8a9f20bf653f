//! `runs.csv`: a row a run.

use anyhow::Result;

use crate::round_log::Record;
use crate::tally::{StateTally, share};
use crate::watch::WatchedRound;

/// All states' runs as CSV: a row a run, hyperfine's times beside the record's.
///
/// User and system are hyperfine's; its schema 1 has only their mean over a block, which then
/// stands in each of the block's rows. `counted` is `no` for a round that was run again since the
/// machine spoiled it, and `spoiled` says how. Shares are of the
/// file's size (and that of its scratch copy); an empty file is all resident.
pub fn runs_csv(tallies: &[StateTally]) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(CSV_HEAD)?;
    for tally in tallies {
        let runs = tally.runs.iter().map(|run| (run, true));
        let left_out = tally.left_out.iter().map(|run| (run, false));
        for (run, counted) in runs.chain(left_out) {
            let mut row = vec![
                run.entry.clone(),
                tally.state.name().into(),
                tally.fill.into(),
                run.round.to_string(),
                run.position.to_string(),
                run.predecessor.clone().unwrap_or_default(),
                run.run.to_string(),
                optional(share(run.prepared.found_resident, run)),
                optional(share(run.prepared.resident, run)),
                run.prepared.by.to_string(),
                format!("{:?}", run.prepared.action).to_lowercase(),
                run.prepared.seconds.to_string(),
                run.timed.seconds.to_string(),
                optional(run.timed.user),
                optional(run.timed.system),
                optional(run.timed.peak_memory),
            ];
            row.extend(
                run.record
                    .as_ref()
                    .map_or(vec![String::new(); 17], record_fields),
            );
            let of_round =
                |watched: &&WatchedRound| (watched.round, watched.counted) == (run.round, counted);
            let watched = tally.watched.iter().find(of_round);
            let spoiled = watched.and_then(|watched| watched.watch.spoiled.clone());
            row.push(if counted { "yes" } else { "no" }.into());
            row.push(spoiled.unwrap_or_default());
            csv.write_record(row)?;
        }
    }
    Ok(csv.into_inner()?)
}

const CSV_HEAD: [&str; 35] = [
    "entry",
    "state",
    "fill",
    "round",
    "position",
    "predecessor",
    "run",
    "found_resident_share",
    "resident_share",
    "residency_by",
    "prepare_action",
    "prepare_seconds",
    "wall",
    "user",
    "system",
    "peak_memory",
    "work",
    "answer",
    "bytes",
    "record_seconds_open",
    "record_seconds_arrive",
    "record_seconds_touch",
    "record_seconds_arrive_touch",
    "record_seconds",
    "record_user",
    "record_system",
    "minor_faults",
    "major_faults",
    "device_bytes",
    "voluntary_switches",
    "involuntary_switches",
    "record_peak_rss",
    "strategy",
    "counted",
    "spoiled",
];

fn record_fields(record: &Record) -> Vec<String> {
    vec![
        record.work.clone(),
        record.answer.clone(),
        record.bytes.to_string(),
        record.seconds_open.to_string(),
        optional(record.seconds_arrive),
        optional(record.seconds_touch),
        optional(record.seconds_arrive_touch),
        record.seconds.to_string(),
        record.user.to_string(),
        record.system.to_string(),
        record.minor_faults.to_string(),
        record.major_faults.to_string(),
        optional(record.device_bytes),
        record.voluntary_switches.to_string(),
        record.involuntary_switches.to_string(),
        optional(record.peak_rss),
        record.strategy.clone(),
    ]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
