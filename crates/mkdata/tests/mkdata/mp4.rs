use std::process::Command;

use predicates::str::{contains, is_match};
use tempfile::TempDir;

use crate::{made, mkdata, names_in};

/// What a walk over all boxes finds.
#[derive(Default)]
struct Walk {
    /// Type, offset and size of each, in the order of the file.
    boxes: Vec<([u8; 4], usize, usize)>,
    deepest: usize,
    large_sizes: usize,
}

impl Walk {
    fn over(data: &[u8]) -> Self {
        let mut walk = Self::default();
        walk.boxes_in(data, 0, data.len(), 1);
        walk
    }

    /// Walks the boxes between two offsets, which must fill the space exactly.
    fn boxes_in(&mut self, data: &[u8], start: usize, end: usize, depth: usize) {
        self.deepest = self.deepest.max(depth);
        let mut at = start;
        while at < end {
            let kind: [u8; 4] = data[at + 4..at + 8].try_into().unwrap();
            let mut head = 8;
            let mut size = u32::from_be_bytes(data[at..at + 4].try_into().unwrap()) as usize;
            if size == 1 {
                head = 16;
                size = u64::from_be_bytes(data[at + 8..at + 16].try_into().unwrap()) as usize;
                self.large_sizes += 1;
            }
            assert!(
                size >= head && at + size <= end,
                "{kind:?} at {at} has size {size}"
            );
            self.boxes.push((kind, at, size));
            // What stands between a container's head and its first box.
            let inside = match &kind {
                b"moov" | b"trak" | b"mdia" | b"minf" | b"dinf" | b"stbl" | b"mvex" | b"moof"
                | b"traf" => Some(0),
                b"stsd" | b"dref" => Some(8),
                _ => None,
            };
            if let Some(skip) = inside {
                self.boxes_in(data, at + head + skip, at + size, depth + 1);
            }
            at += size;
        }
        assert_eq!(at, end);
    }

    fn count(&self, kind: &[u8; 4]) -> usize {
        self.boxes.iter().filter(|(of, _, _)| of == kind).count()
    }
}

#[test]
fn the_bytes_never_change() {
    let data = made("mp4 --size 1MiB");
    assert_eq!(data[..12], *b"\0\0\0\x1cftypisom");
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1 << 20, 3_059_100_985)
    );
    let data = made("mp4 --size 1MiB --seed 2");
    assert_eq!(
        (data.len(), crc32fast::hash(&data)),
        (1 << 20, 2_651_329_069)
    );
}

#[test]
fn its_boxes_fill_the_file_and_are_as_many_as_said() {
    let dir = TempDir::new().unwrap();
    let run = mkdata(&dir, "mp4 --size 30MB data").assert().success();
    let data = std::fs::read(dir.path().join("data")).unwrap();
    let walk = Walk::over(&data);
    run.stdout(contains(format!("  {} boxes  ", walk.boxes.len())));
    assert_eq!(data.len(), 30_000_000);
    assert!(walk.boxes.len() > 1000, "{}", walk.boxes.len());
    assert_eq!(walk.deepest, 7); // moov trak mdia minf stbl stsd raw
    assert_eq!(walk.large_sizes, 1);
    assert_eq!(
        (
            walk.count(b"ftyp"),
            walk.count(b"moov"),
            walk.count(b"free")
        ),
        (1, 1, 1)
    );
    assert!(walk.count(b"moof") > 100);
    assert_eq!(walk.count(b"moof"), walk.count(b"mdat"));
    assert_eq!(walk.boxes.last().unwrap().0, *b"free");
}

/// A `trun` says how many pictures there are and where the first one begins, counted from the `moof`.
#[test]
fn each_fragment_points_at_its_own_data() {
    let data = made("mp4 --size 10MB");
    let walk = Walk::over(&data);
    let number = |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
    let mut moof = 0;
    let mut trun = 0;
    for (sequence, (kind, at, size)) in walk.boxes.iter().enumerate() {
        match kind {
            b"moof" => moof = *at,
            b"trun" => trun = *at,
            b"mdat" => {
                let pictures = number(trun + 12) as usize * 160 * 90 * 3;
                assert_eq!(
                    moof + number(trun + 16) as usize,
                    at + size - pictures,
                    "{sequence}"
                );
            }
            _ => {}
        }
    }
    let first = walk
        .boxes
        .iter()
        .find(|(kind, ..)| kind == b"tfdt")
        .unwrap()
        .1;
    let last = walk
        .boxes
        .iter()
        .rfind(|(kind, ..)| kind == b"tfdt")
        .unwrap()
        .1;
    // Times are those of the pictures before.
    assert_eq!(number(first + 16), 0);
    let fragments = walk.count(b"moof") as u32;
    assert!((fragments..8 * fragments).contains(&number(last + 16)));
}

#[test]
fn any_size_from_the_least_one_on_is_met_exactly() {
    let dir = TempDir::new().unwrap();
    let refused = mkdata(&dir, "mp4 --size 1 data").assert().code(64);
    let line = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(
        line.starts_with("mkdata: \"data\": an MP4 file takes at least "),
        "{line}"
    );
    let least: usize = line.split(' ').find_map(|word| word.parse().ok()).unwrap();
    mkdata(&dir, &format!("mp4 --size {} data", least - 1))
        .assert()
        .code(64);
    assert!(names_in(dir.path()).is_empty());

    // Around the sizes at which a further picture, then a further fragment fits.
    let picture = 160 * 90 * 3;
    let nearby = (0..3).flat_map(|n| [0, 1, 7, 8, 9].map(|more| least + n * picture + more));
    for size in nearby.chain([1_000_003, 2_000_001]) {
        let data = made(&format!("mp4 --size {size}"));
        assert_eq!(data.len(), size);
        let walk = Walk::over(&data);
        assert_eq!(walk.count(b"free"), 1);
        assert_eq!(walk.large_sizes, 1);
    }
    mkdata(&dir, "mp4 --size 0 data")
        .assert()
        .success()
        .stdout(is_match("^data  0 bytes  0 boxes  seed 1\n$").unwrap());
}

#[test]
fn ffprobe_accepts_it() {
    let dir = TempDir::new().unwrap();
    mkdata(&dir, "mp4 --size 5MB data").assert().success();
    let ffprobe = Command::new("ffprobe")
        .current_dir(dir.path())
        .args([
            "-v",
            "warning",
            "-count_packets",
            "-of",
            "default=noprint_wrappers=1",
        ])
        .args([
            "-show_entries",
            "format=format_name:stream=codec_name,nb_read_packets,duration_ts",
        ])
        .arg("data")
        .output();
    let output = match ffprobe {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: ffprobe_accepts_it: ffprobe: {error}");
            return;
        }
    };
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(output.status.success());
    let data = std::fs::read(dir.path().join("data")).unwrap();
    let payload: usize = Walk::over(&data)
        .boxes
        .iter()
        .filter(|(kind, ..)| kind == b"mdat")
        .map(|(_, _, size)| size / (160 * 90 * 3))
        .sum();
    for line in [
        "codec_name=rawvideo".to_owned(),
        format!("duration_ts={payload}"),
        format!("nb_read_packets={payload}"),
        "format_name=mov,mp4,m4a,3gp,3g2,mj2".to_owned(),
    ] {
        assert!(
            stdout.lines().any(|said| said == line),
            "no {line} in {stdout}"
        );
    }
}
