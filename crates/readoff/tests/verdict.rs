//! The verdict's promises, kept over many simulated races.

use fastrand::Rng;
use readoff::verdict::Verdict;
use std::f64::consts::TAU;

/// Noise of one block of runs, with about the spread of 1.
type Noise = fn(&mut Rng) -> f64;

fn normal(rng: &mut Rng) -> f64 {
    // Box and Muller.
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos()
}

/// Student's t with two degrees of freedom: its variance is infinite.
fn heavy_tailed(rng: &mut Rng) -> f64 {
    normal(rng) / (-(1.0 - rng.f64()).ln()).sqrt()
}

/// The verdict on a race of entries whose true times are `seconds`, under noise of 3 %, on a machine
/// that drifts by itself: each round it takes its own factor.
fn race(seconds: &[f64], rounds: usize, noise: Noise, rng: &mut Rng) -> Verdict {
    let labels: Vec<String> = (0..seconds.len())
        .map(|entry| format!("entry {entry}"))
        .collect();
    let drift: Vec<f64> = (0..rounds).map(|_| (0.3 * normal(rng)).exp()).collect();
    let medians: Vec<Vec<Option<f64>>> = seconds
        .iter()
        .map(|seconds| {
            drift
                .iter()
                .map(|drift| Some(seconds * drift * (0.03 * noise(rng)).exp()))
                .collect()
        })
        .collect();
    Verdict::new(&labels, &medians, &labels[0])
}

/// The most successes of `races` that are seen by chance, except once in a thousand times, if each
/// is one with probability `chance`.
fn most_by_chance(races: u32, chance: f64) -> u32 {
    let mut exactly = (1.0 - chance).powi(races as i32);
    let mut at_most = exactly;
    let mut successes = 0;
    while at_most < 0.999 {
        exactly *=
            f64::from(races - successes) / f64::from(successes + 1) * chance / (1.0 - chance);
        successes += 1;
        at_most += exactly;
    }
    successes
}

fn false_winners(races: u32, entries: usize, rounds: usize, noise: Noise) {
    let mut rng = Rng::with_seed(1);
    let seconds = vec![1.0; entries];
    let named = (0..races)
        .filter(|_| race(&seconds, rounds, noise, &mut rng).winner.is_some())
        .count() as u32;
    let most = most_by_chance(races, 0.05);
    println!("{entries} entries, {rounds} rounds: {named} of {races} races had a false winner");
    assert!(
        named <= most,
        "{named} false winners in {races} races, more than {most}"
    );
}

#[test]
fn two_identical_entries_have_a_winner_in_at_most_one_of_twenty_races() {
    for noise in [normal, heavy_tailed] {
        false_winners(1000, 2, 6, noise);
        false_winners(1000, 2, 10, noise);
        false_winners(500, 2, 25, noise);
    }
}

#[test]
fn twelve_identical_entries_have_a_winner_in_at_most_one_of_twenty_races() {
    for noise in [normal, heavy_tailed] {
        false_winners(500, 12, 8, noise);
        false_winners(20, 12, 20, noise);
    }
}

#[test]
fn a_lead_of_five_percent_is_found_in_twenty_rounds() {
    const RACES: usize = 100;
    let mut rng = Rng::with_seed(2);
    let mut seconds = vec![1.05; 12];
    seconds[7] = 1.0;
    let found = (0..RACES)
        .filter(|_| race(&seconds, 20, normal, &mut rng).winner.as_deref() == Some("entry 7"))
        .count();
    println!("{found} of {RACES} races found it");
    assert!(
        found * 100 >= RACES * 95,
        "found in {found} of {RACES} races"
    );
}
