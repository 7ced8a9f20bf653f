//! /proc/self/mountinfo, see proc_pid_mountinfo(5).

use std::{
    ffi::OsString,
    fs,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

pub struct Mount {
    pub id: u32,
    /// What of the filesystem is mounted.
    pub root: PathBuf,
    pub point: PathBuf,
    pub fstype: String,
    pub source: PathBuf,
    pub super_options: String,
}

/// Every mount that this process sees; none if /proc isn't there.
pub fn mounts() -> Vec<Mount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    table
        .split(|&byte| byte == b'\n')
        .filter_map(parse)
        .collect()
}

fn parse(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    // A variable number of optional fields ends in a lone dash.
    let dash = fields.iter().position(|field| *field == b"-")?;
    let text = |index: usize| Some(String::from_utf8_lossy(fields.get(index)?).into_owned());
    let path = |index: usize| Some(unescape(fields.get(index)?));
    Some(Mount {
        id: text(0)?.parse().ok()?,
        root: path(3)?,
        point: path(4)?,
        fstype: text(dash + 1)?,
        source: path(dash + 2)?,
        super_options: text(dash + 3)?,
    })
}

/// Space, tab, newline and backslash are written as three octal digits.
pub fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] if *first == b'\\' => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Path::new(&OsString::from_vec(bytes)).to_owned()
}
