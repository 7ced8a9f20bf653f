//! `--rounds auto`: until the question is settled or the budget is spent.

use crate::support::*;

#[test]
fn a_large_lead_ends_the_race_long_before_the_budget_is_spent() {
    if !has_hyperfine("a_large_lead_ends_the_race_long_before_the_budget_is_spent") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 50_000);
    // A strategy that sleeps first.
    let programs = place.programs();
    let real = beside_readoff().join("scan-mmap");
    let script = format!(
        r#"case "$*" in *" /"|-h) ;; *) sleep 0.1;; esac; exec '{}' "$@""#,
        real.display()
    );
    place.script("programs/scan-mmap", &script);
    let outcome = place
        .race_on(&file)
        .with("--rounds auto --budget 60s --entries read,mmap --state warm")
        .env("READOFF_PROGRAMS", programs)
        .succeeds();
    outcome.prints("warm: read, ");
    let race = json(place.race().join("race.json"));
    let state = &race["states"][0];
    assert_eq!(race["plan"]["until_settled"], true);
    assert_eq!(state["verdict"]["test"], "sequential");
    assert_eq!(state["verdict"]["winner"], "read");
    let rounds = state["rounds"].as_u64().unwrap();
    assert!((6..100).contains(&rounds), "{rounds}");

    // Nothing is left to tell, so a race that is gone on with runs no more rounds.
    let before = self::rounds(&place.race());
    place
        .readoff(["run", "--quiet", "--resume"])
        .arg(place.race())
        .env("READOFF_PROGRAMS", place.path().join("programs"))
        .succeeds();
    assert_eq!(self::rounds(&place.race()), before);
}

#[test]
fn the_budget_ends_what_is_not_settled() {
    if !has_hyperfine("the_budget_ends_what_is_not_settled") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .with("--rounds auto --budget 1s --entries read,fread --state warm")
        .succeeds();
    let race = json(place.race().join("race.json"));
    assert_eq!(
        (&race["plan"]["budget"], &race["status"]),
        (&1.0.into(), &"finished".into())
    );
    assert!(race["states"][0]["rounds"].as_u64().unwrap() >= 1);
}

#[test]
fn a_race_shows_its_neighbours_and_its_quartiles() {
    if !has_hyperfine("a_race_shows_its_neighbours_and_its_quartiles") {
        return;
    }
    let place = Place::new();
    let file = place.file("data", 10_000);
    place
        .race_on(&file)
        .with("--rounds 12 --entries read,mmap,fread --state warm")
        .succeeds();
    let state = &json(place.race().join("race.json"))["states"][0];
    let neighbours = state["neighbours"].as_array().unwrap();
    let blocks: u64 = neighbours
        .iter()
        .map(|n| n["blocks"].as_u64().unwrap())
        .sum();
    assert_eq!(
        blocks,
        3 * 12,
        "each block has a predecessor, or is the first"
    );
    for row in state["rows"].as_array().unwrap() {
        let figure = |name: &str| row[name].as_f64().unwrap();
        let order = ["min", "lower_quartile", "median", "upper_quartile", "max"].map(figure);
        assert!(order.is_sorted(), "{row}");
        assert!(row["outliers"].is_u64(), "{row}");
    }
    let report = std::fs::read_to_string(place.race().join("report.md")).unwrap();
    assert!(report.contains("| who ran before |"), "{report}");
}

#[test]
fn grouped_order_has_no_rounds_to_stop_after() {
    let place = Place::new();
    let file = place.file("data", 10);
    if has_hyperfine("grouped_order_has_no_rounds_to_stop_after") {
        let race = place.race_on(&file).with("--rounds auto --order grouped");
        race.fails(64, &["--rounds auto", "grouped"]);
    }
}
