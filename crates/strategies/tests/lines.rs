//! Every strategy of the family `lines` gives every work's answer on every kind of file.

mod common;

use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;

use strategies::lines::each_newline;

use common::{assert_refused, command, random, reference, run, strategies, text};

const WORKS: [&str; 3] = ["index", "split", "count"];
const CHUNK: usize = 256 << 10;

/// What a work must answer, as its definition reads.
fn answer(work: &str, bytes: &[u8]) -> String {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let longest = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    let count = format!("{}:{longest}", lines.len());
    let mut start: u64 = 0;
    let mut starts = Vec::new();
    for line in lines {
        starts.extend(start.to_le_bytes());
        start += line.len() as u64;
    }
    let split: Vec<u8> = bytes
        .iter()
        .map(|&byte| if byte == b'\n' { 0 } else { byte })
        .collect();
    match work {
        "count" => count,
        "index" => format!("{count}:{}", reference("crc32", &starts)),
        "split" => format!(
            "{count}:{}:{}",
            reference("crc32", &starts),
            reference("crc32", &split)
        ),
        _ => panic!("no such work: {work}"),
    }
}

/// Runs the strategies with the options on a file of these bytes, and compares the answers.
#[track_caller]
fn assert_answers(strategies: &[String], options: &[&str], works: &[&str], bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, bytes).unwrap();
    for work in works {
        let expected = format!("{work} {}  {} bytes\n", answer(work, bytes), bytes.len());
        for strategy in strategies {
            let mut command = command(strategy);
            command.args(options).args(["--work", work]).arg(&file);
            let output = command.output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(stdout, expected, "{command:?}: {stderr}");
            assert!(stderr.is_empty() && output.status.success(), "{stderr}");
        }
    }
    assert!(fs::read(&file).unwrap() == bytes, "the file was written to");
}

#[test]
fn newlines_are_found_at_every_length_and_alignment() {
    let mut random = fastrand::Rng::with_seed(1);
    for rarity in [1, 2, 5, 50, 500] {
        let mut bytes: Vec<u8> = (0..400)
            .map(|_| match random.usize(0..rarity) {
                0 => b'\n',
                _ => random.u8(..),
            })
            .collect();
        let cells = Cell::from_mut(&mut bytes[..]).as_slice_of_cells();
        for begin in 0..65 {
            for text in (begin..cells.len()).map(|end| &cells[begin..end]) {
                let mut found = Vec::new();
                each_newline(text, |at| found.push(at));
                let plain = (0..text.len()).filter(|&at| text[at].get() == b'\n');
                assert!(plain.eq(found), "{text:?}");
            }
        }
    }
}

fn with_buffer() -> Vec<String> {
    ["bufread", "fgets", "fread", "read"]
        .map(|name| format!("lines-{name}"))
        .into()
}

#[test]
fn the_reference_is_what_the_words_say() {
    assert_eq!(answer("count", b"a\n\nlast"), "3:4");
    let starts = [0_u64, 2, 3].map(u64::to_le_bytes).concat();
    let index = format!("3:4:{}", reference("crc32", &starts));
    assert_eq!(answer("index", b"a\n\nlast"), index);
    let contents = reference("crc32", b"a\0\0last");
    assert_eq!(answer("split", b"a\n\nlast"), format!("{index}:{contents}"));
}

#[test]
fn every_work_is_right_whatever_the_lines() {
    let mut nul_ended = text(3 * CHUNK, 90, "\n");
    nul_ended.extend(b"\0\0");
    let contents: [&[u8]; 15] = [
        b"",
        b"\n",
        b"\0",
        b"one line without its newline",
        b"a\n\0\n",
        b"\0a\nb\0\0c\n\0",
        b"\r\n\r\r\n",
        &text(CHUNK, 90, "\r\n"),
        &text(3 * CHUNK + 77, 0, "\n"),
        &text(5 * CHUNK, 2 * CHUNK, "\n"),
        &text(CHUNK, 9, "\0\n"),
        &vec![b'x'; 3 * CHUNK + 1],
        &vec![0; 3 * CHUNK],
        &random(2 * CHUNK + 123),
        &nul_ended,
    ];
    for bytes in contents {
        assert_answers(&strategies("lines"), &[], &WORKS, bytes);
    }
}

#[test]
fn every_work_is_right_on_lines_as_long_as_buffers() {
    for around in [64, 120, 128, 1024, 4096, 8192, CHUNK] {
        let mut bytes = Vec::new();
        for length in around - 2..=around + 2 {
            bytes.extend(vec![b'a'; length]);
            bytes.push(b'\n');
            bytes.extend(vec![0; length]);
            bytes.push(b'\n');
        }
        assert_answers(&strategies("lines"), &[], &["split"], &bytes);
    }
}

#[test]
fn any_buffer_size_gives_the_same_answer() {
    let contents: [&[u8]; 4] = [b"", b"\n", b"a\n\0b\n\0\n", &text(5000, 200, "\0\r\n")];
    for bytes in contents {
        for buffer in ["1", "2", "63", "65", "4096", "64KiB", "64MB", "file"] {
            assert_answers(
                &with_buffer(),
                &["--buffer", buffer],
                &["index", "split"],
                bytes,
            );
        }
    }
}

#[test]
fn a_hole_is_one_line_of_nuls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    File::create(&file).unwrap().set_len(1_000_003).unwrap();
    for strategy in strategies("lines") {
        let output = run(
            &strategy,
            ["--work".as_ref(), "count".as_ref(), file.as_os_str()],
        );
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout, "count 1:1000003  1000003 bytes\n", "{strategy}");
    }
}

#[test]
fn the_record_names_the_work_and_tells_the_memory_of_lines_that_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let bytes = text(16 << 20, 200, "\n");
    fs::write(&file, &bytes).unwrap();
    for strategy in strategies("lines") {
        let [index, split] = ["index", "split"].map(|work| {
            let args = ["--json", "--work", work].map(AsRef::as_ref);
            let output = run(&strategy, args.into_iter().chain([file.as_os_str()]));
            let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(record["strategy"], *strategy);
            assert_eq!(record["work"], work);
            assert_eq!(record["bytes"], bytes.len());
            assert!(record["seconds_arrive_touch"].is_f64(), "{record}");
            record["peak_rss"].as_f64()
        });
        let (Some(index), Some(split)) = (index, split) else {
            eprintln!("skipped: {strategy}: this system doesn't tell peak memory");
            continue;
        };
        let size = bytes.len() as f64;
        assert!(split >= size, "{strategy}: {split}");
        let streams = !strategy.contains("mmap");
        assert_eq!(index < size, streams, "{strategy}: {index}");
    }
}

#[test]
fn help_names_the_works_and_the_buffer_where_there_is_one() {
    for strategy in strategies("lines") {
        let help = String::from_utf8(run(&strategy, ["-h"]).stdout).unwrap();
        assert!(
            help.contains("--work WORK") && help.contains("split"),
            "{help}"
        );
        let has_buffer = with_buffer().contains(&strategy);
        assert_eq!(help.contains("--buffer SIZE"), has_buffer, "{help}");
    }
}

#[test]
fn what_the_command_line_gets_wrong_is_one_line() {
    for strategy in strategies("lines") {
        assert_refused(
            &strategy,
            &run(&strategy, ["--work", "xor", "f"]),
            64,
            "count",
        );
        assert_refused(&strategy, &run(&strategy, [""; 0]), 64, "FILE");
    }
    for strategy in with_buffer() {
        let zero = run(&strategy, ["--buffer", "0", "f"]);
        assert_refused(&strategy, &zero, 64, "at least 1 byte");
        let words = run(&strategy, ["--buffer", "files", "f"]);
        assert_refused(&strategy, &words, 64, "neither file nor a size");
    }
}

#[test]
fn what_has_no_lines_is_no_input() {
    for strategy in strategies("lines") {
        for (file, about) in [
            ("no/such/file", "No such file"),
            (".", "a folder"),
            ("/dev/zero", "a device"),
        ] {
            assert_refused(&strategy, &run(&strategy, [file]), 66, about);
        }
    }
}

#[test]
fn lines_larger_than_memory_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    if let Err(why) = File::create(&file).unwrap().set_len(15 << 40) {
        eprintln!("skipped: a file larger than memory: the filesystem has none: {why}");
        return;
    }
    for strategy in strategies("lines") {
        let output = run(
            &strategy,
            ["--work".as_ref(), "split".as_ref(), file.as_os_str()],
        );
        assert_refused(
            &strategy,
            &output,
            69,
            "15.0 TiB is more than the memory available, ",
        );
    }
    for strategy in with_buffer() {
        let output = run(
            &strategy,
            ["--buffer".as_ref(), "file".as_ref(), file.as_os_str()],
        );
        assert_refused(
            &strategy,
            &output,
            69,
            "15.0 TiB is more than the memory available, ",
        );
    }
}

/// Runs the strategy with so much memory, as setrlimit(2) has it.
fn run_within(bytes: u64, strategy: &str, work: &str, file: &Path) -> std::process::Output {
    let mut limited = command(strategy);
    limited.args(["--work", work]).arg(file);
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: setrlimit is async-signal-safe and takes no memory of ours.
    unsafe {
        limited.pre_exec(move || {
            assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
            Ok(())
        });
    }
    limited.output().unwrap()
}

#[test]
fn a_line_larger_than_memory_is_refused_by_those_that_want_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse");
    File::create(&file).unwrap().set_len(300 << 20).unwrap();
    for strategy in strategies("lines") {
        let output = run_within(64 << 20, &strategy, "index", &file);
        if strategy == "lines-fgets" {
            assert!(
                output.status.success(),
                "fgets wants no more than its buffer"
            );
        } else {
            assert_refused(&strategy, &output, 69, "");
        }
    }
}

#[test]
fn an_index_larger_than_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("newlines");
    fs::write(&file, vec![b'\n'; 20 << 20]).unwrap();
    for strategy in strategies("lines") {
        let output = run_within(64 << 20, &strategy, "index", &file);
        assert_refused(&strategy, &output, 69, "can't allocate");
        assert!(String::from_utf8_lossy(&output.stderr).contains("available"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_shrinks_while_its_lines_are_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for strategy in strategies("lines") {
        for work in WORKS {
            let told = (0..50).any(|_| {
                File::create(&file).unwrap().set_len(64 << 20).unwrap();
                let mut command = command(&strategy);
                command.args(["--work", work]).arg(&file);
                command.stdout(std::process::Stdio::piped());
                command.stderr(std::process::Stdio::piped());
                let child = command.spawn().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(3));
                let shrunk = File::options().write(true).open(&file).unwrap();
                shrunk.set_len(4096).unwrap();
                let output = child.wait_with_output().unwrap();
                let changed = output.status.code() == Some(65);
                if changed {
                    assert_refused(&strategy, &output, 65, "shrank while it was");
                }
                changed
            });
            assert!(
                told,
                "{strategy} --work {work}: the file never changed in time"
            );
        }
    }
}
