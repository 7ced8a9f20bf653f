//! The page cache of one file.
