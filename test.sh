#!/usr/bin/env bash
# All tests, with their set-up. `--full` adds what is slow or needs root: Debian's packages are
# installed where this is Debian and we are root, and all three hyperfines are tested against.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$target/tools
mkdir -p "$tools"

full=
case "${1:-}" in
"") ;;
--full) full=1 ;;
*)
    echo "usage: ./test.sh [--full]" >&2
    exit 64
    ;;
esac

# Debian's packages: the filesystems that the page cache is tested on, the peers of the suites.
if [ -n "$full" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends \
        hyperfine e2fsprogs xfsprogs btrfs-progs squashfs-tools util-linux mount ffmpeg \
        ripgrep ruby shellcheck python3 gcc libc6-dev >"$tools/apt.log" 2>&1 || {
        tail -n 5 "$tools/apt.log" >&2
        exit 1
    }
fi

# The three hyperfines. A test whose version is missing is skipped, and says so.
is_version() { [ -x "$1" ] && "$1" --version 2>/dev/null | grep -q "^hyperfine $2\."; }
HYPERFINE_1_20=$(hyperfine/install.sh)
export HYPERFINE_1_20
if is_version /usr/bin/hyperfine 1.15; then
    export HYPERFINE_1_15=/usr/bin/hyperfine
fi
if [ -n "$full" ]; then
    wheel=$tools/hyperfine-2.0
    if ! is_version "$wheel/hyperfine" 2.0 && command -v python3 >/dev/null; then
        rm -rf "$wheel" && mkdir -p "$wheel"
        python3 -m pip download --quiet --no-deps --dest "$wheel" astral-dev-toolchain-hyperfine==2.0.0 &&
            python3 -m zipfile -e "$wheel"/*.whl "$wheel" &&
            find "$wheel" -type f -name hyperfine -exec cp {} "$wheel/hyperfine" \; &&
            chmod +x "$wheel/hyperfine"
    fi
fi
if is_version "$tools/hyperfine-2.0/hyperfine" 2.0; then
    export HYPERFINE_2_0=$tools/hyperfine-2.0/hyperfine
fi

# The systems beside Linux are at least compiled, where their standard library can be had.
for system in x86_64-apple-darwin x86_64-unknown-freebsd; do
    if [ -z "$full" ]; then
        break
    elif rustup target add "$system" >"$tools/rustup.log" 2>&1; then
        cargo check --workspace --quiet --locked --target "$system"
    else
        echo "skipped: compile for $system: rustup can't add it here"
    fi
done

cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet --locked -- -D warnings
if [ -n "$full" ]; then
    export READOFF_FULL=1
    shellcheck bench.sh test.sh hyperfine/*.sh .ci/run
    cargo test --workspace --locked --no-fail-fast -- --nocapture
    # It empties the whole machine's page cache, so nothing else runs beside it.
    READOFF_TEST_SYSTEM_PURGE=1 cargo test --package pagecache --test evict --locked -- \
        --nocapture --exact the_whole_machine_is_purged_when_asked
else
    cargo test --workspace --locked --quiet
fi
