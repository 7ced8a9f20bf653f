//! One strategy against itself, and the delay that is planted.

use std::path::Path;
use std::process::Command;

use crate::support::*;

#[test]
fn a_strategy_is_raced_against_itself_and_nothing_is_left() {
    if !has_hyperfine("a_strategy_is_raced_against_itself_and_nothing_is_left") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 100_000);
    let temporary = place.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let outcome = place
        .readoff(["selftest", "--quiet", "--races", "2"])
        .arg(&file)
        .env("TMPDIR", &temporary)
        .succeeds();
    for row in ["identical", "one leads by 5 %"] {
        let said = outcome.stdout.lines().find(|line| line.starts_with(row));
        assert!(
            said.is_some_and(|line| line.contains("of 2")),
            "{outcome:?}"
        );
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    place.has_no_race();
}

#[test]
fn a_planted_delay_changes_nothing_but_the_time() {
    let plant = || Command::new(Path::new(env!("CARGO_BIN_EXE_plant-delay")));
    let planted = plant()
        .args([
            "1000",
            "sh",
            "-c",
            "printf '<%s>' \"$@\"; exit 7",
            "sh",
            "a b",
            "-c",
        ])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&planted.stdout), "<a b><-c>");
    assert_eq!(planted.status.code(), Some(7));
    for (words, code) in [
        (vec![], 64),
        (vec!["x", "true"], 64),
        (vec!["5"], 64),
        (vec!["5", "/nowhere"], 69),
    ] {
        assert_eq!(
            plant().args(&words).output().unwrap().status.code(),
            Some(code),
            "{words:?}"
        );
    }
}
