//! The tables in docs/METHODOLOGY.md: how soon ways of stopping a race find a lead, and how often they
//! find one that isn't there; and how often orders of rounds do, where noise lasts from run to run.
//!
//!     cargo run --release -p readoff --example stopping

use fastrand::Rng;
use readoff::order::order;
use readoff::sequential::{ENOUGH, RATES, evidence_above};
use readoff::stats;
use std::f64::consts::TAU;

/// Races behind each figure of the orders.
const ORDERED: usize = 20_000;

/// No race is longer.
const MOST: usize = 30;

/// Races behind each figure; the slow naive way has a tenth of them.
const RACES: usize = 2000;

/// Whether rounds with these log ratios separate: time over the winner's.
type Separates<'a> = &'a dyn Fn(&[f64]) -> bool;

/// How races of a kind ended.
struct Ended {
    /// Share of the races with a winner.
    won: f64,
    /// Rounds on average; all of them where there was no winner.
    rounds: f64,
}

/// Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos()
}

/// Log ratios of `entries` − 1 others over the first, round by round, with normal noise of 3 %.
fn log_ratios(entries: usize, lead: f64, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut normal = || 0.03 * normal(rng);
    let first: Vec<f64> = (0..MOST).map(|_| normal()).collect();
    let other = |_| {
        first
            .iter()
            .map(|first| lead.ln() + normal() - first)
            .collect()
    };
    (1..entries).map(other).collect()
}

/// Races until the first is separated from all others, with a look after each round.
fn races(count: usize, entries: usize, lead: f64, separates: Separates) -> Ended {
    let mut rng = Rng::with_seed(entries as u64);
    let (mut won, mut rounds) = (0, 0);
    for _ in 0..count {
        let others = log_ratios(entries, lead, &mut rng);
        let settled = |n: &usize| others.iter().all(|other| separates(&other[..*n]));
        let end = (1..=MOST).find(settled);
        won += usize::from(end.is_some());
        rounds += end.unwrap_or(MOST);
    }
    let mean = |sum: usize| sum as f64 / count as f64;
    Ended {
        won: mean(won),
        rounds: mean(rounds),
    }
}

/// The sign-flip statistic: the sum over its standard deviation when all signs are flipped at random.
fn z(log_ratios: &[f64]) -> f64 {
    let squares: f64 = log_ratios.iter().map(|d| d * d).sum();
    log_ratios.iter().sum::<f64>() / squares.sqrt()
}

/// The bound that `statistic`, at its largest over all looks, passes in 2.5 % of races of equals.
fn calibrated(statistic: &dyn Fn(&[f64]) -> f64) -> f64 {
    let mut rng = Rng::with_seed(99);
    let mut largest: Vec<f64> = (0..20_000)
        .map(|_| {
            let others = log_ratios(2, 1.0, &mut rng);
            let looks = (stats::FEWEST_ROUNDS..=MOST).map(|n| statistic(&others[0][..n]));
            looks.fold(f64::NEG_INFINITY, f64::max)
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    largest[largest.len() * 975 / 1000]
}

/// As evidence_above(…, 0), with the factor of de la Peña.
fn de_la_pena(log_ratios: &[f64]) -> f64 {
    let product = |rate: f64| {
        let exponents = log_ratios
            .iter()
            .map(|d| rate * d - (rate * d).powi(2) / 2.0);
        exponents.sum::<f64>().exp()
    };
    RATES
        .iter()
        .map(|(rate, weight)| weight * product(*rate))
        .sum()
}

fn row(name: &str, separates: Separates, count: usize) {
    // Either of two equals may be taken for the winner.
    let wrong = 2.0 * races(count, 2, 1.0, separates).won;
    let two = races(count, 2, 1.05, separates);
    let twelve = races(count / 4, 12, 1.05, separates);
    let ten = races(count / 4, 12, 1.1, separates);
    let twice = races(count / 4, 12, 2.0, separates);
    println!(
        "| {name} | {:.1} % | {:.1} ({:.0} %) | {:.1} ({:.0} %) | {:.1} | {:.1} |",
        100.0 * wrong,
        two.rounds,
        100.0 * two.won,
        twelve.rounds,
        100.0 * twelve.won,
        ten.rounds,
        twice.rounds
    );
}

/// What a machine's noise is like, and the rounds of a race on it.
#[derive(Clone, Copy)]
enum Noise {
    /// Half of a run's noise is that of the run before; 12 rounds.
    Lasting,
    /// Each run takes 1 % longer than the one before, and a normal 0.1 %; 7 rounds.
    Drifting,
}

/// Share of races in which two of `entries` equals were separated by sign flips.
fn wrong_by_order(
    entries: usize,
    noise: Noise,
    orders: fn(usize, &mut Rng) -> Vec<Vec<usize>>,
) -> f64 {
    let mut rng = Rng::with_seed(entries as u64);
    let rounds = match noise {
        Noise::Lasting => 12,
        Noise::Drifting => 7,
    };
    let mut wrong = 0;
    for _ in 0..ORDERED {
        let mut log = 0.0;
        let mut times = vec![Vec::new(); entries];
        for entry in orders(entries, &mut rng).iter().take(rounds).flatten() {
            let time: f64 = match noise {
                Noise::Lasting => {
                    log = 0.5 * log + 0.03 * normal(&mut rng);
                    log
                }
                Noise::Drifting => {
                    log += 0.01;
                    log + 0.001 * normal(&mut rng)
                }
            };
            times[*entry].push(Some(time.exp()));
        }
        let compared = stats::compare(&times[0], &times[1]);
        wrong += usize::from(compared.is_some_and(|c| c.faster() || c.slower()));
    }
    wrong as f64 / ORDERED as f64
}

/// At least twelve orders of a race.
fn as_raced(entries: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let seed = rng.u64(..);
    (1..=12)
        .map(|number| order(entries, number, seed))
        .collect()
}

/// At least twelve orders of Williams designs, in each of which it is drawn who is who.
fn balanced(entries: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mut who: Vec<usize> = (0..entries).collect();
    let mut orders: Vec<Vec<usize>> = Vec::new();
    while orders.len() < 12 {
        rng.shuffle(&mut who);
        let set = williams(entries).into_iter();
        orders.extend(set.map(|order| order.into_iter().map(|entry| who[entry]).collect()));
    }
    orders
}

/// As [`balanced`], the orders of a set shuffled.
fn shuffled(entries: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let set = williams(entries).len();
    let mut orders = balanced(entries, rng);
    orders.chunks_mut(set).for_each(|set| rng.shuffle(set));
    orders
}

/// Balanced orders of `n` entries, each a permutation of `0..n`: n orders for even n, 2n for odd n.
///
/// Over all orders each entry stands in each place equally often, and each entry follows each other
/// one equally often (once for even n, twice for odd n).
///
/// The construction is that of E. J. Williams, "Experimental designs balanced for the estimation of
/// residual effects of treatments", Australian Journal of Scientific Research A 2 (1949) 149–168.
fn williams(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n-1, 2, n-2, …: for even n the steps between neighbours are all different modulo n, so
    // its n cyclic shifts hold each ordered pair of neighbours exactly once.
    let first: Vec<usize> = (0..n)
        .map(|place| {
            if place % 2 == 1 {
                place / 2 + 1
            } else {
                (n - place / 2) % n
            }
        })
        .collect();
    let mut orders: Vec<Vec<usize>> = (0..n)
        .map(|shift| first.iter().map(|entry| (entry + shift) % n).collect())
        .collect();
    // For odd n each step comes twice or not at all; the same orders backwards supply the others.
    if n % 2 == 1 {
        let backwards: Vec<Vec<usize>> = orders
            .iter()
            .map(|order| order.iter().rev().copied().collect())
            .collect();
        orders.extend(backwards);
    }
    orders
}

fn main() {
    stopping();
    println!("\n| entries, noise | Williams | Williams, shuffled | as raced |");
    println!("|:---|---:|---:|---:|");
    for (noise, name) in [(Noise::Lasting, "lasting"), (Noise::Drifting, "drifting")] {
        for entries in [2, 3, 4, 5, 8, 12] {
            let wrong = |orders| 100.0 * wrong_by_order(entries, noise, orders);
            let (sets, shuffled, raced) = (wrong(balanced), wrong(shuffled), wrong(as_raced));
            println!("| {entries}, {name} | {sets:.1} % | {shuffled:.1} % | {raced:.1} % |");
        }
    }
}

fn stopping() {
    println!("| | false winners | 2 entries, lead 5 % | 12 entries, 5 % | 12, 10 % | 12, twice |");
    println!("|:---|---:|---:|---:|---:|---:|");
    let naive = |log_ratios: &[f64]| {
        let times: Vec<Option<f64>> = log_ratios.iter().map(|d| Some(d.exp())).collect();
        let ones = vec![Some(1.0); times.len()];
        stats::compare(&times, &ones).is_some_and(|compared| compared.slower())
    };
    row("sign flips at every look (wrong)", &naive, RACES / 10);
    row(
        "e-process, exp(λd) / cosh(λd)",
        &|d| evidence_above(d, 0.0) > ENOUGH,
        RACES,
    );
    row(
        "e-process, exp(λd − λ²d²/2)",
        &|d| de_la_pena(d) > ENOUGH,
        RACES,
    );
    let late = |d: &[f64]| d.len() >= stats::FEWEST_ROUNDS;
    let pocock = calibrated(&z);
    row("Pocock, 30 rounds", &|d| late(d) && z(d) > pocock, RACES);
    let share = |d: &[f64]| (d.len() as f64 / MOST as f64).sqrt();
    let fleming = calibrated(&|d| z(d) * share(d));
    row(
        "O'Brien–Fleming, 30 rounds",
        &|d| late(d) && z(d) * share(d) > fleming,
        RACES,
    );
}
