//! Tells the driver how it was built: the profile, and the commit where there is one.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let profile = env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=READOFF_PROFILE={profile}");
    // Only in what may be published: a debug build would be built anew after every commit.
    if profile != "release" {
        return;
    }
    // A tarball has no commit, though it may lie in somebody else's repository.
    if git(&["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=READOFF_COMMIT={commit}");
    }
    // Every commit and every checkout writes to the first; the second is there without it. A file that
    // is missing would have Cargo run this anew each time.
    for name in ["logs/HEAD", "HEAD"] {
        let path = git(&["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}
