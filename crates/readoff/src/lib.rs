//! The driver's library: what `readoff` the program is made of, so that tests can use the parts.
//!
//! Data flows one way: [`suite`] → [`plan`] → [`check`] → [`budget`] → [`rounds`] → [`tally`] with
//! its [`verdict`] → [`report`] and [`results`].

pub mod budget;
pub mod check;
pub mod cli;
pub mod contest;
pub mod data;
pub mod directory;
pub mod dry_run;
pub mod env;
pub mod environment;
pub mod error;
pub mod family;
pub mod file_facts;
pub mod format;
pub mod hyperfine;
pub mod input;
pub mod left_behind;
pub mod list;
pub mod memory_limit;
pub mod neighbours;
pub mod order;
pub mod outliers;
pub mod output;
pub mod plan;
pub mod possible_states;
pub mod process;
pub mod programs;
pub mod progress;
pub mod question;
pub mod race;
pub mod race_lock;
mod repeat;
pub mod report;
pub mod results;
pub mod round_log;
pub mod rounds;
pub mod run;
pub mod runs_csv;
pub mod selftest;
mod sentence;
pub mod sequential;
pub mod source;
pub mod state;
pub mod stats;
pub mod suite;
pub mod tally;
pub mod verdict;
pub mod watch;
