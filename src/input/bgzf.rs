//! Gzip members that say how long they are, inflated whole and side by side.
//!
//! BGZF (section 4.1 of the SAM format's specification; `bgzip`) cuts a text into gzip members of
//! at most 64 KiB and writes the size of each into its header. So many can be taken at once without
//! reading one, and the fastest inflaters, which need the whole of a member, will do.
//!
//! Only what is whole and right is taken here. At anything else the bytes go back to the intake and
//! the reader of ordinary members says what is wrong with them, so that damage is told alike
//! whichever way a file is read.

use libdeflater::Decompressor;
use memchr::memmem;

use crate::input::crew::Crew;
use crate::input::intake::Intake;

/// What a member's header tells it by, up to and with its size.
const HEADER_BYTES: usize = 18;

/// CRC and length of the text.
const TRAILER_BYTES: usize = 8;

/// Text of one member.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// Members that are inflated at once: enough that handing them over costs nothing, and with a
/// buffer of 1 MiB for their text.
const BATCH_MEMBERS_MAX: usize = 16;

/// A member of no text, which `bgzip` puts at the end of a file.
const EMPTY: &[u8; 28] =
    b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

/// Members that follow each other in a file, and their text.
#[derive(Debug, Default)]
pub struct Batch {
    /// As they lie on disk.
    raw: Vec<u8>,
    /// The length of each.
    sizes: Vec<usize>,
    /// Their text, and after it what is left from before.
    text: Vec<u8>,
    text_bytes: usize,
    /// Bytes of `raw` of which the text is right.
    right_bytes: usize,
}

impl Batch {
    /// Takes the next members off `intake` instead of what it held; `None` where none follows.
    fn collect(mut self, intake: &mut Intake) -> Option<Batch> {
        self.raw.clear();
        self.sizes.clear();
        while self.sizes.len() < BATCH_MEMBERS_MAX {
            let Some(member) = next_member(intake) else { break };
            self.raw.extend_from_slice(member);
            let size = member.len();
            self.sizes.push(size);
            intake.consume(size);
        }
        if self.sizes.is_empty() { None } else { Some(self) }
    }

    /// Inflates members up to the first that is not right.
    pub fn inflate(&mut self, decompressor: &mut Decompressor) {
        (self.text_bytes, self.right_bytes) = (0, 0);
        for &size in &self.sizes {
            let member = &self.raw[self.right_bytes..][..size];
            let room = self.text_bytes + TEXT_BYTES_MAX;
            if self.text.len() < room {
                self.text.resize(room, 0);
            }
            let text = &mut self.text[self.text_bytes..room];
            let Some(count) = inflate(member, text, decompressor) else { break };
            self.text_bytes += count;
            self.right_bytes += size;
        }
    }

    fn is_right(&self) -> bool {
        self.right_bytes == self.raw.len()
    }
}

/// The whole member that comes next, if it says how long it is.
fn next_member(intake: &mut Intake) -> Option<&[u8]> {
    let size = member_size(intake.peek_at_least(HEADER_BYTES).ok()?)?;
    intake.peek_at_least(size).ok()?.get(..size)
}

/// The size in the header at the start of `bytes`. Only the one field of BGZF may stand in it.
fn member_size(bytes: &[u8]) -> Option<usize> {
    match bytes.first_chunk::<HEADER_BYTES>()? {
        [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high] => {
            let size = usize::from(u16::from_le_bytes([*low, *high])) + 1;
            (size > HEADER_BYTES + TRAILER_BYTES).then_some(size)
        }
        _ => None,
    }
}

/// Puts the text of `member` into `text` and gives its length; `None` where CRC or length are
/// wrong, or anything else is.
fn inflate(member: &[u8], text: &mut [u8], decompressor: &mut Decompressor) -> Option<usize> {
    if member == EMPTY {
        return Some(0);
    }
    // What comes after a trailer would not be noticed, unless the first that looks like this
    // trailer is at the end.
    let trailer = member.last_chunk::<TRAILER_BYTES>()?;
    if memmem::find(member, trailer)? != member.len() - TRAILER_BYTES {
        return None;
    }
    let [.., a, b, c, d] = *trailer;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let count = decompressor.gzip_decompress(member, text.get_mut(..length)?).ok()?;
    (count == length).then_some(count)
}

/// Reads such members of one file.
pub struct Blocks {
    crew: Crew,
    /// The batch that is given now, as far as it was.
    given: Option<(Batch, usize)>,
    /// Set once a member was not right: it is read, and all after it, as any other.
    is_off: bool,
}

impl Blocks {
    /// For a file that `helpers` threads inflate; without any, whoever reads does.
    pub fn new(helpers: usize) -> Blocks {
        Blocks { crew: Crew::new(helpers), given: None, is_off: false }
    }

    /// Begins to read, if the next member is one that can be read here.
    pub fn begin(&mut self, intake: &mut Intake) -> bool {
        !self.is_off && self.send_ahead(intake) > 0
    }

    /// Puts text into `out`, which is not empty; 0 where the next member has to be read otherwise.
    pub fn read(&mut self, intake: &mut Intake, out: &mut [u8]) -> usize {
        loop {
            self.send_ahead(intake);
            if self.given.is_none() {
                self.given = self.crew.receive().map(|batch| (batch, 0));
            }
            let Some((batch, given_bytes)) = &mut self.given else { return 0 };
            let text = &batch.text[*given_bytes..batch.text_bytes];
            let count = text.len().min(out.len());
            out[..count].copy_from_slice(&text[..count]);
            *given_bytes += count;
            if count > 0 {
                return count;
            }
            if let Some((batch, _)) = self.given.take() {
                if !batch.is_right() {
                    self.give_back(&batch, intake);
                    return 0;
                }
                self.crew.keep(batch);
            }
        }
    }

    /// Keeps the crew busy, and gives how many batches it got.
    fn send_ahead(&mut self, intake: &mut Intake) -> usize {
        let mut sent = 0;
        while !self.is_off && self.crew.has_room() {
            let Some(batch) = self.crew.empty_batch().collect(intake) else { break };
            self.crew.send(batch);
            sent += 1;
        }
        sent
    }

    /// Puts back all from the first member on that is not right.
    fn give_back(&mut self, batch: &Batch, intake: &mut Intake) {
        self.is_off = true;
        let mut bytes = batch.raw[batch.right_bytes..].to_vec();
        while let Some(batch) = self.crew.receive() {
            bytes.extend_from_slice(&batch.raw);
        }
        intake.put_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, Read, Write};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use flate2::write::DeflateEncoder;
    use flate2::{Compression, Crc};

    use super::*;
    use crate::input::compression::tests::member;
    use crate::input::compression::{Compression::Gzip, MAGIC_BYTES_MAX};
    use crate::input::open::Opened;
    use crate::input::read_error::{ReadError, ReadErrorCause};

    /// `text` in a member that says how long it is.
    fn block(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        around(&encoder.finish().unwrap(), text)
    }

    fn around(body: &[u8], text: &[u8]) -> Vec<u8> {
        let size = u16::try_from(HEADER_BYTES + body.len() + TRAILER_BYTES - 1).unwrap();
        let mut bytes = EMPTY[..HEADER_BYTES - 2].to_vec();
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(body);
        let mut crc = Crc::new();
        crc.update(text);
        bytes.extend_from_slice(&crc.sum().to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes
    }

    /// The same bytes but for the mark of BGZF: an ordinary file.
    fn unmarked(bytes: &[u8]) -> Vec<u8> {
        let mut unmarked = bytes.to_vec();
        for at in 0..bytes.len() {
            if member_size(&bytes[at..]).is_some() {
                unmarked[at + 13] = b'D';
            }
        }
        unmarked
    }

    fn text() -> Vec<u8> {
        (0..3000_u64).flat_map(|n| format!("line {}\n", n * n % 7919).into_bytes()).collect()
    }

    /// More than two batches of blocks of different lengths, and then what may come behind.
    fn sample() -> Vec<u8> {
        let text = text();
        let mut bytes: Vec<u8> = text.chunks(700).flat_map(block).collect();
        bytes.extend_from_slice(EMPTY);
        bytes.extend(member(Gzip, b"an ordinary member\n"));
        bytes.extend(text.chunks(5000).flat_map(block));
        bytes.extend_from_slice(EMPTY);
        bytes
    }

    /// What was read, how it ended, and the bytes that were read for it.
    type Seen = (Vec<u8>, Option<ReadError>, u64);

    fn read(reader: impl Read + Send + 'static, helpers: usize, step: usize) -> Seen {
        let bytes_read = Arc::new(AtomicU64::new(0));
        let mut opened = Opened::new(Box::new(reader), None, &bytes_read);
        opened.inflate_with(helpers);
        let (mut out, mut buffer) = (Vec::new(), vec![0; step]);
        let damage = loop {
            match opened.read(&mut buffer) {
                Ok(0) => break None,
                Ok(count) => out.extend_from_slice(&buffer[..count]),
                Err(damage) => break Some(damage),
            }
        };
        (out, damage, bytes_read.load(Ordering::Relaxed))
    }

    /// Reads `bytes` in every way; an `ordinary` file of the same members says what is expected.
    #[track_caller]
    fn check(bytes: &[u8], ordinary: &[u8], place: &str) {
        check_text(bytes, ordinary, usize::MAX, place);
    }

    /// The same for a broken member, `certain_bytes` of text before it: what it gives until its
    /// checksum tells depends on what was inflated before.
    #[track_caller]
    fn check_text(bytes: &[u8], ordinary: &[u8], certain_bytes: usize, place: &str) {
        for (helpers, step) in [(0, 1000), (1, 1 << 20), (3, 77)] {
            let expected = read(Cursor::new(ordinary.to_vec()), 0, step);
            let seen = read(Cursor::new(bytes.to_vec()), helpers, step);
            assert_eq!((seen.1, seen.2), (expected.1, expected.2), "{place}, {helpers} helpers");
            let certain = if expected.1.is_none() { usize::MAX } else { certain_bytes };
            let text = |seen: &Seen| seen.0[..seen.0.len().min(certain)].to_vec();
            assert!(text(&seen) == text(&expected), "{place}, {helpers} helpers");
        }
    }

    #[test]
    fn whole_files() {
        let sample = sample();
        let whole = [&text()[..], b"an ordinary member\n", &text()].concat();
        assert!(read(Cursor::new(sample.clone()), 2, 1000).0 == whole);
        check(&sample, &unmarked(&sample), "whole");
        let padded = [&sample[..], &[0; 100], &sample, b"garbage"].concat();
        check(&padded, &unmarked(&padded), "padded");
        check(EMPTY, &unmarked(EMPTY), "empty");
        let full = block(&[b'x'; TEXT_BYTES_MAX]).repeat(2 * BATCH_MEMBERS_MAX + 1);
        check(&full, &unmarked(&full), "full");
        let over = [block(b"a"), block(&[b'x'; TEXT_BYTES_MAX + 1]), block(b"b")].concat();
        check(&over, &unmarked(&over), "a text over the limit");
    }

    #[test]
    fn truncated_anywhere() {
        let sample = sample();
        let ordinary = unmarked(&sample);
        for at in (MAGIC_BYTES_MAX..sample.len()).step_by(37) {
            check(&sample[..at], &ordinary[..at], &format!("cut at {at}"));
        }
    }

    #[test]
    fn corrupt_anywhere() {
        let sample = sample();
        let ordinary = unmarked(&sample);
        let starts: Vec<usize> =
            (0..sample.len()).filter(|&at| sample[at..].starts_with(&EMPTY[..4])).collect();
        for at in (MAGIC_BYTES_MAX..sample.len()).filter(|at| at % 41 == 0 || *at < 40) {
            for flip in [1, 0xff] {
                let (mut bytes, mut ordinary) = (sample.clone(), ordinary.clone());
                bytes[at] ^= flip;
                ordinary[at] ^= flip;
                let start = starts.iter().rfind(|&&start| start <= at).copied().unwrap_or(0);
                let certain = read(Cursor::new(sample[..start].to_vec()), 0, 1000).0.len();
                check_text(&bytes, &ordinary, certain, &format!("byte {at} xor {flip:#x}"));
            }
        }
    }

    /// After the deflate stream and before what looks like its trailer.
    #[test]
    fn what_is_hidden_behind_a_body_is_seen() {
        let good = block(b"a\n");
        let body = &good[HEADER_BYTES..good.len() - TRAILER_BYTES];
        let trailer = &good[good.len() - TRAILER_BYTES..];
        for hidden in [&b"x"[..], trailer, &[trailer, &b"hidden"[..]].concat()] {
            let bytes = [&good[..], &around(&[body, hidden].concat(), b"a\n")].concat();
            let (out, damage, _) = read(Cursor::new(bytes.clone()), 2, 1000);
            assert!(damage.is_some() && out == b"a\na\n");
            check(&bytes, &unmarked(&bytes), "hidden");
        }
    }

    struct Failing(Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = out.len().min(1000);
            match self.0.read(&mut out[..count])? {
                0 => Err(io::ErrorKind::TimedOut.into()),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn what_was_read_before_a_read_failed_is_given() {
        let sample = sample();
        for at in (MAGIC_BYTES_MAX..sample.len()).step_by(211) {
            let failing = |bytes: &[u8]| Failing(Cursor::new(bytes[..at].to_vec()));
            let expected = read(failing(&unmarked(&sample)), 0, 500);
            let cause = ReadErrorCause::Unreadable(io::ErrorKind::TimedOut);
            assert_eq!(expected.1.map(|damage| damage.cause), Some(cause));
            for helpers in 0..3 {
                assert!(read(failing(&sample), helpers, 500) == expected, "failed at {at}");
            }
        }
    }
}
