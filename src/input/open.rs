//! A source to decompressed bytes. Compression is told by the magic number,
//! never by the name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::error::{Error, Result};
use crate::input::damage::{Cause, Damage};
use crate::input::gzip::{Gzip, MAGIC};
use crate::input::intake::Intake;
use crate::input::source::{Place, Source};

/// An opened source, decompressed as it is read.
pub struct Opened {
    intake: Intake,
    coding: Coding,
}

enum Coding {
    Plain,
    Gzip(Box<Gzip>),
    /// Damaged from the first byte on, or since a read: the answer stays.
    Damaged(Damage),
}

/// Opens `source`; `bytes_read` grows with the bytes read from it, as they lie
/// on disk.
pub fn open(source: &Source, bytes_read: &Arc<AtomicU64>) -> Result<Opened> {
    match &source.place {
        Place::Stdin => Ok(Opened::new(Box::new(io::stdin()), NamedGzip::No, bytes_read)),
        Place::Nowhere(why) => Err(Error::invalid_file(Path::new(&source.name), why)),
        Place::File(path) => {
            let file = File::open(path).map_err(|err| Error::io("cannot open", path, err))?;
            let is_gz = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
            let named = if is_gz { NamedGzip::Yes } else { NamedGzip::No };
            Ok(Opened::new(Box::new(file), named, bytes_read))
        }
    }
}

/// Whether the name claims that the content is gzip.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NamedGzip {
    /// It ends in `.gz`.
    Yes,
    /// It does not, or there is no name.
    No,
}

impl Opened {
    /// Any reader as a source. Reads its first bytes to tell the compression.
    pub fn new(
        reader: Box<dyn Read + Send>,
        named: NamedGzip,
        bytes_read: &Arc<AtomicU64>,
    ) -> Opened {
        let mut intake = Intake::new(reader, Arc::clone(bytes_read));
        let coding = match intake.peek_at_least(MAGIC.len()) {
            Ok(start) if start.starts_with(&MAGIC) => Coding::Gzip(Box::new(Gzip::new())),
            Ok(start) if named == NamedGzip::Yes && !start.is_empty() => {
                Coding::Damaged(intake.damage(Cause::NotGzip))
            }
            Ok(_) => Coding::Plain,
            Err(damage) => Coding::Damaged(damage),
        };
        Opened { intake, coding }
    }

    /// Whether what is read is not what lies on disk.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.coding, Coding::Plain)
    }

    /// Bytes read so far, as they lie on disk.
    pub fn size_bytes(&self) -> u64 {
        self.intake.size_bytes()
    }

    /// Fills the start of `out`, which is not empty, and gives how many bytes; 0
    /// only at the end. After damage every further call gives the same damage.
    pub fn read(&mut self, out: &mut [u8]) -> std::result::Result<usize, Damage> {
        let read = match &mut self.coding {
            Coding::Plain => self.intake.read(out),
            Coding::Gzip(gzip) => gzip.read(&mut self.intake, out),
            Coding::Damaged(damage) => Err(*damage),
        };
        if let Err(damage) = read {
            self.coding = Coding::Damaged(damage);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::{Compression, Crc, GzBuilder, write::GzEncoder};

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// What comes out through a buffer of `step` bytes, and how it ended.
    fn read(bytes: &[u8], named: NamedGzip, step: usize) -> (Vec<u8>, Option<Damage>) {
        let count = Arc::default();
        let mut opened = Opened::new(Box::new(Cursor::new(bytes.to_vec())), named, &count);
        let (mut out, mut buffer) = (Vec::new(), vec![0; step]);
        loop {
            match opened.read(&mut buffer) {
                Ok(0) => break (out, None),
                Ok(count) => out.extend_from_slice(&buffer[..count]),
                Err(damage) => {
                    assert_eq!(opened.read(&mut buffer), Err(damage), "damage stays");
                    break (out, Some(damage));
                }
            }
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[u8], cause: Option<(Cause, usize)>) {
        let damage = cause.map(|(cause, at)| Damage { offset_bytes: at as u64, cause });
        for step in [1, 3, 100, 1 << 16] {
            let (out, ended) = read(bytes, NamedGzip::Yes, step);
            assert_eq!(ended, damage);
            assert!(out == expected, "inflated {:?}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn plain_and_empty_files() {
        assert_eq!(read(b"a\nb", NamedGzip::No, 2), (b"a\nb".to_vec(), None));
        assert_eq!(read(b"\x1f", NamedGzip::No, 2), (b"\x1f".to_vec(), None));
        check(b"", b"", None);
        check(b"GET / plain text", b"", Some((Cause::NotGzip, 0)));
    }

    #[test]
    fn members_are_one_stream() {
        let (one, none, two) = (member(b"one\n"), member(b""), member(b"two\n"));
        check(&one, b"one\n", None);
        check(&none, b"", None);
        check(&[&none[..], &one, &none, &none, &two].concat(), b"one\ntwo\n", None);
        check(&[&one[..], &[0; 1000], &two, &[0; 5]].concat(), b"one\ntwo\n", None);
        check(
            &[&one[..], b"\0garbage"].concat(),
            b"one\n",
            Some((Cause::TrailingGarbage, one.len() + 1)),
        );
        check(&[&one[..], b"\x1f"].concat(), b"one\n", Some((Cause::TrailingGarbage, one.len())));
    }

    #[test]
    fn optional_header_fields_are_read_over() {
        let mut encoder = GzBuilder::new()
            .extra(vec![7; 300])
            .filename("access.log")
            .comment("a comment")
            .write(Vec::new(), Compression::default());
        encoder.write_all(b"text").unwrap();
        check(&encoder.finish().unwrap(), b"text", None);

        let mut header = vec![0x1f, 0x8b, 8, 1 << 1, 0, 0, 0, 0, 0, 3];
        let mut crc = Crc::new();
        crc.update(&header);
        header.extend_from_slice(&crc.sum().to_le_bytes()[..2]);
        let mut gz = [&header[..], &member(b"text")[10..]].concat();
        check(&gz, b"text", None);
        gz[11] ^= 1;
        check(&gz, b"", Some((Cause::WrongHeaderChecksum, 10)));
        gz[3] |= 0x80;
        check(&gz, b"", Some((Cause::BadHeader, 0)));
    }

    #[test]
    fn trailers_are_checked_after_the_text_is_given() {
        let good = member(b"text");
        for (from_end, cause) in [(8, Cause::WrongChecksum), (4, Cause::WrongLength)] {
            let mut gz = good.clone();
            let at = gz.len() - from_end;
            gz[at] ^= 1;
            check(&[&gz[..], &good].concat(), b"text", Some((cause, at)));
        }
    }

    /// Three members, the second longer than the inflater's window.
    fn sample() -> (Vec<u8>, Vec<u8>) {
        let long: Vec<u8> =
            (0..2000).flat_map(|n| format!("line {}\n", n * n % 7919).into_bytes()).collect();
        let texts = [&b"first\n"[..], &long, b"last\n"];
        (texts.concat(), texts.iter().flat_map(|text| member(text)).collect())
    }

    #[test]
    fn truncated_anywhere_gives_what_came_before() {
        let (text, gz) = sample();
        let ends = [member(b"first\n").len(), gz.len() - member(b"last\n").len(), gz.len(), 0];
        for at in 0..gz.len() {
            let (out, damage) = read(&gz[..at], NamedGzip::Yes, 4096);
            assert!(text.starts_with(&out));
            assert_eq!(damage.is_none(), ends.contains(&at), "cut at {at}");
            if let Some(Damage { offset_bytes, cause: Cause::Truncated }) = damage {
                assert_eq!(offset_bytes, at as u64);
            }
        }
    }

    #[test]
    fn corrupt_anywhere_is_told_or_harmless() {
        let (text, gz) = sample();
        for at in 0..gz.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut gz = gz.clone();
                gz[at] ^= flip;
                let (out, damage) = read(&gz, NamedGzip::Yes, 4096);
                assert!(damage.is_some() || out == text, "byte {at} xor {flip:#x}");
            }
        }
    }

    #[test]
    fn a_bomb_fills_no_more_than_the_buffer() {
        let gz = member(&vec![b'x'; 50 << 20]);
        assert!(gz.len() < 100 << 10);
        let mut opened = Opened::new(Box::new(Cursor::new(gz)), NamedGzip::No, &Arc::default());
        let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
        while let Ok(count @ 1..) = opened.read(&mut buffer) {
            total += count;
        }
        assert_eq!(total, 50 << 20);
    }

    #[test]
    fn bytes_read_counts_what_lies_on_disk() {
        let (_, gz) = sample();
        for bytes in [&gz[..], b"plain\n"] {
            let count = Arc::default();
            let reader = Box::new(Cursor::new(bytes.to_vec()));
            let mut opened = Opened::new(reader, NamedGzip::No, &count);
            while opened.read(&mut [0; 999]).unwrap() > 0 {}
            assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), bytes.len() as u64);
        }
    }
}
