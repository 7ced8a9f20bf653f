//! `readoff env`: the machine, and what of it can spoil a measurement.

use std::fs;

use anyhow::Result;

use crate::cli::EnvArgs;
use crate::environment::Environment;
use crate::error::{Code, failure};
use crate::format::printable;
use crate::input::plain;
use crate::output::print;

/// Prints facts and warnings, also of what a file lies on.
///
/// # Errors
/// There is no such file: exit code 66.
pub fn env(args: &EnvArgs) -> Result<()> {
    if let Some(file) = &args.file {
        fs::metadata(file).map_err(|e| {
            let what = format!("{}: {}", file.display(), plain(&e));
            failure(Code::NoInput, what)
        })?;
    }
    let environment = Environment::look(args.file.as_deref());
    if args.json {
        return print(&(serde_json::to_string_pretty(&environment)? + "\n"));
    }
    let facts = environment.facts();
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let facts = facts
        .iter()
        .map(|(name, fact)| format!("{name:<width$}  {}\n", printable(fact)));
    print(&facts.collect::<String>())?;
    for warning in &environment.warnings {
        print(&format!("warning: {}\n", printable(&warning.line())))?;
    }
    Ok(())
}
