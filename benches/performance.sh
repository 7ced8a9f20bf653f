#!/usr/bin/env bash
# What docs/PERFORMANCE.md quotes: ratios within one run, on a 2 GB file of measurements, warm by
# readahead unless said. Needs hyperfine, coreutils 9 and a quiet machine; takes about five minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
bin=$target/release
file=$target/data/measurements-2GB.txt
hyperfine=${HYPERFINE:-$(command -v hyperfine || hyperfine/install.sh)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

cargo build --release --quiet --locked --workspace --bins
mkdir -p "$target/data"
[ -f "$file" ] || "$bin/mkdata" measurements --quiet --size 2GB "$file"
: >"$out/empty"

# ratio NAME ROUNDS A B: A's time over B's, both once a round in turn, the median of the rounds.
ratio() {
    local name=$1 rounds=$2 a=$3 b=$4 order round
    for ((round = 0; round < rounds; round++)); do
        order=(-n a "$a" -n b "$b")
        ((round % 2)) && order=(-n b "$b" -n a "$a")
        "$hyperfine" -N --style none --warmup 1 --runs 2 --export-json "$out/$round.json" "${order[@]}" 2>>"$out/log"
    done
    python3 - "$name" "$out" "$rounds" <<'PY'
import json, statistics, sys
name, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
def times(result):
    if "times" in result: return result["times"]
    return [m["time_wall_clock"]["value"] for m in result["measurements"]]
pairs = []
for number in range(rounds):
    results = json.load(open(f"{folder}/{number}.json"))["results"]
    t = {r.get("name") or r["command"]: statistics.median(times(r)) for r in results}
    pairs.append((t["a"], t["b"]))
a, b = (statistics.median(p[i] for p in pairs) for i in (0, 1))
ratios = sorted(x / y for x, y in pairs)
print(f"{name:58} {statistics.median(ratios):6.3f}  ({ratios[0]:.3f}–{ratios[-1]:.3f})   {a*1e3:9.2f} ms  {b*1e3:9.2f} ms")
PY
}

printf '%-58s %6s  %15s   %12s  %12s\n' "ratio" "median" "(min–max)" "first" "second"
"$bin/pagecache" fill --how readahead "$file" >"$out/fill"
ratio "scan-read --work newlines / wc -l" 12 "$bin/scan-read --work newlines $file" "wc -l $file"
ratio "scan-read --work xor / dd bs=64K of=/dev/null" 12 "$bin/scan-read --work xor $file" "dd if=$file bs=64K of=/dev/null"
ratio "scan-mmap --work newlines / wc -l" 12 "$bin/scan-mmap --work newlines $file" "wc -l $file"
ratio "pagecache prepare --state warm, which holds / true" 12 "$bin/pagecache prepare --state warm --executable $bin/scan-read $file" "/bin/true"
"$hyperfine" -N --style none --runs 10 --prepare "$bin/pagecache fill --how readahead $file" \
    --export-json "$out/evict.json" "$bin/pagecache evict $file"
python3 - "$out/evict.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))["results"][0]
times = r.get("times") or [m["time_wall_clock"]["value"] for m in r["measurements"]]
print(f"pagecache evict, 2 GB in large folios: median {sorted(times)[len(times)//2]*1e3:.1f} ms, max {max(times)*1e3:.1f} ms")
PY
for strategy in "$bin"/scan-*; do
    case $strategy in *.d) continue ;; esac
    ratio "$(basename "$strategy") on an empty file / true" 20 "$strategy $out/empty" "/bin/true"
done
echo "largest strategy: $(du -b "$bin"/{scan,lines,seek,rewrite}-* 2>/dev/null | grep -v '\.d$' | sort -n | tail -1 | cut -f1) bytes"
