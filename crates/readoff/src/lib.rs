//! The driver's library: what `readoff` the program is made of, so that tests can use the parts.
pub mod hyperfine;
pub mod order;
pub mod stats;
pub mod verdict;
