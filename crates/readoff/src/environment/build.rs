//! How this very program was built.

use serde::{Deserialize, Serialize};

/// How this very program was built, and with it, mostly, the strategies beside it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Build {
    /// readoff's version.
    pub version: String,
    /// Cargo's profile: `release`, or `debug`, which is not made to be timed.
    pub profile: String,
    /// The commit that was checked out, for a release built in a repository.
    pub commit: Option<String>,
}

impl Build {
    pub(super) fn own() -> Build {
        Build {
            version: env!("CARGO_PKG_VERSION").into(),
            profile: env!("READOFF_PROFILE").into(),
            commit: option_env!("READOFF_COMMIT").map(str::to_string),
        }
    }
}
