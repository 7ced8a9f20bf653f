//! A race as it is published: `race.json`, written before the first round and again at the end.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::check::Checked;
use crate::environment::Environment;
use crate::error::{Code, failure};
use crate::file_facts::FileFacts;
use crate::input::Identity;
use crate::plan::Plan;
use crate::results::Folder;
use crate::tally::StateTally;

/// The version of `race.json`'s form. No field is renamed or removed without a new one.
pub const SCHEMA: u32 = 1;

/// A race: what was planned, on what, and what came out.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Race {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of readoff.
    pub readoff: String,
    /// The hyperfine that timed.
    pub hyperfine: HyperfineUsed,
    /// When it began, UTC.
    pub started: String,
    /// How it stands.
    pub status: Status,
    /// The file.
    pub input: Identity,
    /// How the file lies on its filesystem, and what of it spoils the meaning of a race.
    #[serde(default)]
    pub file: FileFacts,
    /// The machine.
    pub environment: Environment,
    /// Who competes, how, how often.
    pub plan: Plan,
    /// What the check found.
    pub checked: Checked,
    /// Fingerprints of the programs, by path.
    pub programs: BTreeMap<String, String>,
    /// What a reader should know of this race.
    pub notes: Vec<String>,
    /// What came out in each state.
    #[serde(default, skip_deserializing)]
    pub states: Vec<StateTally>,
}

/// The hyperfine that timed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct HyperfineUsed {
    /// Its path.
    pub path: String,
    /// Its version.
    pub version: String,
}

/// How a race stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Its rounds are under way, or it was killed.
    Running,
    /// All rounds are done.
    Finished,
    /// Asked to stop; `--resume` goes on from here.
    Interrupted,
    /// It says nothing: the file or a program changed, or an answer was wrong.
    Void(String),
}

impl Race {
    /// Reads an earlier race.
    ///
    /// # Errors
    /// `race.json` can't be read, or is of a form that this version doesn't know.
    pub fn load(folder: &Folder) -> Result<Race> {
        let path = folder.path.join("race.json");
        let bad = |cause: String| failure(Code::NoInput, format!("{}: {cause}", path.display()));
        let text = fs::read_to_string(&path).map_err(|e| bad(e.to_string()))?;
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        if value["schema"] != SCHEMA {
            let schema = &value["schema"];
            return Err(bad(format!(
                "its schema is {schema}, this readoff reads {SCHEMA}"
            )));
        }
        let race: Race = serde_json::from_value(value).map_err(|e| bad(e.to_string()))?;
        match race.plan.mistake() {
            Some(mistake) => Err(bad(format!("not as readoff wrote it: {mistake}"))),
            None => Ok(race),
        }
    }

    /// Writes `race.json`.
    pub fn save(&self, folder: &Folder) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        folder.write("race.json", text.as_bytes())
    }

    /// What differs between this race and one that would go on with it; `None` where it may.
    pub fn difference(&self, now: &Race) -> Option<String> {
        if let Some(change) = self.input.difference(&now.input) {
            return Some(format!("{} {change}", now.input.path));
        }
        if self.programs != now.programs {
            return Some("the programs were built anew".into());
        }
        if self.hyperfine.version != now.hyperfine.version {
            let (then, now) = (&self.hyperfine.version, &now.hyperfine.version);
            return Some(format!("it was timed with hyperfine {then}, this is {now}"));
        }
        if !self.environment.same_machine(&now.environment) {
            let (then, now) = (self.environment.line(), now.environment.line());
            return Some(format!("it ran on {then}; this is {now}"));
        }
        None
    }
}
