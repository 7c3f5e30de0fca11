//! Logs of one JSON object a line.
//!
//! Each format is a table of the paths at which the parts of a request stand. Of several paths to
//! one part the first that has a value counts.

pub mod caddy;
pub mod cloudflare;
pub mod common_names;
pub mod google_cloud;
pub mod own_names;
pub mod traefik;

mod key_predictor;
mod key_tree;
mod scan;

use std::sync::Arc;

use crate::logs::Line;
use crate::logs::field_kind::{Part, fields};
use crate::logs::limitation::Caveat;
use crate::logs::record::Fields;
use crate::logs::reject::{Reject, Skip};
use crate::time::Zone;

use key_predictor::Trail;
use key_tree::{Place, Wanted};
use own_names::OwnNames;
use scan::{Value, scan};

/// The paths to one part, the best first.
pub type Paths = (Part, &'static [&'static str]);

/// Who writes the lines, as far as it matters beyond the names of keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// Whoever writes keys that somebody chose.
    CommonNames,
    /// Caddy, other loggers of which write to the same stream.
    Caddy,
    /// Traefik.
    Traefik,
    /// Cloudflare Logpush, with requests that Cloudflare made itself.
    Cloudflare,
    /// Google Cloud Logging, with entries of other services.
    GoogleCloud,
}

/// The layout of one file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Json {
    dialect: Dialect,
    wanted: Arc<Wanted>,
    trail: Trail,
    caveats: Arc<[Caveat]>,
}

type Values<'a> = [Value<'a>; Part::COUNT];

impl Json {
    /// The layout of a file of that dialect that begins with the lines of `head`; `None` where
    /// none of them is a record. Without any lines, what can be said without a file.
    pub fn told(dialect: Dialect, head: &[&[u8]], own: Option<&OwnNames>) -> Option<Json> {
        let paths = paths(dialect, own);
        let places = paths.iter().enumerate().map(|(rank, (part, path))| {
            let rank = u8::try_from(rank).unwrap_or(u8::MAX);
            (path.as_str(), Place { slot: *part as u8, rank })
        });
        let (wanted, trail) = (Arc::new(Wanted::new(places)), Trail::default());
        let json = Json { dialect, wanted, trail, caveats: [].into() };
        if head.is_empty() {
            return Some(json);
        }
        let records: Vec<Values> = head.iter().filter_map(|line| json.record(line)).collect();
        let caveats = caveats(dialect, &records).into();
        if records.is_empty() { None } else { Some(Json { caveats, ..json }) }
    }

    /// What this file cannot tell.
    pub fn caveats(&self) -> Vec<Caveat> {
        self.caveats.to_vec()
    }

    /// Finds the fields of `line`.
    #[inline]
    pub fn line<'a>(&mut self, line: &'a [u8], zone: &'a Zone) -> Line<'a> {
        let Some(object) = object(line) else {
            return match line.trim_ascii() {
                b"[" | b"]" => Line::Skip(Skip::Directive),
                _ => Line::Reject(Reject::OtherFormat),
            };
        };
        let mut values = Values::default();
        if scan(object, &self.wanted, &mut self.trail, &mut values).is_err() {
            return Line::Reject(Reject::BadJson);
        }
        if let Some(skip) = self.skip(&values) {
            return Line::Skip(skip);
        }
        self.fields(&values, zone).into()
    }

    #[inline]
    fn fields<'a>(&self, values: &Values<'a>, zone: &'a Zone) -> Result<Fields<'a>, Reject> {
        let mut fields = fields(|part| values[part as usize].field, zone)?;
        if self.dialect == Dialect::Caddy {
            fields.scheme = caddy::scheme(fields.scheme);
        }
        Ok(fields)
    }

    /// Whether `line` says what was requested; without, it may as well be of another format.
    pub fn is_whole(&self, line: &[u8]) -> bool {
        self.record(line).is_some()
    }

    /// The values of a line that is a record of a request.
    fn record<'a>(&self, line: &'a [u8]) -> Option<Values<'a>> {
        let mut values = Values::default();
        scan(object(line)?, &self.wanted, &mut Trail::default(), &mut values).ok()?;
        let zone = Zone::UTC;
        let is_record = self.skip(&values).is_none()
            && self.fields(&values, &zone).is_ok()
            && Part::OF_TARGET.iter().any(|&part| !raw(&values, part).is_empty());
        is_record.then_some(values)
    }

    /// Why a line of the same stream is nobody's request to us.
    #[inline]
    fn skip(&self, values: &Values<'_>) -> Option<Skip> {
        let value = |part: Part| values[part as usize].field;
        match self.dialect {
            Dialect::CommonNames => None,
            Dialect::Caddy => caddy::skip(value),
            Dialect::Traefik => traefik::skip(value),
            Dialect::Cloudflare => cloudflare::skip(value),
            Dialect::GoogleCloud => google_cloud::skip(value),
        }
    }
}

/// The object in a line; exports that are one large array have a bracket before the first and
/// commas between. `None` where there is none.
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

/// All paths, the best of each part first. What the user names goes before what is known.
fn paths(dialect: Dialect, own: Option<&OwnNames>) -> Vec<(Part, String)> {
    let known = match dialect {
        Dialect::CommonNames => common_names::PATHS,
        Dialect::Caddy => caddy::PATHS,
        Dialect::Traefik => traefik::PATHS,
        Dialect::Cloudflare => cloudflare::PATHS,
        Dialect::GoogleCloud => google_cloud::PATHS,
    };
    let mut paths: Vec<(Part, String)> = own.map(OwnNames::paths).unwrap_or_default().to_vec();
    for &(part, known) in known {
        if !own.is_some_and(|own| own.replaces(part)) {
            paths.extend(known.iter().map(|&path| (part, path.to_owned())));
        }
    }
    paths
}

/// What none of the first records tells.
fn caveats(dialect: Dialect, records: &[Values<'_>]) -> Vec<Caveat> {
    let has = |part: Part| records.iter().any(|values| !raw(values, part).is_empty());
    // Traefik can be told to redact headers.
    let is_user_agent = |raw: &[u8]| !matches!(raw, b"" | b"REDACTED");
    let mut caveats = Vec::new();
    if !records.iter().any(|values| is_user_agent(raw(values, Part::UserAgent))) {
        caveats.push(Caveat::NoUserAgent);
    }
    if !has(Part::Client) {
        caveats.push(Caveat::NoClient);
    }
    let is_path_alone = |values: &&Values<'_>| {
        let better = [Part::Request, Part::Target, Part::Url];
        better.iter().all(|&part| raw(values, part).is_empty())
    };
    let paths: Vec<&[u8]> =
        records.iter().filter(is_path_alone).map(|values| raw(values, Part::Path)).collect();
    let any_has = |byte| paths.iter().any(|path| path.contains(&byte));
    if any_has(b'/') && !any_has(b'?') {
        if !has(Part::Query) {
            caveats.push(Caveat::NoQuery);
        }
        // As `$uri`, which nginx has decoded.
        if dialect == Dialect::CommonNames && !any_has(b'%') {
            caveats.push(Caveat::DecodedTargets);
        }
    }
    caveats
}

fn raw<'a>(values: &Values<'a>, part: Part) -> &'a [u8] {
    values[part as usize].field.raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dialect: Dialect, head: &[&str], expected: &[Caveat]) {
        let head: Vec<&[u8]> = head.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(Json::told(dialect, &head, None).unwrap().caveats(), expected);
    }

    #[test]
    fn caveats_of_a_file() {
        let traefik = r#"{"StartUTC":"2025-04-17T05:10:56Z","ClientHost":"192.0.2.1","RequestMethod":"GET","RequestPath":"/","request_User-Agent":"UA"}"#;
        check(Dialect::Traefik, &[traefik], &[]);
        let dropped = traefik.replace("request_User-Agent", "x");
        check(Dialect::Traefik, &[&dropped], &[Caveat::NoUserAgent]);
        check(Dialect::Traefik, &[&dropped, traefik], &[]);
        check(Dialect::Traefik, &[&traefik.replace("UA", "REDACTED")], &[Caveat::NoUserAgent]);
        let uri = r#"{"ts":1744866656,"ip":"192.0.2.1","uri":"/a","ua":"UA"}"#;
        check(Dialect::CommonNames, &[uri], &[Caveat::NoQuery, Caveat::DecodedTargets]);
        check(Dialect::CommonNames, &[uri, &uri.replace("/a", "/%20")], &[Caveat::NoQuery]);
        check(Dialect::CommonNames, &[uri, &uri.replace("/a", "/?a")], &[]);
        let with_args = uri.replace("\"ua\"", "\"args\":\"a\",\"ua\"");
        check(Dialect::CommonNames, &[&with_args], &[Caveat::DecodedTargets]);
        check(Dialect::CommonNames, &[&uri.replace("uri", "request_uri")], &[]);
        check(
            Dialect::CommonNames,
            &[&uri.replace("\"ip\"", "\"x\"").replace("/a", "/?a")],
            &[Caveat::NoClient],
        );
    }

    #[test]
    fn a_file_without_records_is_none() {
        for head in [&[][..], &[&b"{\"a\":1}"[..]], &[b"{\"ts\":1,\"status\":200}"], &[b"x"]] {
            let told = Json::told(Dialect::CommonNames, head, None);
            assert_eq!(told.is_some(), head.is_empty());
        }
    }

    #[test]
    fn what_the_user_names_replaces_what_is_known() {
        let own =
            OwnNames::parse("time=meta.at,target=req.raw,host=req.host,host=fallback").unwrap();
        let mut json = Json::told(Dialect::CommonNames, &[], Some(&own)).unwrap();
        let line = br#"{"time":"no","request":"no","meta":{"at":"2025-04-17T05:10:56Z"},"req":{"raw":"/own?x"},"fallback":"example.com","ip":"192.0.2.1"}"#;
        let Line::Fields(fields) = json.line(line, &Zone::UTC) else { panic!("it is a record") };
        let mut scratch = crate::logs::record::Scratch::default();
        let record = fields.record(&mut scratch).unwrap();
        assert_eq!(record.target, Some(&b"/own?x"[..]));
        assert_eq!((record.host, record.client), (Some(&b"example.com"[..]), &b"192.0.2.1"[..]));
        let line = br#"{"time":"2025-04-17T05:10:56Z","request":"GET / HTTP/1.1"}"#;
        assert!(matches!(json.line(line, &Zone::UTC), Line::Reject(Reject::NoTime)));
    }
}
