//! Every strategy gives every work's answer on every kind of file.

mod common;

use std::fs;

use common::{
    WORKS, assert_refused, command, expected, random, reference, run, strategies, text, unavailable,
};

const PAGE: usize = 4096;
const BUFFER: usize = 16 * PAGE;

/// Runs the strategy with the options on a file of each content, and compares the answers.
fn assert_answers(strategy: &str, options: &[&str], works: &[&str], contents: &[(&str, Vec<u8>)]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (what, bytes) in contents {
        fs::write(&file, bytes).unwrap();
        for work in works {
            let mut command = command(strategy);
            command.args(options).args(["--work", work]).arg(&file);
            let output = command.output().unwrap();
            if unavailable(strategy, &output) {
                return;
            }
            let stderr = String::from_utf8_lossy(&output.stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                stdout,
                expected(work, bytes),
                "{command:?} on {what}: {stderr}"
            );
            assert!(
                stderr.is_empty() && output.status.success(),
                "{command:?} on {what}: {stderr}"
            );
        }
    }
}

fn contents_of_sizes(sizes: &[usize]) -> Vec<(&'static str, Vec<u8>)> {
    sizes
        .iter()
        .map(|&size| ("random bytes", random(size)))
        .collect()
}

#[test]
fn every_work_is_right_on_sizes_around_sectors_pages_and_buffers() {
    let sizes = [
        0,
        1,
        2,
        511,
        512,
        513,
        PAGE - 1,
        PAGE,
        PAGE + 1,
        5 * PAGE,
        BUFFER - 1,
        BUFFER,
        BUFFER + 1,
        3 * BUFFER,
        3 * BUFFER + 123,
    ];
    let contents = contents_of_sizes(&sizes);
    for strategy in strategies("scan") {
        assert_answers(&strategy, &[], &WORKS, &contents);
    }
}

#[test]
fn every_work_is_right_on_text_whatever_its_lines() {
    let size = 2 * BUFFER + 77;
    let mut contents = vec![
        ("short lines", text(size, 20, "\n")),
        ("CRLF", text(size, 20, "\r\n")),
        (
            "lines longer than a buffer",
            text(5 * BUFFER, 2 * BUFFER, "\n"),
        ),
        ("only newlines", vec![b'\n'; size]),
        ("no newline", vec![b'x'; size]),
        ("zeros", vec![0; size]),
        ("one line without its newline", b"Hamburg;12.0".to_vec()),
        ("one newline", b"\n".to_vec()),
    ];
    let mut ended = text(size, 20, "\n");
    ended.push(b'\n');
    contents.push(("a newline at the end", ended));
    for strategy in strategies("scan") {
        assert_answers(&strategy, &[], &WORKS, &contents);
    }
}

#[test]
fn any_buffer_size_gives_the_same_answer() {
    let contents = contents_of_sizes(&[0, 1, PAGE, PAGE + 1, 3 * PAGE + 123]);
    for strategy in strategies("scan") {
        for buffer in ["1", "511", "512", "4096", "4097", "12411", "1MiB", "64MB"] {
            // crc32 sees order, touch sees offsets.
            assert_answers(
                &strategy,
                &["--buffer", buffer],
                &["crc32", "touch"],
                &contents,
            );
        }
    }
}

#[test]
fn any_stdio_buffer_gives_the_same_answer() {
    let contents = contents_of_sizes(&[0, 1, PAGE + 1, 2 * BUFFER + 77]);
    for strategy in ["scan-fread", "scan-fread-whole"] {
        for stdio_buffer in ["default", "none", "1", "511", "4KiB", "1MiB"] {
            for buffer in ["511", "64KiB"] {
                let options = ["--stdio-buffer", stdio_buffer, "--buffer", buffer];
                assert_answers(strategy, &options, &["crc32"], &contents);
            }
        }
    }
}

#[test]
fn any_advice_gives_the_same_answer() {
    let contents = contents_of_sizes(&[0, 1, PAGE + 1, 2 * BUFFER + 77]);
    for advice in ["none", "sequential", "random", "willneed"] {
        assert_answers("scan-mmap", &["--advice", advice], &["crc32"], &contents);
    }
}

#[test]
fn the_reference_agrees_with_published_check_values() {
    // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
    assert_eq!(reference("crc32", b"123456789"), "cbf43926");
    assert_eq!(reference("xor", b"\x0f\xf0\xff"), "00");
    assert_eq!(reference("sum", &[255; 1000]), "255000");
    assert_eq!(reference("newlines", b"a\n\nb"), "2");
    assert_eq!(reference("touch", &[1; 8193]), "3");
}

#[test]
fn a_hole_reads_as_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    fs::File::create(&file).unwrap().set_len(1_000_003).unwrap();
    for strategy in strategies("scan") {
        let output = run(
            &strategy,
            ["--work".as_ref(), "crc32".as_ref(), file.as_os_str()],
        );
        if !unavailable(&strategy, &output) {
            assert_eq!(
                String::from_utf8(output.stdout).unwrap(),
                expected("crc32", &vec![0; 1_000_003])
            );
        }
    }
}

#[test]
fn help_begins_with_one_line_that_says_what_the_strategy_is() {
    for strategy in strategies("scan") {
        for flag in ["-h", "--help"] {
            let output = run(&strategy, [flag]);
            assert!(output.status.success());
            let help = String::from_utf8(output.stdout).unwrap();
            let mut lines = help.lines();
            assert!(lines.next().unwrap().len() > 20, "{help}");
            assert_eq!(lines.next(), Some(""), "{help}");
            assert!(
                help.contains(&format!("Usage: {strategy} [OPTIONS] FILE")),
                "{help}"
            );
        }
    }
}

#[test]
fn what_the_command_line_gets_wrong_is_one_line() {
    for strategy in strategies("scan") {
        let cases: [(&[&str], &str); 10] = [
            (&[], "FILE"),
            (&["--buffer", "0", "f"], "at least 1 byte"),
            (&["--buffer", "-1", "f"], "--buffer"),
            (&["--buffer", "many", "f"], "--buffer"),
            (&["--buffer", "99999999999999TB", "f"], "address space"),
            (&["--buffer"], "--buffer"),
            (&["--work", "xnor", "f"], "newlines-u32"),
            (&["--wrok", "xor", "f"], "--wrok"),
            (&["--json=yes", "f"], "--json"),
            (&["f", "g"], "\"g\""),
        ];
        for (args, about) in cases {
            assert_refused(&strategy, &run(&strategy, args), 64, about);
        }
    }
    assert_refused(
        "scan-mmap",
        &run("scan-mmap", ["--advice", "no", "f"]),
        64,
        "willneed",
    );
    assert_refused(
        "scan-fread",
        &run("scan-fread", ["--stdio-buffer", "0", "f"]),
        64,
        "at least 1",
    );
}
