//! Any bytes are a file, plain or compressed, whole or damaged: the size of the chunks never
//! changes its lines, and no chunk exceeds its limit.

#![no_main]

use std::io::{self, Read, Write};

use botaudit::input::chunks::{Chunks, Ending, HEAD_BYTES_MAX};
use botaudit::input::compression::Compression;
use botaudit::input::lines::{LINE_BYTES_MAX, lines};
use botaudit::input::open::Opened;
use botaudit::input::raw_reader::ReadErrorCause;
use botaudit::input::source::FileId;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

/// Longer texts show nothing more, and take longer.
const TEXT_BYTES_MAX: usize = 400;

/// The first bytes of the input say how the rest is read.
struct Plan {
    chunk_bytes: usize,
    read_bytes: usize,
    claimed: Option<Compression>,
    /// Whether the reader fails at the end of its bytes.
    fails: bool,
}

/// The part of a file's result that must be equal.
enum Expected {
    Text(Vec<u8>),
    Start(Vec<u8>),
    Unknown,
}

fuzz_target!(|data: &[u8]| {
    let [kind, size, position, data @ ..] = data else { return };
    let data = &data[..data.len().min(TEXT_BYTES_MAX)];
    let mut plan = Plan {
        chunk_bytes: [1, 2, 7, 64, 1 << 12, 1 << 14][usize::from(size & 15) % 6],
        read_bytes: [1, 3, 1 << 10, 1 << 20][usize::from(size >> 4) % 4],
        claimed: (kind & 0x80 != 0).then_some(Compression::Gzip),
        fails: kind & 0x40 != 0,
    };
    let (content, expected) = content(*kind, *position, data);
    if content.len() > 1 << 16 {
        plan.read_bytes = plan.read_bytes.max(1 << 10);
    }
    let seen = read_content(&content, &plan);
    let chunk_bytes = [1, 100, 1 << 14][usize::from(*position) % 3];
    let again = read_content(&content, &Plan { chunk_bytes, ..plan });
    let lengths = |seen: &ReadContent| seen.lines.iter().map(Vec::len).collect::<Vec<_>>();
    assert!(
        again == seen,
        "chunks of {chunk_bytes} bytes, not {}: {:?} {:?}, not {:?} {:?}",
        plan.chunk_bytes,
        lengths(&again),
        again.ending,
        lengths(&seen),
        seen.ending
    );
    // Except the number of bytes read before damage is found.
    let mut again = read_content(&content, &Plan { read_bytes: 1 << 20, ..plan });
    if again.ending.damage.is_some() {
        again.ending.size_bytes = seen.ending.size_bytes;
    }
    assert!(again == seen, "the size of reads shows");
    check(&seen, &expected, &plan);
});

fn content(kind: u8, position: u8, data: &[u8]) -> (Vec<u8>, Expected) {
    match kind & 7 {
        0 | 1 if Compression::of(data).is_some() => (data.to_vec(), Expected::Unknown),
        0 => (data.to_vec(), Expected::Text(data.to_vec())),
        1 => ([&[0x1F, 0x8B, 8], data].concat(), Expected::Unknown),
        2 => {
            let text = if kind & 0x38 == 0x38 { with_run(data) } else { data.to_vec() };
            if Compression::of(&text).is_some() {
                return (text, Expected::Unknown);
            }
            (text.clone(), Expected::Text(text))
        }
        3 => (member(data), Expected::Text(data.to_vec())),
        4 => {
            let (one, two) = data.split_at(usize::from(position).min(data.len()));
            (
                [member(one), vec![0; usize::from(position & 3)], member(two)].concat(),
                Expected::Text(data.to_vec()),
            )
        }
        5 => {
            let mut content = member(data);
            let end = content.len() - content.len().min(usize::from(position) + 1);
            content.truncate(end);
            // The rest may be too short to be recognised as compressed.
            match end {
                0 | 1 => (content.clone(), Expected::Text(content)),
                _ => (content, Expected::Start(data.to_vec())),
            }
        }
        6 => {
            let mut content = member(data);
            let at = usize::from(position) % content.len();
            content[at] ^= kind >> 3 | 1;
            (content, Expected::Unknown)
        }
        _ => ([member(data), vec![position]].concat(), Expected::Start(data.to_vec())),
    }
}

/// The text with FE and a number replaced by a run of bytes that is about as long as a line may be.
/// This takes a hundred times as long, so only few texts have one.
fn with_run(data: &[u8]) -> Vec<u8> {
    let lengths = [
        HEAD_BYTES_MAX - 1,
        64 << 10,
        LINE_BYTES_MAX - 1,
        LINE_BYTES_MAX,
        LINE_BYTES_MAX + 1,
        LINE_BYTES_MAX + 2,
        LINE_BYTES_MAX + 3,
        LINE_BYTES_MAX + (128 << 10),
    ];
    let Some(at) = memchr::memchr(0xFE, data).filter(|at| at + 1 < data.len()) else {
        return data.to_vec();
    };
    let run = vec![b'x'; lengths[usize::from(data[at + 1]) % lengths.len()]];
    [&data[..at], &run, &data[at + 2..]].concat()
}

fn member(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// Everything known about a file, except the positions at which its chunks were cut.
#[derive(Eq, PartialEq)]
struct ReadContent {
    lines: Vec<Vec<u8>>,
    ending: Ending,
}

fn read_content(content: &[u8], plan: &Plan) -> ReadContent {
    let reader = Slow { bytes: content.to_vec(), at: 0, step: plan.read_bytes, fails: plan.fails };
    let opened = Opened::new(Box::new(reader), plan.claimed, &Default::default());
    let mut chunks = Chunks::new(FileId::from_index(0), opened, plan.chunk_bytes);
    let head = plan.chunk_bytes.is_multiple_of(2).then(|| chunks.head(HEAD_BYTES_MAX).to_vec());
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut sequence = 0;
    let mut buffer = Vec::new();
    while let Some(chunk) = chunks.next_chunk(buffer) {
        assert_eq!((chunk.sequence, chunk.first_line), (sequence, seen.len() as u64 + 1));
        assert!(!chunk.bytes.is_empty());
        let bytes_max = 2 * plan.chunk_bytes.max(LINE_BYTES_MAX + (64 << 10));
        assert!(chunk.bytes.len() <= bytes_max && chunk.bytes.capacity() <= 2 * bytes_max);
        seen.extend(lines(&chunk.bytes).map(<[u8]>::to_vec));
        sequence += 1;
        buffer = chunk.bytes;
    }
    assert!(chunks.next_chunk(Vec::new()).is_none(), "the end stays");
    let ending = chunks.ending();
    assert_eq!(ending.lines, seen.len() as u64);
    assert!(ending.size_bytes <= content.len() as u64);
    if let Some(head) = head {
        assert!(head.len() <= HEAD_BYTES_MAX);
        assert!(lines(&head).zip(&seen).all(|(head, line)| head == line));
        assert!(lines(&head).count() <= seen.len(), "the head takes nothing away");
    }
    ReadContent { lines: seen, ending }
}

fn check(seen: &ReadContent, expected: &Expected, plan: &Plan) {
    let ending = &seen.ending;
    match expected {
        // A name in .gz is enough.
        Expected::Text(_)
            if ending.damage.is_some_and(|d| matches!(d.cause, ReadErrorCause::NotAsNamed(_))) =>
        {
            assert!(plan.claimed.is_some() && seen.lines.is_empty());
        }
        Expected::Text(text) if !plan.fails => {
            assert!(seen.lines.iter().eq(lines(text)), "the lines are those of the text");
            assert_eq!((ending.damage, ending.partial_line), (None, false));
            assert_eq!(ending.bytes, text.len() as u64);
        }
        Expected::Text(text) | Expected::Start(text) => {
            let whole = lines(text).zip(&seen.lines).all(|(line, found)| line == found);
            assert!(whole && seen.lines.len() <= lines(text).count());
            assert!(ending.bytes <= text.len() as u64);
        }
        Expected::Unknown => {}
    }
    assert!(ending.damage.is_some() || !ending.partial_line);
    assert!(ending.damage.is_none_or(|damage| damage.offset_bytes <= ending.size_bytes));
}

/// A reader that returns few bytes at a time, and may fail after its last byte.
struct Slow {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
    fails: bool,
}

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() && self.fails {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let count = rest.len().min(out.len()).min(self.step);
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}
