//! Indexes of crawls: CDX and CDXJ, one line for each record of a WARC file.
//!
//! ```text
//! com,example)/music/ 20250417051056 {"url": "https://example.com/music/", "status": "200", ...}
//! com,example)/music/ 20250417051056 https://example.com/music/ text/html 200 DIGEST - - 4711 1234 a.warc.gz
//! ```
//!
//! Such lines have no user agent, so the user names that of the crawl. The columns of CDX are those
//! whose header is ` CDX N b a m s`, with any columns behind.

use std::sync::Arc;

use crate::time::Zone;

use super::json::{Json, dialect::JsonDialect};
use super::record::{Fields, RequestFields};
use super::reject::{Limitation, Reject, Skip};
use super::{LineContent, field::RawField, response::ResponseFields, signature::Rest, time::Time};

/// Times are in UTC.
const TIME_PATTERN: &str = "%Y%m%d%H%M%S";

/// The header of the columns that are known.
const HEADER: &[u8] = b"CDX N b a m s ";

/// The layout of one file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Cdx {
    json: Json,
    /// The user agent of requests that have none.
    user_agent: Option<Arc<[u8]>>,
    /// Whether the first requests have one.
    has_user_agent: bool,
}

impl Cdx {
    /// The layout of a file that begins with the lines of `head`, with the user agent that the user
    /// names.
    pub(crate) fn detected(head: &[&[u8]], user_agent: Option<&Arc<[u8]>>) -> Option<Cdx> {
        let json = Json::detected(JsonDialect::Cdxj, &[], None)?;
        let mut cdx = Cdx { json, user_agent: user_agent.cloned(), has_user_agent: true };
        let has_user_agent = head.iter().any(|line| {
            matches!(cdx.line(line), LineContent::Fields(fields) if !fields.user_agent.is_unset())
        });
        cdx.has_user_agent = has_user_agent || head.is_empty();
        Some(cdx)
    }

    /// The limitations of this file.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        Limitation::those_of([(Limitation::NoCrawlUserAgent, !self.has_user_agent)])
    }

    /// Finds the fields of `line`.
    pub(crate) fn line<'a>(&'a mut self, line: &'a [u8]) -> LineContent<'a> {
        if line.strip_prefix(b" ").unwrap_or(line).starts_with(HEADER) {
            return LineContent::Skip(Skip::Directive);
        }
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let (Some(_), Some(time), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return LineContent::Reject(Reject::OtherFormat);
        };
        if time.len() != 14 || !time.iter().all(u8::is_ascii_digit) {
            return LineContent::Reject(Reject::OtherFormat);
        }
        let mut content = match rest.first() {
            Some(b'{') => self.json.cdxj_object(time, rest, &Zone::UTC),
            _ => columns(rest),
        };
        if let LineContent::Fields(fields) = &mut content {
            fields.time = Time::Pattern(time, TIME_PATTERN, &Zone::UTC);
            if let RequestFields::Url { method, .. } = &mut fields.request
                && method.is_unset()
            {
                *method = RawField::plain(b"GET");
            }
            if fields.user_agent.is_unset()
                && let Some(user_agent) = &self.user_agent
            {
                fields.user_agent = RawField::plain(user_agent);
            }
        }
        content
    }
}

/// The fields of the columns after the time.
fn columns(rest: &[u8]) -> LineContent<'_> {
    let mut columns = rest.split(|byte| *byte == b' ');
    let (Some(url), Some(_), Some(status)) = (columns.next(), columns.next(), columns.next())
    else {
        return LineContent::Reject(Reject::OtherFormat);
    };
    if memchr::memmem::find(url, b"://").is_none() || columns.next().is_none() {
        return LineContent::Reject(Reject::OtherFormat);
    }
    // The last two columns are the offset and the file.
    let offset = columns.rev().nth(1).unwrap_or_default();
    LineContent::Fields(Fields {
        request: RequestFields::Url { method: RawField::UNSET, url: RawField::plain(url) },
        outcome: ResponseFields::Fields { status, bytes: b"-" },
        rest: Rest::Offset(offset),
        ..Fields::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::record::Scratch;

    const CDXJ: &str = r#"com,example)/a 20250417051056 {"url": "https://a.example:8443/a?b", "status": "200", "offset": "4711"}"#;
    const CDX: &str = "com,example)/a 20250417051056 https://a.example:8443/a?b text/html 200 AAAA - - 4711 1234 a.warc.gz";

    /// The record as text, with `user_agent` as that of the crawl.
    fn read(line: &str, user_agent: Option<&str>) -> String {
        let user_agent: Option<Arc<[u8]>> = user_agent.map(|text| text.as_bytes().into());
        let mut cdx = Cdx::detected(&[], user_agent.as_ref()).unwrap();
        let fields = match cdx.line(line.as_bytes()) {
            LineContent::Fields(fields) => fields,
            LineContent::Skip(skip) => return format!("{skip:?}"),
            LineContent::Reject(reject) => return format!("{reject:?}"),
        };
        let mut scratch = Scratch::default();
        match fields.record(&mut scratch) {
            Ok(record) => {
                let text = String::from_utf8_lossy;
                let [method, target, user_agent, host] = [
                    text(record.method),
                    text(record.target.unwrap_or_default()),
                    text(record.user_agent),
                    text(record.host.unwrap_or_default()),
                ];
                let (port, offset) = (record.port.unwrap_or(0), record.record_offset.unwrap_or(0));
                let (time, status) = (record.time, record.status);
                format!("{time} {method} {host} {port} {target} {status} {user_agent} {offset}")
            }
            Err(reject) => format!("{reject:?}"),
        }
    }

    #[test]
    fn both_forms_are_read() {
        assert_eq!(read(CDXJ, None), "2025-04-17T05:10:56Z GET a.example 8443 /a?b 200 - 4711");
        let cdx = CDX.replace("4711 1234", "4711");
        assert_eq!(
            read(&cdx, Some("A/1")),
            "2025-04-17T05:10:56Z GET a.example 8443 /a?b 200 A/1 4711"
        );
        // With eleven columns, the size of the record is before its offset.
        assert!(read(CDX, None).ends_with(" 1234"));
        let other =
            CDXJ.replace("\"status\"", r#""method": "POST", "user_agent": "B/2", "status""#);
        assert!(read(&other, Some("A/1")).contains(" POST "));
        assert!(read(&other, Some("A/1")).ends_with(" B/2 4711"));
        let revisit = CDX.replace("text/html 200", "warc/revisit -");
        assert!(read(&revisit, None).contains("/a?b 0 - "));
    }

    #[test]
    fn other_lines_are_told_apart() {
        assert_eq!(read(" CDX N b a m s k r M S V g", None), "Directive");
        for line in [
            " CDX A b a m s k r M S V g",
            "- 2025041705105 https://a.example/ text/html 200 AAAA",
            "- 20250417051056 /a text/html 200 AAAA",
            "- 20250417051056 https://a.example/ text/html",
            "- 20250417051056",
            "",
        ] {
            assert_eq!(read(line, None), "OtherFormat", "{line}");
        }
        assert_eq!(read("- 20250417051056 {\"url\": ", None), "BadJson");
        assert_eq!(read("- 20250417051056 {\"status\": \"200\"}", None), "NoRequest");
        assert_eq!(read(&CDXJ.replace("0417", "1317"), None), "BadTime");
    }

    #[test]
    fn a_crawl_without_user_agent_is_named() {
        let limits = |line: &str, user_agent: Option<&str>| {
            let user_agent: Option<Arc<[u8]>> = user_agent.map(|text| text.as_bytes().into());
            Cdx::detected(&[line.as_bytes()], user_agent.as_ref()).unwrap().limitations()
        };
        assert_eq!(limits(CDX, None), [Limitation::NoCrawlUserAgent]);
        assert_eq!(limits(CDX, Some("A/1")), []);
        let named = CDXJ.replace("\"status\"", r#""user_agent": "B/2", "status""#);
        assert_eq!(limits(&named, None), []);
    }
}
