//! Command lines: a few flags with values, and one file.
//!
//! By `lexopt`, not `clap`, which is 300 KiB in each of dozens of binaries, and part of the start of
//! a process that is timed.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bytesize::ByteSize;
use lexopt::Arg;

use crate::exit::{self, Error, Exit, Result};

/// A flag of a strategy: `--name VALUE`.
pub struct Flag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What stands for its value in the help; empty if it has none.
    pub value: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
}

/// The flag of every strategy: the record instead of the answer.
pub const JSON: Flag = Flag {
    name: "json",
    value: "",
    help: "print the record of the run (JSON) instead of the answer",
};

/// What was given on the command line.
pub struct Args {
    file: PathBuf,
    given: Vec<(&'static str, OsString)>,
}

impl Args {
    /// Parses this process's command line. `flags` are those of the family and of the strategy.
    /// `None` if help was asked for; it has been printed then, `about` being its first line.
    ///
    /// # Errors
    /// [`Exit::Usage`] for what isn't understood.
    pub fn parse(about: &str, flags: &[&[Flag]]) -> Result<Option<Args>> {
        let flags: Vec<&Flag> = flags.iter().copied().flatten().chain([&JSON]).collect();
        let mut parser = lexopt::Parser::from_env();
        let (mut file, mut given) = (None, Vec::new());
        while let Some(arg) = parser.next().map_err(usage)? {
            let name = match arg {
                Arg::Short('h') => "help",
                Arg::Long(name) => name,
                Arg::Value(path) if file.is_none() => {
                    file = Some(PathBuf::from(path));
                    continue;
                }
                Arg::Value(_) | Arg::Short(_) => return Err(usage(arg.unexpected())),
            };
            if name == "help" {
                return exit::print(&help(about, &flags)).map(|()| None);
            }
            match flags.iter().find(|flag| flag.name == name) {
                Some(Flag {
                    name, value: "", ..
                }) => given.push((*name, OsString::new())),
                Some(Flag { name, .. }) => given.push((*name, parser.value().map_err(usage)?)),
                None => return Err(usage(arg.unexpected())),
            }
        }
        let file = file.ok_or_else(|| usage("which FILE?"))?;
        Ok(Some(Args { file, given }))
    }

    /// The file to read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the flag of that name was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// The value of the flag of that name, if it was given. The last one counts.
    ///
    /// # Errors
    /// [`Exit::Usage`] if it is no such value.
    pub fn get<T>(&self, name: &str) -> Result<Option<T>>
    where
        T: FromStr,
        T::Err: Display,
    {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let parsed = text.parse().map_err(|why| invalid(name, &text, why));
        parsed.map(Some)
    }

    /// The path that the flag of that name gives, if it was given. The last one counts.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.value(name).map(PathBuf::from)
    }

    /// What the value of the flag of that name stands for; the first choice if it wasn't given.
    ///
    /// # Errors
    /// [`Exit::Usage`] if it is none of the choices.
    pub fn choice<T: Clone>(&self, name: &str, choices: &[(&str, T)]) -> Result<T> {
        let Some(text) = self.text(name) else {
            return Ok(choices[0].1.clone());
        };
        let chosen = choices.iter().find(|(choice, _)| *choice == text);
        chosen.map(|(_, value)| value.clone()).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
            invalid(name, &text, format_args!("not one of {}", names.join(", ")))
        })
    }

    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.value(name).map(|value| value.to_string_lossy())
    }

    fn value(&self, name: &str) -> Option<&OsString> {
        let mut latest_first = self.given.iter().rev();
        latest_first
            .find(|(given, _)| *given == name)
            .map(|(_, value)| value)
    }
}

/// The command line is wrong.
pub fn usage(what: impl Display) -> Error {
    Error::new(Exit::Usage, format_args!("{what} (--help tells more)"))
}

/// The flag of that name can't have that value.
pub fn invalid(name: &str, text: &str, why: impl Display) -> Error {
    usage(format_args!("invalid value {text:?} for --{name}: {why}"))
}

fn help(about: &str, flags: &[&Flag]) -> String {
    let mut lines = vec![("-h, --help".to_owned(), "print this")];
    lines.extend(
        flags
            .iter()
            .map(|flag| (format!("    --{} {}", flag.name, flag.value), flag.help)),
    );
    let width = lines.iter().map(|(flag, _)| flag.len()).max().unwrap_or(0);
    let mut text = format!(
        "{about}\n\nUsage: {} [OPTIONS] FILE\n\nOptions:\n",
        exit::program()
    );
    for (flag, what) in lines {
        text += &format!("  {flag:width$}  {what}\n");
    }
    text
}

/// A size in bytes, from 1 on, as bytesize writes it: `4096`, `64KiB`, `1MB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(pub usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Size, String> {
        match ByteSize::from_str(text)?.as_u64() {
            0 => Err("must be at least 1 byte".into()),
            bytes if bytes > isize::MAX as u64 => Err("larger than any address space".into()),
            bytes => Ok(Size(bytes as usize)),
        }
    }
}
