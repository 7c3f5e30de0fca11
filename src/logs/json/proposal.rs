//! Proposes a `--json-fields` for lines with unknown keys.

use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value};

use crate::logs::field_kind::LogField;

/// The most keys that are listed.
const KEYS_MAX: usize = 30;

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

/// The keys of `line`, which may be cut, and a `--json-fields` that fits its values. `None` if it
/// is not an object.
pub(crate) fn proposal(line: &[u8]) -> Option<String> {
    let mut values = Vec::new();
    leaves("", &object(line.trim_ascii())?, &mut values);
    let keys: Vec<&str> = values.iter().take(KEYS_MAX).map(|(key, _)| key.as_str()).collect();
    let mut found: Vec<String> = Vec::new();
    for field in PROPOSED {
        let fitting = values.iter().find(|(key, value)| fits(field, key, value));
        if let Some((key, _)) = fitting
            && !(field == LogField::Target && has(&found, LogField::Request))
        {
            found.push(format!("{}={key}", field.as_str()));
        }
    }
    let is_enough = has(&found, LogField::Time)
        && (has(&found, LogField::Request) || has(&found, LogField::Target));
    let fields = match is_enough {
        true => found.join(","),
        false => "time=KEY,target=KEY,user-agent=KEY,host=KEY".to_owned(),
    };
    Some(format!("its JSON keys are {}; name them, as in: --json-fields {fields}", keys.join(", ")))
}

fn has(found: &[String], field: LogField) -> bool {
    found.iter().any(|pair| pair.split('=').next() == Some(field.as_str()))
}

/// The object in `line`, whose end may be missing.
fn object(line: &[u8]) -> Option<Map<String, Value>> {
    let whole = serde_json::from_slice(line).ok();
    whole.or_else(|| {
        let commas = memchr::memrchr_iter(b',', line).take(KEYS_MAX);
        let closed = |comma: usize, end: &[u8]| [&line[..comma], end].concat();
        let mut texts = commas.flat_map(|comma| [closed(comma, b"}"), closed(comma, b"}}")]);
        texts.find_map(|text| serde_json::from_slice(&text).ok())
    })
}

/// Adds each text and number of `object` with its path.
fn leaves(path: &str, object: &Map<String, Value>, found: &mut Vec<(String, String)>) {
    for (key, value) in object {
        // A path cannot express a dot in a key.
        let key = format!("{path}{key}");
        match value {
            Value::Object(inner) => leaves(&format!("{key}."), inner, found),
            Value::String(text) => found.push((key, text.clone())),
            Value::Number(number) => found.push((key, number.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) => {}
        }
    }
}

/// Whether `key` with `value` looks like `field`.
fn fits(field: LogField, key: &str, value: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
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
        LogField::Target => value.starts_with('/') && !is_named(&["ref", "file"]),
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
    use crate::logs::json::own_names::OwnNames;

    #[track_caller]
    fn check(line: &str, keys: &str, fields: &str) {
        let expected =
            format!("its JSON keys are {keys}; name them, as in: --json-fields {fields}");
        assert_eq!(proposal(line.as_bytes()).as_deref(), Some(expected.as_str()));
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
        check(r#"{"a":1}"#, "a", "time=KEY,target=KEY,user-agent=KEY,host=KEY");
        for line in ["", "text", "[1]", "{", "{}x"] {
            assert_eq!(proposal(line.as_bytes()), None, "{line}");
        }
    }
}
