//! The keys that a user assigns to fields, and a proposal of a `--json-fields` for lines with unknown keys.

use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::logs::field_kind::LogField;

/// The most paths; the ranks have no room for more.
const PATHS_MAX: usize = 64;

/// Paths with their fields, in the order of the user.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnNames(Vec<(LogField, String)>);

impl OwnNames {
    /// Parses `time=ts,host=req.host`: a field, and its path with dots between keys. If a field
    /// occurs twice, the first path has precedence.
    ///
    /// Fails if a field is unknown, a path is empty, or there is a query but no target.
    pub fn parse(text: &str) -> Result<OwnNames> {
        let pairs: Vec<(LogField, String)> = text.split(',').map(pair).collect::<Result<_>>()?;
        if pairs.len() > PATHS_MAX {
            return Err(Error::usage(format!(
                "more than {PATHS_MAX} JSON keys are named; name \
                 fewer"
            )));
        }
        let names = |part| pairs.iter().any(|(named, _)| *named == part);
        if names(LogField::Query) && !names(LogField::Path) {
            return Err(Error::usage("query= needs path=; for a path with its query, use target="));
        }
        Ok(OwnNames(pairs))
    }

    /// Each field with one path.
    pub(crate) fn paths(&self) -> &[(LogField, String)] {
        &self.0
    }

    /// Whether the built-in paths of a field are ignored, because the user named this field or
    /// another field of the target.
    pub(crate) fn replaces(&self, part: LogField) -> bool {
        let is_of_target = |part: &LogField| LogField::OF_TARGET.contains(part);
        self.0
            .iter()
            .any(|(named, _)| *named == part || (is_of_target(named) && is_of_target(&part)))
    }
}

fn pair(text: &str) -> Result<(LogField, String)> {
    let named = || LogField::ALL.into_iter().filter(LogField::can_be_named);
    let known = || named().map(LogField::as_str).collect::<Vec<_>>().join(", ");
    let Some((name, path)) = text.split_once('=') else {
        return Err(Error::usage(format!(
            "'{text}' does not name a JSON key; write, for example, time=ts,host=request.host \
             (fields: {})",
            known()
        )));
    };
    let name = name.trim().replace('_', "-");
    let Some(part) = named().find(|known| known.as_str() == name) else {
        return Err(Error::usage(format!("unknown field '{name}'; the fields are {}", known())));
    };
    let path = path.trim();
    if path.split('.').any(str::is_empty) {
        return Err(Error::usage(format!("'{text}' has an empty key")));
    }
    Ok((part, path.to_owned()))
}

/// The most keys that are listed.
const KEYS_MAX: usize = 100;

/// The most commas at which a line that is cut is closed.
const COMMAS_MAX: usize = 30;

/// The times that a number without a name may be: from 2001 to 2286, in seconds to nanoseconds.
const NUMBERS_OF_TIMES: [(f64, f64); 4] = [(1e9, 1e10), (1e12, 1e13), (1e15, 1e16), (1e18, 1e19)];

/// The fields of a proposal, in order.
const PROPOSED: [LogField; 10] = [
    LogField::Time,
    LogField::Client,
    LogField::Host,
    LogField::Method,
    LogField::Request,
    LogField::Target,
    LogField::Status,
    LogField::Bytes,
    LogField::UserAgent,
    LogField::Referer,
];

/// The keys of a line, and the value of `--json-fields` that fits them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Proposal {
    /// All keys, separated by commas.
    pub keys: String,
    /// The value; `KEY` stands for what no key looks like.
    pub fields: String,
}

impl Proposal {
    /// What to do, after the keys.
    pub(crate) fn advice(&self) -> String {
        let missing = match self.fields.contains("=KEY") {
            true => " (replace KEY)",
            false => "",
        };
        format!("name them, as in: --json-fields {}{missing}", self.fields)
    }
}

/// The keys of `line`, which may be cut, and a `--json-fields` that fits its values. `None` if it
/// is not an object.
pub(crate) fn proposal(line: &[u8]) -> Option<Proposal> {
    let mut values = Vec::new();
    leaves("", &object(line.trim_ascii())?, &mut values);
    let keys: Vec<&str> = values.iter().take(KEYS_MAX).map(|(key, _)| key.as_str()).collect();
    let mut found: [Option<&str>; PROPOSED.len()] = [None; PROPOSED.len()];
    // Names of keys first: a value alone may belong to many fields.
    for is_like in [fits, resembles] {
        for (at, field) in PROPOSED.into_iter().enumerate() {
            let is_whole = field == LogField::Target && found[REQUEST].is_some();
            if found[at].is_some() || is_whole {
                continue;
            }
            let free = values.iter().filter(|(key, _)| !found.contains(&Some(key.as_str())));
            let fitting = free.filter(|(key, value)| is_like(field, key, value));
            let best = fitting.min_by_key(|(key, value)| rank(field, key, value));
            found[at] = best.map(|(key, _)| key.as_str());
        }
    }
    found[HOST] = found[HOST].filter(|host| !is_of_machine(host, &values));
    let has_target = found[REQUEST].is_some() || found[TARGET].is_some();
    let query = found[TARGET].and_then(|target| query_beside(target, &values));
    let pairs = PROPOSED.into_iter().zip(found).filter_map(|(field, key)| {
        let is_needed = match field {
            LogField::Time | LogField::UserAgent => true,
            LogField::Target => !has_target,
            _ => false,
        };
        let key = key.or(is_needed.then_some("KEY"))?;
        Some(match query.filter(|_| field == LogField::Target) {
            Some(query) => format!("path={key},query={query}"),
            None => format!("{}={key}", field.as_str()),
        })
    });
    Some(Proposal { keys: keys.join(", "), fields: pairs.collect::<Vec<_>>().join(",") })
}

/// The places of these fields in [`PROPOSED`].
const HOST: usize = 2;
const REQUEST: usize = 4;
const TARGET: usize = 5;

/// The last part of a path in lower case.
fn name_of(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase()
}

/// The order of keys that fit a field, the best first. Keys of the same rank stay in their order.
fn rank(field: LogField, key: &str, value: &str) -> u8 {
    let name = name_of(key);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    // What the client sent, before a proxy changed it.
    let is_changed = u8::from(!has(&["original"]));
    match field {
        LogField::Target if has(&["uri", "url", "path", "target"]) => {
            let has_query = value.contains('?') || has(&["arg", "query"]);
            2 * u8::from(!has_query) + is_changed
        }
        LogField::Host if name == "host" && key.to_ascii_lowercase().contains("headers.") => 0,
        LogField::Host if name == "hostname" => 3,
        LogField::Host => 1 + is_changed,
        LogField::Client => u8::from(!has(&["client", "remote"])),
        LogField::Bytes if has(&["sent", "resp", "body", "out"]) => 0,
        LogField::Bytes if has(&["rec", "req"]) => 2,
        LogField::Bytes => 1,
        _ => u8::MAX,
    }
}

/// Whether the key is that of the machine that logs, which has processes.
fn is_of_machine(key: &str, values: &[(String, String)]) -> bool {
    let beside = key.len() - name_of(key).len();
    name_of(key) == "hostname"
        && values.iter().any(|(of, _)| *of == format!("{}pid", &key[..beside]))
}

/// The key of the query, if the target is a path and the query is beside it.
fn query_beside<'a>(target: &str, values: &'a [(String, String)]) -> Option<&'a str> {
    let (_, path) = values.iter().find(|(key, _)| key == target)?;
    let has_query = path.contains('?') || rank(LogField::Target, target, path) < 2;
    let (parent, _) = target.rsplit_once('.').unwrap_or_default();
    let is_beside = |key: &str| key.rsplit_once('.').unwrap_or_default().0 == parent;
    let is_query = |key: &str| ["query", "args"].iter().any(|word| name_of(key).contains(word));
    let mut keys = values.iter().map(|(key, _)| key.as_str()).filter(|key| *key != target);
    keys.find(|key| !has_query && is_beside(key) && is_query(key))
}

/// The object in `line`, whose end may be missing.
fn object(line: &[u8]) -> Option<Map<String, Value>> {
    let whole = serde_json::from_slice(line).ok();
    whole.or_else(|| {
        let commas = memchr::memrchr_iter(b',', line).take(COMMAS_MAX);
        let closed = |comma: usize, end: &[u8]| [&line[..comma], end].concat();
        let mut texts = commas.flat_map(|comma| [closed(comma, b"}"), closed(comma, b"}}")]);
        texts.find_map(|text| serde_json::from_slice(&text).ok())
    })
}

/// Adds each value of `object` that is not an object with its path. Of an array, the first element
/// counts.
fn leaves(path: &str, object: &Map<String, Value>, found: &mut Vec<(String, String)>) {
    for (key, value) in object {
        // A path cannot express a dot in a key.
        let key = format!("{path}{key}");
        let first = match value {
            Value::Array(values) => values.first().unwrap_or(&Value::Null),
            value => value,
        };
        match first {
            Value::Object(inner) => leaves(&format!("{key}."), inner, found),
            Value::String(text) => found.push((key, text.clone())),
            Value::Number(number) => found.push((key, number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) => found.push((key, String::new())),
        }
    }
}

/// Whether `value` looks like `field`, whatever the name of its key says.
fn resembles(field: LogField, _: &str, value: &str) -> bool {
    match field {
        LogField::Time => {
            let is_date = value.len() >= 19
                && value.starts_with(|c: char| c.is_ascii_digit() || c == '[')
                && value.contains(':')
                && value.contains(['-', '/']);
            let is_number = |number: f64| {
                NUMBERS_OF_TIMES.iter().any(|(least, most)| (*least..*most).contains(&number))
            };
            is_date || value.parse::<f64>().is_ok_and(is_number)
        }
        LogField::Host => {
            let last = value.rsplit('.').next().unwrap_or_default();
            value.contains('.')
                && last.len() >= 2
                && last.bytes().all(|byte| byte.is_ascii_alphabetic())
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
        }
        LogField::UserAgent => {
            value.starts_with("Mozilla/") || value.to_ascii_lowercase().contains("bot/")
        }
        _ => false,
    }
}

/// Whether `key` with `value` looks like `field`.
fn fits(field: LogField, key: &str, value: &str) -> bool {
    let name = name_of(key);
    let is_named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let is_number = |least: f64, most: f64| {
        value.parse::<f64>().is_ok_and(|number| (least..=most).contains(&number))
    };
    let is_address = || value.parse::<IpAddr>().is_ok() || value.parse::<SocketAddr>().is_ok();
    match field {
        LogField::Time => {
            let is_date = value.len() >= 10
                && value.starts_with(|c: char| c.is_ascii_digit() || c == '[')
                && value.contains([':', '-', '/']);
            is_named(&["time", "date", "ts"]) && (is_date || is_number(1e9, 1e19))
        }
        LogField::Client => is_address() && !is_named(&["server", "upstream", "local", "host"]),
        LogField::Host => {
            let is_other = is_named(&["agent", "ref", "forward"]);
            is_named(&["host", "domain", "authority", "virtual"])
                && !is_other
                && !is_address()
                && !value.is_empty()
                && !value.contains([' ', '/'])
        }
        LogField::Method => ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].contains(&value),
        LogField::Request => value.contains(" HTTP/") && value.contains(" /"),
        // `/SUBSCRIPTIONS/...` is the name of a resource.
        LogField::Target => {
            value.starts_with('/') && !is_named(&["ref", "file"]) && !name.ends_with("id")
        }
        LogField::Status => is_named(&["status", "code"]) && is_number(100.0, 599.0),
        LogField::Bytes => is_named(&["bytes", "size", "length"]) && is_number(0.0, 1e15),
        LogField::UserAgent => is_named(&["agent"]) || name == "ua",
        LogField::Referer => is_named(&["refer"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::LineContent;
    use crate::logs::json::own_names::OwnNames;
    use crate::logs::{detect::detect, format::Hints, record::Scratch};

    #[test]
    fn parts_and_paths() {
        let own = OwnNames::parse("time=@ts, user_agent=req.headers.ua,path=p").unwrap();
        let paths = [
            (LogField::Time, "@ts"),
            (LogField::UserAgent, "req.headers.ua"),
            (LogField::Path, "p"),
        ];
        assert_eq!(own.paths(), paths.map(|(part, path)| (part, path.to_owned())));
        assert!(own.replaces(LogField::Time) && own.replaces(LogField::Request));
        assert!(!own.replaces(LogField::Method) && !own.replaces(LogField::Host));
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = OwnNames::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_cannot_be_meant() {
        check_error(
            "",
            "' does not name a JSON key; write, for example, \
                         time=ts,host=request.host (fields:",
        );
        check_error(
            "time",
            "' does not name a JSON key; write, for example, \
                             time=ts,host=request.host (fields:",
        );
        check_error("tiem=ts", "unknown field 'tiem'");
        check_error("time=", "empty key");
        check_error("time=a..b", "empty key");
        check_error("query=q", "query= needs path=");
        check_error(
            &"host=h,".repeat(100),
            "' does not name a JSON key; write, for example, \
             time=ts,host=request.host (fields:",
        );
        check_error(&["host=h"; 100].join(","), "more than 64");
    }

    #[track_caller]
    fn check_fields(line: &str, fields: &str) {
        assert_eq!(proposal(line.as_bytes()).unwrap().fields, fields);
        let names = OwnNames::parse(fields).unwrap();
        let hints = Hints { json_fields: Some(names), ..Hints::default() };
        let mut reader = detect([line.as_bytes()], &hints).format.unwrap().reader();
        let LineContent::Fields(fields) = reader.line(line.as_bytes()) else { panic!("{line}") };
        let mut scratch = Scratch::default();
        let record = fields.record(&mut scratch).unwrap();
        let (host, target) = (record.host.unwrap_or_default(), record.target.unwrap());
        assert_eq!((host, target), (&b"www.example.org"[..], &b"/a?b=1"[..]));
    }

    /// Keys that look like a field, and are not the best ones.
    #[test]
    fn the_best_of_several_keys_is_proposed() {
        check_fields(
            r#"{"at":"2021-10-14T22:17:11+00:00","resourceId":"/SUBSCRIPTIONS/X/G","data":{"httpMethod":"GET","requestUri":"/a","originalUriWithArgs":"/a?b=1","userAgent":"Examplebot/1.2","clientIP":"192.0.2.7","httpStatus":200,"receivedBytes":81,"sentBytes":1035,"host":"pool.internal","originalHost":"www.example.org","date":"2021-10-14T22:17:11Z"}}"#,
            "time=data.date,client=data.clientIP,host=data.originalHost,method=data.httpMethod,target=data.originalUriWithArgs,status=data.httpStatus,bytes=data.sentBytes,user-agent=data.userAgent",
        );
        check_fields(
            r#"{"level":30,"time":1744866656123,"pid":1,"hostname":"web1.internal","req":{"method":"GET","url":"/a?b=1","headers":{"host":"www.example.org","user-agent":"Examplebot/1.2"},"remoteAddress":"192.0.2.7"},"res":{"statusCode":200}}"#,
            "time=time,client=req.remoteAddress,host=req.headers.host,method=req.method,target=req.url,status=res.statusCode,user-agent=req.headers.user-agent",
        );
        // The query is a field of its own.
        check_fields(
            r#"{"asked_at_ts":1744866656,"http":{"verb":"GET","uriPath":"/a","queryText":"b=1","virtualHost":"www.example.org","agent":"Examplebot/1.2"},"ip":"192.0.2.7"}"#,
            "time=asked_at_ts,client=ip,host=http.virtualHost,method=http.verb,path=http.uriPath,query=http.queryText,user-agent=http.agent",
        );
        // Only the name of the machine.
        let machine =
            r#"{"time":1744866656123,"pid":1,"hostname":"web1.internal","url":"/a","ua":"x/1"}"#;
        let proposed = proposal(machine.as_bytes()).unwrap().fields;
        assert_eq!(proposed, "time=time,target=url,user-agent=ua");
    }

    #[track_caller]
    fn check(line: &str, keys: &str, fields: &str) {
        let expected = Proposal { keys: keys.to_owned(), fields: fields.to_owned() };
        assert_eq!(proposal(line.as_bytes()), Some(expected));
        OwnNames::parse(fields).unwrap();
    }

    #[test]
    fn keys_are_recognised_by_name_and_value() {
        check(
            r#"{"durationTime":0.2,"requestTime":"2026-03-01T00:00:01Z","peer":"192.0.2.7","req":{"uri":"/a","verb":"GET","vhostName":"a.example"},"resultCode":200,"userAgentString":"x","cameFromReferer":""}"#,
            "durationTime, requestTime, peer, req.uri, req.verb, req.vhostName, resultCode, \
             userAgentString, cameFromReferer",
            "time=requestTime,client=peer,host=req.vhostName,method=req.verb,target=req.uri,\
             status=resultCode,user-agent=userAgentString,referer=cameFromReferer",
        );
        // A long line is cut.
        check(
            r#"{"at_ts":1772323201,"line":"GET /a HTTP/1.1","http":{"agent":"x","refe"#,
            "at_ts, line, http.agent",
            "time=at_ts,request=line,user-agent=http.agent",
        );
        check(r#"{"a":1}"#, "a", "time=KEY,target=KEY,user-agent=KEY");
        let incomplete = proposal(br#"{"ts":1772323201}"#).unwrap();
        let advice =
            "name them, as in: --json-fields time=ts,target=KEY,user-agent=KEY (replace KEY)";
        assert_eq!(incomplete.advice(), advice);
        // Names say nothing: values do. All keys are listed, also those of arrays.
        let many: String = (0..40).map(|key| format!("\"n{key}\":{key},")).collect();
        check(
            &format!(
                r#"{{{many}"when":"2026-03-01T00:00:01Z","from":"192.0.2.7","site":"a.example","verb":"GET","what":"/a","browser":["Mozilla/5.0 (X)"],"ok":true}}"#
            ),
            &((0..40).map(|key| format!("n{key}, ")).collect::<String>()
                + "when, from, site, verb, what, browser, ok"),
            "time=when,client=from,host=site,method=verb,target=what,user-agent=browser",
        );
        for line in ["", "text", "[1]", "{", "{}x"] {
            assert_eq!(proposal(line.as_bytes()), None, "{line}");
        }
    }
}
