//! A child in its own process group, watched until it ends.
