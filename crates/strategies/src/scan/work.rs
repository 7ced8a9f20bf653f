//! What a scan does with the bytes.

use crc32fast::Hasher;

use super::kernels;
use crate::run;

/// What is done with one stretch of a file, given in chunks, in order. Works on neighbouring
/// stretches can be joined.
#[derive(Clone, Debug)]
pub enum Work {
    /// XOR of all bytes.
    Xor(u8),
    /// Sum of all bytes.
    Sum(u64),
    /// Newlines, counted with SIMD.
    Newlines(u64),
    /// Newlines, the plain loop with a 32-bit counter.
    NewlinesU32(u64),
    /// Newlines, the plain loop with a 64-bit counter.
    NewlinesU64(u64),
    /// CRC-32 (IEEE), which sees order.
    Crc32(Hasher),
    /// Sum of the first byte of every 4096.
    Touch(u64),
}

impl Work {
    /// All works, on nothing yet.
    pub fn all() -> [Work; 7] {
        [
            Work::Xor(0),
            Work::Sum(0),
            Work::Newlines(0),
            Work::NewlinesU32(0),
            Work::NewlinesU64(0),
            Work::Crc32(Hasher::new()),
            Work::Touch(0),
        ]
    }

    /// Works on `bytes`, which stand at `offset` of the file, where those before them ended.
    pub fn update(&mut self, offset: u64, bytes: &[u8]) {
        match self {
            Work::Xor(xor) => *xor ^= kernels::xor(bytes),
            Work::Sum(sum) => *sum += kernels::sum(bytes),
            Work::Newlines(count) => *count += kernels::newlines(bytes),
            Work::NewlinesU32(count) => *count += kernels::newlines_u32(bytes),
            Work::NewlinesU64(count) => *count += kernels::newlines_u64(bytes),
            Work::Crc32(hasher) => hasher.update(bytes),
            Work::Touch(sum) => *sum += kernels::touch(offset, bytes),
        }
    }

    /// Takes in a work of the same kind on the stretch that follows this one.
    ///
    /// # Panics
    /// If it is of another kind.
    pub fn join(&mut self, later: Work) {
        match (self, later) {
            (Work::Xor(xor), Work::Xor(later)) => *xor ^= later,
            (Work::Crc32(hasher), Work::Crc32(later)) => hasher.combine(&later),
            (Work::Sum(total), Work::Sum(later))
            | (Work::Newlines(total), Work::Newlines(later))
            | (Work::NewlinesU32(total), Work::NewlinesU32(later))
            | (Work::NewlinesU64(total), Work::NewlinesU64(later))
            | (Work::Touch(total), Work::Touch(later)) => *total += later,
            (work, later) => panic!("{work:?} can't be joined with {later:?}"),
        }
    }
}

impl run::Work for Work {
    fn name(&self) -> &'static str {
        match self {
            Work::Xor(_) => "xor",
            Work::Sum(_) => "sum",
            Work::Newlines(_) => "newlines",
            Work::NewlinesU32(_) => "newlines-u32",
            Work::NewlinesU64(_) => "newlines-u64",
            Work::Crc32(_) => "crc32",
            Work::Touch(_) => "touch",
        }
    }

    /// XOR and CRC-32 in hexadecimal, sums and counts in decimal.
    fn answer(&self) -> String {
        match self {
            Work::Xor(xor) => format!("{xor:02x}"),
            Work::Crc32(hasher) => format!("{:08x}", hasher.clone().finalize()),
            Work::Sum(total)
            | Work::Newlines(total)
            | Work::NewlinesU32(total)
            | Work::NewlinesU64(total)
            | Work::Touch(total) => total.to_string(),
        }
    }
}
