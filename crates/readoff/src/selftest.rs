//! `readoff selftest`: how often this machine makes a winner of nothing, and how often it sees a lead
//! that is there. One strategy is raced against itself under several names; then all but one of the
//! names get a delay.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::budget::Count;
use crate::cli::SelftestArgs;
use crate::contest::{Driver, Effort};
use crate::data::Maker;
use crate::format::{Table, percent, seconds};
use crate::input::Input;
use crate::output::print;
use crate::plan::{Choice, Entry, Plan, State};
use crate::progress::Progress;
use crate::run::driver;
use crate::stats::{binomial_interval, mean};
use crate::suite::{Data, Suite};

/// Names under which the strategy is raced.
const NAMES: usize = 4;

/// Rounds of a race.
const ROUNDS: u32 = 10;

/// The lead that is planted.
const LEAD: f64 = 0.05;

/// The file that is made where none is named: so small that a race takes about a second.
const BYTES: u64 = 16 << 20;

/// Many short races, the results of which are counted and not kept.
struct Series<'a> {
    /// Says nothing of each race.
    driver: &'a Driver,
    progress: &'a Progress,
    input: &'a Input,
    races: u32,
}

/// What a series came to.
#[derive(Default)]
struct Came {
    /// Races in which the first name won.
    first: u32,
    /// Races in which another one did.
    other: u32,
    /// The mean over races of the first name's median.
    seconds: f64,
}

/// Runs both series and prints a table.
///
/// # Errors
/// As [`Driver::race`]; a race that fails ends the series.
pub fn selftest(args: &SelftestArgs) -> Result<()> {
    let driver = driver(args.hyperfine.as_deref(), true)?;
    let progress = Progress::new(args.quiet);
    let maker = Maker {
        programs: &driver.programs,
        progress: &progress,
        dry_run: false,
    };
    let data = Data {
        kind: "measurements".into(),
        size: BYTES,
        scale: 1.0,
        args: vec![],
    };
    let file = args
        .file
        .clone()
        .map_or_else(|| maker.suite_data(&data, None), Ok)?;
    let input = Input::open(&file)?;
    let suite = Suite::load(&driver.programs.suites()?, "scan")?;
    let choice = Choice {
        entries: Some(vec![suite.reference.clone()]),
        states: Some(vec![State::Warm]),
        ..Choice::default()
    };
    let plan = Plan::new(&suite, &choice, &driver.programs, &input)?;
    let series = Series {
        driver: &driver,
        progress: &progress,
        input: &input,
        races: args.races,
    };
    let same = series.run("identical", &named(&plan, |_| vec![]))?;
    let delay = (same.seconds * LEAD * 1e6).round();
    let plant = driver.programs.path("plant-delay")?;
    let delayed = named(&plan, |name| {
        let delay = if name == 0 { 0.0 } else { delay };
        vec![plant.clone(), format!("{delay:.0}")]
    });
    let led = series.run("one leads", &delayed)?;
    progress.finish();
    print(&table(args.races, &same, &led, delay).text())
}

/// How often a winner was named of nothing, and how often the planted one was found.
fn table(races: u32, same: &Came, led: &Came, delay: f64) -> Table {
    let lead = format!("one leads by {}, {}", percent(LEAD), seconds(delay / 1e6));
    let row = |what: &str, named: &str, count: u32| {
        let (low, high) = binomial_interval(count, races);
        vec![
            what.to_string(),
            named.into(),
            format!("{count} of {races}"),
            format!("{}–{}", percent(low), percent(high)),
        ]
    };
    let raced = format!(
        "{NAMES} names, {ROUNDS} rounds, {} a run",
        seconds(same.seconds)
    );
    Table {
        head: [&*raced, "named", "races", "95 % interval"]
            .map(String::from)
            .into(),
        rows: vec![
            row("identical", "a winner", same.first + same.other),
            row(&lead, "it", led.first),
            row(&lead, "another", led.other),
        ],
    }
}

/// The plan's only entry under all names, each with words before its command.
fn named(plan: &Plan, before: impl Fn(usize) -> Vec<String>) -> Plan {
    let entry = &plan.entries[0];
    let name = |index: usize| Entry {
        name: format!("{}-{}", entry.name, index + 1),
        command: [before(index), entry.command.clone()].concat(),
        ..entry.clone()
    };
    let entries: Vec<Entry> = (0..NAMES).map(name).collect();
    Plan {
        reference: entries[0].name.clone(),
        entries,
        ..plan.clone()
    }
}

impl Series<'_> {
    fn run(&self, what: &str, plan: &Plan) -> Result<Came> {
        let root = tempfile::tempdir().context("no temporary folder")?;
        let started = Instant::now();
        let effort = Effort {
            rounds: Some(Count::Fixed(ROUNDS)),
            budget: 0.0,
        };
        let mut came = Came::default();
        let mut medians = Vec::new();
        for race in 1..=self.races {
            let plan = Plan {
                seed: fastrand::u32(..),
                ..plan.clone()
            };
            let first = plan.reference.clone();
            let (outcome, folder) =
                self.driver
                    .race(plan, effort, self.input, root.path(), false)?;
            let tally = outcome
                .race
                .states
                .first()
                .context("the state could not be had")?;
            let verdict = tally.verdict.as_ref().context("a race without a verdict")?;
            match &verdict.winner {
                Some(winner) if *winner == first => came.first += 1,
                Some(_) => came.other += 1,
                None => {}
            }
            medians.extend(
                tally
                    .rows
                    .iter()
                    .find(|row| row.entry == first)
                    .map(|row| row.median),
            );
            fs::remove_dir_all(&folder.path)?;
            let left: Duration = started.elapsed() / race * (self.races - race);
            self.progress
                .round(&format!("{what}: race {race} of {}", self.races), left);
        }
        came.seconds = mean(&medians);
        Ok(came)
    }
}
