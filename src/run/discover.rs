//! Address lists that crawlers link from their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use url::Url;

use crate::crawlers::{client_ranges::client_ranges, registry::Registry};
use crate::mutex::{lock, unpoisoned};
use crate::net::{fetch::download, settings::Settings};

/// The largest page that is read.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// The most pages that are fetched at the same time.
const PAGES_AT_ONCE: usize = 8;

/// What the pages say.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// The names of crawlers by the URL of their list.
    pub lists: BTreeMap<String, BTreeSet<String>>,
    /// How many pages there are.
    pub pages: usize,
    /// Why pages could not be read.
    pub problems: Vec<String>,
}

/// Fetches the pages of all crawlers in `registry` without a list, and finds the lists that they name.
pub(crate) fn discover(registry: &Registry, settings: &Settings) -> Discovered {
    let mut pages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, crawler) in registry.iter().filter(|(_, crawler)| crawler.ip_list_urls.is_empty()) {
        if crawler.documentation_url.starts_with("http") {
            pages.entry(&crawler.documentation_url).or_default().insert(&crawler.name);
        }
    }
    let settings = Settings { body_bytes_max: PAGE_BYTES_MAX, ..settings.clone() };
    let pages: Vec<(&str, BTreeSet<&str>)> = pages.into_iter().collect();
    let next = AtomicUsize::new(0);
    let discovered = Mutex::new(Discovered { pages: pages.len(), ..Discovered::default() });
    let work = || {
        while let Some((page, crawlers)) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = download(page, &settings);
            let mut discovered = lock(&discovered);
            match text {
                Err(err) => discovered.problems.push(err.to_string()),
                Ok(text) => {
                    for url in targets(page, &text) {
                        let known = discovered.lists.entry(url).or_default();
                        known.extend(crawlers.iter().map(|&name| name.to_owned()));
                    }
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..pages.len().min(PAGES_AT_ONCE) {
            // Fewer threads fetch the same.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut discovered = unpoisoned(discovered.into_inner());
    discovered.problems.sort();
    discovered
}

/// The URLs of the lists that a page names.
fn targets(page: &str, text: &[u8]) -> Vec<String> {
    let base = Url::parse(page).ok();
    let target = |link: String| {
        let mut url = base.as_ref()?.join(&link).ok()?;
        url.set_fragment(None);
        matches!(url.scheme(), "http" | "https").then(|| url.to_string())
    };
    client_ranges(text).into_iter().filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_their_page() {
        let check = |link: &str, expected: &[&str]| {
            let text = format!("<link rel=client-ranges href='{link}'>");
            assert_eq!(targets("https://example.com/a/bot.html", text.as_bytes()), expected);
        };
        check("ips.json#x", &["https://example.com/a/ips.json"]);
        check("/ips.json", &["https://example.com/ips.json"]);
        check("https://example.net/ips", &["https://example.net/ips"]);
        check("ftp://example.net/ips", &[]);
        check("data:text/plain,192.0.2.1", &[]);
        check("https://[", &[]);
    }
}
