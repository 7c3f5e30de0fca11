//! Turns a WARC file (ISO 28500), the archive of a crawl, into lines: one for each record.
//!
//! A request and its answer lie side by side. They become one line, in the form of an index of such
//! files (CDXJ), in place of the first of both. All other records become blank lines, so the number
//! of a line is that of a record. Bytes between records become a line that no format reads.

use memchr::memmem;
use serde::Serialize;

use super::warc_head::{HEAD_BYTES_MAX, Head, NoHead, RECORD_START, line_into, status};

/// The beginning of a record, after the line before it. Values of fields may contain `WARC/`, too.
const LINE_START: &[u8] = b"\nWARC/";

/// The most bytes of a block in which the head of a request or an answer is looked for.
const BLOCK_BYTES_MAX: usize = 64 << 10;

/// The most records between a request and its answer.
const BETWEEN_MAX: usize = 64;

/// The most bytes of a method.
const METHOD_BYTES_MAX: usize = 20;

/// The lines of a file that is read in pieces.
#[derive(Debug, Default)]
pub(crate) struct WarcLines {
    /// Bytes that no line was made of.
    held: Vec<u8>,
    /// The position in the file of the first of them, after decompression.
    offset: u64,
    /// The bytes of the current block that are still to come.
    block_left: u64,
    /// Whether bytes after the last record could not be read, and have their line.
    is_lost: bool,
    /// Whether the next bytes belong to a line that is not the start of a record.
    is_within_line: bool,
    /// The user agent of the crawl, if the file names it.
    user_agent: Option<String>,
    /// A request or an answer whose other half may follow.
    waiting: Option<Exchange>,
    /// The records after it.
    records_after: usize,
}

/// A request and its answer.
#[derive(Debug, Serialize)]
struct Exchange {
    url: String,
    /// `yyyyMMddHHmmss`.
    #[serde(skip)]
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    offset: String,
    /// Which records it is made of.
    #[serde(skip)]
    has_request: bool,
    #[serde(skip)]
    has_answer: bool,
}

/// How far the next record was read.
enum Step {
    /// It became a line, or waits for its other half.
    Record,
    /// More bytes are needed.
    Wait,
}

impl WarcLines {
    /// Whether a file with this `start` is, or may be, a WARC file.
    pub(crate) fn may_begin(start: &[u8]) -> bool {
        !start.is_empty() && (start.starts_with(RECORD_START) || RECORD_START.starts_with(start))
    }

    /// Whether more bytes than `start` are needed to know it.
    pub(crate) fn may_become(start: &[u8]) -> bool {
        start.len() < RECORD_START.len() && WarcLines::may_begin(start)
    }

    /// Adds the lines of the next `bytes` to `out`.
    pub(crate) fn add(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let skipped = bytes.len().min(usize::try_from(self.block_left).unwrap_or(usize::MAX));
        let skipped = if self.held.is_empty() { skipped } else { 0 };
        self.block_left -= skipped as u64;
        self.offset += skipped as u64;
        self.held.extend_from_slice(&bytes[skipped..]);
        self.read(false, out);
    }

    /// Adds the last lines; `is_whole` if the file was read to its end.
    pub(crate) fn end(&mut self, is_whole: bool, out: &mut Vec<u8>) {
        self.read(true, out);
        let is_cut = self.block_left > 0 || !self.held.is_empty();
        self.flush(out);
        if is_cut && is_whole && !self.is_lost {
            out.extend_from_slice(b"WARC record that is cut off\n");
        }
    }

    fn read(&mut self, is_end: bool, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let mut rest = &held[..];
        loop {
            let before = rest.len();
            let in_block = before.min(usize::try_from(self.block_left).unwrap_or(usize::MAX));
            self.block_left -= in_block as u64;
            rest = &rest[in_block..];
            if self.is_within_line {
                let lf = memchr::memchr(b'\n', rest);
                self.is_within_line = lf.is_none();
                rest = lf.map_or(b"", |lf| &rest[lf + 1..]);
            }
            rest = rest.trim_ascii_start();
            self.offset += (before - rest.len()) as u64;
            let before = rest.len();
            let step = match rest.get(..RECORD_START.len()) {
                _ if rest.is_empty() || self.block_left > 0 => Step::Wait,
                Some(RECORD_START) => self.record(&mut rest, is_end, out),
                None if !is_end && RECORD_START.starts_with(rest) => Step::Wait,
                _ => {
                    self.lose(out);
                    self.is_within_line = true;
                    Step::Record
                }
            };
            self.offset += (before - rest.len()) as u64;
            if let Step::Wait = step {
                break;
            }
        }
        self.held = rest.to_vec();
    }

    /// Reads the record at the start of `rest`.
    fn record(&mut self, rest: &mut &[u8], is_end: bool, out: &mut Vec<u8>) -> Step {
        let mut after = *rest;
        let mut first = Vec::new();
        let whole = match line_into(&mut after, HEAD_BYTES_MAX, &mut first) {
            Ok(_) => Head::of_record(first.trim_ascii().to_vec(), &mut after),
            Err(err) => Err(NoHead::Io(err)),
        };
        let next = match whole {
            Ok(head) => match head.text("content-length").and_then(|digits| digits.parse().ok()) {
                Some(length) => return self.block(&head, length, after, rest, is_end, out),
                None => after,
            },
            Err(NoHead::Cut(next)) => &rest[rest.len() - after.len() - next.len()..],
            Err(NoHead::Joined) => after,
            Err(_) if rest.len() < HEAD_BYTES_MAX && !is_end => return Step::Wait,
            Err(_) => {
                // Without a blank line in these bytes, only the last record can have a head.
                let region = &rest[1..rest.len().min(HEAD_BYTES_MAX)];
                let next = memmem::rfind(region, LINE_START);
                self.is_within_line = next.is_none();
                &rest[1 + next.map_or(region.len(), |lf| lf + 1)..]
            }
        };
        self.lose(out);
        *rest = next;
        Step::Record
    }

    /// Reads the block of `length` bytes of the record with this `head`. `after` follows the head.
    fn block<'a>(
        &mut self,
        head: &Head,
        length: u64,
        after: &'a [u8],
        rest: &mut &'a [u8],
        is_end: bool,
        out: &mut Vec<u8>,
    ) -> Step {
        let block = &after[..after.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        let block = &block[..block.len().min(BLOCK_BYTES_MAX)];
        let is_all = block.len() == BLOCK_BYTES_MAX || block.len() as u64 == length;
        let kind = head.field("warc-type").unwrap_or_default().to_ascii_lowercase();
        let is_read = matches!(&kind[..], b"request" | b"response" | b"revisit" | b"warcinfo");
        if is_read && !is_all && !is_end && end_of_head(block).is_none() {
            return Step::Wait;
        }
        self.is_lost = false;
        self.block_left = length;
        match &kind[..] {
            b"warcinfo" => self.crawl(block, out),
            b"request" | b"response" | b"revisit" => {
                match Exchange::of(&kind, head, block, length, self.offset) {
                    Some(exchange) => self.exchange(exchange, out),
                    None => self.other(out),
                }
            }
            _ => self.other(out),
        }
        *rest = after;
        Step::Record
    }

    /// Adds the line of bytes that cannot be read; one is enough until the next record.
    fn lose(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.is_lost, true) {
            self.flush(out);
            out.extend_from_slice(b"WARC record that cannot be read\n");
        }
    }

    /// A record about the crawl.
    fn crawl(&mut self, block: &[u8], out: &mut Vec<u8>) {
        let fields = Head::read(Vec::new(), &mut [block, b"\r\n\r\n"].concat().as_slice());
        // The records before it are of another crawl.
        self.flush(out);
        let value = fields.ok().and_then(|fields| {
            fields.field("http-header-user-agent").or(fields.field("user-agent")).map(text)
        });
        self.user_agent = value;
        self.other(out);
    }

    /// A record that is not a request.
    fn other(&mut self, out: &mut Vec<u8>) {
        if self.records_after == BETWEEN_MAX {
            self.flush(out);
        }
        match self.waiting {
            Some(_) => self.records_after += 1,
            None => out.push(b'\n'),
        }
    }

    fn exchange(&mut self, other: Exchange, out: &mut Vec<u8>) {
        let is_half = |of: &mut Exchange| {
            of.url == other.url
                && of.has_request != other.has_request
                && of.has_answer != other.has_answer
        };
        match self.waiting.take_if(is_half) {
            Some(first) => {
                self.records_after += 1;
                self.waiting = Some(first.with(other));
                self.flush(out);
            }
            None => {
                self.flush(out);
                self.waiting = Some(other);
            }
        }
    }

    /// Adds the line of what waits, and those of the records after it.
    fn flush(&mut self, out: &mut Vec<u8>) {
        let Some(mut exchange) = self.waiting.take() else { return };
        if exchange.user_agent.is_none() {
            exchange.user_agent.clone_from(&self.user_agent);
        }
        let json = serde_json::to_string(&exchange).expect("texts can be written");
        out.extend_from_slice(format!("- {} {json}\n", exchange.time).as_bytes());
        out.resize(out.len() + self.records_after, b'\n');
        self.records_after = 0;
    }
}

impl Exchange {
    /// The request or the answer in a record; `None` if it is of another protocol.
    fn of(kind: &[u8], head: &Head, block: &[u8], length: u64, offset: u64) -> Option<Exchange> {
        let url = text(head.field("warc-target-uri")?);
        let url = url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(&url);
        let is_http = |scheme: &str| {
            url.get(..scheme.len()).is_some_and(|of| of.eq_ignore_ascii_case(scheme))
        };
        if !is_http("http://") && !is_http("https://") {
            return None;
        }
        let is_request = kind == b"request";
        let mut exchange = Exchange {
            url: url.to_owned(),
            time: time(head.field("warc-date").unwrap_or_default()),
            status: None,
            method: None,
            user_agent: None,
            bytes: None,
            offset: offset.to_string(),
            has_request: is_request,
            has_answer: !is_request,
        };
        let end = end_of_head(block).unwrap_or(block.len());
        let (first, fields) = message(&block[..end]);
        if is_request {
            exchange.method = method(&first);
            exchange.user_agent = fields.field("user-agent").map(text);
        } else if let Some(status) = status(&first) {
            let is_unmodified = head
                .field("warc-profile")
                .is_some_and(|profile| profile.ends_with(b"/server-not-modified"));
            exchange.status = Some(if is_unmodified { 304 } else { status }.to_string());
            exchange.bytes = Some((length - end as u64).to_string());
        }
        Some(exchange)
    }

    /// Both halves.
    fn with(self, other: Exchange) -> Exchange {
        Exchange {
            status: self.status.or(other.status),
            method: self.method.or(other.method),
            user_agent: self.user_agent.or(other.user_agent),
            bytes: self.bytes.or(other.bytes),
            ..self
        }
    }
}

/// The first line and the fields of a message of HTTP.
fn message(head: &[u8]) -> (Vec<u8>, Head) {
    let (first, rest) = match memchr::memchr(b'\n', head) {
        Some(lf) => (&head[..lf], &head[lf + 1..]),
        None => (head, &head[head.len()..]),
    };
    let fields = Head::read(Vec::new(), &mut [rest, b"\r\n\r\n"].concat().as_slice());
    (first.trim_ascii().to_vec(), fields.unwrap_or_default())
}

/// The end of the head of a message, behind its blank line.
fn end_of_head(block: &[u8]) -> Option<usize> {
    let ends = [(&b"\r\n\r\n"[..], 4), (b"\n\n", 2)];
    ends.iter().filter_map(|(end, bytes)| Some(memmem::find(block, end)? + bytes)).min()
}

/// The method of a request line.
fn method(first: &[u8]) -> Option<String> {
    let word = first.split(|byte| *byte == b' ').next()?;
    let is_method = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
    (is_method && word.len() <= METHOD_BYTES_MAX).then(|| text(word))
}

/// `20260131235959` of `2026-01-31T23:59:59Z`, also with a fraction. Other texts stay, without their
/// spaces, and the format rejects them.
fn time(date: &[u8]) -> String {
    let date = text(date);
    match date.strip_suffix('Z').map(|date| date.split_once('.').map_or(date, |(date, _)| date)) {
        Some(date) if date.len() == 19 => date.replace(['-', ':', 'T'], ""),
        _ => date.replace(char::is_whitespace, "_"),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
