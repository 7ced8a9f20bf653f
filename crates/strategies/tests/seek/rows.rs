//! The work `rows`.

use crate::common::{assert_refused, command, run};
use crate::reference::{Row, digest_of_rows, line, rows, shuffled};
use crate::{assert_all_print, assert_all_refuse, file_of};

/// Files that a reader of rows may stumble over.
fn awkward() -> Vec<(&'static str, Vec<u8>)> {
    let long = |field: &str| format!("a,b\n1,{field}\n2,\"{field}\n\"\n3,c");
    let mut files: Vec<(&str, Vec<u8>)> = [
        ("nothing", ""),
        ("an empty line", "\n"),
        ("empty lines", "\r\n\n\r\r\n"),
        ("a row", "a,b\n"),
        ("a row without its newline", "a,b"),
        ("an empty last field", "a,"),
        ("an empty quoted field", "\"\""),
        ("CRLF", "a,b\r\nc,d\r\n"),
        ("CR", "a,b\rc,d\r"),
        ("a mix of them", "a\nb\r\nc\rd\n\re\r\r\nf"),
        ("empty lines between", "\n\na,b\n\n\r\nc,d\n\n"),
        ("a quoted newline", "a,\"b\nc\"\nd,e\n"),
        ("quoted CRLF", "a,\"b\r\n\r\nc\"\r\nd,e\r\n"),
        ("a quoted comma", "\"a,b\",c\n\"d\",\",\"\n"),
        (
            "doubled quotes",
            "\"a \"\"b\"\"\",c\n\"\"\"\",\"\"\"\"\"\"\n",
        ),
        ("a quote within", "a\"b,c\"\nd,e\"\n"),
        ("text behind a quote", "\"a\"b,c\n\"d\" ,\"e\"\"\"f\n"),
        ("blanks", " a , \"b\" \n  \n\t\n"),
        ("rows of other lengths", "a,b,c\nd\n,,,,\n,\n"),
        ("NUL", "a\0,\0\n\0\n"),
        ("a mark", "\u{feff}a,b\nc,d\n"),
        ("a mark and a quote", "\u{feff}\"a\n\",b\nc,d\n"),
        ("a mark and nothing else", "\u{feff}"),
        ("a mark and an empty line", "\u{feff}\n\na"),
        ("half a mark", "\u{fefe}"),
        ("a mark in a later row", "a\n\u{feff}b\n\u{feff}\"c\"\n"),
    ]
    .map(|(what, text)| (what, text.as_bytes().to_vec()))
    .into();
    files.push(("no UTF-8", b"\xff\xfe,\xc3\n\"\x80\n\",\xe4\n".to_vec()));
    files.push(("two bytes of a mark", b"\xef\xbb,a\nb".to_vec()));
    files.push(("long fields", long(&"x".repeat(100_000)).into()));
    files.push(("long fields of quotes", long(&"\"\"".repeat(9000)).into()));
    files.push(("many fields", long(&"y,".repeat(20_000)).into()));
    files.push(("many rows", "1,\"2\n3\"\r\n".repeat(3000).into()));
    files
}

/// Bytes of the file that the rows take: all but what stands before the first one.
fn bytes_of_rows(csv: &[u8]) -> usize {
    let csv = csv.strip_prefix(b"\xef\xbb\xbf").unwrap_or(csv);
    let before = csv.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    csv.len() - before
}

#[test]
fn every_row_is_visited_once_in_either_order() {
    for (what, csv) in awkward() {
        let (_folder, file) = file_of(&csv);
        eprintln!("{what}");
        let rows = rows(&csv);
        let bytes = bytes_of_rows(&csv);
        let serial = line("rows", rows.len(), &digest_of_rows(&rows), bytes);
        assert_all_print(&["--work", "rows"], &file, &serial);
        for seed in ["1", "18446744073709551615"] {
            let order = shuffled(rows.len(), seed.parse().unwrap());
            let digest = digest_of_rows(order.iter().map(|&i| &rows[i]));
            let shuffled = line("rows", rows.len(), &digest, bytes);
            let options = ["--work", "rows", "--order", "shuffled", "--seed", seed];
            assert_all_print(&options, &file, &shuffled);
        }
    }
}

#[test]
fn rows_are_right_however_small_the_buffer_of_the_stream() {
    for (what, csv) in awkward() {
        if csv.len() > 1000 {
            continue;
        }
        let (_folder, file) = file_of(&csv);
        let rows: Vec<Row> = rows(&csv);
        let expected = line(
            "rows",
            rows.len(),
            &digest_of_rows(&rows),
            bytes_of_rows(&csv),
        );
        for buffer in ["1", "2", "3", "7"] {
            let mut command = command("seek-bufreader");
            command.args(["--work", "rows", "--buffer", buffer]);
            let output = command.arg(&file).output().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(stdout, expected, "{what}: {output:?}");
        }
    }
}

#[test]
fn the_first_rows_can_be_visited_alone() {
    let csv = "a,\"b\nc\"\r\n\r\nd,e\nf,g\n";
    let (_folder, file) = file_of(csv.as_bytes());
    let rows = rows(csv.as_bytes());
    let expected = line("rows", 2, &digest_of_rows(&rows[..2]), 15);
    assert_all_print(&["--work", "rows", "--visits", "2"], &file, &expected);
}

#[test]
fn a_quote_that_is_never_closed_is_told_with_its_row() {
    for csv in [
        "a,b\nc,\"d\ne,f\n",
        "a,b\n\"",
        "a,b\nc,\"d\"\"",
        "a,b\n\"\n\n",
    ] {
        let (_folder, file) = file_of(csv.as_bytes());
        let about = "the row at byte 4 has a quote that is never closed";
        assert_all_refuse(&["--work", "rows"], &file, 65, about);
    }
}

#[test]
fn an_index_gives_the_same_rows() {
    for (what, csv) in awkward() {
        let (folder, file) = file_of(&csv);
        let index = folder.path().join("index");
        let made = run("row-index", [&file, &index]);
        assert!(made.status.success(), "{what}: {made:?}");
        let rows = rows(&csv);
        let stdout = String::from_utf8_lossy(&made.stdout);
        assert_eq!(stdout, format!("{} rows\n", rows.len()), "{what}");
        let order = shuffled(rows.len(), 1);
        let digest = digest_of_rows(order.iter().map(|&i| &rows[i]));
        let expected = line("rows", rows.len(), &digest, bytes_of_rows(&csv));
        let index = index.to_str().unwrap();
        let options = ["--work", "rows", "--order", "shuffled", "--index", index];
        assert_all_print(&options, &file, &expected);
    }
}

#[test]
fn a_row_larger_than_memory_is_one_line() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: a row larger than memory: this system has no RLIMIT_DATA");
        return;
    }
    let (_folder, file) = file_of(&b"x".repeat(20 << 20));
    let mut limited = command("seek-mmap");
    limited.args(["--work", "rows"]).arg(&file);
    limit_data(&mut limited, 30 << 20);
    let output = limited.output().unwrap();
    assert_refused("seek-mmap", &output, 69, "can't allocate");
}

/// Has the command start with so little memory of its own.
fn limit_data(command: &mut std::process::Command, bytes: u64) {
    use std::os::unix::process::CommandExt;
    // SAFETY: setrlimit is async-signal-safe and takes no memory of ours.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit {
                rlim_cur: bytes,
                rlim_max: bytes,
            };
            assert_eq!(libc::setrlimit(libc::RLIMIT_DATA, &limit), 0);
            Ok(())
        });
    }
}
