#!/bin/sh
# Installs the pinned hyperfine under target/hyperfine/ and prints the path of the program, and
# nothing else, on standard output. Another version goes beside it, into target/hyperfine-VERSION/.
# What is there already is left as it is.
#
#     hyperfine/install.sh [--version 1.20.0]
set -eu

pinned=1.20.0

fail() {
    echo "hyperfine/install.sh: $2" >&2
    exit "$1"
}

version=$pinned
case "$#:${1:-}" in
0:) ;;
2:--version) version=$2 ;;
*) fail 64 "usage: hyperfine/install.sh [--version $pinned]" ;;
esac

here=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$here/target}
folder=$target/hyperfine
[ "$version" = "$pinned" ] || folder=$target/hyperfine-$version
program=$folder/bin/hyperfine
log=$folder/install.log

if [ "$("$program" --version 2>/dev/null)" != "hyperfine $version" ]; then
    command -v cargo >/dev/null || fail 69 "cargo is not on the PATH: install a Rust toolchain, or hyperfine itself"
    mkdir -p "$folder" || fail 73 "$folder can't be made"
    echo "installing hyperfine $version under $folder (a minute or two)" >&2
    if ! cargo install hyperfine --version "$version" --locked --force --root "$folder" >"$log" 2>&1; then
        cause=$(grep -m 1 '^error' "$log" || tail -n 1 "$log")
        fail 69 "cargo could not install hyperfine $version: $cause (all of it: $log); another way is your package manager"
    fi
fi
echo "$program"
