//! mkdata.
fn main() {}
