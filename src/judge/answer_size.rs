//! Whether an answer can be the robots.txt of its time, by its size.
//!
//! Gates in front of a server answer with a page of their own, also for robots.txt. The log shows
//! only the size of an answer, so this compares with the sizes that a file can have.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};
use serde::{Deserialize, Serialize};

use crate::time::UtcTime;

use super::{origin_history::OriginHistory, robots::Robots, timeline::LIFETIME_SECONDS};

/// Some servers count the headers of an answer, too: at most this many bytes.
const HEADER_BYTES_MAX: u64 = 4096;

/// Other compressions make a text at most this much smaller than `deflate` does.
const BETTER_COMPRESSION: u64 = 2;

/// The size of an answer beside those that robots.txt can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SizeComparison {
    /// It can be the file, or the size is not known.
    Fits,
    /// It cannot be any of the copies from the days around it.
    DiffersThen,
    /// It cannot be the file that is known, which may be of another time.
    Differs(SizeClass),
}

/// The size of an answer, by powers of two.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub(crate) struct SizeClass(u8);

impl SizeClass {
    /// The class of `bytes` bytes.
    pub(crate) fn of(bytes: u64) -> SizeClass {
        SizeClass(bytes.max(1).ilog2() as u8)
    }

    /// Whether answers of this size and of the `usual` one can be the same file: compression makes a
    /// text at most ten times smaller, and headers are small.
    pub(crate) fn is_near(self, usual: SizeClass) -> bool {
        const TEN_TIMES: u8 = 3;
        let is_small = self <= SizeClass::of(HEADER_BYTES_MAX - 1);
        usual.0.saturating_sub(self.0) <= TEN_TIMES
            && (is_small || self.0.saturating_sub(usual.0) <= TEN_TIMES)
    }
}

impl OriginHistory {
    /// Compares an answer of `bytes` bytes at `time` with the last copy before it, other copies of the
    /// 24 hours before it, and the first copy after it. 0 bytes say nothing.
    pub(crate) fn compare_size(&self, time: UtcTime, bytes: u64) -> SizeComparison {
        let of_time = self.around(time, LIFETIME_SECONDS);
        let fits = |robots: &Robots| robots.may_have_size(bytes);
        let is_known = !of_time.copies.is_empty();
        if bytes == 0 || !is_known || of_time.copies.into_iter().any(fits) {
            SizeComparison::Fits
        } else if of_time.is_between_copies {
            SizeComparison::DiffersThen
        } else {
            SizeComparison::Differs(SizeClass::of(bytes))
        }
    }
}

impl Robots {
    /// Whether an answer with this file can have `bytes` bytes, compressed or not, with headers or not.
    fn may_have_size(&self, bytes: u64) -> bool {
        let size = self.size_bytes as u64;
        let at_least = bytes.saturating_mul(BETTER_COMPRESSION);
        let compressed = || *self.compressed_bytes.get_or_init(|| deflated(&self.text.body));
        // Most answers are not compressed, and then it need not be known how small the file can be.
        self.foreign.is_some()
            || (bytes <= size.saturating_add(HEADER_BYTES_MAX)
                && (at_least >= deflated_at_most(size) || at_least >= compressed()))
    }
}

/// The size of any `size` bytes after `deflate`: at worst as they are, in blocks of some kilobytes with five bytes
/// before each (RFC 1951 section 3.2.4).
fn deflated_at_most(size: u64) -> u64 {
    size.saturating_add(size / 1024).saturating_add(64)
}

/// The size of `body` after `deflate`.
fn deflated(body: &[u8]) -> u64 {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(body).and_then(|()| encoder.finish());
    // To write into memory cannot fail; 0 accepts each size.
    compressed.map_or(0, |compressed| compressed.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn sizes_are_near_within_ten_times_or_as_headers_alone() {
        // Of files of 512 bytes, and of 32 KiB; headers alone have less than 4096 bytes.
        for (usual, near) in [(512, 64..8192), (32_768, 4096..524_288), (8, 1..4096)] {
            let is_near = |bytes| SizeClass::of(bytes).is_near(SizeClass::of(usual));
            let (least, end) = (near.start, near.end);
            assert!(is_near(least) && is_near(end - 1) && !is_near(end), "{usual}");
            assert!(least == 1 || !is_near(least - 1), "{usual}");
        }
    }

    #[test]
    fn no_file_is_larger_after_deflate_than_said() {
        let mut random = Random::new();
        for size in [0, 1, 5, 64, 1023, 1024, 70_000, 512 * 1024] {
            let body: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
            let deflated = deflated(&body);
            let at_most = deflated_at_most(size as u64);
            assert!(size as u64 <= deflated && deflated <= at_most, "{size} {deflated} {at_most}");
        }
    }
}
