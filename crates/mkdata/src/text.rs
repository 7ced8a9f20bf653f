//! Many files of random lines, of very different line counts and widths.

use crate::blocks::write_chars;
use crate::error::Result;
use crate::rng::Rng;
use crate::sink::{Limit, Sink};

/// One file to be made.
pub struct Plan {
    /// How much of it.
    pub limit: Limit,
    /// No line of it has more characters.
    pub width: u64,
    seed: u64,
}

impl Plan {
    /// The bytes to expect.
    pub fn expected_bytes(&self) -> u64 {
        // A line has half the width on average, and its newline.
        self.limit.expected_bytes(self.width / 2 + 1)
    }
}

/// Plans `files` files with lines of at most `width` characters. A limit of rows is that of each file: it
/// gets between one line and so many. A limit of bytes is what all files take together: each gets a share.
pub fn plan(limit: Limit, files: u64, width: u64, seed: u64) -> Vec<Plan> {
    // Shares are told apart this finely.
    const SHARES: u64 = 1 << 20;
    let mut rng = Rng::new(seed);
    let most_lines = match limit {
        Limit::Bytes(_) => SHARES,
        Limit::Rows(rows) => rows,
    };
    let mut plans: Vec<Plan> = (0..files)
        .map(|_| Plan {
            limit: Limit::Rows((1 + rng.below(most_lines)).min(most_lines)),
            width: width_within(width, &mut rng),
            seed: rng.next(),
        })
        .collect();
    if let Limit::Bytes(bytes) = limit {
        share(bytes, &mut plans);
    }
    plans
}

/// Of a product of two numbers: small widths are more frequent than large ones, and all occur.
fn width_within(width: u64, rng: &mut Rng) -> u64 {
    let product = u128::from(1 + rng.below(width)) * u128::from(1 + rng.below(width));
    product.div_ceil(u128::from(width)) as u64
}

/// Turns numbers of lines into shares of `bytes`, which are used up to the last one.
fn share(bytes: u64, plans: &mut [Plan]) {
    let mut weight_left: u128 = plans
        .iter()
        .map(|plan| u128::from(plan.expected_bytes()))
        .sum();
    let mut left = bytes;
    for plan in plans {
        let weight = u128::from(plan.expected_bytes());
        let share = (u128::from(left) * weight / weight_left) as u64;
        plan.limit = Limit::Bytes(share);
        left -= share;
        weight_left -= weight;
    }
}

/// Writes the lines of one file; returns how many. Each has between 0 characters and the file's width, none
/// of them blank. The last line is cut where the file would grow past its bytes.
///
/// # Errors
/// Those of [`Sink::drain`].
pub fn write(sink: &mut Sink, plan: &Plan) -> Result<u64> {
    let (max_bytes, max_lines) = plan.limit.bytes_and_rows();
    let mut rng = Rng::new(plan.seed);
    let mut lines = 0;
    while lines < max_lines && sink.position() < max_bytes {
        let left = max_bytes - sink.position();
        let width = rng.below(plan.width + 1).min(left - 1);
        write_chars(sink, width, &mut rng)?;
        sink.buffer().push(b'\n');
        lines += 1;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_use_up_the_bytes() {
        for bytes in [0, 1, 15, 16, 1_000_003, 9_500_000_000] {
            let plans = plan(Limit::Bytes(bytes), 16, 4096, 1);
            assert_eq!(plans.iter().map(Plan::expected_bytes).sum::<u64>(), bytes);
        }
    }

    #[test]
    fn files_differ_widely() {
        let plans = plan(Limit::Rows(1_000_000), 16, 4096, 1);
        let widths: Vec<u64> = plans.iter().map(|plan| plan.width).collect();
        let bytes: Vec<u64> = plans.iter().map(Plan::expected_bytes).collect();
        assert!(widths.iter().max().unwrap() > &(20 * widths.iter().min().unwrap()));
        assert!(bytes.iter().max().unwrap() > &(20 * bytes.iter().min().unwrap()));
    }

    #[test]
    fn widths_stay_within_their_limit() {
        let mut rng = Rng::new(1);
        for width in [1, 2, 80, u64::from(u32::MAX)] {
            for _ in 0..1000 {
                assert!((1..=width).contains(&width_within(width, &mut rng)));
            }
        }
    }
}
