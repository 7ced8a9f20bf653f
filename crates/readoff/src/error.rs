//! What can go wrong, as one line and an exit code of sysexits(3).

use std::fmt;

use crate::format::printable;

/// An error that ends the program: one line for a person, and the exit code for a script.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
}

/// Exit codes, after sysexits(3); 130 is what shells give a program ended by Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// The command line can't be used.
    Usage = 64,
    /// The data changed under us, or answers disagree: the race is void.
    Data = 65,
    /// No such input, or not one that can be raced.
    NoInput = 66,
    /// Not available here: hyperfine, a state, a strategy.
    Unavailable = 69,
    /// Something went wrong inside: a program of ours broke its contract.
    Software = 70,
    /// The results can't be written.
    CantCreate = 73,
    /// Reading or writing failed.
    Io = 74,
    /// Somebody else is at it; later it may work.
    TryAgain = 75,
    /// Ctrl-C, or asked to end.
    Interrupted = 130,
}

impl Code {
    /// What a program of ours means by its exit code.
    pub fn of_program(code: i32) -> Code {
        match code {
            64 => Code::Usage,
            65 => Code::Data,
            66 => Code::NoInput,
            69 => Code::Unavailable,
            73 => Code::CantCreate,
            74 => Code::Io,
            _ => Code::Software,
        }
    }
}

/// An error with its exit code.
pub fn failure(code: Code, message: impl fmt::Display) -> anyhow::Error {
    // One line, whatever is quoted in it.
    let message = printable(message.to_string().trim());
    Failure { code, message }.into()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The exit code of an error: its own, or 74 for whatever the system refused.
pub fn code_of(error: &anyhow::Error) -> u8 {
    error
        .downcast_ref::<Failure>()
        .map_or(Code::Io, |failure| failure.code) as u8
}

/// ` (did you mean “mmap”?)` for the nearest known name, or the list of all where none is near.
pub fn near_match<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((similarity, candidate)) if similarity > 0.7 => {
            format!(" (did you mean {candidate:?}?)")
        }
        _ => format!(" (there are: {})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_gets_the_list() {
        assert_eq!(
            near_match("mnap", ["read", "mmap"]),
            " (did you mean \"mmap\"?)"
        );
        assert_eq!(
            near_match("zzz", ["read", "mmap"]),
            " (there are: read, mmap)"
        );
    }

    #[test]
    fn a_failure_is_one_line_with_its_code() {
        let error = failure(Code::NoInput, "a\nb\n");
        assert_eq!(error.to_string(), "a b");
        assert_eq!(code_of(&error), 66);
        assert_eq!(code_of(&anyhow::anyhow!("other")), 74);
    }
}
