//! Which lines are in the sample of lines.

use super::record::{Fields, RequestFields};
use super::time::Time;

/// One line in so many is in the sample: a power of two.
pub(crate) const SAMPLED_OF: u64 = 64;

/// Two to this power is how many lines there are for one whose whole hash is computed.
const FIRST_BITS: u32 = 3;

/// An odd number without a pattern.
const FIRST_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// Others.
const KEYS: [u64; 4] =
    [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3, 0x4d5a_2da5_1de1_aa47];

impl Fields<'_> {
    /// Whether the line is in the sample of lines.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        let (Time::Text(time)
        | Time::MonthFirst(time)
        | Time::Local(time, _)
        | Time::Columns(_, time, _)
        | Time::Pattern(time, ..)) = self.time;
        let target = match &self.request {
            RequestFields::Line(line) | RequestFields::OwnLine(line) => line.raw,
            RequestFields::Parts { target, .. } => target.raw,
            RequestFields::Rootless { path, .. } => path.raw,
            RequestFields::Url { url, .. } => url.raw,
        };
        is_in_sample(self.client, time, target)
    }
}

/// Whether the line with these fields is in the sample: about one in [`SAMPLED_OF`], by a hash of the client,
/// the time of day and the request as they are written; of long ones only parts count. The hash has no secret,
/// so a client could avoid the sample: its result is an estimate.
#[inline(always)]
pub(super) fn is_in_sample(client: &[u8], time: &[u8], target: &[u8]) -> bool {
    // Hours, minutes and seconds of the usual forms.
    let time = match time.first_chunk::<20>() {
        Some([.., a, b, c, d, e, f, g, h]) => word([*a, *b, *c, *d, *e, *f, *g, *h]),
        None => word_at(time, time.len().saturating_sub(8)),
    };
    let client_end = client.last_chunk().map_or_else(|| word_at(client, 0), |end| word(*end));
    // What is before ` HTTP/1.1`.
    let target_end = match target.last_chunk::<17>() {
        Some([a, b, c, d, e, f, g, h, ..]) => word([*a, *b, *c, *d, *e, *f, *g, *h]),
        None => word_at(target, 0),
    };
    let mixed = client_end ^ time.rotate_left(21) ^ target_end.rotate_left(43);
    // Most lines end here.
    if mixed.wrapping_mul(FIRST_KEY) >> (u64::BITS - FIRST_BITS) != 0 {
        return false;
    }
    let [key_1, key_2, key_3, key_4] = KEYS;
    // `GET /`, and the middle.
    let of_target = folded(word_at(target, target.len() / 2) ^ key_1, word_at(target, 1) ^ key_2);
    let length = (target.len() as u64) << 48;
    let hash = folded(mixed ^ of_target ^ key_3, word_at(client, 0) ^ length ^ key_4);
    hash >> (u64::BITS - (SAMPLED_OF.ilog2() - FIRST_BITS)) == 0
}

/// Eight bytes of `text` from `at` on, or all that there are.
#[inline]
fn word_at(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => word(*bytes),
        None => {
            let rest = text.get(at..).unwrap_or_default();
            rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
        }
    }
}

/// Eight bytes, of which the first is the lowest.
#[inline]
fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

/// Both halves of the product.
#[inline]
fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use crate::logs::LineContent;
    use crate::logs::combined::combined;

    fn is_sampled(line: &str) -> bool {
        match combined(line.as_bytes()) {
            LineContent::Fields(fields) => fields.is_sampled(),
            other => panic!("{other:?}"),
        }
    }

    fn line(client: &str, second: u32, target: &str) -> String {
        let (minute, hour) = (second / 60 % 60, second / 3600 % 24);
        let time = format!("{hour:02}:{minute:02}:{:02}", second % 60);
        format!(
            "{client} - - [05/Mar/2026:{time} +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \"x\""
        )
    }

    /// Whether the share of sampled lines is as chance would have it, whatever makes them differ.
    #[test]
    fn each_part_of_a_line_chooses() {
        let count = 64_000;
        type Varied = fn(u32) -> String;
        let varied: [(&str, Varied); 5] = [
            ("clients", |at| {
                line(&format!("10.{}.{}.{}", at >> 16, at >> 8 & 255, at & 255), 1, "/a")
            }),
            ("IPv6", |at| {
                line(&format!("2001:db8:85a3:8d3:1319:8a2e:{:x}:{:x}", at >> 8, at & 255), 1, "/a")
            }),
            ("times", |at| line("192.0.2.1", at, "/a/b/c.html")),
            ("targets", |at| line("192.0.2.1", 1, &format!("/{at}"))),
            ("queries", |at| line("192.0.2.1", 1, &format!("/search/of/things?number={at}"))),
        ];
        for (what, varied) in varied {
            let sampled = (0..count).filter(|&at| is_sampled(&varied(at))).count();
            // Five standard deviations.
            assert!((840..1160).contains(&sampled), "{what}: {sampled}");
        }
    }

    #[test]
    fn short_fields_are_no_problem() {
        for line in [
            "1 - - [1] \"\" 200 5 \"-\" \"x\"",
            "- - - [] \"G / H\" 200 5 \"-\" \"x\"",
            "::1 - - [05/Mar/2026:10:00:00 +0000] \"-\" 400 0 \"-\" \"-\"",
        ] {
            if let LineContent::Fields(fields) = combined(line.as_bytes()) {
                fields.is_sampled();
            }
        }
    }
}
