//! The kernels against their plain form, at every alignment and length, and works cut anywhere.

mod common;

use common::{WORKS, random, reference};
use proptest::prelude::*;
use strategies::run::Work as _;
use strategies::scan::{Work, kernels};

fn work(name: &str) -> Work {
    Work::all()
        .into_iter()
        .find(|work| work.name() == name)
        .unwrap()
}

/// Lengths from nothing to several vector blocks, beginning at every place of a cache line.
#[test]
fn kernels_equal_the_plain_loop_at_every_alignment_and_length() {
    let mut bytes = random(64 + 600);
    for byte in bytes.iter_mut().step_by(3) {
        *byte = b'\n';
    }
    for start in 0..64 {
        for length in 0..600 {
            let slice = &bytes[start..start + length];
            let newlines: u64 = reference("newlines", slice).parse().unwrap();
            assert_eq!(
                format!("{:02x}", kernels::xor(slice)),
                reference("xor", slice)
            );
            assert_eq!(kernels::sum(slice).to_string(), reference("sum", slice));
            assert_eq!(kernels::newlines(slice), newlines);
            assert_eq!(kernels::newlines_u32(slice), newlines);
            assert_eq!(kernels::newlines_u64(slice), newlines);
        }
    }
}

#[test]
fn sums_do_not_overflow_where_every_byte_is_the_largest() {
    let bytes = vec![u8::MAX; (1 << 20) + 5];
    assert_eq!(kernels::sum(&bytes), 255 * ((1 << 20) + 5));
    let newlines = vec![b'\n'; (1 << 20) + 5];
    assert_eq!(kernels::newlines_u32(&newlines), (1 << 20) + 5);
}

#[test]
fn all_works_are_named_as_on_the_command_line() {
    assert_eq!(Work::all().map(|work| work.name()), WORKS);
}

#[test]
#[should_panic(expected = "can't be joined")]
fn works_of_different_kinds_are_not_joined() {
    work("xor").join(work("sum"));
}

proptest! {
    #[test]
    fn touch_takes_the_bytes_at_multiples_of_its_step(
        offset in 0u64..20_000, length in 0usize..20_000
    ) {
        let bytes = random(length);
        let expected: u64 = (offset..).zip(&bytes)
            .filter(|(at, _)| at % kernels::TOUCH_STEP as u64 == 0)
            .map(|(_, &byte)| u64::from(byte))
            .sum();
        prop_assert_eq!(kernels::touch(offset, &bytes), expected);
    }

    #[test]
    fn a_work_answers_the_same_however_its_bytes_are_cut(
        length in 0usize..30_000,
        cuts in prop::collection::vec(0usize..30_000, 0..8),
        begin_anew in prop::collection::vec(any::<bool>(), 9),
    ) {
        let bytes = random(length);
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(length)).collect();
        ends.push(length);
        ends.sort_unstable();
        for name in WORKS {
            // Parts that go on in one work, or begin a new one that is joined at the end.
            let mut parts = vec![work(name)];
            let mut start = 0;
            for (&end, &begin) in ends.iter().zip(&begin_anew) {
                if begin {
                    parts.push(work(name));
                }
                parts.last_mut().unwrap().update(start as u64, &bytes[start..end]);
                start = end;
            }
            let joined = parts.into_iter().reduce(|mut earlier, later| {
                earlier.join(later);
                earlier
            });
            prop_assert_eq!(joined.unwrap().answer(), reference(name, &bytes), "{}", name);
        }
    }
}
