//! What the strategies share.
