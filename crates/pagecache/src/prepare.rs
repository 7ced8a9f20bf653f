//! The step before a timed run: bring a state about, prove it, and log it.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Fill, Method, Residency, State,
    evict::{evict_beneath, evict_open, require_cold_state},
    fill::{fill, fill_open, read_in_order},
    memory::refuse_larger_than_memory,
    open, purge_system, residency,
    scratch::Scratch,
};

/// What is evicted to make files cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Purge {
    /// The files' own pages
    File,
    /// Every clean page of the machine (needs root)
    System,
}

/// What to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The state to bring about.
    pub state: State,
    /// The program that will be timed: it is read, so that loading it isn't.
    pub executable: Option<&'a Path>,
    /// How a cold state is brought about.
    pub purge: Purge,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The state held already.
    Verified,
    /// Pages were dropped.
    Evicted,
    /// Files were evicted and read.
    Filled,
    /// Nothing was asked for.
    None,
}

/// How the cache came to be as the run finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filled {
    /// It is empty.
    None,
    /// By [`Fill::Readahead`], in this step.
    Readahead,
    /// By [`Fill::Random`], in this step.
    Random,
    /// Before this step, which can't tell by whom.
    Found,
}

/// The prepare line of a round's log. Sizes are bytes of all files together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "prepare")]
pub struct Prepared {
    /// What was asked for.
    pub state: State,
    /// How the cache was filled.
    pub fill: Filled,
    /// What was done.
    pub action: Action,
    /// How residency was learned; the least telling one of several files.
    pub by: Method,
    /// The files' size.
    pub bytes: u64,
    /// Resident on arrival.
    pub found_resident: Option<u64>,
    /// Resident at the end: this is what was proved.
    pub resident: Option<u64>,
    /// Dirty at the end.
    pub dirty: Option<u64>,
    /// What this step took.
    pub seconds: f64,
    /// Why the state is not, or not wholly, proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Prepared {
    /// Whether the files were in the state that was asked for; none where that couldn't be told.
    pub fn holds(&self) -> Option<bool> {
        let look = Residency {
            total: self.bytes,
            resident: self.resident,
            dirty: self.dirty,
            by: self.by,
            why_unknown: None,
        };
        look.holds(self.state)
    }

    /// Appends this as one line to the log at `path`, in one write; makes the log if it's missing.
    pub fn append_to(&self, path: &Path) -> Result<(), Error> {
        let mut log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(|cause| Error::CannotCreate(path.to_owned(), cause))?;
        let mut line =
            serde_json::to_vec(self).map_err(|cause| Error::Io(path.to_owned(), cause.into()))?;
        line.push(b'\n');
        log.write_all(&line).map_err(Error::io(path))
    }
}

struct Input<'a> {
    path: &'a Path,
    file: File,
}

impl Input<'_> {
    fn look(&self) -> Result<Residency, Error> {
        residency(&self.file).map_err(Error::io(self.path))
    }
}

/// Brings `paths` into a state, proves it, and reads the executable.
///
/// A file that is in the state already is only looked at. Where residency can't be told, the action
/// is taken anyway and the result says unknown. Fails with [`Error::Unavailable`] where the state
/// can't exist, with [`Error::NotReached`] and the reason where it was not reached.
pub fn prepare(paths: &[PathBuf], request: Request) -> Result<Prepared, Error> {
    let started = Instant::now();
    let inputs = paths
        .iter()
        .map(|path| {
            let file = open(path)?;
            Ok(Input { path, file })
        })
        .collect::<Result<Vec<Input>, Error>>()?;
    let found = inputs
        .iter()
        .map(Input::look)
        .collect::<Result<Vec<Residency>, Error>>()?;
    let mut notes = Vec::new();
    let (action, fill) = match request.state {
        State::Cold => (
            make_cold(&inputs, &found, request.purge, &mut notes)?,
            Filled::None,
        ),
        State::Warm => make_warm(&inputs, &found, Fill::Readahead)?,
        State::WarmRandom => make_warm(&inputs, &found, Fill::Random)?,
        State::AsIs => (Action::None, Filled::Found),
    };
    if let Some(path) = request.executable {
        read_in_order(&open(path)?).map_err(Error::io(path))?;
    }
    // What held on arrival, or was left alone, was looked at just now.
    let proved = match action {
        Action::Verified | Action::None => found.clone().into_iter().sum(),
        Action::Evicted | Action::Filled => prove(&inputs, request.state)?,
    };
    notes.extend(proved.why_unknown);
    Ok(Prepared {
        state: request.state,
        fill,
        action,
        by: proved.by,
        bytes: proved.total,
        found_resident: found.into_iter().sum::<Residency>().resident,
        resident: proved.resident,
        dirty: proved.dirty,
        seconds: started.elapsed().as_secs_f64(),
        notes,
    })
}

fn make_cold(
    inputs: &[Input],
    found: &[Residency],
    purge: Purge,
    notes: &mut Vec<String>,
) -> Result<Action, Error> {
    for input in inputs {
        require_cold_state(input.path, &input.file)?;
    }
    if purge == Purge::System {
        purge_system()?;
        return Ok(Action::Evicted);
    }
    let mut action = Action::Verified;
    for (input, look) in inputs.iter().zip(found) {
        if look.holds(State::Cold) == Some(true) {
            // The file is cold, but what lies beneath may have been read by others.
            notes.extend(evict_beneath(&input.file));
        } else {
            notes.extend(evict_open(input.path, &input.file)?.notes);
            action = Action::Evicted;
        }
    }
    notes.dedup();
    Ok(action)
}

fn make_warm(inputs: &[Input], found: &[Residency], how: Fill) -> Result<(Action, Filled), Error> {
    let lost: Vec<&Input> = inputs
        .iter()
        .zip(found)
        .filter(|(_, look)| look.holds(State::Warm) != Some(true))
        .map(|(input, _)| input)
        .collect();
    let Some(first) = lost.first() else {
        return Ok((Action::Verified, Filled::Found));
    };
    refuse_larger_than_memory(first.path, found.iter().map(|look| look.total).sum())?;
    for input in lost {
        fill_open(input.path, &input.file, how)?;
    }
    let filled = match how {
        Fill::Readahead => Filled::Readahead,
        Fill::Random => Filled::Random,
    };
    Ok((Action::Filled, filled))
}

/// [`prepare`] for a program that writes to the scratch folder `folder`: that is made if missing, and
/// what an earlier run left in it is removed. With `copy`, for one that rewrites a copy of the file
/// there: that is made, and brought into the state beside the file; sizes are those of both. A warm
/// copy is resident as writing left it, except where a random fill is asked for.
///
/// Fails as [`prepare`] does; with [`Error::NoInput`] if the folder is something else or has
/// something else in the copy's place; with [`Error::CannotCreate`] if there is no space for it.
pub fn prepare_scratch(
    file: &Path,
    request: Request,
    folder: &Path,
    copy: bool,
) -> Result<Prepared, Error> {
    let started = Instant::now();
    let input = open(file)?;
    let metadata = input.metadata().map_err(Error::io(file))?;
    let scratch = Scratch::make(folder)?;
    if !copy {
        scratch.remove_copy(Some(&metadata))?;
        return prepare(&[file.to_owned()], request);
    }
    let files = [file.to_owned(), scratch.copy()];
    let mut found = residency(&input).map_err(Error::io(file))?;
    if let Ok(old) = open(&files[1]) {
        let look = residency(&old).map_err(Error::io(&files[1]))?;
        found = [found, look].into_iter().sum();
    }
    scratch.check_space(metadata.len())?;
    scratch.remove_copy(Some(&metadata))?;
    // Copying reads the file. So a warm state, whose fill counts, is brought about before it; a cold
    // one after it.
    let first = match request.state {
        State::Warm | State::WarmRandom => {
            refuse_larger_than_memory(file, metadata.len().saturating_mul(2))?;
            Some(prepare(&files[..1], request)?)
        }
        State::Cold | State::AsIs => None,
    };
    scratch.copy_from(file)?;
    if request.state == State::WarmRandom {
        fill(&files[1], Fill::Random)?;
    }
    let mut both = prepare(&files, request)?;
    if let Some(first) = first.filter(|first| first.action == Action::Filled) {
        (both.action, both.fill) = (first.action, first.fill);
    }
    if request.state == State::AsIs {
        both.notes.push("copying the file has read it".to_owned());
    }
    both.found_resident = found.resident;
    both.seconds = started.elapsed().as_secs_f64();
    Ok(both)
}

/// Looks at every file again, and fails if one is not in `state`.
fn prove(inputs: &[Input], state: State) -> Result<Residency, Error> {
    let mut looks = Vec::new();
    for input in inputs {
        let look = input.look()?;
        if look.holds(state) == Some(false) {
            let why = format!("{look} at the end: somebody else uses it");
            return Err(Error::NotReached(input.path.to_owned(), why));
        }
        looks.push(look);
    }
    Ok(looks.into_iter().sum())
}
