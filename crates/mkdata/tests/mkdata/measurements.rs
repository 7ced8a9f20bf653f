use std::collections::HashSet;

use crate::made;

#[test]
fn the_bytes_never_change() {
    let data = made("measurements --size 1MiB");
    let text = String::from_utf8(data.clone()).unwrap();
    let first: Vec<&str> = text.lines().take(4).collect();
    assert_eq!(
        first,
        [
            "Los Angeles;13.0",
            "Paris;17.1",
            "Wrocław;7.7",
            "Islamabad;22.1"
        ]
    );
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1_048_566, 1_817_857_975)
    );

    let data = made("measurements --size 1MiB --seed 2");
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1_048_574, 58_178_761)
    );
}

#[test]
fn every_row_is_a_station_and_a_temperature_with_one_decimal() {
    let text = String::from_utf8(made("measurements --rows 200000")).unwrap();
    assert_eq!(text.lines().count(), 200_000);
    let mut stations = HashSet::new();
    for row in text.lines() {
        let (station, temperature) = row.split_once(';').unwrap();
        stations.insert(station);
        let (whole, decimal) = temperature.split_once('.').unwrap();
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        assert!(matches!(digits.len(), 1..=2) && decimal.len() == 1, "{row}");
        assert!(
            digits
                .bytes()
                .chain(decimal.bytes())
                .all(|c| c.is_ascii_digit()),
            "{row}"
        );
    }
    assert!(stations.len() >= 400, "{} stations", stations.len());
}

#[test]
fn a_billion_rows_would_take_13_8_gb() {
    let bytes = made("measurements --rows 100000").len();
    assert!((1_370_000..=1_390_000).contains(&bytes), "{bytes}");
}

#[test]
fn size_is_an_upper_bound_and_the_last_row_is_whole() {
    let all = made("measurements --size 5000");
    for size in [0, 1, 15, 16, 17, 4095, 4096, 4097] {
        let data = made(&format!("measurements --size {size}"));
        assert!(data.len() <= size);
        assert!(data.is_empty() || data.ends_with(b"\n"));
        // The next row wouldn't have fitted.
        let next = all[data.len()..].iter().position(|c| *c == b'\n').unwrap() + 1;
        assert!(data.len() + next > size);
        assert!(all.starts_with(&data));
    }
}

#[test]
fn rows_cross_the_bounds_of_the_write_calls_unharmed() {
    let long = made("measurements --rows 250000");
    assert!(long.len() > 3 << 20);
    let short = made("measurements --rows 70000");
    assert!(long.starts_with(&short));
}
