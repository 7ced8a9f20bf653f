# One row of the table of compare.sh, from the times of a reference and a strategy that took turns.

function quantile(values, count, share,    at, below) {
    at = 1 + share * (count - 1)
    below = int(at)
    return below == count ? values[count] : values[below] + (at - below) * (values[below + 1] - values[below])
}

function sort(values, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j > 0 && values[j] > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
    }
}

$1 == "reference" { reference[++turns] = $2; reference_cpu[turns] = $5 + $6 }
$1 == "strategy" { strategy[++others] = $2; strategy_cpu[others] = $5 + $6 }

END {
    for (i = 1; i <= turns; i++) {
        ratio[i] = strategy[i] / reference[i]
        cpu[i] = strategy_cpu[i] / reference_cpu[i]
    }
    sort(ratio, turns)
    sort(cpu, turns)
    sort(reference, turns)
    sort(strategy, turns)
    median = quantile(ratio, turns, 0.5)
    printf "%-32s %7.1f ms %7.1f ms %7.3f  %.3f..%.3f   %5s  %5.3f%s\n", name,
        1000 * quantile(reference, turns, 0.5), 1000 * quantile(strategy, turns, 0.5), median,
        quantile(ratio, turns, 0.25), quantile(ratio, turns, 0.75), bar, quantile(cpu, turns, 0.5),
        (median > bar ? "  over" : "")
}
