//! What the strategies share. Each strategy is one binary under `src/bin/`, named
//! `<family>-<strategy>`; it holds the system calls, and this library all that is around them.
//!
//! - [`exit`]: the frame of every `main`, the one error type, the exit codes.
//! - [`args`]: values on command lines.
//! - [`memory`]: what happens where there is no more of it.
//! - [`run`]: one run of a strategy, from checking its input to delivering its record.
//! - [`record`]: that record.
//! - [`buffer`]: buffers for the bytes.
//! - [`stdio`]: how a stdio stream buffers.
//! - [`sys`]: what differs between Linux, macOS and FreeBSD.
//! - [`watchdog`]: ends a call that would spin for ever on a read error.
//!
//! A family is a module beside these: its arguments and its works.
//!
//! - [`scan`]: every byte once, in order.
//! - [`lines`]: where every line begins, or its lines kept.
//! - [`seek`]: a file visited place by place, in order or not.
//! - [`rewrite`]: every byte plus one, in a second file or in place.

pub mod args;
pub mod buffer;
pub mod exit;
pub mod lines;
pub mod memory;
pub mod record;
pub mod rewrite;
pub mod run;
pub mod scan;
pub mod seek;
pub mod stdio;
pub mod sys;
pub mod watchdog;
