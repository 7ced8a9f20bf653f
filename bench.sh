#!/usr/bin/env bash
# The main job: builds, finds or installs hyperfine, makes a sample file when none is given, races,
# and prints the verdict and where it was published. Options are those of `readoff run`:
#
#     ./bench.sh [FILE] [--quick] [--state cold,warm] [--budget 5m] …
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${CARGO_TARGET_DIR:-$here/target}

if ! command -v cargo >/dev/null; then
    echo "bench.sh: cargo is not on the PATH: install a Rust toolchain first" >&2
    exit 69
fi
cargo build --release --quiet --locked --workspace --bins --manifest-path "$here/Cargo.toml"

# What is asked for or found is used; else the pinned version is installed under target/.
if [ -z "${HYPERFINE:-}" ] && ! command -v hyperfine >/dev/null; then
    HYPERFINE=$("$here/hyperfine/install.sh")
    export HYPERFINE
fi

export READOFF_SUITES=${READOFF_SUITES:-$here/hyperfine/suites}
export READOFF_DATA=${READOFF_DATA:-$target/data}
export READOFF_RESULTS=${READOFF_RESULTS:-$here/results}
exec "$target/release/readoff" run "$@"
