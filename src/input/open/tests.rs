use std::io::{Cursor, Write};

use flate2::{Crc, GzBuilder};

use super::*;
use crate::input::compression::tests::{ALL, member};
use crate::input::compression::{Compression::*, MEMORY_BYTES_MAX};
use crate::random::Random;

/// Gives a few bytes at a time, as a pipe does.
struct Slow(Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(50);
        self.0.read(&mut out[..count])
    }
}

/// The output through a buffer of `step` bytes, and the end.
fn read(bytes: &[u8], claimed: Option<Compression>, step: usize) -> (Vec<u8>, Option<ReadError>) {
    read_all(Cursor::new(bytes.to_vec()), claimed, step)
}

fn read_all(
    reader: impl Read + Send + 'static,
    claimed: Option<Compression>,
    step: usize,
) -> (Vec<u8>, Option<ReadError>) {
    let mut opened = Opened::new(Box::new(reader), claimed, &Arc::default());
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
fn check(
    bytes: &[u8],
    claimed: Compression,
    expected: &[u8],
    cause: Option<(ReadErrorCause, usize)>,
) {
    let damage = cause.map(|(cause, at)| ReadError { offset_bytes: at as u64, cause });
    for step in [1, 3, 100, 1 << 16] {
        let (out, ended) = read(bytes, Some(claimed), step);
        assert_eq!(ended, damage);
        assert!(out == expected, "inflated {:?}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn plain_and_empty_files() {
    assert_eq!(read(b"a\nb", None, 2), (b"a\nb".to_vec(), None));
    for kind in ALL {
        check(b"", kind, b"", None);
        check(b"GET / plain text", kind, b"", Some((ReadErrorCause::NotAsNamed(kind), 0)));
        let start = &member(kind, b"text")[..1];
        assert_eq!(read(start, None, 2), (start.to_vec(), None));
    }
}

#[test]
fn the_content_decides_and_not_the_name() {
    for kind in ALL {
        for claimed in ALL {
            check(&member(kind, b"text\n"), claimed, b"text\n", None);
        }
    }
}

#[test]
fn members_are_one_stream() {
    for kind in ALL {
        let (one, none, two) = (member(kind, b"one\n"), member(kind, b""), member(kind, b"two\n"));
        check(&one, kind, b"one\n", None);
        check(&none, kind, b"", None);
        check(&[&none[..], &one, &none, &none, &two].concat(), kind, b"one\ntwo\n", None);
        check(&[&one[..], &[0; 1000], &two, &[0; 5]].concat(), kind, b"one\ntwo\n", None);
        let garbage = ReadErrorCause::TrailingGarbage(kind);
        let other = member(if kind == Gzip { Xz } else { Gzip }, b"other\n");
        for (tail, at) in [(&b"\0garbage"[..], 1), (&one[..1], 0), (&other, 0)] {
            let bytes = [&one[..], tail].concat();
            check(&bytes, kind, b"one\n", Some((garbage, one.len() + at)));
        }
    }
}

#[test]
fn frames_to_be_skipped_are_skipped() {
    let table = [&[0x5e, 0x2a, 0x4d, 0x18, 9, 0, 0, 0][..], b"no text :)"[..9].as_ref()].concat();
    let text = member(Zstd, b"text\n");
    check(&[&table[..], &text, &table, &text, &table].concat(), Zstd, b"text\ntext\n", None);
    let cut = &table[..table.len() - 1];
    check(cut, Zstd, b"", Some((ReadErrorCause::Truncated(Zstd), cut.len())));
}

#[test]
fn optional_header_fields_are_read_over() {
    let mut encoder = GzBuilder::new()
        .extra(vec![7; 300])
        .filename("access.log")
        .comment("a comment")
        .write(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"text").unwrap();
    check(&encoder.finish().unwrap(), Gzip, b"text", None);

    let mut header = vec![0x1f, 0x8b, 8, 1 << 1, 0, 0, 0, 0, 0, 3];
    let mut crc = Crc::new();
    crc.update(&header);
    header.extend_from_slice(&crc.sum().to_le_bytes()[..2]);
    let mut gz = [&header[..], &member(Gzip, b"text")[10..]].concat();
    check(&gz, Gzip, b"text", None);
    gz[11] ^= 1;
    check(&gz, Gzip, b"", Some((ReadErrorCause::WrongHeaderChecksum, 10)));
    gz[3] |= 0x80;
    check(&gz, Gzip, b"", Some((ReadErrorCause::BadHeader, 0)));
}

/// A block as `bgzip` writes it: a member whose header says how long it is.
fn block(text: &[u8]) -> Vec<u8> {
    let extra = [b'B', b'C', 2, 0, 0, 0];
    let level = flate2::Compression::default();
    let mut encoder = GzBuilder::new().extra(extra).write(Vec::new(), level);
    encoder.write_all(text).unwrap();
    let mut bytes = encoder.finish().unwrap();
    let size = u16::try_from(bytes.len() - 1).unwrap();
    bytes[16..18].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[test]
fn blocks_of_bgzip_are_members_in_turn() {
    let lines: Vec<String> = (0..200).map(|n| format!("line {}\n", n * n % 79)).collect();
    let blocks: Vec<Vec<u8>> =
        lines.iter().map(|line| block(line.as_bytes())).chain([block(b"")]).collect();
    let (text, bytes) = (lines.concat().into_bytes(), blocks.concat());
    check(&bytes, Gzip, &text, None);
    let more = [&bytes[..], &[0; 100], &member(Gzip, b"more\n"), &blocks[0]].concat();
    check(&more, Gzip, &[&text[..], b"more\n", lines[0].as_bytes()].concat(), None);
    let garbage = [&bytes[..], b"garbage"].concat();
    check(&garbage, Gzip, &text, Some((ReadErrorCause::TrailingGarbage(Gzip), bytes.len())));

    // Damage in the block of one line: all lines before it are delivered, and none after it.
    let start = blocks[..120].concat().len();
    let end = start + blocks[120].len();
    let (before, line) = (lines[..120].concat(), lines[..=120].concat());
    let with = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cut = ReadErrorCause::Truncated(Gzip);
    check(&bytes[..start + 12], Gzip, before.as_bytes(), Some((cut, start + 12)));
    check(&bytes[..end - 3], Gzip, line.as_bytes(), Some((cut, end - 3)));
    check(&with(end - 8), Gzip, line.as_bytes(), Some((ReadErrorCause::WrongChecksum, end - 8)));
    check(&with(end - 4), Gzip, line.as_bytes(), Some((ReadErrorCause::WrongLength, end - 4)));
    check(&with(start + 2), Gzip, before.as_bytes(), Some((ReadErrorCause::BadHeader, start)));
    let other = ReadErrorCause::TrailingGarbage(Gzip);
    check(&with(start + 1), Gzip, before.as_bytes(), Some((other, start)));
}

/// Ends with a failed read.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            count => Ok(count),
        }
    }
}

#[test]
fn what_was_read_before_a_read_failed_is_given() {
    for kind in ALL {
        let (_, bytes) = sample(kind);
        for at in (MAGIC_BYTES_MAX..bytes.len()).step_by(211) {
            let (out, _) = read(&bytes[..at], None, 500);
            let failing = Failing(Cursor::new(bytes[..at].to_vec()));
            let (before, damage) = read_all(failing, None, 500);
            let cause = ReadErrorCause::Unreadable(io::Error::from(io::ErrorKind::TimedOut).into());
            assert_eq!(damage, Some(ReadError { offset_bytes: at as u64, cause }), "{kind:?}");
            assert!(before == out, "{kind:?} failed at {at}");
        }
    }
}

#[test]
fn trailers_are_checked_after_the_text_is_given() {
    let good = member(Gzip, b"text");
    for (from_end, cause) in [(8, ReadErrorCause::WrongChecksum), (4, ReadErrorCause::WrongLength)]
    {
        let mut gz = good.clone();
        let at = gz.len() - from_end;
        gz[at] ^= 1;
        check(&[&gz[..], &good].concat(), Gzip, b"text", Some((cause, at)));
    }
    for kind in [Zstd, Bzip2, Xz] {
        let mut bytes = member(kind, b"text");
        let from_end = if kind == Xz { 11 } else { 3 };
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        let (out, damage) = read(&bytes, Some(kind), 100);
        assert_eq!(damage.map(|damage| damage.cause), Some(ReadErrorCause::BadStream(kind)));
        assert_eq!(out, b"text", "{kind:?}");
    }
}

/// Three members; the second is longer than some windows.
fn sample(kind: Compression) -> (Vec<u8>, Vec<u8>) {
    let long: Vec<u8> =
        (0..2000).flat_map(|n| format!("line {}\n", n * n % 7919).into_bytes()).collect();
    let texts = [&b"first\n"[..], &long, b"last\n"];
    (texts.concat(), texts.iter().flat_map(|text| member(kind, text)).collect())
}

#[test]
fn truncated_anywhere_gives_what_came_before() {
    for kind in ALL {
        let (text, bytes) = sample(kind);
        let last = bytes.len() - member(kind, b"last\n").len();
        let ends = [member(kind, b"first\n").len(), last, bytes.len(), 0];
        for at in (0..bytes.len()).filter(|at| at % 23 == 0 || at.abs_diff(last) < 50) {
            let (out, damage) = read(&bytes[..at], Some(kind), 4096);
            assert!(text.starts_with(&out));
            assert_eq!(damage.is_none(), ends.contains(&at), "{kind:?} cut at {at}");
            if let Some(ReadError { offset_bytes, cause: ReadErrorCause::Truncated(_) }) = damage {
                assert_eq!(offset_bytes, at as u64);
            }
            assert!(at < ends[0] || out.starts_with(b"first\n"), "{kind:?} cut at {at}");
        }
    }
}

/// In a report, the size of a damaged log does not depend on how it was read.
#[test]
fn the_size_of_what_is_damaged_is_that_before_the_damage() {
    let size = |reader: Box<dyn Read + Send>, step: usize| {
        let mut opened = Opened::new(reader, None, &Arc::default());
        let mut buffer = vec![0; step];
        while opened.read(&mut buffer).is_ok_and(|count| count > 0) {}
        opened.size_bytes()
    };
    for kind in ALL {
        let (_, good) = sample(kind);
        for at in (0..good.len()).filter(|at| at % 61 == 10) {
            let mut bytes = good.clone();
            bytes[at] ^= 0xff;
            let bytes = || Cursor::new(bytes.clone());
            let sizes = [size(Box::new(bytes()), 1 << 16), size(Box::new(Slow(bytes())), 7)];
            assert_eq!(sizes[0], sizes[1], "{kind:?} byte {at}");
            assert!(sizes[0] > 0, "{kind:?} byte {at}");
        }
    }
}

#[test]
fn damage_anywhere_is_reported_or_harmless() {
    for kind in ALL {
        let (text, good) = sample(kind);
        let first = member(kind, b"first\n").len();
        for at in (0..good.len()).filter(|at| at % 31 == 0 || *at < first + 30) {
            for flip in [0x01, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= flip;
                let (out, damage) = read(&bytes, Some(kind), 4096);
                let slowly = read_all(Slow(Cursor::new(bytes)), Some(kind), 1000);
                let case = format!("{kind:?} byte {at} xor {flip:#x}");
                assert_eq!(slowly.1, damage, "{case}");
                assert!(slowly.0 == out, "{case}");
                assert!(damage.is_some() || out == text, "{case}");
                assert!(at < first || out.starts_with(b"first\n"), "{case}");
            }
        }
    }
}

/// Small blocks, the last one damaged: no block before it is lost.
#[test]
fn all_blocks_before_a_broken_one_are_given() {
    let mut random = Random::new();
    let text: Vec<u8> = (0..2 << 20).map(|_| b'a' + random.below(16) as u8).collect();
    for (kind, lost_bytes_max) in
        [(Gzip, 64 << 10), (Zstd, 256 << 10), (Bzip2, 900_000), (Xz, 64 << 10)]
    {
        let mut bytes = member(kind, &text);
        let at = bytes.len() / 10 * 9;
        bytes[at..at + 64].fill(0xff);
        for step in [1000, 1 << 20, 8 << 20] {
            let (out, damage) = read(&bytes, Some(kind), step);
            let damage = damage.unwrap();
            let least = text.len() / 10 * 9 - lost_bytes_max;
            let equal = out.iter().zip(&text).take_while(|(out, text)| out == text).count();
            assert!(equal > least, "{kind:?}: {equal} of {} bytes, {damage}", text.len());
        }
    }
}

#[test]
fn a_bomb_fills_no_more_than_the_buffer() {
    for kind in ALL {
        let bomb = member(kind, &vec![b'x'; 50 << 20]);
        assert!(bomb.len() < 100 << 10);
        let mut opened = Opened::new(Box::new(Cursor::new(bomb)), None, &Arc::default());
        let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
        while let Ok(count @ 1..) = opened.read(&mut buffer) {
            total += count;
        }
        assert_eq!(total, 50 << 20, "{kind:?}");
    }
}

#[test]
fn a_file_that_needs_too_much_memory_is_refused() {
    // A frame header without a size, its window 2^27 bytes or one step more.
    let frame = |window: u8| [0x28, 0xb5, 0x2f, 0xfd, 0, window, 0x01, 0, 0];
    let log = MEMORY_BYTES_MAX.ilog2() as u8 - 10;
    check(&frame(log << 3), Zstd, b"", None);
    let (_, damage) = read(&frame(log << 3 | 1), None, 100);
    assert_eq!(damage.unwrap().cause, ReadErrorCause::TooLarge(Zstd));
    let mut options = liblzma::stream::LzmaOptions::new_preset(1).unwrap();
    options.dict_size(256 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let check = liblzma::stream::Check::Crc64;
    let stream = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(b"text").unwrap();
    let (_, damage) = read(&encoder.finish().unwrap(), None, 100);
    let text = damage.unwrap().to_string();
    let expected = "xz stream that needs more than 128 MiB of memory; decompress it first at ";
    assert!(text.starts_with(expected), "{text}");
}

/// Opens a file of `before`, reads its first bytes, lets `change` happen to it, and reads on.
fn read_while(before: &[u8], change: impl FnOnce(&mut File)) -> (Vec<u8>, Option<ReadError>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    std::fs::write(&path, before).unwrap();
    let source = Source { name: String::new(), location: Location::File(path.clone()) };
    let mut opened = open(&source, &Arc::default()).unwrap();
    let mut buffer = vec![0; 1 << 16];
    let mut out = Vec::new();
    let mut changed = File::options().append(true).open(&path).unwrap();
    let count = opened.read(&mut buffer).unwrap();
    out.extend_from_slice(&buffer[..count]);
    change(&mut changed);
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

#[test]
fn a_file_that_shrinks_while_it_is_read_is_damaged() {
    let text = b"0123456789abcde\n".repeat(1 << 16);
    let cut = |size_bytes: u64| move |file: &mut File| file.set_len(size_bytes).unwrap();
    let whole = text.len() as u64;
    for size_bytes in [0, 1 << 10, whole / 2 + 3, whole - 1] {
        let (out, damage) = read_while(&text, cut(size_bytes));
        let offset_bytes = out.len() as u64;
        assert_eq!(damage, Some(ReadError { offset_bytes, cause: ReadErrorCause::Shrunk }));
        assert!(out.len() < text.len() && text.starts_with(&out), "{size_bytes}");
    }
    // The truncated file has new lines, but fewer than were read.
    let (_, damage) = read_while(&text, |file| {
        file.set_len(0).unwrap();
        file.write_all(b"new\n").unwrap();
    });
    assert_eq!(damage.map(|damage| damage.cause), Some(ReadErrorCause::Shrunk));
    // Nothing but the end was left to read.
    let (out, damage) = read_while(b"short\n", cut(0));
    assert_eq!((&out[..], damage.map(|end| end.offset_bytes)), (&b"short\n"[..], Some(6)));
}

#[test]
fn a_file_that_grows_while_it_is_read_is_whole() {
    let text = b"0123456789abcde\n".repeat(1 << 16);
    let (out, damage) = read_while(&text, |file| file.write_all(b"more\n").unwrap());
    assert_eq!(damage, None);
    assert!(out == [&text[..], b"more\n"].concat());
    assert_eq!(read_while(&text, |_| ()), (text, None));
    assert_eq!(read_while(b"", |file| file.write_all(b"x").unwrap()).1, None);
}

#[test]
fn bytes_read_counts_what_lies_on_disk() {
    let samples = ALL.map(|kind| sample(kind).1);
    for bytes in samples.iter().map(Vec::as_slice).chain([&b"plain\n"[..]]) {
        let count = Arc::default();
        let reader = Box::new(Cursor::new(bytes.to_vec()));
        let mut opened = Opened::new(reader, None, &count);
        while opened.read(&mut [0; 999]).unwrap() > 0 {}
        assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), bytes.len() as u64);
    }
}
