//! The letter: what happened, how it is known, and what the other files are; and a message in XARF 4, for abuse desks
//! that read messages by machine.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use crate::audit::crawler_row::{ActorRow, Broken};
use crate::audit::tally::identity_sources::{IdentitySources, days_of};
use crate::crawlers::identity::{Identity, Proof};
use crate::digest::hexadecimal;
use crate::error::{Error, Result};
use crate::measures::sums::Span;
use crate::numbers::{counted, grouped};
use crate::table::escape::visible;
use crate::time::UtcTime;
use crate::url::origin::default_port;

use super::requests::{ClientRequests, EvidenceRows, LINES_MAX};
use super::{Reporter, subject::Subject};

/// The most lines of lists in the letter.
const ROWS_MAX: usize = 30;

/// The letter about `subject`; `requests` are those of the evidence file, if there is one, and `signed`
/// is the section about signatures.
pub(crate) fn letter(
    subject: &Subject<'_>,
    reporter: &Reporter,
    requests: &EvidenceRows,
    signed: &str,
) -> String {
    let name = visible(subject.crawler.name.as_bytes());
    let origin = subject.origin.as_str();
    let days = subject.span().map_or_else(String::new, |span| format!(", {}", period(span)));
    let mut text = format!(
        "Subject: Requests against robots.txt by {name} at {origin}{days}\n\n{}\n\n{}",
        opening(subject, &name),
        identity(subject)
    );
    text += "\nRules\n\n";
    subject.broken().take(ROWS_MAX).for_each(|broken| text += &rule(broken));
    text += &more(subject.broken().count(), ROWS_MAX);
    text += &in_force(subject);
    text += &fetches(subject);
    text += &excerpt(requests);
    text += signed;
    text += "\nFiles\n\n\
        robots-*.txt          robots.txt as it was in force\n\
        robots-*.marked.txt   the same with line numbers; >>> marks the broken rules\n\
        requests.csv          each of the requests (if enclosed)\n\
        summary.csv, violations.csv, robots-fetches.csv   the counts\n\
        signed-*, key-*, keys-*   signatures, and keys that verify them (if enclosed)\n\
        xarf*.json            the same for programs, in the format XARF 4 (if enclosed)\n\
        SHA256SUMS            digests of all files\n\n";
    text + &closing(reporter)
}

fn opening(subject: &Subject<'_>, name: &str) -> String {
    let sums = subject.sums();
    let requests = counted(sums.violations, "request");
    let span = subject.span().map_or_else(String::new, |span| {
        format!("The first was made at {}, the last at {} (UTC). ", span.first, span.last)
    });
    let origin = subject.origin.as_str();
    let operator = subject.crawler.known_operator();
    let operator = operator.map(|operator| format!(" ({})", visible(operator.as_bytes())));
    let operator = operator.unwrap_or_default();
    format!(
        "Our access logs contain {requests} to {origin} with the user agent of {name}{operator}\n\
         for paths that our robots.txt disallowed at that time.\n{span}\n\
         In total, these logs contain {} of this crawler.\n\n\
         Please find out why, and tell us what you have done.",
        counted(sums.requests, "request")
    )
}

fn identity(subject: &Subject<'_>) -> String {
    let name = &subject.crawler.name;
    let not_on_list = not_on_list(subject);
    let lines = subject.rows.iter().map(|row| {
        let count = counted(row.tally.total().violations, "request");
        let meaning = match row.actor.1 {
            Identity::Verified => verified_by(row),
            Identity::Unverified => "the address was not checked; any client can send this name",
            Identity::NotOnList => &not_on_list,
            Identity::Spoofed => "the address does not belong to the operator",
        };
        format!("{count} {}: {meaning}\n", row.actor.1.as_str())
    });
    let mut text = format!("Identity of the client\n\n{}", lines.collect::<String>());
    let IdentitySources { ranges, bundled, names, keys, archived_names } = &subject.identities;
    for url in ranges.iter().filter_map(|ranges| ranges.of_crawlers.get(name)).flatten() {
        text += &format!("Checked by the list of addresses at {}\n", visible(url.as_bytes()));
    }
    if let Some(bundled) = bundled {
        let urls = bundled.of_crawlers.get(name).into_iter().flatten();
        for (url, at) in urls.filter_map(|url| bundled.lists.get_key_value(url)) {
            let url = visible(url.as_bytes());
            text += &format!("Checked by a copy of the list of addresses at {url}, of {at}\n");
        }
    }
    if let Some(names) = names {
        text += &format!("Checked by DNS at {}\n", names.asked_at);
    }
    if let Some((first, last)) = keys.as_ref().and_then(|keys| keys.first.zip(keys.last)) {
        text +=
            &format!("Signatures checked by keys of agents, as published from {first} to {last}\n");
    }
    if let Some((first, last)) =
        archived_names.as_ref().and_then(|names| names.first.zip(names.last))
    {
        text += &format!("Checked by DNS lookups that were kept, from {first} to {last}\n");
    }
    text
}

/// What it means that an address is on none of the lists of the crawler.
fn not_on_list(subject: &Subject<'_>) -> String {
    let bundled = subject.identities.bundled.as_ref();
    let days = bundled.and_then(|bundled| {
        let urls = bundled.of_crawlers.get(&subject.crawler.name)?;
        days_of(urls.iter().filter_map(|url| bundled.lists.get(url).copied()))
    });
    format!(
        "the address is not on {}'s list of addresses{}, which may be older than the address; any \
         client can send this name",
        visible(subject.crawler.known_operator().unwrap_or("the operator").as_bytes()),
        days.map_or_else(String::new, |days| format!(" of {days}"))
    )
}

/// What verifies the requests of a verified crawler.
fn verified_by(row: &ActorRow) -> &'static str {
    let is_signature = |(proof, _): &(&Proof, &u64)| **proof == Proof::Signature;
    match (
        row.tally.verification.iter().any(|of| is_signature(&of)),
        row.tally.verification.iter().all(|of| is_signature(&of)),
    ) {
        (true, true) => "a key of the operator signed the request",
        (true, false) => {
            "the address belongs to the operator, or a key of the operator signed the request"
        }
        (false, _) => "the address belongs to the operator",
    }
}

fn rule(broken: &Broken) -> String {
    let rule = &broken.rule;
    let signed = match broken.tally.signed {
        0 => String::new(),
        signed => format!(" ({} signed)", grouped(signed)),
    };
    format!(
        "{}{signed}: robots.txt line {}, {}: {} (group {}), {} to {}\n",
        counted(broken.tally.requests, "request"),
        rule.line,
        rule.directive,
        visible(&rule.pattern),
        visible(&rule.group),
        broken.tally.span.first,
        broken.tally.span.last
    )
}

/// Since when the versions were in force, if an archive knows.
fn in_force(subject: &Subject<'_>) -> String {
    let origin = subject.origin.as_str();
    let known = subject.audit.snapshots.origins.iter().find(|known| known.origin == origin);
    let Some(known) = known else {
        return "\nThis robots.txt was in force for the whole period, according to the site.\n"
            .to_owned();
    };
    let mut text =
        "\nrobots.txt was fetched at these times (UTC), with this content:\n\n".to_owned();
    for snapshot in known.snapshots.iter().take(ROWS_MAX) {
        let content =
            snapshot.digest.map_or_else(|| "no rules".to_owned(), |digest| digest.to_string());
        text += &format!("{}  {content}\n", snapshot.fetched_at);
    }
    text + &more(known.snapshots_total, ROWS_MAX)
}

fn fetches(subject: &Subject<'_>) -> String {
    let prior = subject.prior_fetches();
    let mut text = "\nFetches of robots.txt\n\n".to_owned();
    for row in &subject.rows {
        let fetches = &row.tally.robots_fetches;
        if let Some(read) = fetches.read {
            let count = grouped(fetches.successful_fetches);
            text += &format!(
                "successful fetches: {count}, {} to {}
",
                read.first, read.last
            );
        }
    }
    let counts = [
        (prior.prior_fetch_own, "came after the same user agent had fetched robots.txt"),
        (prior.prior_fetch_operator, "came after another crawler of the operator had fetched it"),
        (prior.prior_fetch_none, "came without a fetch of robots.txt in these logs"),
        (prior.prior_fetch_unknown, "could not be compared with fetches"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("{} {what}\n", counted(count, "request"));
    }
    text
}

/// The first requests.
fn excerpt(requests: &EvidenceRows) -> String {
    if requests.requests == 0 {
        return String::new();
    }
    let mut lines: Vec<&String> = requests.clients.values().flat_map(|of| &of.lines).collect();
    lines.sort();
    let mut text =
        "\nRequests (time in UTC, client, request, status, bytes, user agent)\n\n".to_owned();
    lines.iter().take(LINES_MAX).for_each(|line| text += &format!("{line}\n"));
    text + &more(usize::try_from(requests.requests).unwrap_or(usize::MAX), LINES_MAX)
}

fn closing(reporter: &Reporter) -> String {
    let contact = reporter.contact.as_deref().unwrap_or("(your address)");
    format!("{}\n{}\n", visible(reporter.organisation.as_bytes()), visible(contact.as_bytes()))
}

fn period(span: Span) -> String {
    let day = |time: UtcTime| time.to_string()[..10].to_owned();
    format!("{} to {} UTC", day(span.first), day(span.last))
}

fn more(all: usize, shown: usize) -> String {
    match all.checked_sub(shown) {
        None | Some(0) => String::new(),
        Some(more) => format!("... and {more} more\n"),
    }
}

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
