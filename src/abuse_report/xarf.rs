//! A message in XARF 4, for abuse desks that read messages by machine.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use crate::digest::hexadecimal;
use crate::error::{Error, Result};
use crate::url::origin::default_port;

use super::{Reporter, requests::ClientRequests, subject::Subject};

/// The most bytes of an excerpt; the format allows 5 MiB.
const EXCERPT_BYTES_MAX: usize = 1 << 20;

/// The most characters of texts, by the schema or sensible.
const DESCRIPTION_CHARS_MAX: usize = 1000;
const NAME_CHARS_MAX: usize = 200;

/// The message about the requests `of` the client at `address`, an IP address.
pub(crate) fn message(
    subject: &Subject<'_>,
    reporter: &Reporter,
    address: &str,
    of: &ClientRequests,
) -> Result<Value> {
    let name = cut(&subject.crawler.name, NAME_CHARS_MAX);
    let party = json!({
        "org": cut(&reporter.organisation, NAME_CHARS_MAX),
        "contact": reporter.contact,
        "domain": subject.origin.host(),
    });
    let excerpt: String = of.lines.iter().map(|line| format!("{line}\n")).collect();
    let excerpt = &excerpt.as_bytes()[..excerpt.len().min(EXCERPT_BYTES_MAX)];
    let description = format!(
        "{} requests with the user agent of {name} for paths that the robots.txt of {} disallows. \
         Any client can send this user agent.",
        of.requests,
        subject.origin.as_str()
    );
    let mut message = json!({
        "xarf_version": "4.2.0",
        "report_id": report_id()?,
        "timestamp": of.first,
        "reporter": party,
        "sender": party,
        "source_identifier": address,
        "category": "connection",
        "type": "scraping",
        "protocol": "tcp",
        "destination_port": subject.origin.port().or(default_port(subject.origin.scheme())),
        "user_agent": cut(&of.user_agent, DESCRIPTION_CHARS_MAX),
        "bot_signature": name,
        "total_requests": of.requests,
        "data_volume": of.bytes,
        "respects_robots_txt": false,
        "first_seen": of.first,
        "last_seen": of.last,
        "evidence_source": "automated_filter",
        "description": cut(&description, DESCRIPTION_CHARS_MAX),
        "evidence": [{
            "content_type": "text/plain",
            "description": "requests, times in UTC",
            "payload": BASE64_STANDARD.encode(excerpt),
            "size": excerpt.len(),
        }],
        "tags": ["tool:botaudit"],
    });
    if let (Some(targets), Some(fields)) = (of.targets(), Value::as_object_mut(&mut message)) {
        Map::insert(fields, "unique_urls".to_owned(), targets.into());
    }
    Ok(message)
}

fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

/// A random UUID, version 4.
fn report_id() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|err| Error::system(format!("no random numbers from the system: {err}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hexadecimal(&bytes);
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}
