//! The commands. Each does what it can, names on stderr what it can't, and returns the exit code of
//! the first failure, or 0.

use std::{
    env,
    fmt::Display,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytesize::ByteSize;
use pagecache::{
    Action, Error, Fill, OneLine, Prepared, Request, Residency, State, filesystem, open,
    purge_system, refuse_larger_than_memory, residency,
};
use serde::Serialize;

use crate::{args, walk};

/// One line on stderr. Nothing is left to do where that can't be written.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "pagecache: {text}");
}

/// Says what went wrong; returns the exit code.
pub fn complain(error: &Error) -> u8 {
    say(error);
    error.exit_code()
}

fn print(text: &str) -> Result<(), Error> {
    writeln!(io::stdout(), "{text}").map_err(|cause| Error::Io("stdout".into(), cause))
}

/// Does `work` for every file; returns the first exit code that isn't 0.
fn for_each(paths: &[PathBuf], mut work: impl FnMut(&Path) -> Result<(), Error>) -> u8 {
    let (files, mut code) = walk::files(paths);
    for path in files {
        if let Err(error) = work(&path) {
            let failed = complain(&error);
            code = if code == 0 { failed } else { code };
        }
    }
    code
}

#[derive(Serialize)]
struct Status {
    path: String,
    filesystem: String,
    #[serde(flatten)]
    residency: Residency,
}

#[derive(Serialize)]
struct Statuses {
    files: Vec<Status>,
    total: Residency,
}

/// `pagecache status`.
pub fn status(paths: &[PathBuf], json: bool) -> u8 {
    let mut files = Vec::new();
    let mut code = for_each(paths, |path| {
        let io = |cause| Error::Io(path.to_owned(), cause);
        let residency = residency(&open(path)?).map_err(io)?;
        if !json {
            print(&row(&residency, &OneLine(path).to_string()))?;
        }
        files.push(Status {
            path: path.to_string_lossy().into_owned(),
            filesystem: filesystem(path).map_err(io)?.name,
            residency,
        });
        Ok(())
    });
    let total: Residency = files.iter().map(|file| file.residency.clone()).sum();
    let printed = if json {
        let document = Statuses { files, total };
        serde_json::to_string_pretty(&document)
            .map_err(|cause| Error::Io("stdout".into(), cause.into()))
            .and_then(|text| print(&text))
    } else if files.len() > 1 {
        print(&row(&total, &format!("total of {} files", files.len())))
    } else {
        Ok(())
    };
    if let Err(error) = printed {
        code = complain(&error);
    }
    code
}

fn row(residency: &Residency, name: &str) -> String {
    let size = |bytes: Option<u64>| match bytes {
        Some(bytes) => ByteSize::b(bytes).display().iec().to_string(),
        None => "?".to_owned(),
    };
    let percent = match (residency.resident, residency.share()) {
        (None, _) => "?".to_owned(),
        (_, None) => "-".to_owned(),
        (_, Some(share)) => format!("{:.1} %", share * 100.0),
    };
    let why = match &residency.why_unknown {
        Some(why) => format!(" ({why})"),
        None => String::new(),
    };
    format!(
        "{:>10} of {:>10} resident {percent:>8} {:>10} dirty  {:9}  {name}{why}",
        size(residency.resident),
        size(Some(residency.total)),
        size(residency.dirty),
        residency.by,
    )
}

/// `pagecache evict`.
pub fn evict(paths: &[PathBuf], system: bool) -> u8 {
    if system && let Err(error) = purge_system() {
        return complain(&error);
    }
    for_each(paths, |path| {
        let evicted = pagecache::evict(path)?;
        let found = match evicted.before.resident {
            Some(bytes) => format!(", {} before", ByteSize::b(bytes).display().iec()),
            None => String::new(),
        };
        let name = OneLine(path);
        warn(
            &name,
            evicted.after.why_unknown.iter().chain(&evicted.notes),
        );
        print(&format!("{name}: evicted: {}{found}", evicted.after))
    })
}

/// `pagecache fill`.
pub fn fill(paths: &[PathBuf], how: Fill) -> u8 {
    let (files, code) = walk::files(paths);
    // All together are to be resident at the end.
    let bytes = files
        .iter()
        .filter_map(|path| path.metadata().ok())
        .map(|found| found.len())
        .sum();
    if let Some(first) = files.first()
        && let Err(error) = refuse_larger_than_memory(first, bytes)
    {
        return complain(&error);
    }
    let filled = for_each(&files, |path| {
        let look = pagecache::fill(path, how)?;
        let name = OneLine(path);
        warn(&name, look.why_unknown.iter());
        print(&format!("{name}: filled: {look}"))
    });
    if code == 0 { filled } else { code }
}

/// `pagecache prepare`: unlike the others it stops at the first failure, for there is no state then.
pub fn prepare(args: &args::Prepare) -> u8 {
    let (files, code) = walk::files(&args.paths);
    if code != 0 {
        return code;
    }
    if files.is_empty() {
        let why = "has no regular file in it".to_owned();
        return complain(&Error::NoInput(args.paths[0].clone(), why));
    }
    let request = Request {
        state: args.state,
        executable: args.executable.as_deref(),
        purge: args.purge,
    };
    let prepared = match (&args.scratch, &files[..]) {
        (None, files) => pagecache::prepare(files, request),
        (Some(folder), [file]) => pagecache::prepare_scratch(file, request, folder, args.copy),
        (Some(folder), _) => {
            say(format_args!(
                "{}: a scratch folder is for one file",
                OneLine(folder)
            ));
            return 64;
        }
    };
    match prepared.and_then(log) {
        Ok(()) => 0,
        Err(error) => complain(&error),
    }
}

fn log(prepared: Prepared) -> Result<(), Error> {
    if let Some(log) = env::var_os("READOFF_RECORD") {
        prepared.append_to(Path::new(&log))?;
    }
    for note in &prepared.notes {
        say(note);
    }
    print(&sentence(&prepared))
}

/// `pagecache remove-scratch`.
pub fn remove_scratch(folder: &Path) -> u8 {
    match pagecache::remove_scratch(folder) {
        Ok(()) => 0,
        Err(error) => complain(&error),
    }
}

fn sentence(prepared: &Prepared) -> String {
    let state = match prepared.state {
        State::Cold => "cold",
        State::Warm => "warm",
        State::WarmRandom => "warm-random",
        State::AsIs => "as-is",
    };
    let action = match prepared.action {
        Action::Verified => "held already",
        Action::Evicted => "evicted",
        Action::Filled => "filled",
        Action::None => "left alone",
    };
    let size = |bytes| ByteSize::b(bytes).display().iec();
    let proof = match prepared.resident {
        Some(resident) => format!("{} of {} resident", size(resident), size(prepared.bytes)),
        None => format!("{}, residency unknown", size(prepared.bytes)),
    };
    format!("{state}: {action}: {proof} ({})", prepared.by)
}

fn warn<'a>(name: &OneLine, notes: impl Iterator<Item = &'a String>) {
    for note in notes {
        say(format_args!("{name}: {note}"));
    }
}
