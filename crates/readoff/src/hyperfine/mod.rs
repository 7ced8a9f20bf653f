//! hyperfine as the driver uses it: found, called, watched, and its exports read and merged.
//!
//! Works with every version from 1.15 through 2.0. What differs between them is only here.

mod call;
mod export;
mod find;
mod process;

pub use call::{Call, Contestant, Failure};
pub use export::{Export, Run};
pub use find::{Hyperfine, Version};
