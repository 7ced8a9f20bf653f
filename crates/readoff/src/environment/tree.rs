//! The files in which Linux tells about itself.

use std::fs;
use std::path::Path;
use std::str::FromStr;

/// What lies below `/`, or a test's copy of some of it. Other systems have none of the files that are
/// asked for here, and [`super::sys`] instead.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a>(pub &'a Path);

impl Tree<'static> {
    /// The machine's own.
    pub fn own() -> Tree<'static> {
        Tree(Path::new("/"))
    }
}

impl Tree<'_> {
    /// A file's text, trimmed; none where it can't be read or is empty.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.0.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_string();
        (!text.is_empty()).then_some(text)
    }

    /// A file that holds one number.
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds a switch: 0 or N is off, anything else on.
    pub fn switch(&self, path: &str) -> Option<bool> {
        self.text(path)
            .map(|text| !matches!(text.as_str(), "0" | "N"))
    }

    /// What lies in a folder, sorted by name; nothing where it can't be read.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// The value in brackets of a list of choices: `always [madvise] never`.
pub fn chosen(choices: &str) -> Option<&str> {
    let (_, rest) = choices.split_once('[')?;
    Some(rest.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_what_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), Some("mq-deadline"));
        assert_eq!(chosen("none"), None);
    }
}
