//! The work `boxes`.

use crate::common::run;
use crate::reference::{Mp4Box, boxes, line_of_boxes};
use crate::{assert_all_print, assert_all_refuse, file_of};

const OPTIONS: &[&str] = &["--work", "boxes"];

/// A box with a 32-bit size.
fn short(kind: &str, content: &[u8]) -> Vec<u8> {
    head(content.len() as u32 + 8, kind, content)
}

/// A box with a 64-bit size.
fn long(kind: &str, content: &[u8]) -> Vec<u8> {
    let size = content.len() as u64 + 16;
    head(1, kind, &[&size.to_be_bytes(), content].concat())
}

/// A box that says of itself that it has so many bytes.
fn head(size: u32, kind: &str, content: &[u8]) -> Vec<u8> {
    [&size.to_be_bytes(), kind.as_bytes(), content].concat()
}

/// A small video, as they are laid out.
fn video(last: &[u8]) -> Vec<u8> {
    let entry = short("avc1", &[0; 78]);
    let stsd = short("stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1], &entry[..]].concat());
    let url = short("url ", &[0, 0, 0, 1]);
    let dref = short("dref", &[&[0, 0, 0, 0, 0, 0, 0, 1], &url[..]].concat());
    let stbl = long("stbl", &[stsd, short("stts", &[0; 8])].concat());
    let minf = short("minf", &[short("dinf", &dref), stbl].concat());
    let trak = short("trak", &short("mdia", &minf));
    // QuickTime ends this list with four zeros.
    let udta = short("udta", &[short("name", b"x"), vec![0; 4]].concat());
    let moov = short("moov", &[short("mvhd", &[0; 100]), trak, udta].concat());
    let moof = short(
        "moof",
        &[long("mfhd", &[0; 8]), short("traf", b"")].concat(),
    );
    let parts = [
        short("ftyp", b"isom\0\0\x02\0isom"),
        moov,
        moof,
        long("mdat", &[7; 70_000]),
        short("free", b""),
        last.to_vec(),
    ];
    parts.concat()
}

#[track_caller]
fn assert_walked(bytes: &[u8], count: usize) {
    let (_folder, file) = file_of(bytes);
    let found = boxes(bytes);
    assert_eq!(found.len(), count);
    assert_all_print(OPTIONS, &file, &line_of_boxes(&found));
}

#[test]
fn every_box_of_a_video_is_visited() {
    assert_walked(&video(b""), 20);
}

#[test]
fn a_last_box_may_go_to_the_end_of_the_file() {
    assert_walked(&video(&head(0, "mdat", &[1; 50_000])), 21);
    assert_walked(&video(&head(0, "moov", &short("udta", b""))), 22);
    assert_walked(&video(&head(0, "free", b"")), 21);
}

#[test]
fn a_box_of_size_0_midway_is_the_last_one_at_the_top() {
    let midway = [head(0, "mdat", &[1; 100]), short("moov", b"")].concat();
    assert_walked(&video(&midway), 21);
}

#[test]
fn a_box_of_size_0_in_another_is_refused() {
    let moov = short("moov", &[head(0, "trak", b""), short("free", b"")].concat());
    let (_folder, file) = file_of(&moov);
    let about = "the box 'trak' at byte 8 goes to the end of the file, but is in another";
    assert_all_refuse(OPTIONS, &file, 65, about);
}

#[test]
fn small_boxes_and_empty_files_are_walked() {
    assert_walked(b"", 0);
    assert_walked(&short("free", b""), 1);
    assert_walked(&short("moov", b""), 1);
    assert_walked(&short("stsd", b""), 1);
    assert_walked(&short("dref", &[0; 8]), 1);
    assert_walked(&long("trak", b""), 1);
    assert_walked(&short("moov", &[0; 7]), 1);
    assert_walked(&short("\u{1}\n\u{7f}'", b"").repeat(1000), 1000);
}

#[test]
fn a_number_of_visits_ends_the_walk() {
    let bytes = video(b"");
    let (_folder, file) = file_of(&bytes);
    let expected = line_of_boxes(&boxes(&bytes)[..3]);
    assert_all_print(&["--work", "boxes", "--visits", "3"], &file, &expected);
}

/// That many boxes, each in the one before.
fn nested(count: u32) -> Vec<u8> {
    (0..count)
        .flat_map(|depth| head(8 * (count - depth), "moov", b""))
        .collect()
}

#[test]
fn boxes_may_be_nested_deeply() {
    let bytes = nested(10_000);
    let (_folder, file) = file_of(&bytes);
    let nested = |size: usize| Mp4Box {
        kind: b"moov".to_vec(),
        size: size as u64,
        read: size.min(16),
    };
    let boxes: Vec<Mp4Box> = (1..=10_000)
        .rev()
        .map(|from_end| nested(8 * from_end))
        .collect();
    assert_all_print(OPTIONS, &file, &line_of_boxes(&boxes));
}

#[test]
fn boxes_nested_without_end_are_refused() {
    let (_folder, file) = file_of(&nested(100_000));
    let about = "'moov' at byte 524288 is in 65536 others: too deep";
    assert_all_refuse(OPTIONS, &file, 65, about);
}

#[test]
fn what_cannot_be_the_size_of_a_box_is_refused() {
    let huge = |size: u64| head(1, "mdat", &size.to_be_bytes());
    let cases = [
        (
            head(7, "mdat", b""),
            "'mdat' at byte 0 has 7 bytes, less than its head",
        ),
        (huge(15), "has 15 bytes, less than its head"),
        (huge(0), "has 0 bytes, less than its head"),
        (huge(17), "has 17 bytes, but only 16 are left for it"),
        (
            huge(u64::MAX),
            "has 18446744073709551615 bytes, but only 16",
        ),
        (huge(1 << 63), "has 9223372036854775808 bytes, but only 16"),
        (
            head(1, "mdat", &[0; 7]),
            "'mdat' at byte 0 is cut within its head",
        ),
        (head(9, "mdat", b""), "has 9 bytes, but only 8 are left"),
        (
            head(u32::MAX, "mdat", b""),
            "has 4294967295 bytes, but only 8",
        ),
        (vec![0; 7], "the box '' at byte 0 is cut within its head"),
        (
            [short("free", b"x"), vec![9]].concat(),
            "the box '' at byte 9 is cut",
        ),
        (
            short("moov", &head(9, "trak", b"")),
            "'trak' at byte 8 has 9 bytes",
        ),
        (
            b"Hamburg;12.0\nBerlin;3.4\n".to_vec(),
            "'urg;' at byte 0 has 1214344546",
        ),
        (
            head(99, "\n\u{1}\u{2}\u{3}", b""),
            "'\\n\\x01\\x02\\x03' at byte 0",
        ),
    ];
    for (bytes, about) in cases {
        let (_folder, file) = file_of(&bytes);
        assert_all_refuse(OPTIONS, &file, 65, about);
    }
}

#[test]
fn a_cut_video_is_refused_unless_it_is_cut_between_boxes() {
    let bytes = video(b"");
    let mut ends = vec![0];
    while let Some(size) = bytes[ends[ends.len() - 1]..].first_chunk() {
        let size = match u32::from_be_bytes(*size) {
            1 => 16 + 70_000,
            size => size as usize,
        };
        ends.push(ends[ends.len() - 1] + size);
    }
    assert_eq!(ends.last(), Some(&bytes.len()));
    let near_ends = ends
        .iter()
        .flat_map(|&end| [end.saturating_sub(1), end, end + 9]);
    for length in (1..700)
        .chain(near_ends)
        .filter(|&length| length < bytes.len())
    {
        let (_folder, file) = file_of(&bytes[..length]);
        let output = run("seek-pread", [OPTIONS, &[file.to_str().unwrap()]].concat());
        let exit = if ends.contains(&length) { 0 } else { 65 };
        assert_eq!(output.status.code(), Some(exit), "{length}: {output:?}");
    }
}
