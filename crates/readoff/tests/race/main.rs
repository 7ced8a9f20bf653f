//! The driver end to end: real races on small files, and everything that can go wrong with them.
//!
//! `HYPERFINE_1_15`, `HYPERFINE_1_20` and `HYPERFINE_2_0` say where real hyperfines are; a test skips,
//! by name, what isn't there. The project's programs are expected beside `readoff`, as
//! `cargo build --workspace --bins` and `cargo test --workspace` put them.

mod disks;
mod failures;
mod input;
mod interrupted;
mod names;
mod options;
mod output;
mod results;
mod selftest;
mod settled;
mod support;
