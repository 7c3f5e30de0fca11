//! The registry as JSON: the columns of its CSV file, and values derived from them.
//!
//! Field names and words are a promise. `stated_policy` and `bound` are as in the reports;
//! `ip_list_files` are the names under which `--ip-ranges` looks for the lists, and `ip_lists_bundled` those
//! that come with the program.

use serde_json::{Value, json};

use crate::crawlers::bundled_ranges::BundledList;
use crate::crawlers::crawler::{Crawler, Trigger, Visibility};
use crate::crawlers::{identify::Identified, ranges::file_name, registry::Registry};
use crate::robots::model::StarGroups;

use crate::table::escape::visible;

/// All crawlers in matching order, as one array.
pub fn list_json(registry: &Registry) -> String {
    let crawlers = registry.iter().filter(|(id, _)| *id != registry.generic());
    pretty(&crawlers.map(|(_, crawler)| wire(crawler)).collect())
}

/// One crawler.
pub(crate) fn crawler_json(crawler: &Crawler) -> String {
    pretty(&wire(crawler))
}

/// The crawler that sends `user_agent`.
pub fn identified_json(registry: &Registry, user_agent: &[u8]) -> String {
    let (known, crawler) = match registry.identify(user_agent) {
        Identified::Crawler(id) => ("yes", Some(wire(registry.crawler(id)))),
        Identified::Generic => ("looks-automated", None),
        Identified::Other | Identified::Empty => ("no", None),
    };
    // `known` is as in `check --format json`.
    pretty(&json!({ "user_agent": visible(user_agent), "known": known, "crawler": crawler }))
}

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
