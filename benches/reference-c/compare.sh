#!/bin/sh
# Races each strategy that has a reference in C against it, warm, and prints a table.
#
#     benches/reference-c/compare.sh [--runs 10] [FILE]
#
# Without FILE: 300 MB of text, made once, with lines of 460 bytes on average, as in seed 001. The two
# take turns in one call of hyperfine, so that drift of the machine meets both. "ratio" is the median
# over the turns of the strategy's time to the reference's, "middle half" its quartiles; "CPU" is the
# median ratio of their CPU times, which other programs on the machine disturb less.
set -eu

fail() {
    echo "compare.sh: $2" >&2
    exit "$1"
}

runs=10
if [ "${1:-}" = --runs ]; then
    runs=${2:?how many runs?}
    shift 2
fi
case $#:$runs in
*:0 | *:*[!0-9]* | [!01]:*) fail 64 "usage: compare.sh [--runs 10] [FILE]" ;;
1:*) [ -f "$1" ] || fail 66 "$1: no such file" ;;
esac

folder=$(cd "$(dirname "$0")" && pwd)
root=$folder/../..
target=${CARGO_TARGET_DIR:-$root/target}
hyperfine=$(command -v hyperfine || "$root/hyperfine/install.sh")
(cd "$root" && cargo build --quiet --release -p strategies -p pagecache -p mkdata)
make --quiet -C "$folder" BUILD="$target/reference-c"

file=${1:-$target/data/reference-c/F_01.txt}
case $file in /*) ;; *) file=$PWD/$file ;; esac
if [ "$#" = 0 ] && [ ! -e "$file" ]; then
    mkdir -p "$target/data"
    "$target/release/mkdata" text --files 1 --size 300MB --width 1250 "$target/data/reference-c"
fi
"$target/release/pagecache" fill "$file" >/dev/null

scratch=$(mktemp -d "$target/reference-c/race.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# A word as hyperfine splits words, and as a shell does.
quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}
reference=$(quoted "$target/reference-c")
strategy=$(quoted "$target/release")
file=$(quoted "$file")
copy=$(quoted "$scratch/copy-folder")
prepare="$strategy/pagecache prepare --state warm --scratch $copy"

# race NAME BAR, ARGUMENTS of the reference, ARGUMENTS of the strategy, and what goes before each run.
race() {
    name=$1 bar=$2 ours="$strategy/$1 $4" theirs="$reference/$1 $3" before=${5:-true}
    for command in "$theirs" "$ours"; do
        eval "$before" >/dev/null
        eval "$command" >>"$scratch/answers" || fail 74 "failed: $command"
    done
    [ "$(sort -u "$scratch/answers" | wc -l)" = 1 ] || fail 65 "$name: $(cat "$scratch/answers")"
    work=$(cut -d ' ' -f 1 "$scratch/answers" | sort -u)
    rm "$scratch/answers"
    set --
    turn=0
    while [ "$turn" -lt "$runs" ]; do
        case $((turn % 2)) in
        0) set -- "$@" -n reference "$theirs" -n strategy "$ours" ;;
        1) set -- "$@" -n strategy "$ours" -n reference "$theirs" ;;
        esac
        turn=$((turn + 1))
    done
    "$hyperfine" -N --style none --runs 1 --prepare "$before" --export-csv "$scratch/times" "$@"
    awk -F, -v "name=$name $work" -v "bar=$bar" -f "$folder/ratio.awk" "$scratch/times"
}

printf '%-32s %10s %10s %7s  %-14s %5s  %5s\n' 'strategy and work' C strategy ratio 'middle half' bar CPU
for work in index split; do
    for name in mmap-memchr mmap-getline getline fread read; do
        bar=1.05
        case $name:$work in mmap-memchr:*|read:index) bar=1.00 ;; esac
        race "lines-$name" "$bar" "$work $file" "--work $work $file"
    done
done
race scan-read-whole 1.05 "$file" "--work newlines-u32 $file"
race scan-read 1.05 "$file" "$file"
race scan-mmap 1.05 "$file" "$file"
race rewrite-stdio-copy 1.05 "$file $copy/copy" "--scratch $copy $file" "$prepare $file"
race rewrite-mmap-inplace 1.05 "$copy/copy" "--scratch $copy $file" "$prepare --copy $file"
