//! Numbers and tables as people read them.

/// A time: `1.234 s`, `45.6 ms`, `789 µs`; over two minutes `2 min 5 s`.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        "—".into()
    } else if value >= 120.0 {
        let whole = value.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    } else if value >= 10.0 {
        format!("{value:.1} s")
    } else if value >= 1.0 {
        format!("{value:.3} s")
    } else if value >= 0.001 {
        format!("{:.1} ms", value * 1e3)
    } else {
        format!("{:.0} µs", value * 1e6)
    }
}

/// A rate in GB/s (10⁹ bytes a second); `—` where there is none.
pub fn rate(bytes: u64, seconds: f64) -> String {
    let rate = bytes as f64 / seconds / 1e9;
    if bytes == 0 || !rate.is_finite() {
        "—".into()
    } else {
        format!("{rate:.2}")
    }
}

/// A ratio with two digits after the point, or three significant ones below 0.1.
pub fn ratio(value: f64) -> String {
    if value < 0.1 {
        format!("{value:.3}")
    } else {
        format!("{value:.2}")
    }
}

/// A share as `3 %`, with a decimal where it is small.
pub fn percent(share: f64) -> String {
    let digits = if share < 0.0195 { 1 } else { 0 };
    format!("{:.digits$} %", 100.0 * share)
}

/// So many of something: `1 round`, `2 rounds`, `0 entries`.
pub fn count(number: usize, of: &str) -> String {
    match (number, of.strip_suffix('y')) {
        (1, _) => format!("1 {of}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {of}s"),
    }
}

/// A size: `1.4 GB` (powers of ten, as disks and GB/s have them).
pub fn size(bytes: u64) -> String {
    bytesize::ByteSize(bytes).display().si().to_string()
}

/// A table: rows of cells under a head; the first column is text, the others are numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Column heads.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Aligned columns for a terminal.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self.rows.iter().chain([&self.head]).map(|row| &row[column]);
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| {
                    if column == 0 {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
        };
        std::iter::once(&self.head)
            .chain(&self.rows)
            .map(line)
            .collect()
    }

    /// A table of Markdown.
    pub fn markdown(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells = row.iter().map(|cell| markdown_escape(cell));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let columns = self.head.len();
        let rule = format!("|:---|{}\n", "---:|".repeat(columns.saturating_sub(1)));
        let rows: String = self.rows.iter().map(line).collect();
        line(&self.head) + &rule + &rows
    }
}

/// Text that Markdown shows as it is: names of files and entries are not ours.
pub fn markdown_escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' => {
                escaped.extend(['\\', c]);
            }
            _ => escaped.push(c),
        }
    }
    printable(&escaped)
}

/// Text on one line: control characters (a newline in a file's name) become spaces.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_are_short() {
        assert_eq!(seconds(0.000_123), "123 µs");
        assert_eq!(seconds(0.0456), "45.6 ms");
        assert_eq!(seconds(1.2345), "1.234 s");
        assert_eq!(seconds(125.2), "2 min 5 s");
        assert_eq!(seconds(f64::NAN), "—");
        assert_eq!(rate(2_000_000_000, 0.5), "4.00");
        assert_eq!(rate(0, 0.5), "—");
        assert_eq!(count(1, "entry"), "1 entry");
        assert_eq!(count(2, "entry"), "2 entries");
        assert_eq!(count(0, "round"), "0 rounds");
    }

    #[test]
    fn a_table_is_aligned_and_its_markdown_escaped() {
        let table = Table {
            head: vec!["entry".into(), "GB/s".into()],
            rows: vec![
                vec!["a|b".into(), "1".into()],
                vec!["longer".into(), "12.5".into()],
            ],
        };
        assert_eq!(table.text(), "entry   GB/s\na|b        1\nlonger  12.5\n");
        assert!(table.markdown().contains("| a\\|b | 1 |"));
    }
}
