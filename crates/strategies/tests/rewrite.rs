//! Every rewrite writes every byte plus one, and nothing else.

mod common;
#[path = "common/rewriting.rs"]
mod rewriting;

use std::fs;

use common::{random, strategies, unavailable};
use rewriting::{ALL, COPY, INPLACE, Scene, plus_one, told};
use serde_json::Value;
use strategies::rewrite::kernel::add_one;

/// Around chunks, pages, and the kernel's own blocks.
const SIZES: [usize; 16] = [
    0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 65_536, 65_537, 262_144, 1_048_583,
];

/// Runs the strategy on a file of these bytes and looks at every file there is after that.
#[track_caller]
fn assert_adds_one(scene: &Scene, strategy: &str, bytes: &[u8], args: &[&str]) {
    scene.prepare(strategy);
    let output = scene.run(strategy, args);
    if unavailable(strategy, &output) {
        return;
    }
    let context = format!("{strategy} {args:?} of {} bytes: {output:?}", bytes.len());
    assert!(output.status.success(), "{context}");
    assert!(output.stderr.is_empty(), "{context}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        told(bytes),
        "{context}"
    );
    assert!(
        fs::read(scene.copy()).unwrap() == plus_one(bytes),
        "{context}"
    );
    assert!(fs::read(&scene.file).unwrap() == bytes, "{context}");
}

#[test]
fn these_are_all_strategies() {
    let mut named = [&COPY[..], &INPLACE[..]].concat();
    named.sort();
    assert_eq!(strategies("rewrite"), named);
}

#[test]
fn every_strategy_adds_one_to_every_byte_whatever_the_size_and_the_chunk() {
    for size in SIZES {
        let bytes = random(size);
        let scene = Scene::new(&bytes);
        for strategy in strategies("rewrite") {
            for chunk in ["1", "100", "1KiB", "4097", "4MiB"] {
                // A system call a byte takes its time.
                if chunk != "1" || size < 5000 {
                    assert_adds_one(&scene, &strategy, &bytes, &["--chunk", chunk]);
                }
            }
            assert_adds_one(&scene, &strategy, &bytes, &[]);
            assert_adds_one(&scene, &strategy, &bytes, &["--sync", "data"]);
        }
        for strategy in COPY {
            for target in ["hole", "allocated"] {
                let args = ["--target", target, "--work", "add-one"];
                assert_adds_one(&scene, strategy, &bytes, &args);
            }
        }
    }
}

#[test]
fn the_largest_byte_becomes_0_and_a_hole_becomes_ones() {
    for bytes in [vec![255; 70_001], vec![254; 70_001], vec![0; 70_001]] {
        let scene = Scene::new(&bytes);
        for strategy in strategies("rewrite") {
            assert_adds_one(&scene, &strategy, &bytes, &[]);
        }
    }
    let scene = Scene::new(b"");
    fs::File::options()
        .write(true)
        .open(&scene.file)
        .unwrap()
        .set_len(200_003)
        .unwrap();
    for strategy in strategies("rewrite") {
        assert_adds_one(&scene, &strategy, &[0; 200_003], &[]);
    }
}

#[test]
fn an_older_copy_of_another_size_is_replaced() {
    let bytes = random(10_000);
    let scene = Scene::new(&bytes);
    for strategy in COPY {
        for size in [3, 10_000, 70_000] {
            fs::write(scene.copy(), vec![7; size]).unwrap();
            let output = scene.run(strategy, [] as [&str; 0]);
            assert!(output.status.success(), "{output:?}");
            assert_eq!(
                fs::read(scene.copy()).unwrap(),
                plus_one(&bytes),
                "{strategy}"
            );
        }
    }
}

#[test]
fn a_second_pass_in_place_adds_one_again() {
    let bytes = random(5000);
    let scene = Scene::new(&bytes);
    for strategy in INPLACE {
        scene.prepare(strategy);
        for _ in 0..2 {
            assert!(scene.run(strategy, [] as [&str; 0]).status.success());
        }
        assert_eq!(fs::read(scene.copy()).unwrap(), plus_one(&plus_one(&bytes)));
    }
}

#[test]
fn odd_names_of_file_and_folder_are_taken() {
    use std::os::unix::ffi::OsStrExt;
    let bytes = random(5000);
    let mut scene = Scene::new(&bytes);
    for name in [&b"two words"[..], b"new\nline", b"\xff\xfe"] {
        let name = std::ffi::OsStr::from_bytes(name);
        let (file, scratch) = (scene.file.clone(), scene.scratch.clone());
        scene.file = scene.folder.path().join(name);
        scene.scratch = scene.folder.path().join("in").join(name);
        fs::create_dir_all(scene.scratch.parent().unwrap()).unwrap();
        fs::rename(file, &scene.file).unwrap();
        fs::rename(scratch, &scene.scratch).unwrap();
        for strategy in strategies("rewrite") {
            assert_adds_one(&scene, &strategy, &bytes, &[]);
        }
    }
}

#[test]
fn the_record_tells_the_phases_and_the_answer() {
    let bytes = random(100_000);
    let scene = Scene::new(&bytes);
    for strategy in strategies("rewrite") {
        scene.prepare(&strategy);
        let output = scene.run(&strategy, ["--json"]);
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(record["kind"], "record");
        assert_eq!(record["strategy"], *strategy);
        assert_eq!(record["work"], "add-one");
        assert_eq!(record["bytes"], 100_000);
        let line = told(&bytes);
        assert_eq!(record["answer"], line.split(' ').nth(1).unwrap());
        // Copying first and adding after is what the one strategy does.
        let two = strategy == "rewrite-mmap-copy";
        assert_eq!(record["seconds_arrive"].is_f64(), two, "{record}");
        assert_eq!(record["seconds_touch"].is_f64(), two, "{record}");
        assert_eq!(record["seconds_arrive_touch"].is_null(), two, "{record}");
    }
}

#[test]
fn verifying_finds_one_wrong_byte_anywhere() {
    let bytes = random(200_000);
    let scene = Scene::new(&bytes);
    fs::write(scene.copy(), plus_one(&bytes)).unwrap();
    let output = scene.run("verify-rewrite", [] as [&str; 0]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), told(&bytes));
    for at in [0, 1, 65_535, 65_536, 131_071, 199_999] {
        let mut wrong = plus_one(&bytes);
        wrong[at] = wrong[at].wrapping_add(1);
        // What only the order betrays is found, too: a sum wouldn't.
        wrong[100_000] = wrong[100_000].wrapping_sub(1);
        fs::write(scene.copy(), &wrong).unwrap();
        let output = scene.run("verify-rewrite", [] as [&str; 0]);
        let first = at.min(100_000);
        common::assert_refused(
            "verify-rewrite",
            &output,
            65,
            &format!("byte {first} of it"),
        );
    }
    // A copy that nobody rewrote is wrong, and so is a shorter one.
    fs::write(scene.copy(), &bytes).unwrap();
    let output = scene.run("verify-rewrite", [] as [&str; 0]);
    common::assert_refused("verify-rewrite", &output, 65, "byte 0 of it");
    fs::write(scene.copy(), &plus_one(&bytes)[1..]).unwrap();
    let output = scene.run("verify-rewrite", [] as [&str; 0]);
    common::assert_refused("verify-rewrite", &output, 66, "199999 bytes, not 200000");
}

#[test]
fn help_begins_with_what_the_strategy_is() {
    for strategy in ALL {
        let output = common::run(strategy, ["-h"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.contains("--scratch DIR"),
            "{text}"
        );
        let options = ["--chunk", "--sync", "--target"].map(|option| text.contains(option));
        let expected = match strategy {
            "verify-rewrite" => [false; 3],
            _ if INPLACE.contains(&strategy) => [true, true, false],
            _ => [true; 3],
        };
        assert_eq!(options, expected, "{text}");
    }
}

/// Lengths from nothing to several vector blocks, beginning at every place of a cache line.
#[test]
fn the_kernel_equals_the_plain_loop_at_every_alignment_and_length() {
    let bytes = random(64 + 300);
    for start in 0..64 {
        for length in 0..300 {
            let mut worked = bytes.clone();
            let sum = add_one(&mut worked[start..start + length]);
            let mut expected = bytes.clone();
            let slice = plus_one(&bytes[start..start + length]);
            assert_eq!(sum, slice.iter().map(|&byte| u64::from(byte)).sum::<u64>());
            expected[start..start + length].copy_from_slice(&slice);
            assert_eq!(worked, expected);
        }
    }
}

#[test]
fn the_sum_does_not_overflow_where_every_byte_is_the_largest() {
    let mut bytes = vec![254; (1 << 20) + 5];
    assert_eq!(add_one(&mut bytes), 255 * ((1 << 20) + 5));
}
