//! Zeros and random bytes.

use std::fs::File;
use std::os::fd::AsRawFd;

use tempfile::TempDir;

use crate::{made, mkdata};

const SIZES: [usize; 7] = [0, 1, 7, 4097, (1 << 20) - 1, 1 << 20, (3 << 20) + 5];

#[test]
fn zeros_are_exactly_as_many_as_asked_for() {
    for size in SIZES {
        let data = made(&format!("zeros --size {size}"));
        assert_eq!(data.len(), size);
        assert!(data.iter().all(|byte| *byte == 0));
    }
}

#[test]
fn zeros_are_no_hole() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "zeros --size 3MB data").assert().success();
    let file = File::open(dir.path().join("data")).unwrap();
    // SAFETY: a plain call on an open descriptor.
    let hole = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_HOLE) };
    // The only hole is the one that every file has at its end.
    assert_eq!(hole, 3_000_000);
}

#[test]
fn random_bytes_never_change_and_are_exactly_as_many_as_asked_for() {
    let all = made("random --size 4MiB");
    assert_eq!(all[..8], [0xc1, 0x5c, 0x02, 0x89, 0xec, 0x2d, 0x0a, 0x91]);
    assert_eq!(crc32fast::hash(&all[..1 << 20]), 253_783_738);
    assert_eq!(
        crc32fast::hash(&made("random --size 1MiB --seed 2")),
        1_775_264_961
    );
    for size in SIZES {
        let data = made(&format!("random --size {size}"));
        assert_eq!(data.len(), size);
        assert!(all.starts_with(&data));
    }
}

#[test]
fn random_bytes_have_every_value_equally_often() {
    let mut counts = [0; 256];
    for byte in made("random --size 1MiB") {
        counts[usize::from(byte)] += 1;
    }
    // 4096 expected, with a standard deviation of 64: five of them.
    assert!(
        counts.iter().all(|count| (3776..=4416).contains(count)),
        "{counts:?}"
    );
}
