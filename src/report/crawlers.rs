//! The registry as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::crawlers::crawler::{Crawler, Obligation, StatedPolicy, Trigger, Visibility};
use crate::crawlers::registry::Registry;
use crate::crawlers::{bundled_ranges::BundledList, identify::Identified, ranges::file_name};
use crate::numbers::counted;
use crate::robots::model::StarGroups;
use crate::table::escape::visible;

use super::terminal_text::{cut, line, widths};

/// The width of a list cell in characters; the last column is never cut.
const CELL_CHARS_MAX: usize = 30;

/// A column of a list: its name, and its cell for a crawler.
type ListColumn = (&'static str, fn(&Crawler) -> String);

const COLUMNS: [ListColumn; 8] = [
    ("crawler", |crawler| cell(&crawler.name)),
    ("operator", |crawler| cell(&crawler.operator)),
    ("purpose", |crawler| cell(&crawler.purpose)),
    ("stated policy", |crawler| crawler.stated_policy().as_str().to_owned()),
    ("bound", |crawler| bound(crawler).to_owned()),
    ("checked by", |crawler| checked_by(crawler).to_owned()),
    ("evidence", |crawler| crawler.evidence.as_str().to_owned()),
    ("documentation", |crawler| or_dash(&crawler.documentation_url)),
];

/// All crawlers in matching order, one per line.
pub(crate) fn list_text(registry: &Registry) -> String {
    let mut rows = vec![COLUMNS.map(|(name, _)| name.to_owned())];
    let crawlers = registry.iter().filter(|(id, _)| *id != registry.generic());
    rows.extend(crawlers.map(|(_, crawler)| COLUMNS.map(|(_, cell)| cell(crawler))));
    let widths = widths(&rows);
    rows.iter().map(|row| line(row, &widths, 0)).collect()
}

/// All properties of one crawler.
pub(crate) fn crawler_text(crawler: &Crawler) -> String {
    let mut text = format!("{}\n", visible(crawler.name.as_bytes()));
    let mut line = |label: &str, value: &str| {
        if !value.is_empty() {
            let value = visible(value.as_bytes());
            writeln!(text, "  {label:<15} {value}").expect("writing to a string cannot fail");
        }
    };
    line("operator", &crawler.operator);
    line("purpose", &crawler.purpose);
    line("product tokens", &tokens(crawler));
    line("stated policy", stated_policy_words(crawler));
    line("bound", binding_words(crawler));
    line("crawl-delay", crawler.crawl_delay.as_str());
    line("user agent", &crawler.sample_user_agent);
    line("known by", &crawler.user_agent_regex);
    line("but not by", &crawler.user_agent_exclude);
    for url in &crawler.ip_list_urls {
        line("address list", &format!("{url} (in --ip-ranges as {})", file_name(url)));
    }
    for list in BundledList::of(crawler) {
        let count = counted(list.count as u64, "network");
        line("in botaudit", &format!("{} as of {}: {count}", list.url, list.at));
    }
    line("list format", &crawler.ip_list_format);
    line("DNS names in", &crawler.rdns_suffixes.join(", "));
    line("documentation", &crawler.documentation_url);
    line("evidence", crawler.evidence.as_str());
    line("evidence at", &crawler.evidence_url);
    line("notes", &crawler.notes);
    line("on changes", &crawler.reaction_promise);
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    line("within hours", &number(crawler.reaction_hours));
    line("on Crawl-delay", &crawler.crawl_delay_promise);
    line("on caching", &crawler.robots_cache_promise);
    line("cached hours", &number(crawler.robots_cache_hours));
    line("on its rate", &crawler.rate_promise);
    line("rate per hour", &number(crawler.rate_per_hour));
    line("promised at", &crawler.promise_url);
    line("promise notes", &crawler.promise_notes);
    text
}

/// The crawler that sends `user_agent`.
pub(crate) fn identified_text(registry: &Registry, user_agent: &[u8]) -> String {
    match registry.identify(user_agent) {
        Identified::Crawler(id) => crawler_text(registry.crawler(id)),
        Identified::Generic => {
            "unknown, but it looks automated: counted in unknown-crawlers.csv\n".to_owned()
        }
        Identified::Other | Identified::Empty => {
            "not a crawler: a browser, an app, or unidentified\n".to_owned()
        }
    }
}

fn bound(crawler: &Crawler) -> &'static str {
    match crawler.visibility {
        Visibility::NoUserAgent => "never seen",
        Visibility::OwnUserAgent => crawler.obligation().as_str(),
    }
}

fn checked_by(crawler: &Crawler) -> &'static str {
    match (crawler.ip_list_urls.is_empty(), crawler.rdns_suffixes.is_empty()) {
        (false, false) => "list, DNS",
        (false, true) => "list",
        (true, false) => "DNS",
        (true, true) => "-",
    }
}

fn tokens(crawler: &Crawler) -> String {
    let tokens = crawler.product_tokens.join(", then ");
    match (crawler.star, tokens.is_empty()) {
        (StarGroups::Honoured, true) => "none: follows *".to_owned(),
        (StarGroups::Honoured, false) => tokens + ", then *",
        (StarGroups::Ignored, true) => "none, and does not follow *".to_owned(),
        (StarGroups::Ignored, false) => tokens + "; does not follow *",
    }
}

fn stated_policy_words(crawler: &Crawler) -> &'static str {
    match crawler.stated_policy() {
        StatedPolicy::Follows => "follows: its operator says that it follows robots.txt",
        StatedPolicy::Partly => "partly: its operator says that it follows robots.txt in part",
        StatedPolicy::DoesNotFollow => {
            "does-not-follow: its operator says that it does not follow robots.txt"
        }
        StatedPolicy::Unknown => "unknown: no statement of its operator is known",
    }
}

fn binding_words(crawler: &Crawler) -> &'static str {
    match (crawler.visibility, crawler.obligation()) {
        (Visibility::NoUserAgent, _) => "never seen: it sends no user agent of its own",
        (_, Obligation::Bound) => "yes",
        (_, Obligation::UserTriggered) => "no: a person asked for the page",
        (_, Obligation::Declined) => "no: its operator says so",
        (_, Obligation::ReportedNotFollowing) => {
            "no: others say that it does not follow robots.txt"
        }
    }
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { visible(text.as_bytes()) }
}

fn cell(text: &str) -> String {
    cut(visible(text.as_bytes()), CELL_CHARS_MAX)
}

/// All crawlers in matching order, as one array of JSON.
pub fn list_json(registry: &Registry) -> String {
    let crawlers = registry.iter().filter(|(id, _)| *id != registry.generic());
    pretty(&crawlers.map(|(_, crawler)| wire(crawler)).collect())
}

/// One crawler, as JSON.
pub(crate) fn crawler_json(crawler: &Crawler) -> String {
    pretty(&wire(crawler))
}

/// The crawler that sends `user_agent`, as JSON.
pub fn identified_json(registry: &Registry, user_agent: &[u8]) -> String {
    let (known, crawler) = match registry.identify(user_agent) {
        Identified::Crawler(id) => ("yes", Some(wire(registry.crawler(id)))),
        Identified::Generic => ("looks-automated", None),
        Identified::Other | Identified::Empty => ("no", None),
    };
    // `known` is as in `check --format json`.
    pretty(&json!({ "user_agent": visible(user_agent), "known": known, "crawler": crawler }))
}

/// The columns of the registry's CSV file, and values derived from them.
///
/// Field names and words are a promise. `stated_policy` and `bound` are as in the reports;
/// `ip_list_files` are the names under which `--ip-ranges` looks for the lists, and
/// `ip_lists_bundled` those that come with the program.
fn wire(crawler: &Crawler) -> Value {
    let files: Vec<String> = crawler.ip_list_urls.iter().map(|url| file_name(url)).collect();
    let bundled = BundledList::of(crawler).map(
        |list| json!({ "url": list.url, "of_utc": list.at.to_string(), "networks": list.count }),
    );
    json!({
        "name": crawler.name,
        "operator": crawler.operator,
        "purpose": crawler.purpose,
        "stated_policy": crawler.stated_policy().as_str(),
        "bound": crawler.obligation().as_str(),
        "product_tokens": crawler.product_tokens,
        "honours_star": crawler.star == StarGroups::Honoured,
        "rep_applies": crawler.rep_applies.as_str(),
        "user_triggered": crawler.trigger == Trigger::Person,
        "sends_own_user_agent": crawler.visibility == Visibility::OwnUserAgent,
        "crawl_delay": crawler.crawl_delay.as_str(),
        "user_agent_regex": crawler.user_agent_regex,
        "user_agent_exclude": crawler.user_agent_exclude,
        "sample_user_agent": crawler.sample_user_agent,
        "ip_list_urls": crawler.ip_list_urls,
        "ip_list_files": files,
        "ip_lists_bundled": bundled.collect::<Vec<_>>(),
        "ip_list_format": crawler.ip_list_format,
        "rdns_suffixes": crawler.rdns_suffixes,
        "documentation_url": crawler.documentation_url,
        "evidence": crawler.evidence.as_str(),
        "evidence_url": crawler.evidence_url,
        "notes": crawler.notes,
        "reaction_promise": crawler.reaction_promise,
        "reaction_hours": crawler.reaction_hours,
        "crawl_delay_promise": crawler.crawl_delay_promise,
        "robots_cache_promise": crawler.robots_cache_promise,
        "promise_url": crawler.promise_url,
        "promise_notes": crawler.promise_notes,
        "robots_cache_hours": crawler.robots_cache_hours,
        "rate_promise": crawler.rate_promise,
        "rate_per_hour": crawler.rate_per_hour,
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
