//! pagecache.
fn main() {}
