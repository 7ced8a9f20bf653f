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

$1 == "reference" { reference[++references] = $2 }
$1 == "strategy" { strategy[++strategies] = $2 }

END {
    for (i = 1; i <= references; i++) ratio[i] = strategy[i] / reference[i]
    sort(ratio, references)
    sort(reference, references)
    sort(strategy, references)
    median = quantile(ratio, references, 0.5)
    printf "%-32s %7.1f ms %7.1f ms %7.3f  %.3f..%.3f   %5s%s\n", name,
        1000 * quantile(reference, references, 0.5), 1000 * quantile(strategy, references, 0.5), median,
        quantile(ratio, references, 0.25), quantile(ratio, references, 0.75), bar, (median > bar ? "  over" : "")
}
