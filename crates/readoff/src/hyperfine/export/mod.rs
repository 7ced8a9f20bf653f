//! hyperfine's JSON exports of both schemas: read, looked into, merged, written.
//!
//! Schema 1 is that of hyperfine 1.x and has no version number in it; schema 2 came with 2.0.

mod v1;
mod v2;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An export of either schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Export {
    /// Of hyperfine 1.x.
    V1(v1::Export),
    /// Of hyperfine 2.x.
    V2(v2::Export),
}

/// One timed run of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Seconds in user mode. hyperfine 1.x exports only the mean over its runs: then it is this.
    pub user: Option<f64>,
    /// Seconds in kernel mode; as `user`.
    pub system: Option<f64>,
    /// Peak memory in bytes, from 1.20 on. It has a floor of about 3 MiB, and in 1.x it is the
    /// maximum over all that this hyperfine has started so far.
    pub peak_memory: Option<u64>,
    /// Exit code, 128 + n for signal n.
    pub exit_code: Option<i32>,
}

/// What tells the schemas apart.
#[derive(Deserialize)]
struct Header {
    schema_version: Option<u64>,
}

impl Export {
    /// Reads an export.
    ///
    /// # Errors
    /// One line that names the file: it can't be read, it is cut off or no export of hyperfine, or
    /// its schema is one that came later than this program.
    pub fn read(path: &Path) -> Result<Export> {
        let json = std::fs::read(path).with_context(|| path.display().to_string())?;
        Export::parse(&json).with_context(|| path.display().to_string())
    }

    fn parse(json: &[u8]) -> Result<Export> {
        let no_export = |error| anyhow!("no complete export of hyperfine: {error}");
        let header: Header = serde_json::from_slice(json).map_err(no_export)?;
        match header.schema_version {
            None => serde_json::from_slice(json)
                .map(Export::V1)
                .map_err(no_export),
            Some(2) => serde_json::from_slice(json)
                .map(Export::V2)
                .map_err(no_export),
            Some(later) => bail!(
                "an export of schema {later}, but only 1 and 2 (hyperfine 1.x and 2.x) can be read"
            ),
        }
    }

    /// The names of the entries, in order: those given by `--command-name`, else the commands.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Export::V1(export) => export
                .results
                .iter()
                .map(|result| result.command.as_str())
                .collect(),
            Export::V2(export) => export.results.iter().map(v2::Entry::name).collect(),
        }
    }

    /// The runs, in order, of the first entry of this name.
    pub fn runs(&self, name: &str) -> Option<Vec<Run>> {
        match self {
            Export::V1(export) => export
                .results
                .iter()
                .find(|result| result.command == name)
                .map(v1::Entry::runs),
            Export::V2(export) => export
                .results
                .iter()
                .find(|result| result.name() == name)
                .map(v2::Entry::runs),
        }
    }

    /// Joins the exports of several rounds into one: the runs of entries of the same name, one
    /// round after the other, entries in the order in which they first appear, and every statistic
    /// computed anew as the hyperfine of that schema does it. Where an export has a name twice, the
    /// second is joined with the second. What describes the hyperfine that ran is the first's.
    ///
    /// # Errors
    /// There is no export, or the schemas differ.
    pub fn merge(exports: impl IntoIterator<Item = Export>) -> Result<Export> {
        let mut exports = exports.into_iter();
        let mut merged = exports.next().context("there is no export to merge")?;
        for export in exports {
            match (&mut merged, export) {
                (Export::V1(merged), Export::V1(export)) => {
                    join(
                        &mut merged.results,
                        export.results,
                        |entry| entry.command.clone(),
                        v1::Entry::append,
                    );
                }
                (Export::V2(merged), Export::V2(export)) => {
                    join(
                        &mut merged.results,
                        export.results,
                        |entry| entry.name().to_owned(),
                        v2::Entry::append,
                    );
                }
                _ => bail!("exports of hyperfine 1.x and of 2.x can't be merged"),
            }
        }
        match &mut merged {
            Export::V1(export) => export.results.iter_mut().for_each(v1::Entry::summarize),
            Export::V2(export) => export.results.iter_mut().for_each(v2::Entry::summarize),
        }
        Ok(merged)
    }

    /// The JSON, laid out as hyperfine does it.
    pub fn to_json(&self) -> String {
        // Maps with text as keys and finite numbers: nothing that JSON can't hold.
        let mut json = serde_json::to_string_pretty(self).expect("an export is valid JSON");
        json.push('\n');
        json
    }
}

/// Appends each of `more` to the entry with its name, the n-th to the n-th, or to the list.
fn join<E>(
    entries: &mut Vec<E>,
    more: Vec<E>,
    name: impl Fn(&E) -> String,
    append: impl Fn(&mut E, E),
) {
    let mut taken = vec![false; entries.len()];
    for entry in more {
        let same =
            (0..taken.len()).find(|&place| !taken[place] && name(&entries[place]) == name(&entry));
        match same {
            Some(place) => {
                taken[place] = true;
                append(&mut entries[place], entry);
            }
            None => entries.push(entry),
        }
    }
}

/// hyperfine's own definitions, in its order of operations: equal to the last bit.
#[derive(Debug, Clone, Copy)]
pub struct Statistics {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// How many values.
    pub count: usize,
    /// Sum of squared distances from the mean, of which each schema makes its own σ.
    squares: f64,
}

impl Statistics {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Statistics {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        };
        let squares = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        Statistics {
            mean,
            median,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
            count: sorted.len(),
            squares,
        }
    }

    /// Sample standard deviation as 1.x computes it; none for one value.
    pub fn stddev(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}
