//! hyperfine's JSON exports, schema 1 (1.x) and 2 (2.x): read, looked into, merged, written.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// An export of either schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Export {}

/// One timed run of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// User seconds; schema 1 knows only the mean over the block, which is then given for each run.
    pub user: f64,
    /// System seconds, as `user`.
    pub system: f64,
    /// Peak memory in bytes, where the version exports it.
    pub peak_memory: Option<u64>,
    /// Exit code; `None` where a signal ended the run and the version doesn't say which.
    pub exit_code: Option<i32>,
}

impl Export {
    /// Reads an export.
    pub fn read(_path: &Path) -> anyhow::Result<Export> {
        todo!()
    }

    /// Names of the entries in order.
    pub fn names(&self) -> Vec<&str> {
        todo!()
    }

    /// The runs of the entry called `name`; `None` where there is none.
    pub fn runs(&self, _name: &str) -> Option<Vec<Run>> {
        todo!()
    }

    /// Joins the exports of several rounds into one, recomputing every statistic.
    pub fn merge(_exports: Vec<Export>) -> anyhow::Result<Export> {
        todo!()
    }

    /// The JSON as hyperfine itself would write it.
    pub fn to_json(&self) -> String {
        todo!()
    }
}
