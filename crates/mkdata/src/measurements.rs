//! The one-billion-row text: `Station;12.3` lines.

use crate::error::Result;
use crate::padded::Padded;
use crate::rng::Rng;
use crate::sink::{Limit, Sink};

/// What a row takes on average, bytes, rounded up.
pub const MEAN_ROW: u64 = 14;

/// Cities and the mean temperature of each, in the form of the rows themselves.
pub const STATIONS: &str = include_str!("stations.txt");

struct Station {
    /// The name and the semicolon.
    name: Padded<32>,
    /// Mean temperature, tenths of a degree.
    mean: i64,
}

/// Writes rows until `limit`; returns how many.
///
/// A row's station is picked evenly; its temperature is the station's mean plus a bell-shaped error with
/// a standard deviation of 10 degrees, held within -99.9 and 99.9.
///
/// # Errors
/// Those of [`Sink::rows`].
pub fn write(sink: &mut Sink, limit: Limit, seed: u64) -> Result<u64> {
    let stations = stations();
    let temperatures: Vec<Padded<8>> = (-999..=999).map(temperature).collect();
    let mut rng = Rng::new(seed);
    sink.rows(limit, |out| {
        let bits = rng.next();
        // The upper half picks the station, the lower one the error.
        let station = &stations[(((bits >> 32) * stations.len() as u64) >> 32) as usize];
        let tenths = (station.mean + error(bits as u32)).clamp(-999, 999);
        station.name.append_to(out);
        temperatures[(tenths + 999) as usize].append_to(out);
    })
}

/// A bell-shaped error in tenths of a degree with a standard deviation of 100, at most ±345: the sum of
/// four even numbers of 0..256, which has mean 510 and standard deviation 147.8.
#[inline]
fn error(bits: u32) -> i64 {
    let sum: i64 = bits.to_le_bytes().iter().map(|byte| i64::from(*byte)).sum();
    (sum - 510) * 1000 / 1478
}

/// The end of a row, from tenths of a degree.
fn temperature(tenths: i64) -> Padded<8> {
    let sign = if tenths < 0 { "-" } else { "" };
    let size = tenths.abs();
    Padded::new(&format!("{sign}{}.{}\n", size / 10, size % 10))
}

fn stations() -> Vec<Station> {
    let station = |line: &str| {
        let (name, mean) = line.split_once(';').expect("a line is name;mean");
        Station {
            name: Padded::new(&format!("{name};")),
            // One decimal each, so the digits without the point are tenths.
            mean: mean.replace('.', "").parse().expect("a mean is a number"),
        }
    };
    STATIONS.lines().map(station).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_bell_shaped_and_centred() {
        let mut rng = Rng::new(1);
        let errors: Vec<i64> = (0..100_000).map(|_| error(rng.next() as u32)).collect();
        let mean = errors.iter().sum::<i64>() / errors.len() as i64;
        let variance = errors.iter().map(|e| e * e).sum::<i64>() / errors.len() as i64;
        let within_one_deviation = errors.iter().filter(|e| e.abs() <= 100).count();
        assert!((-1..=1).contains(&mean), "{mean}");
        assert!((9_800..=10_200).contains(&variance), "{variance}");
        assert!(
            (67_000..=69_000).contains(&within_one_deviation),
            "{within_one_deviation}"
        );
        assert_eq!((error(0), error(u32::MAX)), (-345, 345));
    }

    #[test]
    fn temperatures_have_one_decimal_and_no_negative_zero() {
        let text = |tenths| {
            let mut out = Vec::new();
            temperature(tenths).append_to(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            [-999, -5, 0, 5, 123, 999].map(text),
            ["-99.9\n", "-0.5\n", "0.0\n", "0.5\n", "12.3\n", "99.9\n"]
        );
    }

    #[test]
    fn there_are_400_stations_or_more_each_once() {
        let mut names: Vec<&str> = STATIONS
            .lines()
            .map(|l| l.split_once(';').unwrap().0)
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STATIONS.lines().count());
        assert!(names.len() >= 400);
        assert!(names.iter().any(|name| !name.is_ascii()));
        // All can be read.
        assert_eq!(stations().len(), names.len());
    }
}
