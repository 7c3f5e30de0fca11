//! Turns a WARC file (ISO 28500), the archive of a crawl, into lines: one for each record.
//!
//! A request and its answer lie side by side. They become one line, in the form of an index of such
//! files (CDXJ), in place of the first of both. All other records become blank lines, so the number
//! of a line is that of a record. Bytes between records become a line that no format reads.

use memchr::memmem;
use serde::Serialize;

use super::warc_head::{HEAD_BYTES_MAX, Head, NoHead, line_into, status};

/// What every record begins with.
const START: &[u8] = b"WARC/";

/// Its beginning, after the line before it. Values of fields may contain `WARC/`, too.
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
        !start.is_empty() && (start.starts_with(START) || START.starts_with(start))
    }

    /// Whether more bytes than `start` are needed to know it.
    pub(crate) fn may_become(start: &[u8]) -> bool {
        start.len() < START.len() && WarcLines::may_begin(start)
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
            let step = match rest.get(..START.len()) {
                _ if rest.is_empty() || self.block_left > 0 => Step::Wait,
                Some(START) => self.record(&mut rest, is_end, out),
                None if !is_end && START.starts_with(rest) => Step::Wait,
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
            Ok(_) => Head::read(first.trim_ascii().to_vec(), &mut after),
            Err(err) => Err(NoHead::Io(err)),
        };
        let head = match whole {
            Ok(head) => head,
            Err(_) if rest.len() < HEAD_BYTES_MAX && !is_end => return Step::Wait,
            Err(_) => {
                self.lose(out);
                // Without a blank line in these bytes, only the last record can have a head.
                let region = &rest[1..rest.len().min(HEAD_BYTES_MAX)];
                let next = memmem::rfind(region, LINE_START);
                self.is_within_line = next.is_none();
                *rest = &rest[1 + next.map_or(region.len(), |lf| lf + 1)..];
                return Step::Record;
            }
        };
        // A head that was cut goes on with that of the next record.
        let head_bytes = &rest[..rest.len() - after.len()];
        if let Some(lf) = memmem::rfind(head_bytes, LINE_START) {
            self.lose(out);
            *rest = &rest[lf + 1..];
            return Step::Record;
        }
        let length = head.text("content-length").and_then(|digits| digits.parse::<u64>().ok());
        let Some(length) = length else {
            self.lose(out);
            *rest = after;
            return Step::Record;
        };
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
                match Exchange::of(&kind, &head, block, length, self.offset) {
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
mod tests {
    use super::*;

    const DATE: &str = "2025-04-17T05:10:56Z";

    fn record(kind: &str, url: &str, block: &str) -> String {
        let length = block.len();
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {DATE}\r\n\
             Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
    }

    fn request(url: &str) -> String {
        record("request", url, "GET / HTTP/1.1\r\nUser-Agent: A/1\r\n\r\n")
    }

    fn answer(url: &str, body: &str) -> String {
        record("response", url, &format!("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{body}"))
    }

    /// The text of `file`, read `step` bytes at a time.
    fn read(file: &str, step: usize) -> String {
        let (mut lines, mut out) = (WarcLines::default(), Vec::new());
        file.as_bytes().chunks(step).for_each(|bytes| lines.add(bytes, &mut out));
        lines.end(true, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// The lines of `file`, which are the same however it is cut.
    fn lines(file: &str) -> Vec<String> {
        let whole = read(file, usize::MAX);
        for step in [1, 2, 3, 7, 100, 1000] {
            assert_eq!(read(file, step), whole, "{step}");
        }
        whole.lines().map(str::to_owned).collect()
    }

    const URL: &str = "https://a.example/";

    #[test]
    fn a_request_and_its_answer_are_one_line() {
        let pair = r#"- 20250417051056 {"url":"https://a.example/","status":"200","method":"GET","user_agent":"A/1","bytes":"5","offset":"0"}"#;
        let (request, answer) = (request(URL), answer(URL, "hello"));
        assert_eq!(lines(&[&*request, &answer].concat()), [pair, ""]);
        assert_eq!(lines(&[&*answer, &request].concat()), [pair, ""]);
        let other = record("metadata", URL, "a: b\r\n");
        assert_eq!(lines(&[&*request, &other, &answer, &other].concat()), [pair, "", "", ""]);
        // Each is a record, so the second one is in the third line.
        let found = lines(&[&*request, &answer, &request, &answer].concat());
        let at = request.len() + answer.len();
        let second = pair.replace("\"offset\":\"0\"", &format!("\"offset\":\"{at}\""));
        assert_eq!(found, [pair, "", &second, ""]);
    }

    #[test]
    fn halves_stand_alone() {
        let alone = lines(&[request(URL), answer("https://b.example/", "")].concat());
        assert!(alone[0].ends_with(
            r#"{"url":"https://a.example/","method":"GET","user_agent":"A/1","offset":"0"}"#
        ));
        assert!(alone[1].contains(r#"{"url":"https://b.example/","status":"200","bytes":"0","#));
        let crawl =
            record("warcinfo", "x", "software: x\r\nhttp-header-user-agent: Lab/2 \u{e9}\r\n");
        let named = lines(&[crawl, answer(URL, ""), answer(URL, "")].concat());
        assert_eq!(named.len(), 3);
        assert!(named[0].is_empty() && named[1].contains("\"user_agent\":\"Lab/2 \u{e9}\""));
        // A crawl that does not name its user agent does not have that of the crawl before it.
        let other = record("warcinfo", "x", "software: y\r\n");
        let crawl = record("warcinfo", "x", "http-header-user-agent: Lab/2\r\n");
        let two = lines(&[&*crawl, &answer(URL, ""), &other, &answer(URL, "")].concat());
        assert!(two[1].contains("Lab/2") && !two[3].contains("user_agent"), "{two:?}");
        let between = record("metadata", URL, "a").repeat(1000);
        let far = lines(&[request(URL), between, answer(URL, "")].concat());
        assert_eq!(far.len(), 1002);
        assert!(!far[0].contains("status") && far[1001].contains("status"));
        let revisit = record("revisit", "<http://a.example/\"\n>", "HTTP/1.0 304 x\r\n\r\n");
        assert!(lines(&revisit)[0].is_empty(), "a URL of two lines is cut");
    }

    #[test]
    fn other_protocols_and_records_are_blank() {
        let dns =
            record("response", "dns:a.example", "20250417\r\na.example. 1 IN A 192.0.2.1\r\n");
        assert_eq!(lines(&[dns, record("conversion", URL, "text")].concat()), ["", ""]);
    }

    #[test]
    fn blocks_may_contain_anything() {
        let body = format!("WARC/1.0\r\n\r\n{}", "x".repeat(200_000));
        let found = lines(&[answer(URL, &body), request("https://b.example/")].concat());
        assert!(found[0].contains(&format!("\"bytes\":\"{}\"", body.len())), "{found:?}");
        assert!(found[1].contains("b.example"), "{found:?}");
        let no_http = record("response", URL, "");
        assert!(lines(&no_http)[0].ends_with(r#"{"url":"https://a.example/","offset":"0"}"#));
    }

    #[test]
    fn what_is_no_record_is_one_line() {
        let lost = "WARC record that cannot be read";
        let good = request(URL);
        let found = lines(&format!("{good}nonsense\nmore\n\n{good}"));
        assert_eq!((found.len(), &*found[1]), (3, lost));
        let without = good.replace("Content-Length", "Length");
        let found = lines(&format!("{without}{good}"));
        assert_eq!((&*found[0], found.len()), (lost, 2), "{found:?}");
        let endless = format!("WARC/1.0\r\nA: {}", "x".repeat(2 * HEAD_BYTES_MAX));
        assert_eq!(read(&endless, 64 << 10), format!("{lost}\n"));
        let in_head = &good[..60];
        let found = lines(&format!("{in_head}\u{0}\n{good}"));
        assert_eq!((found.len(), &*found[0]), (2, lost), "{found:?}");
        assert!(found[1].contains("a.example"));
        let cut = &good[..good.len() - 20];
        let found = lines(cut);
        assert!(found[0].contains("a.example"), "{found:?}");
        assert_eq!(found[1..], ["WARC record that is cut off"]);
        assert_eq!(lines("WARC/"), [lost]);
        assert_eq!(lines("WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n"), [lost]);
    }

    /// Text that looks like the start of a record again and again costs no more than other text.
    #[test]
    fn false_starts_take_little_time() {
        let good = request(URL);
        for start in ["WARC/", "WARC/\n", "WARC/1.0\r\nA: WARC/\r\n"] {
            let file = start.repeat((4 << 20) / start.len());
            let text = read(&format!("{file}\r\n\r\n{good}"), 64 << 10);
            assert_eq!(text.lines().count(), 2, "{start}");
            assert!(text.contains("a.example"), "{start}: {text}");
        }
    }

    #[test]
    fn times_are_digits() {
        assert_eq!(time(b"2025-04-17T05:10:56.123456Z"), "20250417051056");
        assert_eq!(time(b"2025-04-17T05:10:56+01:00"), "2025-04-17T05:10:56+01:00");
        assert_eq!(time(b"17 April"), "17_April");
        assert_eq!(time(b""), "");
    }

    #[test]
    fn random_bytes_never_end_in_a_panic() {
        let mut random = crate::random::Random::new();
        let parts = [
            "WARC/1.0\r\n",
            "WARC",
            "\r\n\r\n",
            "Content-Length: 7\r\n",
            "WARC-Type: response\r\n",
            "WARC-Target-URI: http://a\r\n",
            "x",
            "\n",
        ];
        for _ in 0..2_000 {
            let file: String =
                (0..random.below(40)).map(|_| parts[random.below(parts.len())]).collect();
            lines(&file);
        }
    }
}
