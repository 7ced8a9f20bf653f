//! What a person sees while a race runs: a bar with the time left on a terminal, plain lines
//! elsewhere, nothing with `--quiet`. All of it goes to standard error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::format::seconds;
use crate::output::say;

/// Shows how far a race is.
#[derive(Debug)]
pub struct Progress {
    kind: Kind,
    started: Instant,
    said: RefCell<BTreeSet<String>>,
}

#[derive(Debug)]
enum Kind {
    Quiet,
    Lines,
    Bar(ProgressBar),
}

impl Progress {
    /// A bar, lines or nothing, as fits.
    pub fn new(quiet: bool) -> Progress {
        let kind = if quiet {
            Kind::Quiet
        } else if stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.expect("the template is a constant"));
            Kind::Bar(bar)
        } else {
            Kind::Lines
        };
        Progress {
            kind,
            started: Instant::now(),
            said: RefCell::default(),
        }
    }

    /// A line that stays.
    pub fn note(&self, line: &str) {
        match &self.kind {
            Kind::Quiet => {}
            Kind::Lines => say(line),
            Kind::Bar(bar) => bar.suspend(|| say(line)),
        }
    }

    /// A line that stays, unless it was said before: of the machine, in each race of many.
    pub fn note_once(&self, line: &str) {
        if self.said.borrow_mut().insert(line.to_string()) {
            self.note(line);
        }
    }

    /// What is being done right now; it does not stay on a terminal, and is not worth a line elsewhere.
    pub fn say(&self, message: &str) {
        if let Kind::Bar(bar) = &self.kind {
            bar.set_message(message.to_string());
            bar.tick();
        }
    }

    /// A round is done; `left` is how long the rest will take.
    pub fn round(&self, what: &str, left: Duration) {
        let passed = seconds(self.started.elapsed().as_secs_f64());
        let left = match left.is_zero() {
            true => String::new(),
            false => format!(", about {} left", seconds(left.as_secs_f64())),
        };
        let message = format!("{what} done, {passed} passed{left}");
        match self.kind {
            Kind::Lines => say(&message),
            _ => self.say(&message),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }
}
