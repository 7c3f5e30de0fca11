//! Imports WARC files (ISO 28500), as published by Common Crawl: robots.txt responses, one record
//! each.
//!
//! Records of other types and of other URLs are skipped, except the targets of redirects. A
//! malformed record is a problem; reading continues at the next valid one.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, atomic::AtomicU64};

use crate::archive::snapshot::{Hop, SnapshotOutcome};
use crate::archive::writer::Body;
use crate::digest::Digest;
use crate::error::Result;
use crate::input::open::Opened;
use crate::input::raw_reader::{ReadError, ReadErrorCause};
use crate::input::warc_head::{Head, NoHead, RECORD_START, line_into};

use super::record::{RobotsRecord, Stop, URL_BYTES_MAX, WarcRecord};
use super::warc_memory::{HOPS_MAX, Waiting, WarcMemory, is_near};
use super::{Import, open};

/// A decompressed input with its position.
struct Stream {
    input: BufReader<Source>,
    /// The offset of the next byte, after decompression.
    offset_bytes: u64,
    /// The offset of the record that is read, or that cannot be read.
    record_at: u64,
    /// The first line of the next record, if it was read already.
    next: Option<VersionLine>,
    /// Set after a record of unknown length; what follows is reported together with it.
    is_lost: bool,
}

struct Source {
    opened: Opened,
    damage: Option<ReadError>,
}

/// Imports the WARC file at `path`; redirects may continue to wait in `memory`.
///
/// # Errors
/// If the archive cannot be written. Errors in the file are problems.
pub fn import_warc(path: &Path, memory: &mut WarcMemory, import: &mut Import<'_>) -> Result<()> {
    let opened = Stream::open(path, &import.progress.bytes_read);
    let Some(mut stream) = import.read(opened) else { return Ok(()) };
    // A record is added after its successor was read, because a checksum may be in between.
    let mut last = None;
    loop {
        let begun = stream.begin(path, import);
        if let Some(said) = last.take()
            && !stream.is_last_in_doubt()
        {
            deliver(said, path, memory, import)?;
        }
        let said = match begun {
            Ok(None) => return Ok(()),
            Ok(Some(begun)) => stream.record(begun, memory, import),
            Err(err) => Err(err.into()),
        };
        match said {
            Ok(said) => last = said,
            Err(Stop::Archive(err)) => return Err(err),
            Err(Stop::Record(offset, why)) => {
                let why = format!("record at byte {offset}{}: {why}", stream.measure());
                import.problem_at(path, offset, why);
            }
            Err(Stop::File(why)) => {
                let why = match stream.input.get_ref().damage {
                    Some(damage) => damage.to_string(),
                    None => format!("{why} at byte {}{}", stream.offset_bytes, stream.measure()),
                };
                let why = format!("{why}; the records before it were imported");
                import.problem_at(path, stream.record_at, why);
                return Ok(());
            }
        }
    }
}

/// Lets the redirects without target wait in the archive.
///
/// # Errors
/// If the archive cannot be written.
pub fn finish(memory: &mut WarcMemory, import: &mut Import<'_>) -> Result<()> {
    memory.redirects.drain().into_iter().try_for_each(|left| import.push(left.into_snapshot()))
}

/// Offset and text of a version line.
type VersionLine = (u64, Vec<u8>);

impl Stream {
    fn open(path: &Path, bytes_read: &Arc<AtomicU64>) -> Result<Stream> {
        let source = Source { opened: open(path, bytes_read)?, damage: None };
        Ok(Stream {
            input: BufReader::with_capacity(64 << 10, source),
            offset_bytes: 0,
            record_at: 0,
            next: None,
            is_lost: false,
        })
    }

    /// The note on offsets, if they are not those of the file on disk.
    fn measure(&self) -> &'static str {
        if self.input.get_ref().opened.is_compressed() { " (decompressed)" } else { "" }
    }

    /// Whether the last record is known to be damaged.
    fn is_last_in_doubt(&self) -> bool {
        let cause = self.input.get_ref().damage.map(|damage| damage.cause);
        matches!(cause, Some(ReadErrorCause::WrongChecksum | ReadErrorCause::WrongLength))
    }

    /// Reads the first line of the next record; `None` at the end of the file.
    fn begin(&mut self, path: &Path, import: &mut Import<'_>) -> io::Result<Option<VersionLine>> {
        let found = self.version_line();
        match &found {
            Ok((_, Some((start, _)))) => self.record_at = *start,
            Ok((_, None)) => {}
            // A wrong checksum is about the record before.
            Err(_) if self.is_last_in_doubt() => {}
            Err(_) => self.record_at = self.offset_bytes,
        }
        let (garbage_at, found) = found?;
        if let Some(at) = garbage_at.filter(|_| !self.is_lost) {
            let why = format!("no record starts at byte {at}{}", self.measure());
            import.problem_at(path, at, why);
        }
        Ok(found)
    }

    /// Reads the rest of a record.
    fn record(
        &mut self,
        (start, first): VersionLine,
        memory: &WarcMemory,
        import: &mut Import<'_>,
    ) -> std::result::Result<Option<RobotsRecord>, Stop> {
        self.is_lost = true;
        let mut counted = Counted { input: &mut self.input, bytes: 0 };
        let head = Head::of_record(first, &mut counted);
        self.offset_bytes += counted.bytes;
        let bad = |why: &str| Stop::Record(start, why.to_owned());
        let head = match head {
            Ok(head) => head,
            Err(NoHead::Endless) => return Err(bad("its header does not end")),
            Err(NoHead::Cut(line)) => {
                self.next = Some((self.offset_bytes - line.len() as u64, line.trim_ascii().into()));
                return Err(bad("its header is cut off, and the next record begins"));
            }
            Err(NoHead::Joined) => {
                return Err(bad("its header is cut off, and goes on with that of the next record"));
            }
            Err(NoHead::Io(err)) => return Err(err.into()),
        };
        let length: u64 = head
            .text("content-length")
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| bad("it has no Content-Length"))?;
        self.is_lost = false;
        let mut block = (&mut self.input).take(length);
        let record = WarcRecord { head: &head, start };
        let read = record.read(&mut block, memory, import);
        // The unread rest of the block.
        let skipped = io::copy(&mut block, &mut io::sink());
        let missing = block.limit();
        self.offset_bytes += length - missing;
        skipped?;
        if missing > 0 {
            return Err(Stop::File("truncated record".to_owned()));
        }
        read
    }

    /// The first line of the next record with its offset, and the first line in between that is not
    /// blank.
    fn version_line(&mut self) -> io::Result<(Option<u64>, Option<VersionLine>)> {
        if let Some(next) = self.next.take() {
            return Ok((None, Some(next)));
        }
        let mut garbage_at = None;
        let mut line = Vec::new();
        loop {
            let start = self.offset_bytes;
            line.clear();
            let read = line_into(&mut self.input, URL_BYTES_MAX, &mut line)?;
            self.offset_bytes += read as u64;
            match line.trim_ascii() {
                _ if read == 0 => return Ok((garbage_at, None)),
                version if version.starts_with(RECORD_START) => {
                    return Ok((garbage_at, Some((start, version.to_vec()))));
                }
                b"" => {}
                _ => garbage_at = garbage_at.or(Some(start)),
            }
        }
    }
}

/// Adds an answer to its origin, and to the redirects that wait for it.
fn deliver(
    said: RobotsRecord,
    path: &Path,
    memory: &mut WarcMemory,
    import: &mut Import<'_>,
) -> Result<()> {
    let RobotsRecord { url, origin, fetched_at: at, answer, payload } = said;
    if let (SnapshotOutcome::Status(200..=299), Body::Bytes(body)) = (answer.outcome, &answer.body)
        && payload.is_some()
    {
        memory.payloads.remember(payload.as_deref(), Digest::of(body));
    }
    let redirects = &mut memory.redirects;
    let own = origin.map(|origin| {
        let source = path.display().to_string();
        Waiting { origin, fetched_at: at, chain: Vec::new(), source }
    });
    for mut waiting in redirects.take(&url).into_iter().chain(own) {
        let is_near = is_near(waiting.fetched_at, at);
        match (&answer.location, answer.outcome) {
            _ if !is_near => import.push(waiting.into_snapshot())?,
            (Some(location), SnapshotOutcome::Status(status)) => {
                waiting.chain.push(Hop { status, location: location.clone() });
                if waiting.chain.len() > HOPS_MAX {
                    import.push(waiting.into_snapshot())?;
                    continue;
                }
                let evicted = redirects.wait(location.clone(), waiting);
                evicted.into_iter().try_for_each(|waiting| import.push(waiting.into_snapshot()))?;
            }
            (_, outcome) => {
                let body = answer.body.clone();
                import.push(waiting.answered(outcome, answer.max_age_seconds, body))?;
            }
        }
    }
    Ok(())
}

/// Counts the bytes read from `input`.
struct Counted<'a, R> {
    input: &'a mut R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        self.input.consume(count);
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.opened.read(out).map_err(|damage| {
            self.damage = Some(damage);
            io::Error::other(damage.to_string())
        })
    }
}
