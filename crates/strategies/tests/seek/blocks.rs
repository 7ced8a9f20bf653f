//! The work `blocks`, and the order of visits.

use crate::common::random;
use crate::reference::{line, shuffled};
use crate::{assert_all_print, file_of};

#[test]
fn blocks_are_right_whatever_their_size_and_that_of_the_file() {
    for size in [0, 1, 511, 512, 4095, 4096, 4097, 16_384, 100_003] {
        let bytes = random(size);
        let (_folder, file) = file_of(&bytes);
        for block in [512, 4096, 5000, 16_384, 1 << 20] {
            let blocks: Vec<&[u8]> = bytes.chunks(block).collect();
            let size = block.to_string();
            let serial = line("blocks", blocks.len(), &bytes, bytes.len());
            assert_all_print(&["--block", &size], &file, &serial);
            let order = shuffled(blocks.len(), 5);
            let digest: Vec<u8> = order.iter().flat_map(|&i| blocks[i]).copied().collect();
            let shuffled = line("blocks", blocks.len(), &digest, bytes.len());
            let options = ["--block", &size, "--order", "shuffled", "--seed", "5"];
            assert_all_print(&options, &file, &shuffled);
        }
    }
}

#[test]
fn single_bytes_are_blocks_too() {
    let bytes = random(300);
    let (_folder, file) = file_of(&bytes);
    assert_all_print(&["--block", "1"], &file, &line("blocks", 300, &bytes, 300));
}

#[test]
fn a_block_is_16_kib_unless_said_otherwise() {
    let bytes = random(50_000);
    let (_folder, file) = file_of(&bytes);
    assert_all_print(&[], &file, &line("blocks", 4, &bytes, 50_000));
}

#[test]
fn the_order_of_a_seed_never_changes() {
    let (_folder, file) = file_of(b"0123456789");
    let options = ["--block", "1", "--order", "shuffled"];
    assert_all_print(&options, &file, &line("blocks", 10, b"5796382014", 10));
}

#[test]
fn a_number_of_visits_takes_the_first_of_the_order() {
    let bytes = random(10_240);
    let (_folder, file) = file_of(&bytes);
    let blocks: Vec<&[u8]> = bytes.chunks(1024).collect();
    for visits in [1, 3, 10, 11, usize::MAX] {
        let count = visits.to_string();
        let taken = visits.min(10);
        let options = ["--block", "1KiB", "--visits", &count];
        let expected = line("blocks", taken, &bytes[..1024 * taken], 1024 * taken);
        assert_all_print(&options, &file, &expected);
        let order = shuffled(10, 1).into_iter().take(visits);
        let digest: Vec<u8> = order.flat_map(|i| blocks[i]).copied().collect();
        let options = [&options[..], &["--order", "shuffled"]].concat();
        let expected = line("blocks", taken, &digest, 1024 * taken);
        assert_all_print(&options, &file, &expected);
    }
}
