//! `plant-delay MICROSECONDS PROGRAM [ARGUMENT]…`: keeps a CPU busy for so long, then becomes the
//! program. `readoff selftest` plants leads with it whose size is known.

use std::env;
use std::hint;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let started = Instant::now();
    let mut words = env::args_os().skip(1);
    let delay = words.next().and_then(|word| word.to_str()?.parse().ok());
    let (Some(delay), Some(program)) = (delay, words.next()) else {
        eprintln!("plant-delay: usage: plant-delay MICROSECONDS PROGRAM [ARGUMENT]…");
        return ExitCode::from(64);
    };
    while started.elapsed() < Duration::from_micros(delay) {
        hint::spin_loop();
    }
    // It only comes back if it failed.
    let error = Command::new(&program).args(words).exec();
    eprintln!("plant-delay: {}: {error}", program.display());
    ExitCode::from(69)
}
