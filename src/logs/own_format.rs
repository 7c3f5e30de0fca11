//! The log format that the user names or copies from a server configuration.
//!
//! For lines that no built-in format reads, a `--log-format` is proposed. A line is split at spaces, quotes, brackets
//! and the like, and each part gets the variable of nginx whose values look like it. The proposal is only made if it
//! reads the line.

use crate::error::{Error, Result};
use crate::time::Zone;

use super::format::{Format, Hints};
use super::{LineContent, apache_format, detect::named, escape::Escaping, host::is_address_list};
use super::{nginx_format, parser::LineParser, record::Scratch, registry::ENTRIES};
use super::{template::compile, time::Time};

/// A format by its name, by an nginx `log_format`, or by an Apache `LogFormat`.
///
/// # Errors
/// If the name is unknown, or the format cannot be read or lacks needed fields.
pub fn parse(text: &str, hints: &Hints) -> Result<Format> {
    let text = text.trim();
    if let Some(format) = named(text, hints) {
        return Ok(format);
    }
    let is_nginx = text.starts_with("log_format") || has_variable(text);
    let (pieces, escaping) = if is_nginx {
        nginx_format::parse(text)?
    } else if text.contains('%') {
        (apache_format::parse(text)?, Escaping::Backslash)
    } else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        return Err(Error::usage(format!(
            "unknown log format '{text}'; the formats are {}; or write the format string of your \
             server: '$remote_addr - [$time_local] ...' or '%h %l %u %t ...'",
            names.join(", ")
        )));
    };
    let template = compile(pieces, escaping)?;
    Ok(Format::new("own format", LineParser::Template(template.into()), hints.zone.clone()))
}

/// `$name` or `${name}`.
fn has_variable(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| {
        pair[0] == b'$' && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'{' | b'_'))
    })
}

/// Longer lines get no proposal: nobody would paste it.
const PARTS_MAX: usize = 60;

/// A part without a meaning for audits.
const OTHER: &str = "$other";

/// What the user can do to have lines such as `line` read; `None` if its time or its request is not found.
pub(crate) fn advice(line: &[u8]) -> Option<String> {
    if is_w3c(line) {
        let what = "the lines look like those of IIS, and no line names their columns; put the #Fields line of \
                    that server in front of them, in the same file";
        return Some(what.to_owned());
    }
    let format = proposal(line)?;
    let missing = match format.contains("$http_user_agent") {
        true => "",
        false => {
            " (replace the $other in the place of the user agent by $http_user_agent; without user agents no crawler is recognised)"
        }
    };
    Some(format!("name the fields, as in: --log-format '{format}'{missing}"))
}

/// Whether it is a line of IIS, whose values have `+` instead of spaces.
fn is_w3c(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let columns: Vec<&str> = line.split([' ', '\t']).take(60).collect();
    let [date, time, .., _] = columns[..] else { return false };
    let is_date =
        date.len() == 10 && date.as_bytes()[4] == b'-' && is_time(&format!("{date} {time}"));
    is_date
        && columns.len() > 8
        && columns.iter().any(|value| value.contains("/") && value.contains(";+"))
}

/// A format string that reads `line`; `None` if its time or its request is not found.
fn proposal(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.is_ascii())?;
    let mut parts = Parts::default();
    let mut rest = line.trim_end();
    while let Some(first) = rest.chars().next() {
        if parts.count > PARTS_MAX || first == '\'' {
            return None;
        }
        rest = match first {
            '"' | '[' => parts.enclosed(rest)?,
            '{' if rest.contains('}') => parts.captured(rest)?,
            _ if is_between(first) => {
                parts.text.push(first);
                &rest[1..]
            }
            _ => parts.word(rest),
        };
    }
    let text = parts.text;
    reads(&text, line).then_some(text)
}

/// Whether the format finds time and target of the line.
fn reads(text: &str, line: &str) -> bool {
    let Ok(format) = parse(text, &Hints::default()) else { return false };
    let (mut reader, mut scratch) = (format.reader(), Scratch::default());
    let LineContent::Fields(fields) = reader.line(line.as_bytes()) else { return false };
    fields.record(&mut scratch).is_ok_and(|record| record.target.is_some())
}

/// Whether the character separates words.
fn is_between(c: char) -> bool {
    " \t,;|(){}<>\"[]".contains(c)
}

/// The format so far.
#[derive(Default)]
struct Parts {
    text: String,
    count: usize,
}

impl Parts {
    /// A field in quotes or brackets at the start of `rest`; returns the text after it.
    fn enclosed<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let (open, inner) = rest.split_at(1);
        let close = if open == "[" { ']' } else { '"' };
        let end = match close {
            '"' => quote_end(inner)?,
            _ => inner.find(close)?,
        };
        self.text.push_str(open);
        self.put(&inner[..end], true);
        self.text.push(close);
        Some(&inner[end + 1..])
    }

    /// The captured headers of HAProxy in braces at the start of `rest`; returns the text after them.
    fn captured<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let end = rest.find('}')?;
        for (at, header) in rest[1..end].split('|').enumerate() {
            self.text.push(if at == 0 { '{' } else { '|' });
            self.put(header, true);
        }
        self.text.push('}');
        Some(&rest[end + 1..])
    }

    /// A word at the start of `rest`, or a time of two words; returns the text after it.
    fn word<'a>(&mut self, rest: &'a str) -> &'a str {
        let end_of = |text: &str| text.find(is_between).unwrap_or(text.len());
        let end = end_of(rest);
        let both = end_of(rest.get(end + 1..).unwrap_or_default()) + end + 1;
        let is_two = rest.get(..both).is_some_and(|two| two.contains(' ') && is_time(two));
        let end = if is_two { both } else { end };
        self.put(&rest[..end], false);
        &rest[end..]
    }

    /// The variable for `value`; each has one place.
    fn put(&mut self, value: &str, is_enclosed: bool) {
        self.count += 1;
        let is_free = |name: &&str| !self.has(name);
        let name = candidates(value, is_enclosed, self).into_iter().flatten().find(is_free);
        self.text.push_str(name.unwrap_or(OTHER));
    }

    /// Whether the variable has a place.
    fn has(&self, name: &str) -> bool {
        self.text.match_indices(name).any(|(at, _)| {
            let after = self.text[at + name.len()..].chars().next();
            !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    }
}

/// The variables whose values look like `value`, the most likely one first.
fn candidates(value: &str, is_enclosed: bool, before: &Parts) -> [Option<&'static str>; 2] {
    let has_time = ["$time_local", "$time_iso8601"].iter().any(|name| before.has(name));
    let has_request = before.has("$request") || before.has("$request_uri");
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = value.split(' ').collect();
    let is_method = |word: &str| {
        (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let is_target = |word: &str| word.starts_with('/') || word.starts_with("http");
    let one = match value {
        _ if is_address_list(value.as_bytes()) => {
            return [Some("$remote_addr"), Some("$http_x_forwarded_for")];
        }
        _ if !has_time && !is_number && is_time(value) => match value.contains(' ') {
            true => "$time_local",
            false => "$time_iso8601",
        },
        _ if is_status(value) && !before.has("$status") => "$status",
        _ if is_number && before.has("$status") => "$body_bytes_sent",
        _ if words.len() > 1 && is_method(words[0]) && is_target(words[1]) => "$request",
        _ if !has_request && is_method(value) && !is_enclosed => "$request_method",
        _ if !has_request && value.starts_with('/') => "$request_uri",
        "http" | "https" => "$scheme",
        _ if value.starts_with("http://") || value.starts_with("https://") => "$http_referer",
        _ if is_enclosed && is_user_agent(value) => "$http_user_agent",
        _ if is_host(value) => "$http_host",
        _ => return [None, None],
    };
    [Some(one), None]
}

fn is_time(text: &str) -> bool {
    Time::Local(text.as_bytes(), &Zone::UTC).read().is_some()
}

/// Whether it is a status of the registry of IANA, or one that nginx or a load balancer of AWS adds. Other numbers of
/// three digits are sizes or durations.
fn is_status(text: &str) -> bool {
    matches!(
        text.parse().unwrap_or_default(),
        100..=103 | 200..=208 | 226 | 300..=308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 444 | 451 | 460 | 463 | 494..=499
            | 500..=508 | 510 | 511 | 561
    )
}

/// Whether it has a name and a version, as `curl/8.5.0` has.
fn is_user_agent(text: &str) -> bool {
    text.split_once('/').is_some_and(|(name, version)| {
        !name.is_empty()
            && !name.contains("HTTP")
            && version.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether it is a host with a name and a domain.
fn is_host(text: &str) -> bool {
    let host = text.split_once(':').map_or(text, |(host, _)| host);
    let domain = host.rsplit('.').next().unwrap_or_default();
    host.len() > domain.len()
        && domain.len() > 1
        && domain.bytes().all(|byte| byte.is_ascii_alphabetic())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
}

/// The place of the quote that ends `text`.
fn quote_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(proposal(line.as_bytes()).as_deref(), expected, "{line}");
    }

    #[test]
    fn lines_of_unknown_formats() {
        check(
            r#"2025-04-17T05:10:56+01:00 | example.com | 192.0.2.7 | GET /music/ HTTP/2.0 | 200 | 10353 | "Examplebot/1.2""#,
            Some(
                r#"$time_iso8601 | $http_host | $remote_addr | $request_method $request_uri $other | $status | $body_bytes_sent | "$http_user_agent""#,
            ),
        );
        check(
            r#"web1 192.0.2.7 [17/Apr/2025:05:10:56 +0100] 0.005 "GET /a HTTP/1.1" 200 5 "https://t.co/x" "Mozilla/5.0 (X11)" 203.0.113.9"#,
            Some(
                r#"$other $remote_addr [$time_local] $other "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $http_x_forwarded_for"#,
            ),
        );
        check(
            r#"2025-04-17 05:10:56;192.0.2.7;POST;/form;302;5"#,
            Some("$time_local;$remote_addr;$request_method;$request_uri;$status;$body_bytes_sent"),
        );
    }

    #[test]
    fn captured_headers_and_unusual_orders() {
        check(
            r#"[25/Feb/2019:16:19:48.143] 192.0.2.7:53332 fe~ be/srv 0/0/7/1457/1487 301 11394 {www.example.org|Mozilla/5.0 (compatible; GPTBot/1.2)} {} "GET /admin HTTP/1.1""#,
            Some(
                r#"[$time_iso8601] $remote_addr $other $other $other $status $body_bytes_sent {$http_host|$http_user_agent} {$other} "$request""#,
            ),
        );
        // The first number of three digits is no status.
        check(
            r#"192.0.2.7 [12/Mar/2024:09:44:22 +0800] "GET /p0 HTTP/1.1" 0.000 471 404 555 "-" "Mozilla/5.0 (X11)""#,
            Some(
                r#"$remote_addr [$time_local] "$request" $other $other $status $body_bytes_sent "$other" "$http_user_agent""#,
            ),
        );
    }

    #[test]
    fn an_advice_says_what_is_missing() {
        let iis = b"2015-01-13 00:32:17 192.0.2.8 GET /a - 80 - 192.0.2.7 Mozilla/5.0+(X;+Examplebot/2.0;++http://a.example) - 404 0 2 15";
        assert!(advice(iis).unwrap().contains("put the #Fields line of that server in front"));
        let nameless = br#"192.0.2.7 [12/Mar/2024:09:44:22 +0800] "GET /p0 HTTP/1.1" 200 5"#;
        assert!(advice(nameless).unwrap().contains("in the place of the user agent"));
        let whole = br#"192.0.2.7 [12/Mar/2024:09:44:22 +0800] "GET /p0 HTTP/1.1" 200 5 "x/1""#;
        assert!(advice(whole).unwrap().ends_with(r#""$http_user_agent"'"#));
        assert_eq!(advice(b"2015-01-13 00:32:17 started"), None);
    }

    #[test]
    fn lines_without_a_time_or_a_request_get_none() {
        check("", None);
        check("2025-04-17T05:10:56Z started", None);
        check(r#"192.0.2.7 "GET / HTTP/1.1" 200"#, None);
        check(r#"2025-04-17T05:10:56Z "GET / HTTP/1.1"#, None);
        check("2025-04-17T05:10:56Z 'GET /a'", None);
        check(&"a ".repeat(1000), None);
    }
}
