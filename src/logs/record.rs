//! Parses a line in two steps: first the positions of its fields, then their values.
//!
//! Most lines are from browsers and need only the first step, which stops at the user agent. Only
//! the second step validates values.

use botaudit_robots::named_enum;
use memchr::{memchr, memrchr};

use crate::signatures::{base::SignatureHeaders, check::SignatureState};
use crate::time::UtcTime;
use crate::url::path::Target;

use super::host::{client_without_port, host_and_port, number_of_port, quoted_addresses};
use super::signature::Rest;
use super::time::{Clock, LastMinute, Time};
use super::{escape::Escaping, field::RawField, reject::Reject, request, response::ResponseFields};

/// The fields of a line, found but not parsed.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// `host` or `host:port`, or unset.
    pub(super) host: RawField<'a>,
    /// A number, or unset; takes precedence over the port of the host.
    pub(super) port: &'a [u8],
    /// `http`, `https`, `on` and similar, or unset.
    pub(super) scheme: &'a [u8],
    /// An address with an optional port, a list of addresses, or a name.
    pub(super) client: &'a [u8],
    /// X-Forwarded-For, or unset.
    pub(super) forwarded_for: RawField<'a>,
    /// What only some layouts have.
    pub(super) rest: Rest<'a>,
    pub(super) time: Time<'a>,
    pub(super) request: RequestFields<'a>,
    pub(super) outcome: ResponseFields<'a>,
    pub(super) user_agent: RawField<'a>,
    /// The Referer header; empty if the layout lacks it, `-` if the request had none.
    pub(super) referer: RawField<'a>,
}

/// The fields of the request in a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestFields<'a> {
    /// A request line.
    Line(RawField<'a>),
    /// A request line with an absolute target whose origin is our own.
    OwnLine(RawField<'a>),
    /// Separate fields; an unset query means that there is none.
    Parts { method: RawField<'a>, target: RawField<'a>, query: RawField<'a> },
    /// Separate fields; the path may lack its first slash.
    Rootless { method: RawField<'a>, path: RawField<'a>, query: RawField<'a> },
    /// A method, and the absolute URL, whose origin is our own.
    Url { method: RawField<'a>, url: RawField<'a> },
}

impl Default for Fields<'_> {
    /// No field is set.
    #[inline]
    fn default() -> Self {
        Fields {
            host: RawField::plain(b""),
            port: b"",
            scheme: b"",
            client: b"-",
            forwarded_for: RawField::plain(b""),
            rest: Rest::Tail(b""),
            time: Time::default(),
            request: RequestFields::Line(RawField::UNSET),
            outcome: ResponseFields::Fields { status: b"-", bytes: b"-" },
            user_agent: RawField::UNSET,
            referer: RawField::plain(b""),
        }
    }
}

named_enum! {
    /// The scheme of a request, as written in a URL.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Scheme {
        /// `http`
        Http = "http",
        /// `https`
        Https = "https",
    }
}

impl Scheme {
    /// Also accepts names of connections: `on` for TLS, `ws` and `wss`.
    fn parse(text: &[u8]) -> Option<Scheme> {
        const HTTP: [&[u8]; 3] = [b"http", b"ws", b"off"];
        const HTTPS: [&[u8]; 4] = [b"https", b"wss", b"on", b"h2"];
        if text.is_empty() {
            None
        } else if HTTP.iter().any(|name| text.eq_ignore_ascii_case(name)) {
            Some(Scheme::Http)
        } else if HTTPS.iter().any(|name| text.eq_ignore_ascii_case(name)) {
            Some(Scheme::Https)
        } else {
            None
        }
    }
}

/// Buffers for unescaping and a time cache, reused from line to line.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    request: Vec<u8>,
    method: Vec<u8>,
    user_agent: Vec<u8>,
    host: Vec<u8>,
    forwarded_for: Vec<u8>,
    referer: Vec<u8>,
    signature: [Vec<u8>; 3],
    pub(super) clock: Clock,
}

/// One request: slices of the line, or of the scratch buffers if escapes were undone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'a> {
    /// The time of the request.
    pub time: UtcTime,
    /// Address or name of the client, as logged but without its port; a list of addresses as logged;
    /// `-` if the log has none.
    pub client: &'a [u8],
    /// X-Forwarded-For as logged: the value from the client, and the additions of each proxy.
    pub forwarded_for: Option<&'a [u8]>,
    /// The host in the log, which may differ from the requested host.
    pub host: Option<&'a [u8]>,
    /// The port of the host, or a separate field.
    pub port: Option<u16>,
    /// `None` if the log has no scheme.
    pub scheme: Option<Scheme>,
    /// As sent; `-` if there was no request.
    pub method: &'a [u8],
    /// As sent; `None` if there was no request.
    pub target: Option<&'a [u8]>,
    /// 0 to 999; 0 if no answer was sent.
    pub status: u16,
    /// The size of the answer's body.
    pub bytes: u64,
    /// As sent; `-` if there was none, or the format does not include it.
    pub user_agent: &'a [u8],
    /// The headers of a signature, if there was one.
    pub(crate) signature: Option<SignatureHeaders<'a>>,
    /// What a server in front said of the signature, if the log has it.
    pub(crate) edge: Option<SignatureState>,
    /// The offset of the record in the archive of a crawl, if the log is one.
    pub record_offset: Option<u64>,
}

#[cfg(test)]
impl Record<'static> {
    /// A GET of an unknown client at `time` that was answered 200.
    pub(crate) fn at(time: UtcTime) -> Record<'static> {
        Record {
            time,
            client: b"-",
            forwarded_for: None,
            host: None,
            port: None,
            scheme: None,
            method: b"GET",
            target: None,
            status: 200,
            bytes: 0,
            user_agent: b"-",
            signature: None,
            edge: None,
            record_offset: None,
        }
    }
}

/// X-Forwarded-For in the text after the user agent.
#[inline]
pub(super) fn forwarded_for_in(tail: &[u8]) -> Option<&[u8]> {
    if tail.is_empty() || memchr(b'"', tail).is_none() {
        return None;
    }
    quoted_addresses(tail)
}

impl<'a> Fields<'a> {
    /// The user agent as sent; `-` if there was none, or the format does not include it.
    #[inline]
    pub fn user_agent<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8]
    where
        'a: 's,
    {
        match self.user_agent.value(&mut scratch.user_agent) {
            b"" if self.user_agent.raw.is_empty() => b"-",
            value => value,
        }
    }

    /// The Referer as written in the line, with escapes; empty if the format does not include it,
    /// `-` if there was none.
    #[inline]
    pub(crate) fn raw_referer(&self) -> &'a [u8] {
        self.referer.raw
    }

    /// The Referer as sent.
    pub fn referer<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8]
    where
        'a: 's,
    {
        self.referer.value(&mut scratch.referer)
    }

    /// Whether the line is of the minute of the one before, as its time is written.
    #[inline(always)]
    pub(crate) fn is_of_minute(&self, last: &mut LastMinute) -> bool {
        last.is_of(self.time)
    }

    /// Address or name of the client, without its port.
    #[inline]
    pub(crate) fn client(&self) -> &'a [u8] {
        client_without_port(self.client)
    }

    /// Whether the line may have the headers of a signature.
    #[inline]
    pub(crate) fn may_be_signed(&self) -> bool {
        matches!(self.rest, Rest::Signature(_))
    }

    /// The same; a date in digits has the month first.
    pub(super) fn month_first(self) -> Fields<'a> {
        match self.time {
            Time::Text(text) => Fields { time: Time::MonthFirst(text), ..self },
            _ => self,
        }
    }

    /// The text after the user agent, if the layout has any.
    pub(super) fn tail(&self) -> &'a [u8] {
        match self.rest {
            Rest::Tail(tail) => tail,
            Rest::Signature(_) | Rest::Offset(_) => b"",
        }
    }

    /// The time as written, if it is one text with a form that is not declared.
    pub(super) fn time_text(&self) -> Option<&'a [u8]> {
        match self.time {
            Time::Text(text) | Time::MonthFirst(text) | Time::Local(text, _) => Some(text),
            Time::Columns(..) | Time::Pattern(..) => None,
        }
    }

    /// The time of the request; `None` if it is not valid.
    pub(crate) fn time(&self) -> Option<UtcTime> {
        self.time.read()
    }

    /// The same as [`Fields::time`], but faster within one minute.
    pub(crate) fn time_near_the_last(&self, scratch: &mut Scratch) -> Option<UtcTime> {
        scratch.clock.read(self.time)
    }

    /// Parses all fields.
    pub fn record<'s>(&self, scratch: &'s mut Scratch) -> Result<Record<'s>, Reject>
    where
        'a: 's,
    {
        let Scratch { request, method, user_agent, host, forwarded_for, clock, signature, .. } =
            scratch;
        let time = clock.read(self.time).ok_or(Reject::BadTime)?;
        let (status, bytes) = self.outcome.read()?;
        let asked = self.request.read(request, method)?;
        let (host, host_port) = host_and_port(self.host.value(host));
        let mut record = Record {
            time,
            client: client_without_port(self.client),
            forwarded_for: None,
            host,
            port: number_of_port(self.port).or(host_port),
            scheme: Scheme::parse(self.scheme),
            method: asked.method,
            target: asked.target,
            status,
            bytes,
            user_agent: self.user_agent.value(user_agent),
            signature: None,
            edge: None,
            record_offset: None,
        };
        if record.user_agent.is_empty() && self.user_agent.raw.is_empty() {
            record.user_agent = b"-";
        }
        match &self.rest {
            Rest::Tail(tail) => record.forwarded_for = forwarded_for_in(tail),
            Rest::Signature(fields) => {
                record.edge = fields.edge();
                record.signature = fields.read(signature);
            }
            Rest::Offset(offset) => record.record_offset = number(offset),
        }
        if !self.forwarded_for.is_unset() {
            record.forwarded_for = Some(self.forwarded_for.value(forwarded_for));
        }
        if matches!(self.request, RequestFields::OwnLine(_) | RequestFields::Url { .. }) {
            record.own_origin();
        }
        Ok(record)
    }
}

/// A number of decimal digits.
fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

impl Record<'_> {
    /// Removes the origin from an absolute target.
    fn own_origin(&mut self) {
        let Some(target) = self.target else { return };
        let Target::Absolute { scheme, authority, path } = Target::of(self.method, target) else {
            return;
        };
        let user = memrchr(b'@', authority).map_or(0, |at| at + 1);
        let (host, port) = host_and_port(&authority[user..]);
        (self.host, self.port) = (host, port);
        self.scheme = Scheme::parse(scheme).or(self.scheme);
        self.target = match path {
            b"" => Some(b"/"),
            [b'/', ..] => Some(path),
            _ => self.target,
        };
    }
}

impl<'a> RequestFields<'a> {
    #[inline]
    fn read<'s>(
        &self,
        scratch: &'s mut Vec<u8>,
        method_scratch: &'s mut Vec<u8>,
    ) -> Result<request::Request<'s>, Reject>
    where
        'a: 's,
    {
        match self {
            RequestFields::Line(line) | RequestFields::OwnLine(line) => match line.escaping {
                Escaping::None => request::parse(line.raw),
                Escaping::Backslash => {
                    let request = request::parse(line.raw)?;
                    let target = request.target.map(|raw| RawField { raw, ..*line });
                    Ok(request::Request {
                        method: request.method,
                        target: target.map(|target| target.value(scratch)),
                    })
                }
                _ => request::parse(line.value(scratch)),
            },
            RequestFields::Parts { method, target, query } if !query.is_unset() => {
                scratch.clear();
                target.escaping.undo(target.raw, scratch);
                scratch.push(b'?');
                query.escaping.undo(query.raw, scratch);
                request::of_parts(method.value(method_scratch), scratch)
            }
            RequestFields::Rootless { method, path, query } => {
                scratch.clear();
                path.escaping.undo(path.raw, scratch);
                if !scratch.starts_with(b"/") {
                    scratch.insert(0, b'/');
                }
                if !query.is_unset() {
                    scratch.push(b'?');
                    query.escaping.undo(query.raw, scratch);
                }
                request::of_parts(method.value(method_scratch), scratch)
            }
            RequestFields::Parts { method, target, .. }
            | RequestFields::Url { method, url: target } => {
                request::of_parts(method.value(method_scratch), target.value(scratch))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(request: RequestFields<'_>, expected: (&str, Option<Scheme>, &str)) {
        let fields =
            Fields { time: Time::Text(b"2025-04-17T05:10:56Z"), request, ..Fields::default() };
        let mut scratch = Scratch::default();
        let record = fields.record(&mut scratch).unwrap();
        let text = |bytes: Option<&[u8]>| bytes.unwrap_or(b"-").escape_ascii().to_string();
        let port = record.port.map_or(String::new(), |port| format!(":{port}"));
        let found = (text(record.host) + &port, record.scheme, text(record.target));
        assert_eq!((&*found.0, found.1, &*found.2), expected);
    }

    #[test]
    fn requests_in_all_their_forms() {
        let plain = |text: &'static str| RawField::plain(text.as_bytes());
        let json = |text: &'static str| RawField { raw: text.as_bytes(), escaping: Escaping::Json };
        let own = |line| RequestFields::OwnLine(plain(line));
        check(own("GET http://h:81/x HTTP/1.1"), ("h:81", Some(Scheme::Http), "/x"));
        check(own("GET https://u@h HTTP/1.1"), ("h", Some(Scheme::Https), "/"));
        check(
            own("GET https://[::1]:443?q HTTP/1.1"),
            ("[::1]:443", Some(Scheme::Https), "https://[::1]:443?q"),
        );
        check(own("GET /x HTTP/1.1"), ("-", None, "/x"));
        check(RequestFields::Line(plain("GET http://h/x HTTP/1.1")), ("-", None, "http://h/x"));
        check(RequestFields::Line(json(r"GET \/a\u00e9 HTTP\/1.1")), ("-", None, r"/a\xc3\xa9"));
        let parts = |target, query| RequestFields::Parts { method: plain("GET"), target, query };
        check(parts(json(r"\/a"), plain("b=c")), ("-", None, "/a?b=c"));
        check(parts(json(r"\/a"), plain("-")), ("-", None, "/a"));
        check(parts(plain("/a"), plain("")), ("-", None, "/a"));
        let url = RequestFields::Url { method: plain("GET"), url: json("http:\\/\\/h/a?b") };
        check(url, ("h", Some(Scheme::Http), "/a?b"));
    }
}
