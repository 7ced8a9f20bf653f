//! hyperfine as the driver uses it: found, called, watched, and its exports read and merged.
//!
//! Works with every version from 1.15 through 2.0; what differs between them is only here.

mod call;
mod export;
mod find;
pub mod process;
mod quote;

pub use call::{Call, Contestant, Failure, FailureKind};
pub use export::{Export, Run, Statistics};
pub use find::{Hyperfine, Version};
pub use quote::{for_shell, quote};
