//! Words quoted for hyperfine, and command lines quoted for people.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// Words as one string that every version splits back into just these words, as a command under
/// `-N` and as `--prepare`. Every word is in single quotes, the program too: hyperfine 2.0 gives a
/// prepare step to `sh -c`, where `if`, `{x}`, `~` or `!` mean something unless they are quoted.
pub fn quote(words: &[String]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    quoted.join(" ")
}

/// A word as a person would type it for a shell, on one line: bare where it is plain, else in the
/// quotes that read best; `$'…'` (POSIX 2024, bash, zsh) where it has control characters or is no
/// UTF-8.
pub fn for_shell(word: &OsStr) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.as_bytes().iter().all(plain) => text.to_owned(),
        Some(text) if text.chars().any(char::is_control) => escaped(word.as_bytes()),
        Some(text) if !text.contains('\'') => format!("'{text}'"),
        Some(text) if !text.contains(['"', '$', '`', '\\', '!']) => format!("\"{text}\""),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => escaped(word.as_bytes()),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str(r"\n"),
            b'\'' | b'\\' => text.extend(['\\', byte as char]),
            b' '..=b'~' => text.push(byte as char),
            // Three octal digits end by themselves, whatever follows.
            _ => write!(text, r"\{byte:03o}").expect("a string takes everything"),
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::process::Command;

    #[test]
    fn what_a_person_sees_is_as_plain_as_it_can_be() {
        let cases = [
            ("--runs", "--runs"),
            ("", "''"),
            ("two words", "'two words'"),
            ("--prepare='a b' 'c'", "\"--prepare='a b' 'c'\""),
            ("it's $5", r"'it'\''s $5'"),
            ("two\nlines", r"$'two\nlines'"),
        ];
        for (word, shown) in cases {
            assert_eq!(for_shell(OsStr::new(word)), shown);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn bash_reads_back_what_was_quoted(words in prop::collection::vec(prop::collection::vec(1u8..=255, 0..20), 1..20)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            let shown: Vec<String> = words.iter().map(|word| for_shell(word)).collect();
            let line = format!(r"printf '%s\0' {}", shown.join(" "));
            prop_assert!(!line.contains('\n'));
            let Ok(output) = Command::new("bash").env("LC_ALL", "C.UTF-8").args(["-c", &line]).output() else {
                eprintln!("skipped: bash_reads_back_what_was_quoted: no bash");
                return Ok(());
            };
            let read: Vec<&[u8]> = output.stdout.strip_suffix(b"\0").unwrap().split(|&byte| byte == 0).collect();
            let expected: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
