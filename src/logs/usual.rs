//! Lines of the common formats as nearly all are: with six quotes, and without backslashes.
//!
//! Their fields are where the quotes are, so that a line of a browser costs little more than that.

use memchr::memchr;

use super::combined::{TIME_BYTES, has_stray_quote};
use super::field::{RawField, find_near};
use super::host::{client_without_port, host_and_port};
use super::record::{Fields, Record, RequestFields, Scratch, forwarded_for_in};
use super::time::{LastMinute, Time};
use super::{escape::Escaping, reject::Reject, request};
use super::{
    response::{ResponseFields, usual_response},
    sample::is_in_sample,
    signature::Rest,
};

/// A text, where a line starts in it, and where the quotes of request, referer and user agent are in it.
pub(crate) type QuotePlaces<'a> = (&'a [u8], usize, [u32; 6]);

/// The places of the fields of a usual line. None has escapes.
///
/// Places are smaller than slices, and most lines are asked for few fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualFields<'a> {
    line: &'a [u8],
    /// What the line is a part of. All places are places in it.
    text: &'a [u8],
    start: usize,
    quotes: [u32; 6],
    /// After the host, if the layout has one.
    client_at: usize,
    client_end: usize,
    has_own_target: bool,
}

/// What differs between layouts with usual lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualLayout {
    /// Whether the host is in front of the client.
    pub has_host: bool,
    /// Whether the origin of an absolute target is our own.
    pub has_own_target: bool,
}

/// The text between client and time, of lines without ident and user.
const BETWEEN: &[u8; 6] = b" - - [";

/// The text between time and request, without the quote.
const AFTER_TIME: &[u8; 2] = b"] ";

const TIME_AND_MARKS: usize = BETWEEN.len() + TIME_BYTES + AFTER_TIME.len();

impl<'a> UsualFields<'a> {
    /// Those of `line`; `None` if it is not usual.
    #[inline(always)]
    pub(crate) fn of(
        line: &'a [u8],
        (text, start, quotes): QuotePlaces<'a>,
        UsualLayout { has_host, has_own_target }: UsualLayout,
    ) -> Option<UsualFields<'a>> {
        let client_at = match has_host {
            true => start + find_near(b' ', line).filter(|&end| end > 0)? + 1,
            false => start,
        };
        let [request, request_end, referer, referer_end, user_agent, user_agent_end] =
            quotes.map(|at| at as usize);
        let head = text.get(client_at..request)?;
        let (client, rest) = head.split_last_chunk::<TIME_AND_MARKS>()?;
        let ([between @ .., _, _], [.., before_end, end]) =
            (rest.first_chunk::<8>()?, rest.last_chunk::<2>()?);
        let is_head = between == BETWEEN && [*before_end, *end] == *AFTER_TIME;
        let (Some(after_request), Some(before_referer), Some(after_referer)) = (
            text.get(request_end + 1),
            text.get(referer.wrapping_sub(1)),
            text.get(referer_end + 1),
        ) else {
            return None;
        };
        let tail = line.get(user_agent_end + 1 - start..)?;
        let is_spaced =
            (*after_request == b' ') & (*before_referer == b' ') & (*after_referer == b' ');
        let is_usual = is_head
            && is_spaced
            && referer > request_end + 1
            && user_agent == referer_end + 2
            && !client.is_empty()
            && find_near(b' ', head) == Some(client.len())
            && find_near(b'[', &rest[BETWEEN.len()..]).is_none()
            && (tail.is_empty()
                || (matches!(tail[0], b' ' | b'\t' | b',') && !has_stray_quote(tail)));
        if !is_usual {
            return None;
        }
        // A client is never unset. A `-` there means that the first column is the client.
        if has_host && (client == b"-" || memchr(b',', &text[start..client_at]).is_some()) {
            return None;
        }
        let client_end = client_at + client.len();
        Some(UsualFields { line, text, start, quotes, client_at, client_end, has_own_target })
    }

    /// The field between the quote of this number and the next one.
    #[inline(always)]
    fn quoted(&self, number: usize) -> &'a [u8] {
        &self.text[self.quotes[number] as usize + 1..self.quotes[number + 1] as usize]
    }

    #[inline(always)]
    fn host(&self) -> &'a [u8] {
        match self.client_at - self.start {
            0 => b"",
            after_host => &self.line[..after_host - 1],
        }
    }

    #[inline(always)]
    fn raw_client(&self) -> &'a [u8] {
        &self.text[self.client_at..self.client_end]
    }

    #[inline(always)]
    fn time_text(&self) -> &'a [u8; TIME_BYTES] {
        let from = &self.text[self.client_end + BETWEEN.len()..];
        from.first_chunk().expect("the quote is after the time")
    }

    #[inline(always)]
    fn request(&self) -> &'a [u8] {
        self.quoted(0)
    }

    /// Status and bytes, after a space.
    #[inline(always)]
    fn outcome(&self) -> &'a [u8] {
        let [_, request_end, referer, ..] = self.quotes;
        &self.text[request_end as usize + 1..referer as usize - 1]
    }

    #[inline(always)]
    fn tail(&self) -> &'a [u8] {
        &self.line[self.quotes[5] as usize + 1 - self.start..]
    }

    /// The same as fields that any layout may have.
    pub(crate) fn fields(&self) -> Fields<'a> {
        let request = RawField::plain(self.request());
        Fields {
            host: RawField::plain(self.host()),
            client: self.raw_client(),
            time: Time::Text(self.time_text()),
            request: match self.has_own_target {
                true => RequestFields::OwnLine(request),
                false => RequestFields::Line(request),
            },
            outcome: ResponseFields::Tokens(self.outcome()),
            user_agent: RawField::plain(self.quoted(4)),
            referer: RawField { raw: self.raw_referer(), escaping: Escaping::Backslash },
            rest: Rest::Tail(self.tail()),
            ..Fields::default()
        }
    }

    /// The whole line.
    pub(crate) fn line(&self) -> &'a [u8] {
        self.line
    }

    /// As [`Fields::user_agent`].
    #[inline(always)]
    pub(crate) fn user_agent(&self) -> &'a [u8] {
        let user_agent = self.quoted(4);
        if user_agent.is_empty() { b"-" } else { user_agent }
    }

    /// As [`Fields::raw_referer`].
    #[inline(always)]
    pub(crate) fn raw_referer(&self) -> &'a [u8] {
        self.quoted(2)
    }

    /// As [`Fields::client`].
    #[inline(always)]
    pub(crate) fn client(&self) -> &'a [u8] {
        let client = self.raw_client();
        // An address of IPv4 without a port.
        if client[0] != b'[' && find_near(b':', client).is_none() {
            return client;
        }
        client_without_port(client)
    }

    /// As [`Fields::is_of_minute`].
    #[inline(always)]
    pub(crate) fn is_of_minute(&self, last: &mut LastMinute) -> bool {
        last.is_of(Time::Text(self.time_text()))
    }

    /// As [`Fields::is_sampled`].
    #[inline(always)]
    pub(crate) fn is_sampled(&self) -> bool {
        is_in_sample(self.raw_client(), self.time_text(), self.request())
    }

    /// As [`Fields::record`].
    #[inline(always)]
    pub(crate) fn record<'s>(&self, scratch: &'s mut Scratch) -> Result<Record<'s>, Reject>
    where
        'a: 's,
    {
        let time = scratch.clock.read_text(self.time_text());
        let (asked, answer) = (request::usual(self.request()), usual_response(self.outcome()));
        let (Some(time), Some(asked), Some((status, bytes))) = (time, asked, answer) else {
            return self.any_record(scratch);
        };
        let (host, port) = match self.host() {
            b"" => (None, None),
            host => host_and_port(host),
        };
        // Its target is a path, so that none has an origin of its own. What is made in its place is not
        // copied: a processor waits where bytes are read together that were written one after the other.
        Ok(Record {
            time,
            client: self.client(),
            forwarded_for: forwarded_for_in(self.tail()),
            host,
            port,
            scheme: None,
            method: asked.method,
            target: asked.target,
            status,
            bytes,
            user_agent: self.user_agent(),
            signature: None,
            edge: None,
            record_offset: None,
        })
    }

    #[inline(never)]
    fn any_record<'s>(&self, scratch: &'s mut Scratch) -> Result<Record<'s>, Reject>
    where
        'a: 's,
    {
        self.fields().record(scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::marks::{MarkKind, MarkedLines, Marks};
    use crate::logs::LineContent;
    use crate::logs::detect::named;
    use crate::logs::format::Format;
    use crate::logs::format::Hints;
    use crate::logs::registry::ENTRIES;
    use crate::random::Random;

    fn formats() -> Vec<Format> {
        let hints = Hints::default();
        let formats = ENTRIES.iter().filter_map(|entry| named(entry.name, &hints));
        formats.filter(|format| format.usual_layout().is_some()).collect()
    }

    /// Whether the line is usual; then its fields are those that the slow way finds.
    fn check(format: &Format, line: &[u8], quotes: QuotePlaces<'_>) -> bool {
        let (mut reader, layout) = (format.reader(), format.usual_layout().unwrap());
        let Some(usual) = UsualFields::of(line, quotes, layout) else { return false };
        let LineContent::Fields(fields) = reader.line(line) else {
            panic!("{} is read by one way only", line.escape_ascii());
        };
        let shown = line.escape_ascii();
        assert_eq!(format!("{:?}", usual.fields()), format!("{fields:?}"), "{shown}");
        let (mut scratch, mut other) = (Scratch::default(), Scratch::default());
        assert_eq!(usual.record(&mut scratch), fields.record(&mut other), "{shown}");
        assert_eq!(usual.user_agent(), fields.user_agent(&mut scratch), "{shown}");
        assert_eq!(usual.raw_referer(), fields.raw_referer(), "{shown}");
        assert_eq!((usual.client(), usual.line()), (fields.client(), line), "{shown}");
        assert_eq!(usual.is_sampled(), fields.is_sampled(), "{shown}");
        let mut minutes = [LastMinute::default(); 2];
        for _ in 0..2 {
            let is_known = usual.is_of_minute(&mut minutes[0]);
            assert_eq!(is_known, fields.is_of_minute(&mut minutes[1]), "{shown}");
        }
        true
    }

    /// Lines that are nearly usual, as the slow way reads them.
    #[test]
    fn usual_fields_are_those_of_any_line() {
        let parts: [&[&str]; 9] = [
            &["", "h.example ", "h.example:81 ", "- ", "a, ", "[::1] ", "\"h "],
            &["192.0.2.1", "-", "192.0.2.1:99", "[2001:db8::1]:7", "2001:db8::1", ""],
            &[" - - [", " - bob [", " - - [["],
            &[
                "17/Apr/2025:05:10:56 +0100",
                "17/Apr/2025:05:10:61 +0100",
                "17/Apr/2025:05:10 +010000",
                "x",
            ],
            &["] \"", "]  \""],
            &[
                "GET / HTTP/1.1",
                "GET http://u@o.example:8/x HTTP/1.1",
                "",
                "-",
                "\\x16\\x03",
                "GET",
                "GET /a\\\" HTTP/1.1",
            ],
            &[
                "\" 200 17 \"",
                "\" 200 - \"",
                "\" 20 17 \"",
                "\"200 17 \"",
                "\" 404 5\"",
                "\" 200 x \"",
            ],
            &["-", "https://a.example/", ""],
            &[
                "\" \"Mozilla/5.0 (X11)\"",
                "\" \"\"",
                "\" \"-\" \"198.51.100.7, 10.0.0.1\"",
                "\"\"a\"",
                "\" \"a\"x",
                "\" \"a\",",
                "\" \"b\\\"c\" 0.1",
            ],
        ];
        let (mut random, mut marks, mut count) = (Random::new(), Marks::default(), 0);
        for _ in 0..40_000 {
            let pick = |part: &&[&'static str]| {
                part[if random.below(3) > 0 { 0 } else { random.below(part.len()) }]
            };
            let line: String = parts.iter().map(pick).collect::<Vec<_>>().concat() + "\n";
            let marked = MarkedLines::new(line.as_bytes(), &mut marks, MarkKind::Places).next();
            let Some((line, Some(quotes))) = marked else { continue };
            for format in &formats() {
                count += u32::from(check(format, line, quotes));
            }
        }
        assert!(count > 1_000, "{count}");
    }

    /// Lines whose quotes are known are read as all others, whatever is in them.
    #[test]
    fn known_quotes_change_nothing() {
        const PIECES: [&str; 16] = [
            "\"", "\"-\"", "\\", "\\\"", " ", "-", " - - [", "] \"", "[", ",", "\t", "\r", "#",
            "\n", "\0", "::1",
        ];
        const USUAL: [&str; 3] = [
            "192.0.2.1 - - [17/Apr/2025:05:10:56 +0100] \"GET /a HTTP/1.1\" 200 17 \"-\" \"GPTBot/1.1\"\n",
            "h.example:443 2001:db8::1 - - [17/Apr/2025:05:10:56 +0100] \"GET / HTTP/2\" 304 - \"r\" \"x\" \"f\"\n",
            "192.0.2.1 - u [17/Apr/2025:05:10:56 +0100] \"GET http://h/a HTTP/1.1\" 200 1 \"\" \"b\" 0.2\n",
        ];
        let (mut random, mut log) = (Random::new(), String::new());
        for _ in 0..40_000 {
            let mut line = USUAL[random.below(USUAL.len())].to_owned();
            for _ in 0..random.below(3) {
                let (at, piece) = (random.below(line.len()), PIECES[random.below(PIECES.len())]);
                let end = (at + random.below(2) * random.below(40)).min(line.len());
                line.replace_range(at..end, piece);
            }
            log += &line;
        }
        let mut marks = Marks::default();
        for format in formats() {
            let (mut known, mut usual) = (0, 0);
            for (line, quotes) in MarkedLines::new(log.as_bytes(), &mut marks, MarkKind::Places) {
                let Some(quotes) = quotes else { continue };
                known += 1;
                usual += u32::from(check(&format, line, quotes));
            }
            assert!(known > 20_000 && usual > 3_000, "{}: {known} {usual}", format.name());
        }
    }
}
