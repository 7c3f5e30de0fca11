//! Envelopes that containers and syslog put around each line.
//!
//! A container runtime cuts long lines into pieces. `pieces.rs` joins them.

use std::sync::Arc;

use memchr::{memmem, memrchr};

use crate::logs::escape::Escaping;
use crate::logs::field::{RawField, split_token};
use botaudit_robots::named_enum;

/// A kind of envelope, with lines of one program or of any.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Envelope {
    /// The kind.
    pub kind: EnvelopeKind,
    /// The program whose lines are read.
    pub tag: Tag,
}

named_enum! {
    /// The kind of envelope, with its name in reports.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum EnvelopeKind {
        /// Kubernetes: `2016-10-06T00:17:09.669794202Z stdout F the line`.
        Cri = "cri",
        /// Docker's json-file driver: `{"log":"the line\n","stream":"stdout","time":"..."}`.
        DockerJson = "docker-json",
        /// `docker compose logs`: `service-1  | the line`.
        Compose = "compose",
        /// LiteSpeed and exports: the whole line in quotes, with or without escapes inside.
    Quoted = "quoted",
    /// RFC 3164 or RFC 5424: `Feb 25 16:19:49 host tag[pid]: the line`.
        Syslog = "syslog",
    }
}

/// The program that wrote a line, if several write to one file; empty means any.
pub(crate) type Tag = Arc<[u8]>;

/// The output stream of a container.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The content of an envelope.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct EnvelopeContent<'a> {
    /// The line, or a piece of it, with the escapes of the envelope.
    pub line: RawField<'a>,
    /// Whether the next line of the same stream continues it.
    pub is_partial: bool,
    /// Its stream.
    pub stream: Stream,
    /// The program that wrote it; empty if the envelope does not name it.
    pub tag: &'a [u8],
}

impl EnvelopeKind {
    /// Removes the envelope; `None` if there is none.
    pub(crate) fn unwrap(self, line: &[u8]) -> Option<EnvelopeContent<'_>> {
        match self {
            EnvelopeKind::Cri => cri(line),
            EnvelopeKind::DockerJson => docker_json(line),
            EnvelopeKind::Compose => compose(line),
            EnvelopeKind::Quoted => quoted(line),
            EnvelopeKind::Syslog => syslog(line),
        }
    }

    /// Whether this envelope may cut lines, and names their stream.
    pub(crate) fn cuts_lines(self) -> bool {
        matches!(self, EnvelopeKind::Cri | EnvelopeKind::DockerJson)
    }

    /// A piece without text, which needs no other.
    pub(super) fn empty_piece(self) -> &'static [u8] {
        match self {
            EnvelopeKind::Cri => b"1970-01-01T00:00:00Z stdout P ",
            _ => br#"{"log":"","stream":"stdout"}"#,
        }
    }

    /// `line` with another content, which has the escapes of the envelope; `None` if the envelope does not cut lines.
    pub(super) fn with_content(
        self,
        line: &[u8],
        content: &[&[u8]],
        is_partial: bool,
    ) -> Option<Vec<u8>> {
        let content = content.concat();
        match self {
            EnvelopeKind::Cri => {
                let (time, rest) = split_token(line)?;
                let (stream, _) = split_token(rest)?;
                let tag: &[u8] = if is_partial { b"P" } else { b"F" };
                Some([time, stream, tag, &content].join(&b' '))
            }
            EnvelopeKind::DockerJson => {
                let log = after_key(line.strip_prefix(b"{")?, b"\"log\"")?;
                let (_, rest) = RawField::take_quoted(log)?;
                let front = &line[..line.len() - log.len() + 1];
                let end: &[u8] = if is_partial { b"\"" } else { b"\\n\"" };
                Some([front, &content, end, rest].concat())
            }
            _ => None,
        }
    }
}

impl Envelope {
    /// Whether an unparsed line is not part of the access log: an error log on standard error, or a
    /// line of another program.
    pub(crate) fn is_foreign(&self, wrapped: &EnvelopeContent<'_>) -> bool {
        match self.kind.cuts_lines() {
            true => wrapped.stream == Stream::Err,
            false => !self.tag.is_empty() && *self.tag != *wrapped.tag,
        }
    }
}

/// `<time> <stream> <F|P>[:more] <line>`, as kubelet writes it (CRI logging).
fn cri(line: &[u8]) -> Option<EnvelopeContent<'_>> {
    let (time, rest) = split_token(line)?;
    if !is_rfc3339(time) {
        return None;
    }
    let (stream, rest) = split_token(rest)?;
    let stream = match stream {
        b"stdout" => Stream::Out,
        b"stderr" => Stream::Err,
        _ => return None,
    };
    let (tags, inner) = split_token(rest).unwrap_or((rest, b""));
    let is_partial = match tags.split(|&byte| byte == b':').next()? {
        b"F" => false,
        b"P" => true,
        _ => return None,
    };
    Some(EnvelopeContent { line: RawField::plain(inner), is_partial, stream, tag: b"" })
}

/// Docker writes the keys in this order, without spaces; programs that copy them may add spaces.
fn docker_json(line: &[u8]) -> Option<EnvelopeContent<'_>> {
    let log = after_key(line.strip_prefix(b"{")?, b"\"log\"")?;
    let (log, rest) = RawField::take_quoted(log)?;
    let rest = rest.trim_ascii();
    if !rest.starts_with(b",") || !rest.ends_with(b"}") {
        return None;
    }
    let stream = memmem::find(rest, b"\"stream\"");
    let stream = match stream.and_then(|at| after_key(&rest[at..], b"\"stream\"")) {
        Some(name) if name.starts_with(b"\"stderr\"") => Stream::Err,
        _ => Stream::Out,
    };
    let whole = log.raw.strip_suffix(b"\\n").filter(|_| !ends_in_backslash(log.raw));
    let raw = whole.map_or(log.raw, |raw| raw.strip_suffix(b"\\r").unwrap_or(raw));
    let line = RawField { raw, escaping: Escaping::Json };
    Some(EnvelopeContent { line, is_partial: whole.is_none(), stream, tag: b"" })
}

/// The text after `key`, its colon and spaces.
fn after_key<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let value = object.trim_ascii_start().strip_prefix(key)?.trim_ascii_start();
    Some(value.strip_prefix(b":")?.trim_ascii_start())
}

/// Whether the final line feed is really an escaped backslash and an `n`.
fn ends_in_backslash(raw: &[u8]) -> bool {
    let before = &raw[..raw.len().saturating_sub(1)];
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0
}

/// The name may have terminal colors.
fn compose(line: &[u8]) -> Option<EnvelopeContent<'_>> {
    let line = without_colours(line);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let name = line.iter().take_while(|byte| is_name(byte)).count();
    let rest = without_colours(line[name..].trim_ascii_start());
    let inner = rest.strip_prefix(b"|").filter(|_| name > 0)?;
    let inner = without_colours(inner);
    let inner = without_colours(inner.strip_prefix(b" ").unwrap_or(inner));
    let (line, tag) = (RawField::plain(inner), &line[..name]);
    Some(EnvelopeContent { line, is_partial: false, stream: Stream::Out, tag })
}

/// The end of the last field, which clients cannot choose, shows how quotes are escaped.
fn quoted(line: &[u8]) -> Option<EnvelopeContent<'_>> {
    let raw = line.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let before = raw.strip_suffix(b"\"").unwrap_or_default();
    let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
    let escaping = match before {
        [.., b' ' | b'\\', b'"'] => Escaping::None,
        [.., b'"'] => Escaping::DoubledQuotes,
        _ if backslashes % 2 == 1 => Escaping::Json,
        _ => Escaping::None,
    };
    let line = RawField { raw, escaping };
    Some(EnvelopeContent { line, is_partial: false, stream: Stream::Out, tag: b"" })
}

/// Removes the terminal codes `ESC [ ... m` at the start.
fn without_colours(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(b"\x1b[") {
        let digits = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
        match rest.get(digits) {
            Some(b'm') => line = &rest[digits + 1..],
            _ => break,
        }
    }
    line
}

fn syslog(line: &[u8]) -> Option<EnvelopeContent<'_>> {
    let rest = without_priority(line);
    let (tag, inner) = match rest.strip_prefix(b"1 ") {
        Some(rest) if rest.len() + 2 < line.len() => rfc5424(rest)?,
        _ => rfc3164(rest)?,
    };
    let line = RawField::plain(inner);
    Some(EnvelopeContent { line, is_partial: false, stream: Stream::Out, tag })
}

/// Removes a priority such as `<134>`.
fn without_priority(line: &[u8]) -> &[u8] {
    let Some(rest) = line.strip_prefix(b"<") else { return line };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match rest.get(digits) {
        Some(b'>') if (1..=3).contains(&digits) => &rest[digits + 1..],
        _ => line,
    }
}

/// `<time> <host> <program> <process> <message id> <data> <line>` (RFC 5424 section 6).
fn rfc5424(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let (time, rest) = split_token(rest)?;
    let (_host, rest) = split_token(rest)?;
    let (program, rest) = split_token(rest)?;
    let (_process, rest) = split_token(rest)?;
    let (_id, rest) = split_token(rest)?;
    if time != b"-" && !is_rfc3339(time) {
        return None;
    }
    let inner = match rest.strip_prefix(b"-") {
        Some(rest) => rest,
        None => without_structured_data(rest)?,
    };
    let inner = inner.strip_prefix(b" ").unwrap_or(inner);
    Some((program, inner.strip_prefix(b"\xef\xbb\xbf").unwrap_or(inner)))
}

/// `[id name="value"][...]`; inside the quotes, a backslash escapes.
fn without_structured_data(mut rest: &[u8]) -> Option<&[u8]> {
    let mut is_quoted = false;
    let mut at = 1;
    if rest.first() != Some(&b'[') {
        return None;
    }
    loop {
        match (rest.get(at)?, is_quoted) {
            (b'\\', true) => at += 1,
            (b'"', _) => is_quoted = !is_quoted,
            (b']', false) => {
                rest = &rest[at + 1..];
                if rest.first() != Some(&b'[') {
                    return Some(rest);
                }
                at = 0;
            }
            _ => {}
        }
        at += 1;
    }
}

/// `<time> [host] tag[pid]: <line>`. The time is as in RFC 3164 section 4.1.2 or, from rsyslog, as
/// in RFC 3339.
fn rfc3164(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = match split_token(rest) {
        Some((time, rest)) if is_rfc3339(time) => rest,
        _ => without_bsd_time(rest)?,
    };
    let (first, after_first) = split_token(rest)?;
    // Fastly's message type "blank", as syslog servers store it: `<time> <host> {...}`.
    if after_first.starts_with(b"{") && !first.ends_with(b":") {
        return Some((b"", after_first));
    }
    if let Some(tag) = first.strip_suffix(b":") {
        return Some((without_pid(tag), after_first));
    }
    let (second, inner) = split_token(after_first)?;
    Some((without_pid(second.strip_suffix(b":")?), inner))
}

/// `Feb  5 16:19:49 `
fn without_bsd_time(line: &[u8]) -> Option<&[u8]> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let (time, rest) = line.split_at_checked(16)?;
    let is_month = MONTHS.chunks(3).any(|month| *month == time[..3]);
    let is_time = time[3] == b' '
        && matches!(time[4], b' ' | b'0'..=b'3')
        && [time[5], time[7], time[8], time[10], time[11], time[13], time[14]]
            .iter()
            .all(u8::is_ascii_digit)
        && [time[6], time[9], time[12], time[15]] == *b" :: ";
    (is_month && is_time).then_some(rest)
}

fn without_pid(tag: &[u8]) -> &[u8] {
    match memrchr(b'[', tag) {
        Some(bracket) if tag.ends_with(b"]") => &tag[..bracket],
        _ => tag,
    }
}

fn is_rfc3339(token: &[u8]) -> bool {
    matches!(token, [a, b, c, d, b'-', _, _, b'-', _, _, b'T', _, _, b':', ..]
        if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(envelope: EnvelopeKind, line: &str, expected: Option<(&str, &str)>) {
        let found = envelope.unwrap(line.as_bytes()).map(|wrapped| {
            let inner = wrapped.line.value(&mut Vec::new()).escape_ascii().to_string();
            let partial = if wrapped.is_partial { " partial" } else { "" };
            let stream = if wrapped.stream == Stream::Err { " err" } else { "" };
            let tag = std::str::from_utf8(wrapped.tag).unwrap();
            (inner, format!("{tag}{partial}{stream}"))
        });
        let expected = expected.map(|(inner, rest)| (inner.to_owned(), rest.to_owned()));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_of_containers() {
        let cri = |line, expected| check(EnvelopeKind::Cri, line, expected);
        cri("2016-10-06T00:17:09.669794202Z stdout F a b", Some(("a b", "")));
        cri("2016-10-06T00:17:09+02:00 stderr P a", Some(("a", " partial err")));
        cri("2016-10-06T00:17:09Z stdout F:x ", Some(("", "")));
        cri("2016-10-06T00:17:09Z stdout F", Some(("", "")));
        cri("2016-10-06T00:17:09Z stdin F a", None);
        cri("2016-10-06T00:17:09Z stdout X a", None);
        cri("yesterday stdout F a", None);
        let docker = |line, expected| check(EnvelopeKind::DockerJson, line, expected);
        docker(r#"{"log":"a \"b\"\n","stream":"stdout","time":"t"}"#, Some((r#"a \"b\""#, "")));
        docker(r#"{"log":"a\r\n","stream":"stderr","time":"t"}"#, Some(("a", " err")));
        docker(r#"{"log":"a","stream":"stdout","time":"t"}"#, Some(("a", " partial")));
        docker(r#"{"log":"a\\n","stream":"stdout","time":"t"}"#, Some((r"a\\n", " partial")));
        docker(r#"{"log":"a\\\n","stream":"stdout","time":"t"}"#, Some((r"a\\", "")));
        docker(r#"{"log":"a"#, None);
        docker(r#"{"logger":"a"}"#, None);
        let compose = |line, expected| check(EnvelopeKind::Compose, line, expected);
        compose("web-1  | a | b", Some(("a | b", "web-1")));
        compose("\x1b[36mweb_1 | \x1b[0ma", Some(("a", "web_1")));
        compose("web-1  |", Some(("", "web-1")));
        compose("a b | c", None);
        compose("| c", None);
    }

    #[test]
    fn lines_of_syslog() {
        let syslog = |line, expected| check(EnvelopeKind::Syslog, line, expected);
        syslog("Feb 25 16:19:38 h haproxy[1]: a b", Some(("a b", "haproxy")));
        syslog("<190>Feb  5 16:19:38 h nginx: a", Some(("a", "nginx")));
        syslog("<190>Feb  5 16:19:38 nginx: a b", Some(("a b", "nginx")));
        syslog("2024-01-01T00:00:00.1+00:00 h nginx: a", Some(("a", "nginx")));
        syslog("<34>1 2003-10-11T22:14:15.003Z h app 1 ID47 - \u{feff}a", Some(("a", "app")));
        syslog(r#"<34>1 - h app - - [x a="\"]"][y] a b"#, Some(("a b", "app")));
        syslog("2024-01-01T00:00:00Z 151.101.1.1 {a: 1}", Some(("{a: 1}", "")));
        syslog("Feb 25 16:19:38 h {a: 1}", Some(("{a: 1}", "")));
        syslog("1 2 3", None);
        syslog("<34>1 - h app - - [x", None);
        syslog("Feb 25 16:19:38 h no tag", None);
        syslog("Foo 25 16:19:38 h a: b", None);
        syslog("1.2.3.4 - - [17/Apr/2025:05:10:56 +0100] x", None);
    }
}
