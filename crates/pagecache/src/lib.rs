//! The page cache of one file: how much of it is resident, and how to evict or fill it without root.
//!
//! All sizes are bytes, counted in whole pages: the last page counts as what it holds of the file
//! once everything is resident. Nothing here writes to the files it is given; the one
//! file that is ever written is the copy in a scratch folder.

mod error;
mod evict;
mod fill;
mod input;
mod layout;
mod memory;
mod possible;
mod prepare;
mod residency;
mod scratch;
mod sys;
mod writers;

pub use error::{Error, OneLine};
pub use evict::{Evicted, evict, purge_system};
pub use fill::{Fill, fill};
pub use input::{Filesystem, describe, filesystem, open};
pub use layout::{Extents, Layout, is_dax, layout};
pub use memory::refuse_larger_than_memory;
pub use possible::require_possible;
pub use prepare::{Action, Filled, Prepared, Purge, Request, prepare, prepare_scratch};
pub use residency::{Method, Residency, State, residency};
pub use scratch::remove_scratch;
pub use writers::{Writer, writers};
