//! W3C extended logs: IIS, other servers, and CloudFront's standard logs. Also Zeek's `http.log`,
//! which names its columns in the same way; and the native format of IIS.
//!
//! `#Fields` names the columns. It may occur again with another order when a server is restarted.
//! Times are UTC (section 4.5 of the draft), except in columns that end in `-local`. A quoted value
//! has `""` for a quote; elsewhere servers write `+` for a space.
//!
//! CloudFront separates columns by tabs and writes `%XX` for bytes outside a limited set, which
//! includes percent signs: `~` becomes `%7E`, and `%20` becomes `%2520`. So paths and queries are
//! decoded once. In user agents, the number of layers has changed over the years (those of 2013 are
//! encoded twice, those of 2019 are not), so they are decoded as far as possible. The requested host
//! is `x-host-header`; `cs(Host)` is the name of the distribution.
//!
//! The native format of IIS has no user agents, no hosts and no time zone:
//!
//! ```text
//! client, user, date, time, service, server, server address, duration, bytes received, bytes sent,
//! status, Windows status, method, path, query,
//! ```

use memchr::{memchr, memchr_iter, memmem};

use crate::time::Zone;

use super::field_kind::{LogField, fields};
use super::record::{Fields, RequestFields};
use super::reject::{Limitation, Reject, Skip};
use super::{LineContent, escape::Escaping, field::RawField, response::ResponseFields, time::Time};

static UTC: Zone = Zone::UTC;

/// The most columns; a hostile `#Fields` may name any number.
const COLUMNS_MAX: usize = 256;

/// The columns of CloudFront's logs up to the scheme, unchanged since 2014: new ones are appended.
const CLOUDFRONT: &[u8] =
    b"date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem \
    sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type \
    x-edge-request-id x-host-header cs-protocol";

/// The writer of the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum W3cDialect {
    /// IIS and all others.
    Extended,
    /// CloudFront.
    CloudFront,
    /// Zeek's `http.log`, which has other names and escapes with backslashes.
    Zeek,
}

impl W3cDialect {
    /// The directive that names the columns.
    fn fields_directive(self) -> &'static [u8] {
        match self {
            W3cDialect::Zeek => b"#fields\t",
            _ => b"#Fields:",
        }
    }

    /// Whether the line is `#`, a name, and what ends a name.
    fn is_directive(self, line: &[u8]) -> bool {
        let Some(name) = line.strip_prefix(b"#") else { return false };
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let length = name.iter().take_while(|byte| is_of_name(byte)).count();
        let end = name.get(length);
        let ends = match self {
            W3cDialect::Zeek => matches!(end, None | Some(b'\t' | b' ')),
            _ => end == Some(&b':'),
        };
        length > 0 && ends
    }
}

/// The layout of a file from one of its lines on.
#[derive(Clone, Debug)]
pub struct W3c {
    dialect: W3cDialect,
    columns: Columns,
    /// The last `#Date`, for logs that have only times.
    date: Box<[u8]>,
}

#[derive(Clone, Debug, Default)]
struct Columns {
    /// The field of each column; `None` if it is not needed.
    parts: Vec<Option<LogField>>,
    /// Whether a `#Fields` named the columns, so that there are no others.
    are_all: bool,
    time_is_local: bool,
}

impl W3c {
    /// The layout of a file that begins with the lines of `head`; `None` if they have no `#Fields`
    /// of this dialect.
    pub(crate) fn detected(dialect: W3cDialect, head: &[&[u8]]) -> Option<W3c> {
        let fields: Vec<&[u8]> =
            head.iter().filter_map(|line| directive(line, dialect.fields_directive())).collect();
        let is_cloudfront = |fields: &&[u8]| memmem::find(fields, b"x-edge-location").is_some();
        let is_ours = match dialect {
            W3cDialect::Extended => {
                head.is_empty() || fields.iter().any(|fields| !is_cloudfront(fields))
            }
            W3cDialect::CloudFront => fields.is_empty() || fields.iter().any(is_cloudfront),
            W3cDialect::Zeek => head.is_empty() || !fields.is_empty(),
        };
        let columns = match dialect {
            W3cDialect::Extended | W3cDialect::Zeek => Columns::default(),
            W3cDialect::CloudFront => Columns { are_all: false, ..Columns::of(CLOUDFRONT) },
        };
        let mut w3c = W3c { dialect, columns, date: [].into() };
        if let [first, ..] = fields[..] {
            // The initial columns, until the file has its own `#Fields`: those of an older part of
            // the log.
            w3c.columns = Columns::of(first);
        }
        is_ours.then_some(w3c)
    }

    /// Handles a line that begins with `#`, and returns its kind; `None` if it is no directive.
    pub(crate) fn direct(&mut self, line: &[u8]) -> Option<Skip> {
        if !self.dialect.is_directive(line) || self.is_request(line) {
            return None;
        }
        if let Some(fields) = directive(line, self.dialect.fields_directive()) {
            self.columns = Columns::of(fields);
            Some(Skip::Directive)
        } else if let Some(date) = directive(line, b"#Date:") {
            self.date = date.get(..10).unwrap_or_default().into();
            Some(Skip::Directive)
        } else {
            Some(Skip::Comment)
        }
    }

    /// Whether the line has a value for each column. The first may be a host, which a client chooses.
    fn is_request(&self, line: &[u8]) -> bool {
        matches!(self.line(line, &UTC), LineContent::Fields(fields) if fields.time().is_some())
    }

    /// The limitations of these columns.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        let lacks = |part| !self.columns.parts.contains(&Some(part));
        let is_decoded = lacks(LogField::Target) && self.dialect == W3cDialect::Extended;
        Limitation::those_of([
            (Limitation::NoUserAgent, lacks(LogField::UserAgent)),
            (Limitation::NoClient, lacks(LogField::Client)),
            (Limitation::NoQuery, lacks(LogField::Target) && lacks(LogField::Query)),
            (Limitation::DecodedTargets, is_decoded),
            (Limitation::NoZone, self.columns.time_is_local),
        ])
    }

    /// Finds the fields of `line`.
    #[inline]
    pub(crate) fn line<'a>(&'a self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        let mut parts = [RawField::plain(b""); LogField::COUNT];
        if let Err(why) = self.values(line, &mut parts) {
            return LineContent::Reject(why);
        }
        let zone = if self.columns.time_is_local { zone } else { &UTC };
        if parts[LogField::Date as usize].is_unset() {
            parts[LogField::Date as usize] = RawField::plain(&self.date);
        }
        let mut content = fields(|part| parts[part as usize], zone);
        if let LineContent::Fields(fields) = &mut content
            && let RequestFields::Parts { target, .. } = &mut fields.request
            && fields.host.is_unset()
        {
            host_of_target(&mut fields.host, target);
        }
        content
    }

    /// Splits the line; it must have exactly one value for each column.
    #[inline]
    fn values<'a>(
        &self,
        line: &'a [u8],
        parts: &mut [RawField<'a>; LogField::COUNT],
    ) -> Result<(), Reject> {
        if self.columns.parts.is_empty() {
            return Err(Reject::BadColumns);
        }
        let mut rest = line;
        for part in &self.columns.parts {
            let value;
            (value, rest) = self.take(rest).ok_or(Reject::BadColumns)?;
            // An unset Referer differs from a log without this column.
            if let Some(part) = *part
                && (!value.is_unset() || part == LogField::Referer)
            {
                parts[part as usize] = self.escaped(part, value);
            }
        }
        if self.columns.are_all && !rest.trim_ascii().is_empty() {
            return Err(Reject::BadColumns);
        }
        Ok(())
    }

    /// Takes a value off the start of `rest`; `None` if there is none.
    #[inline]
    fn take<'a>(&self, rest: &'a [u8]) -> Option<(RawField<'a>, &'a [u8])> {
        match self.dialect {
            W3cDialect::CloudFront | W3cDialect::Zeek => {
                let rest = rest.strip_prefix(b"\t").unwrap_or(rest);
                let end = memchr(b'\t', rest).unwrap_or(rest.len());
                (end > 0).then(|| (RawField::plain(&rest[..end]), &rest[end..]))
            }
            W3cDialect::Extended => {
                let start = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
                let rest = &rest[start..];
                if rest.starts_with(b"\"") {
                    return take_doubled(rest);
                }
                let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'));
                let end = end.unwrap_or(rest.len());
                Some((RawField::plain(&rest[..end]), &rest[end..]))
            }
        }
    }

    #[inline]
    fn escaped<'a>(&self, part: LogField, value: RawField<'a>) -> RawField<'a> {
        let escaping = match (self.dialect, part) {
            (W3cDialect::Zeek, _) => Escaping::Backslash,
            (W3cDialect::CloudFront, LogField::UserAgent) => Escaping::PercentTwice,
            (W3cDialect::CloudFront, LogField::Path | LogField::Query) => Escaping::PercentUnsafe,
            (W3cDialect::CloudFront, LogField::ForwardedFor | LogField::Referer) => {
                Escaping::Percent
            }
            (W3cDialect::Extended, LogField::UserAgent | LogField::ForwardedFor)
                if value.escaping == Escaping::None =>
            {
                Escaping::Plus
            }
            _ => value.escaping,
        };
        RawField { escaping, ..value }
    }
}

impl Columns {
    /// The columns that `#Fields` names, in any case.
    fn of(names: &[u8]) -> Columns {
        let names = names.split(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let names = names.filter(|name| !name.is_empty()).take(COLUMNS_MAX);
        let names: Vec<String> =
            names.map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        // If two columns have the same field, the better one counts.
        let is_worse = |name: &str| match name {
            "cs(host)" | "cs-host" => has("x-host-header"),
            "date-local" | "time-local" => has("date") && has("time"),
            "bytes" => has("sc-bytes"),
            _ => false,
        };
        let part = |name: &String| if is_worse(name) { None } else { part(name) };
        Columns {
            parts: names.iter().map(part).collect(),
            are_all: true,
            time_is_local: has("time-local") && !(has("date") && has("time")),
        }
    }
}

/// The field of a column, by its name in lower case.
fn part(name: &str) -> Option<LogField> {
    Some(match name {
        "date" | "date-local" => LogField::Date,
        "time" | "time-local" | "ts" => LogField::Time,
        "c-ip" | "id.orig_h" => LogField::Client,
        "cs-method" | "method" => LogField::Method,
        "cs-uri" | "uri" => LogField::Target,
        "cs-uri-stem" => LogField::Path,
        "cs-uri-query" => LogField::Query,
        "s-port" | "id.resp_p" => LogField::Port,
        "cs-host" | "cs(host)" | "x-host-header" | "host" => LogField::Host,
        "cs-protocol" => LogField::Scheme,
        "cs(user-agent)" | "user_agent" => LogField::UserAgent,
        "cs(referer)" | "cs(referrer)" | "cs-referer" | "referrer" => LogField::Referer,
        "cs(x-forwarded-for)" | "x-forwarded-for" => LogField::ForwardedFor,
        "sc-status" | "status_code" => LogField::Status,
        "sc-bytes" | "bytes" | "response_body_len" => LogField::Bytes,
        _ => return None,
    })
}

/// The text after the name of a directive.
fn directive<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = line.split_at_checked(name.len())?;
    head.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
}

/// A quoted value, in which `""` is a quote.
pub(super) fn take_doubled(rest: &[u8]) -> Option<(RawField<'_>, &[u8])> {
    let mut escaping = Escaping::None;
    let mut quotes = memchr_iter(b'"', rest).skip(1);
    while let Some(quote) = quotes.next() {
        if rest.get(quote + 1) == Some(&b'"') {
            escaping = Escaping::DoubledQuotes;
            quotes.next();
        } else {
            return Some((RawField { raw: &rest[1..quote], escaping }, &rest[quote + 1..]));
        }
    }
    None
}

/// Some servers write a URL without its scheme.
fn host_of_target<'a>(host: &mut RawField<'a>, target: &mut RawField<'a>) {
    if target.raw.starts_with(b"/") || memmem::find(target.raw, b"://").is_some() {
        return;
    }
    if let Some(slash @ 1..) = memchr(b'/', target.raw) {
        *host = RawField { raw: &target.raw[..slash], ..*target };
        target.raw = &target.raw[slash..];
    }
}

const SEPARATOR: &[u8] = b", ";

/// Parses a line; its time is in `zone`.
pub(crate) fn iis_line<'a>(line: &'a [u8], zone: &'a Zone) -> Result<Fields<'a>, Reject> {
    let mut rest = line;
    let mut columns = [&b""[..]; 14];
    for column in &mut columns {
        let end = memchr::memmem::find(rest, SEPARATOR).ok_or(Reject::OtherFormat)?;
        (*column, rest) = (&rest[..end], &rest[end + SEPARATOR.len()..]);
    }
    let [client, user, date, time, _, _, _, _, _, bytes, status, _, method, path] = columns;
    let query = rest.strip_suffix(b",").ok_or(Reject::OtherFormat)?;
    let start = client.len() + user.len() + 2 * SEPARATOR.len();
    let when = &line[start..start + date.len() + SEPARATOR.len() + time.len()];
    let [method, target, query] = [method, path, query].map(RawField::plain);
    Ok(Fields {
        client,
        time: Time::Pattern(when, "%m/%d/%Y, %H:%M:%S", zone),
        request: RequestFields::Parts { method, target, query },
        outcome: ResponseFields::Fields { status, bytes },
        ..Fields::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IIS: &[u8] = b"#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query cs(User-Agent)";

    #[track_caller]
    fn check_limitations(head: &[u8], expected: &[Limitation]) {
        assert_eq!(W3c::detected(W3cDialect::Extended, &[head]).unwrap().limitations(), expected);
    }

    #[test]
    fn limitations_of_columns() {
        check_limitations(IIS, &[Limitation::DecodedTargets]);
        check_limitations(b"#Fields: date time c-ip cs-method cs-uri cs(User-Agent)", &[]);
        check_limitations(
            b"#Fields: date-local time-local cs-uri-stem",
            &[
                Limitation::NoUserAgent,
                Limitation::NoClient,
                Limitation::NoQuery,
                Limitation::DecodedTargets,
                Limitation::NoZone,
            ],
        );
    }

    #[test]
    fn dialects_are_detected_from_their_columns() {
        let cloudfront = [b"#Fields: ", CLOUDFRONT].concat();
        let is_detected = |dialect, head: &[&[u8]]| W3c::detected(dialect, head).is_some();
        assert!(
            is_detected(W3cDialect::Extended, &[IIS])
                && !is_detected(W3cDialect::CloudFront, &[IIS])
        );
        assert!(
            !is_detected(W3cDialect::Extended, &[&cloudfront])
                && is_detected(W3cDialect::CloudFront, &[&cloudfront])
        );
        assert!(
            is_detected(W3cDialect::Extended, &[])
                && !is_detected(W3cDialect::Extended, &[b"a b c"])
        );
    }

    #[test]
    fn cloudfront_lost_its_first_lines() {
        let line = b"2025-04-17\t05:10:56\tFRA2\t5\t192.0.2.1\tGET\td1.cloudfront.net\t/a\t200\t-\tUA\t-\t-\tHit\tid\texample.com\thttps\t17\tmore";
        let w3c = W3c::detected(W3cDialect::CloudFront, &[line]).unwrap();
        let LineContent::Fields(fields) = w3c.line(line, &UTC) else { panic!("it is a request") };
        assert_eq!((fields.host.raw, fields.user_agent.raw), (&b"example.com"[..], &b"UA"[..]));
        assert!(matches!(w3c.line(&line[..60], &UTC), LineContent::Reject(_)));
    }

    /// Where the host is the first column, a client sends it.
    #[test]
    fn a_request_may_begin_like_a_directive() {
        let columns = b"#Fields: cs-host date time c-ip cs-method cs-uri sc-status cs(User-Agent)";
        let mut w3c = W3c::detected(W3cDialect::Extended, &[columns]).unwrap();
        for host in ["#a", "#", "#Fields:", "#Date:2026-01-01", "#x:8080"] {
            let line = format!("{host} 2026-03-01 12:00:00 192.0.2.1 GET /a 200 x");
            assert_eq!(w3c.direct(line.as_bytes()), None, "{line}");
        }
        assert_eq!(w3c.direct(columns), Some(Skip::Directive));
    }

    #[test]
    fn hostile_directives_stay_small() {
        let mut w3c = W3c::detected(W3cDialect::Extended, &[]).unwrap();
        assert_eq!(
            w3c.direct(&[&b"#Fields: "[..], &b"x ".repeat(1 << 19)].concat()),
            Some(Skip::Directive)
        );
        assert_eq!(w3c.columns.parts.len(), COLUMNS_MAX);
        w3c.direct(b"#Date: x");
        assert!(w3c.date.is_empty());
        assert_eq!(w3c.direct(b"#Fields"), None);
        assert_eq!(w3c.direct(b"#Remark: x"), Some(Skip::Comment));
    }
}
