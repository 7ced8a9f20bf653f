//! readoff.
fn main() {}
