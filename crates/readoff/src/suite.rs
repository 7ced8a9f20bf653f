//! A suite: what competes, on which work, in which states. One TOML file in `hyperfine/suites/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Deserialize;

use crate::error::{Code, failure, near_match};
use crate::input::plain;
use crate::plan::{Block, Order, Phase, State};
use crate::source::Source;

/// The most runs that a block may have, and warmups.
const MOST_RUNS: u32 = 10_000;

/// The longest time limit of an external: a day.
const MOST_SECONDS: f64 = 86_400.0;

/// A suite as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suite {
    /// Its name: that of its file.
    #[serde(skip)]
    pub name: String,
    /// One sentence on the question it answers.
    pub about: String,
    /// The family whose strategies compete.
    pub family: String,
    /// What is done with the bytes, unless `--work` says otherwise.
    pub work: String,
    /// The page cache's states, unless `--state` says otherwise.
    pub states: Vec<State>,
    /// The entry that the others are compared with, unless `--reference` says otherwise.
    pub reference: String,
    /// How the runs are ordered.
    #[serde(default)]
    pub order: Order,
    /// Rounds in each state; by default as many as the budget has room for.
    pub rounds: Option<u32>,
    /// Runs of an entry in a round, by state, where they differ from the default.
    #[serde(default)]
    pub block: BTreeMap<State, Block>,
    /// Options that all of the project's own entries get.
    #[serde(default)]
    pub options: Vec<String>,
    /// The part of a run that decides, where it isn't all of it.
    #[serde(default)]
    pub decides: Phase,
    /// The data that is made where no file is named; by default the sample.
    pub data: Option<Data>,
    /// Memory that the whole race may use, in bytes at scale 1.
    pub memory: Option<u64>,
    /// What a published source says of the same race.
    pub source: Option<Source>,
    /// The project's own entries.
    #[serde(default, rename = "entry")]
    pub entries: Vec<SuiteEntry>,
    /// Other people's programs.
    #[serde(default, rename = "external")]
    pub externals: Vec<External>,
}

/// Data that a suite makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The kind, as `mkdata` names it.
    pub kind: String,
    /// Bytes at scale 1: the source's size.
    pub size: u64,
    /// The scale where none is asked for: it fits a small machine.
    pub scale: f64,
    /// More arguments of `mkdata`.
    #[serde(default)]
    pub args: Vec<String>,
}

/// What a suite's file holds.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// A race.
    Suite(Box<Suite>),
    /// Several suites that are raced one after the other.
    Parts {
        /// One sentence on the question.
        about: String,
        /// Their names.
        parts: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    about: String,
    parts: Vec<String>,
}

/// A strategy in a suite, perhaps with options.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SuiteEntry {
    /// Its label.
    pub name: String,
    /// Program and options; by default `<family>-<name>`.
    pub run: Option<Vec<String>>,
    /// The states in which it makes sense; by default all.
    pub states: Option<Vec<State>>,
    /// Whether it stays when a large file leaves time for only a few.
    #[serde(default)]
    pub core: bool,
}

/// Somebody else's program in the race, where it is installed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct External {
    /// Its label.
    pub name: String,
    /// Program and arguments; `{file}` stands for the file.
    pub run: Vec<String>,
    /// The works it is comparable with.
    pub works: Vec<String>,
    /// What the first number it prints counts; absent where it prints no answer.
    pub answer: Option<Counts>,
    /// The longest that one run may take, in seconds.
    pub limit: f64,
}

/// What an external counts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Newline bytes, as `wc -l` does.
    Newlines,
    /// Lines, the last one also where no newline ends it, as `grep -c` does.
    Lines,
}

impl Suite {
    /// Reads a suite by name from the suites' folder, or from a file of its own (a name with a `/`
    /// or ending in `.toml`).
    ///
    /// # Errors
    /// Unknown name (the near match is named), a file that is no TOML, has an unknown key, or
    /// contradicts itself.
    pub fn load(folder: &Path, name: &str) -> Result<Suite> {
        match Loaded::load(folder, name)? {
            Loaded::Suite(suite) => Ok(*suite),
            Loaded::Parts { parts, .. } => {
                let what = format!("suite {name:?} has parts: name one of {}", parts.join(", "));
                Err(failure(Code::Usage, what))
            }
        }
    }

    /// The names of all suites in the folder, sorted.
    pub fn names(folder: &Path) -> Result<Vec<String>> {
        let entries = fs::read_dir(folder).map_err(|e| {
            let (folder, why) = (folder.display(), plain(&e));
            let what =
                format!("{folder}: the suites' folder (READOFF_SUITES) can't be read: {why}");
            failure(Code::Unavailable, what)
        })?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "toml")
            })
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    fn parse(text: &str) -> Result<Loaded, String> {
        let in_line = |error: toml::de::Error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("line {line}: {}", error.message())
        };
        let table: toml::Table = toml::from_str(text).map_err(in_line)?;
        if table.contains_key("parts") {
            let Parts { about, parts } = toml::from_str(text).map_err(in_line)?;
            return Ok(Loaded::Parts { about, parts });
        }
        let suite: Suite = toml::from_str(text).map_err(in_line)?;
        match suite.contradiction() {
            Some(what) => Err(what),
            None => Ok(Loaded::Suite(Box::new(suite))),
        }
    }

    /// What is wrong with a suite that is well-formed TOML.
    fn contradiction(&self) -> Option<String> {
        let mut labels: Vec<&str> = self.labels().collect();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two entries are called {:?}", pair[0]));
        }
        if !labels.contains(&self.reference.as_str()) {
            let near = near_match(&self.reference, labels);
            return Some(format!(
                "the reference {:?} is no entry{near}",
                self.reference
            ));
        }
        if self.states.is_empty() {
            return Some("states is empty".into());
        }
        let empty = |run: &[String]| run.first().is_none_or(|program| program.is_empty());
        let entries = self
            .entries
            .iter()
            .filter_map(|e| Some((&e.name, e.run.as_ref()?)));
        let externals = self.externals.iter().map(|e| (&e.name, &e.run));
        if let Some((name, _)) = entries.chain(externals).find(|(_, run)| empty(run)) {
            return Some(format!("{name:?} runs nothing"));
        }
        if self.block.values().any(|block| block.runs == 0) {
            return Some("a block has runs = 0".into());
        }
        let too_many = |block: &Block| block.runs > MOST_RUNS || block.warmup > MOST_RUNS;
        if self.block.values().any(too_many) {
            return Some(format!("a block has more than {MOST_RUNS} runs"));
        }
        let unnamed = |label: &&str| label.is_empty() || label.contains(char::is_control);
        if let Some(label) = self.labels().find(unnamed) {
            return Some(format!("{label:?} is no name for an entry"));
        }
        let limitless = self
            .externals
            .iter()
            .find(|e| !(e.limit > 0.0 && e.limit <= MOST_SECONDS));
        limitless.map(|e| {
            format!(
                "{:?}: limit must be over 0 and at most {MOST_SECONDS} seconds",
                e.name
            )
        })
    }

    /// The labels of all entries, the project's own first.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let own = self.entries.iter().map(|entry| entry.name.as_str());
        own.chain(self.externals.iter().map(|external| external.name.as_str()))
    }
}

impl Loaded {
    /// Reads a suite, or the parts that one is made of: see [`Suite::load`].
    pub fn load(folder: &Path, name: &str) -> Result<Loaded> {
        let path = if name.contains('/') || name.ends_with(".toml") {
            PathBuf::from(name)
        } else {
            folder.join(format!("{name}.toml"))
        };
        if !path.is_file() {
            let names = Suite::names(folder)?;
            let near = near_match(name, names.iter().map(String::as_str));
            return Err(failure(
                Code::Usage,
                format!("unknown suite {name:?}{near}"),
            ));
        }
        let text = fs::read_to_string(&path)
            .map_err(|e| failure(Code::NoInput, format!("{}: {e}", path.display())))?;
        let mut loaded = Suite::parse(&text)
            .map_err(|e| failure(Code::Usage, format!("{}: {e}", path.display())))?;
        if let Loaded::Suite(suite) = &mut loaded {
            suite.name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
        }
        Ok(loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        about = "a test"
        family = "scan"
        work = "xor"
        states = ["warm"]
        reference = "read"
        [[entry]]
        name = "read"
    "#;

    fn refusal(text: &str) -> String {
        Suite::parse(text).unwrap_err()
    }

    #[test]
    fn every_suite_of_the_project_is_well_formed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hyperfine/suites");
        let names = Suite::names(&folder).unwrap();
        assert!(names.contains(&"scan".to_string()), "{names:?}");
        for name in names {
            if let Loaded::Parts { parts, .. } = Loaded::load(&folder, &name).unwrap() {
                parts
                    .iter()
                    .for_each(|part| drop(Suite::load(&folder, part).unwrap()));
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_suite_is_said_with_its_line() {
        assert!(refusal("about = \"x\"\nfamily =").starts_with("line 2: "));
        assert!(refusal(&format!("entires = 1{SMALL}")).contains("unknown field `entires`"));
        assert!(refusal(&SMALL.replace("\"warm\"", "")).contains("states is empty"));
        assert!(refusal(&SMALL.replace("\"warm\"", "\"hot\"")).contains("hot"));
        assert!(
            refusal(&SMALL.replace("= \"read\"\n        [[", "= \"raed\"\n[["))
                .contains("did you mean \"read\"")
        );
        assert!(refusal(&format!("{SMALL}\n[[entry]]\nname = \"read\"")).contains("two entries"));
        assert!(refusal(&format!("{SMALL}\nrun = []")).contains("runs nothing"));
        let block = |block: &str| refusal(&format!("{SMALL}\n[block.warm]\n{block}"));
        assert!(block("warmup = 0\nruns = 0").contains("runs = 0"));
        assert!(block("warmup = 4294967295\nruns = 1").contains("more than 10000"));
        assert!(refusal(&format!("{SMALL}\n[[entry]]\nname = \"\"")).contains("no name"));
        let external = "[[external]]\nname = \"x\"\nrun = [\"x\"]\nworks = []\nlimit = 1e300";
        assert!(refusal(&format!("{SMALL}\n{external}")).contains("limit must be"));
    }

    #[test]
    fn an_unknown_suite_names_the_near_one() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hyperfine/suites");
        let error = Suite::load(&folder, "scna").unwrap_err().to_string();
        assert_eq!(error, "unknown suite \"scna\" (did you mean \"scan\"?)");
    }
}
