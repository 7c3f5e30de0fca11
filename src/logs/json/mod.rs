//! Logs with one JSON object per line.
//!
//! Each format is a table of the paths of the fields. If a field has several paths, the first one
//! with a value counts.
//!
//! Caddy's console format has columns with tabs in between, and an object with all other fields:
//!
//! ```text
//! 2025/04/17 05:10:56.123<tab>info<tab>http.log.access.log0<tab>handled request<tab>{"request": {...}, "status": 200}
//! ```

pub mod dialect;
pub mod own_names;

mod keys;
mod scan;
mod template;
mod usual_values;

use std::sync::Arc;

use memchr::memmem;

use crate::time::Zone;

use super::field_kind::{LogField, fields};
use super::record::{Fields, RequestFields};
use super::reject::{Limitation, Reject, Skip};
use super::{LineContent, escape::Escaping, field::RawField, signature::Rest, time::Time};
use dialect::JsonDialect;
use keys::{KeyPredictor, KeyTree, ValueSlot};
use own_names::OwnNames;
use scan::{JsonValue, MalformedJson, scan};
use template::Templates;

pub(crate) use template::{MarkedText, Places};
pub(crate) use usual_values::UsualValues;

/// The layout of one file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Json {
    dialect: JsonDialect,
    wanted: Arc<KeyTree>,
    predictor: KeyPredictor,
    templates: Templates,
    limitations: Arc<[Limitation]>,
}

/// The values of a line, by [`LogField`].
type Values<'a> = [JsonValue<'a>; LogField::COUNT];

impl Json {
    /// The layout of a file with this dialect that begins with the lines of `head`; `None` if none
    /// of them is a record. Without lines, the default layout.
    pub(crate) fn detected(
        dialect: JsonDialect,
        head: &[&[u8]],
        own: Option<&OwnNames>,
    ) -> Option<Json> {
        let paths = paths(dialect, own);
        let value_slots = paths.iter().enumerate().map(|(rank, (part, path))| {
            let rank = u8::try_from(rank).unwrap_or(u8::MAX);
            (path.as_str(), ValueSlot { slot: *part as u8, rank })
        });
        let (wanted, predictor) = (Arc::new(KeyTree::new(value_slots)), KeyPredictor::default());
        let templates = Templates::default();
        let json = Json { dialect, wanted, predictor, templates, limitations: [].into() };
        if head.is_empty() {
            return Some(json);
        }
        let records: Vec<Values> = head.iter().filter_map(|line| json.record(line)).collect();
        let limitations = limitations(dialect, &records).into();
        if records.is_empty() { None } else { Some(Json { limitations, ..json }) }
    }

    /// The limitations of this file.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        self.limitations.to_vec()
    }

    /// Finds the fields of `line`.
    #[inline]
    pub(crate) fn line<'a>(&mut self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        let Some(object) = object(line) else {
            return match line.trim_ascii() {
                b"[" | b"]" => LineContent::Skip(Skip::Directive),
                _ => LineContent::Reject(Reject::OtherFormat),
            };
        };
        let mut values = Values::default();
        if self.read(object, &mut values).is_err() {
            return LineContent::Reject(Reject::BadJson);
        }
        self.content(field_in(&values), zone)
    }

    /// Finds the values of a line with a known template: see [`Templates::find`].
    #[inline(always)]
    pub(crate) fn find(&mut self, text: MarkedText<'_, '_>, places: &mut Places) -> Option<usize> {
        self.templates.find(text, places)
    }

    /// The usual values of the line that was found last; `None` if it is not usual.
    #[inline(always)]
    pub(crate) fn usual<'a>(&self, text: &'a [u8], places: &Places) -> Option<UsualValues<'a>> {
        let is_plain = matches!(self.dialect, JsonDialect::CommonNames);
        is_plain.then(|| self.templates.usual(text, places))?
    }

    /// The fields of the line that was found last.
    #[inline(always)]
    pub(crate) fn found<'a>(
        &self,
        (text, zone): (&'a [u8], &'a Zone),
        places: &Places,
    ) -> LineContent<'a> {
        if let Some(fields) = self.templates.fields(text, places) {
            return self.content(fields, zone);
        }
        let mut values = Values::default();
        self.templates.take(text, places, &mut values);
        self.content(field_in(&values), zone)
    }

    /// What a line with these fields is.
    #[inline(always)]
    fn content<'a>(
        &self,
        part: impl Fn(LogField) -> RawField<'a>,
        zone: &'a Zone,
    ) -> LineContent<'a> {
        match self.dialect.skip(|field| part(field).raw) {
            Some(skip) => LineContent::Skip(skip),
            None => self.fields(part, zone),
        }
    }

    /// Finds the fields of a line of Caddy's console format.
    pub(crate) fn console_line<'a>(&mut self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        let Some(console) = ConsoleLine::of(line) else {
            return LineContent::Reject(Reject::OtherFormat);
        };
        // Other loggers have other objects, or none.
        if !console.logger.starts_with(b"http.log.access") {
            return LineContent::Skip(Skip::NotAccess);
        }
        let mut values = Values::default();
        if self.read(console.object, &mut values).is_err() {
            return LineContent::Reject(Reject::BadJson);
        }
        add_columns(&console, &mut values);
        self.fields(field_in(&values), zone)
    }

    /// Finds the fields of the object in an index of a crawl, whose time is a column before it.
    pub(crate) fn cdxj_object<'a>(
        &mut self,
        time: &'a [u8],
        object: &'a [u8],
        zone: &'a Zone,
    ) -> LineContent<'a> {
        let mut values = Values::default();
        if self.read(object, &mut values).is_err() {
            return LineContent::Reject(Reject::BadJson);
        }
        values[LogField::Time as usize].field = RawField::plain(time);
        let mut content = self.fields(field_in(&values), zone);
        if let LineContent::Fields(fields) = &mut content {
            if !matches!(fields.request, RequestFields::Url { .. }) {
                return LineContent::Reject(Reject::NoRequest);
            }
            fields.rest = Rest::Offset(raw(&values, LogField::Source));
        }
        content
    }

    /// Reads the values of an object.
    #[inline]
    fn read<'a>(&mut self, object: &'a [u8], values: &mut Values<'a>) -> Result<(), MalformedJson> {
        if !self.templates.read(object, values) {
            scan(object, &self.wanted, &mut self.predictor, values)?;
            self.templates.learn(object, &self.wanted);
        }
        Ok(())
    }

    #[inline(always)]
    fn fields<'a>(
        &self,
        part: impl Fn(LogField) -> RawField<'a>,
        zone: &'a Zone,
    ) -> LineContent<'a> {
        let mut content = fields(part, zone);
        if let LineContent::Fields(fields) = &mut content {
            self.adapt(fields);
        }
        content
    }

    /// Undoes what the dialect does to fields.
    #[inline(always)]
    fn adapt(&self, fields: &mut Fields<'_>) {
        match self.dialect {
            JsonDialect::Haproxy => {
                if let RequestFields::Parts { query, .. } = &mut fields.request {
                    // Its variable of the query begins with the question mark.
                    query.raw = query.raw.strip_prefix(b"?").unwrap_or(query.raw);
                }
            }
            JsonDialect::Akamai => {
                fields.user_agent.escaping = Escaping::Percent;
                fields.referer.escaping = Escaping::Percent;
                if let RequestFields::Parts { method, target, query } = fields.request {
                    fields.request = RequestFields::Rootless { method, path: target, query };
                }
            }
            _ => {}
        }
        fields.scheme = self.dialect.scheme(fields.scheme);
    }

    /// Whether `line` has a request; without one, the line could be in another format.
    pub(crate) fn is_whole(&self, line: &[u8]) -> bool {
        self.record(line).is_some()
    }

    /// The values of a line that has a request.
    fn record<'a>(&self, line: &'a [u8]) -> Option<Values<'a>> {
        let mut values = Values::default();
        let mut read =
            |object| scan(object, &self.wanted, &mut KeyPredictor::default(), &mut values).ok();
        match self.dialect {
            JsonDialect::CaddyConsole => {
                let console = ConsoleLine::of(line)?;
                read(console.object)?;
                add_columns(&console, &mut values);
            }
            _ => read(object(line)?)?,
        }
        let zone = Zone::UTC;
        let is_record = self.skip(&values).is_none()
            && matches!(self.fields(field_in(&values), &zone), LineContent::Fields(_))
            && LogField::OF_TARGET.iter().any(|&part| !raw(&values, part).is_empty());
        is_record.then_some(values)
    }

    /// Why a line of the same stream is not a client's request.
    #[inline]
    fn skip(&self, values: &Values<'_>) -> Option<Skip> {
        self.dialect.skip(|part| raw(values, part))
    }
}

/// Adds the columns of Caddy's console format to the values of the object.
fn add_columns<'a>(console: &ConsoleLine<'a>, values: &mut Values<'a>) {
    for (field, raw) in [(LogField::Time, console.time), (LogField::Source, console.logger)] {
        values[field as usize].field = RawField::plain(raw);
    }
}

/// The object in a line. In exports that are one large array, a bracket precedes the first object,
/// and commas separate the objects. `None` if there is no object.
#[inline]
fn object(line: &[u8]) -> Option<&[u8]> {
    let line = match line {
        [b'{', .., b'}'] => return Some(line),
        _ => line.trim_ascii(),
    };
    let line = line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start();
    let line = line.strip_suffix(b"]").unwrap_or(line).trim_ascii_end();
    let line = line.strip_suffix(b",").unwrap_or(line);
    line.starts_with(b"{").then_some(line)
}

/// All paths, the best of each field first. The user's keys precede the known ones.
fn paths(dialect: JsonDialect, own: Option<&OwnNames>) -> Vec<(LogField, String)> {
    let mut paths: Vec<(LogField, String)> = own.map(OwnNames::paths).unwrap_or_default().to_vec();
    for &(part, known) in dialect.paths() {
        if !own.is_some_and(|own| own.replaces(part)) {
            paths.extend(known.split(' ').map(|path| (part, path.to_owned())));
        }
    }
    paths
}

/// What none of the first records contains.
fn limitations(dialect: JsonDialect, records: &[Values<'_>]) -> Vec<Limitation> {
    let has = |part: LogField| records.iter().any(|values| !raw(values, part).is_empty());
    // Traefik can be configured to redact headers.
    let is_user_agent = |raw: &[u8]| !matches!(raw, b"" | b"REDACTED");
    let is_path_alone = |values: &&Values<'_>| {
        let better = [LogField::Request, LogField::Target, LogField::Url];
        better.iter().all(|&part| raw(values, part).is_empty())
    };
    let paths: Vec<&[u8]> =
        records.iter().filter(is_path_alone).map(|values| raw(values, LogField::Path)).collect();
    let any_has = |byte| paths.iter().any(|path| path.contains(&byte));
    let has_paths = any_has(b'/') && !any_has(b'?');
    // For example `$uri`, which nginx has decoded.
    let is_decoded = has_paths && dialect == JsonDialect::CommonNames && !any_has(b'%');
    let has_user_agent = records.iter().any(|v| is_user_agent(raw(v, LogField::UserAgent)));
    Limitation::those_of([
        (Limitation::NoUserAgent, !has_user_agent),
        (Limitation::NoClient, !has(LogField::Client)),
        (Limitation::NoQuery, has_paths && !has(LogField::Query)),
        (Limitation::DecodedTargets, is_decoded),
    ])
}

/// The fields of a line with these values.
fn field_in<'a>(values: &Values<'a>) -> impl Fn(LogField) -> RawField<'a> {
    |part| values[part as usize].field
}

fn raw<'a>(values: &Values<'a>, part: LogField) -> &'a [u8] {
    values[part as usize].field.raw
}

/// A line of the console format.
struct ConsoleLine<'a> {
    time: &'a [u8],
    logger: &'a [u8],
    /// Empty if the line has none.
    object: &'a [u8],
}

impl<'a> ConsoleLine<'a> {
    /// Splits a line; `None` if it does not begin with a time and a level.
    fn of(line: &'a [u8]) -> Option<ConsoleLine<'a>> {
        let mut columns = line.split(|&byte| byte == b'\t');
        let (time, level) = (columns.next()?, columns.next()?);
        let is_console = !level.is_empty() && Time::Local(time, &Zone::UTC).read().is_some();
        let object = memmem::find(line, b"\t{").map_or(&b""[..], |tab| &line[tab + 1..]);
        let logger = columns.next()?;
        is_console.then_some(ConsoleLine { time, logger, object })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::time::LastMinute;
    use crate::random::Random;

    #[track_caller]
    fn check(dialect: JsonDialect, head: &[&str], expected: &[Limitation]) {
        let head: Vec<&[u8]> = head.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(Json::detected(dialect, &head, None).unwrap().limitations(), expected);
    }

    #[test]
    fn limitations_of_a_file() {
        let traefik = r#"{"StartUTC":"2025-04-17T05:10:56Z","ClientHost":"192.0.2.1","RequestMethod":"GET","RequestPath":"/","request_User-Agent":"UA"}"#;
        check(JsonDialect::Traefik, &[traefik], &[]);
        let dropped = traefik.replace("request_User-Agent", "x");
        check(JsonDialect::Traefik, &[&dropped], &[Limitation::NoUserAgent]);
        check(JsonDialect::Traefik, &[&dropped, traefik], &[]);
        check(
            JsonDialect::Traefik,
            &[&traefik.replace("UA", "REDACTED")],
            &[Limitation::NoUserAgent],
        );
        let uri = r#"{"ts":1744866656,"ip":"192.0.2.1","uri":"/a","ua":"UA"}"#;
        check(JsonDialect::CommonNames, &[uri], &[Limitation::NoQuery, Limitation::DecodedTargets]);
        check(JsonDialect::CommonNames, &[uri, &uri.replace("/a", "/%20")], &[Limitation::NoQuery]);
        check(JsonDialect::CommonNames, &[uri, &uri.replace("/a", "/?a")], &[]);
        let with_args = uri.replace("\"ua\"", "\"args\":\"a\",\"ua\"");
        check(JsonDialect::CommonNames, &[&with_args], &[Limitation::DecodedTargets]);
        check(JsonDialect::CommonNames, &[&uri.replace("uri", "request_uri")], &[]);
        check(
            JsonDialect::CommonNames,
            &[&uri.replace("\"ip\"", "\"x\"").replace("/a", "/?a")],
            &[Limitation::NoClient],
        );
    }

    #[test]
    fn a_file_without_records_is_none() {
        for head in [&[][..], &[&b"{\"a\":1}"[..]], &[b"{\"ts\":1,\"status\":200}"], &[b"x"]] {
            let json = Json::detected(JsonDialect::CommonNames, head, None);
            assert_eq!(json.is_some(), head.is_empty());
        }
    }

    #[test]
    fn what_the_user_names_replaces_what_is_known() {
        let own =
            OwnNames::parse("time=meta.at,target=req.raw,host=req.host,host=fallback").unwrap();
        let mut json = Json::detected(JsonDialect::CommonNames, &[], Some(&own)).unwrap();
        let line = br#"{"time":"no","request":"no","meta":{"at":"2025-04-17T05:10:56Z"},"req":{"raw":"/own?x"},"fallback":"example.com","ip":"192.0.2.1"}"#;
        let LineContent::Fields(fields) = json.line(line, &Zone::UTC) else {
            panic!("it is a record")
        };
        let mut scratch = crate::logs::record::Scratch::default();
        let record = fields.record(&mut scratch).unwrap();
        assert_eq!(record.target, Some(&b"/own?x"[..]));
        assert_eq!((record.host, record.client), (Some(&b"example.com"[..]), &b"192.0.2.1"[..]));
        let line = br#"{"time":"2025-04-17T05:10:56Z","request":"GET / HTTP/1.1"}"#;
        assert!(matches!(json.line(line, &Zone::UTC), LineContent::Reject(Reject::NoTime)));
    }

    /// Lines of one template, whose values may be anything: read by their quotes, they are what they are when
    /// read in full.
    #[test]
    fn usual_values_are_those_of_all_fields() {
        let values: [(&str, &[&str]); 8] = [
            (
                "remote_addr",
                &["192.0.2.1", "192.0.2.1:99", "192.0.2.1, 10.0.0.1", "-", "", "[::1]:7", ","],
            ),
            (
                "time_iso8601",
                &["2026-03-01T00:00:07+00:00", "2026-03-01T00:00:61+00:00", "[1/Mar]", "-"],
            ),
            ("request_method", &["GET", "-", "P\\u0041"]),
            ("request_uri", &["/a/#?with=query", "/", "-", "", "/a\\\"b", "/*"]),
            ("status", &["200", "404", "x"]),
            ("http_referer", &["-", "", "https://a.example/x", "\\\\"]),
            ("http_user_agent", &["Mozilla/5.0 (X11)", "", "-", "a\\tb", "GPTBot/1.1"]),
            ("x", &["1", "*", "\\"]),
        ];
        let (mut random, zone) = (Random::new(), Zone::UTC);
        let mut json = Json::detected(JsonDialect::CommonNames, &[], None).unwrap();
        let (mut found, mut usual, mut sampled) = (0, 0, 0);
        let mut minutes = [LastMinute::default(); 2];
        for _ in 0..30_000 {
            let pairs = values.map(|(key, values)| {
                let value = if random.below(4) > 0 { 0 } else { random.below(values.len()) };
                let value = values[value].replace('#', &random.below(10_000).to_string());
                format!("\"{key}\": \"{value}\"")
            });
            let line = format!("{{{}}}", pairs.join(", "));
            let text = format!("{line}\n{{\"a\": 1}}\n");
            let text = text.as_bytes();
            let marks = template::marks_of(text);
            let mut places = Places::default();
            let lf = json.find((text, 0, &marks), &mut places);
            let expected = format!("{:?}", json.line(line.as_bytes(), &zone));
            if lf.is_none() {
                continue;
            }
            found += 1;
            let content = json.found((text, &zone), &places);
            assert_eq!(format!("{content:?}"), expected, "{line}");
            let Some(values) = json.usual(text, &places) else { continue };
            let LineContent::Fields(fields) = content else { panic!("{line}") };
            usual += 1;
            let mut scratch = crate::logs::record::Scratch::default();
            assert_eq!(values.user_agent(), fields.user_agent(&mut scratch), "{line}");
            assert_eq!(values.raw_referer(), fields.raw_referer(), "{line}");
            assert_eq!(values.client(), fields.client(), "{line}");
            assert_eq!(values.is_sampled(), fields.is_sampled(), "{line}");
            sampled += u32::from(fields.is_sampled());
            let is_known = values.is_of_minute(&zone, &mut minutes[0]);
            assert_eq!(is_known, fields.is_of_minute(&mut minutes[1]), "{line}");
            assert!(!fields.may_be_signed());
        }
        assert!(found > 20_000 && usual > 8_000 && sampled > 10, "{found} {usual} {sampled}");
    }
}
