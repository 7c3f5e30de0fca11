//! Which address list a file holds, and of which time it is, by its name.
//!
//! Copies of lists have names such as `gptbot-2026-03-01.json`, `GPTBot_20250311_115100.json`, `googlebot.ips`
//! or `2026-03-01/gptbot.json`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::crawlers::range_files::{all_urls, file_name};
use crate::crawlers::registry::Registry;
use crate::time::UtcTime;

use super::time_named;

/// Parts of names of crawlers: other names, such as `ips` or `all`, are those of many lists.
const CRAWLER_WORDS: [&str; 6] = ["agent", "bot", "crawler", "fetcher", "spider", "user"];

/// The shortest name of a list without its ending.
const STEM_BYTES_MIN: usize = 6;

/// The URLs of lists by the names that their files may have.
#[derive(Default)]
pub(crate) struct ListNames {
    /// In lower case; `None` if it is the name of several lists.
    urls: HashMap<String, Option<String>>,
    /// The lists of the registry.
    known: HashSet<String>,
    /// Whether any other URL may be that of a list, too.
    is_open: bool,
}

impl ListNames {
    /// The names of the lists in `registry`.
    pub(crate) fn new(registry: &Registry) -> ListNames {
        let mut names = ListNames::default();
        for (_, crawler) in registry.iter() {
            for now in &crawler.ip_list_urls {
                names.known.insert(now.clone());
                for url in all_urls(now) {
                    names.add(&file_name(url), now);
                    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                    names.add(last, now);
                    names.add(stem(last), now);
                }
            }
        }
        // The name of a crawler comes after those of all lists.
        let mut of_crawlers = ListNames::default();
        for (_, crawler) in registry.iter() {
            if let [url] = crawler.ip_list_urls.as_slice() {
                of_crawlers.add(&crawler.name, url);
            }
        }
        for (name, url) in of_crawlers.urls {
            names.urls.entry(name).or_insert(url);
        }
        names
    }

    /// The names of files that hold what is published at `urls`, and of hosts that publish one of
    /// them. Whatever else is named by its URL is accepted.
    pub(crate) fn of_urls<'a>(urls: impl Iterator<Item = &'a str>) -> ListNames {
        let mut names = ListNames { is_open: true, ..ListNames::default() };
        for url in urls {
            names.known.insert(url.to_owned());
            names.add(&file_name(url), url);
            let host = url.split('/').nth(2).unwrap_or_default();
            names.add(host, url);
            names.add(&format!("{host}.json"), url);
        }
        names
    }

    fn add(&mut self, name: &str, url: &str) {
        let entry = self.urls.entry(name.to_lowercase());
        let known = entry.or_insert_with(|| Some(url.to_owned()));
        if known.as_deref() != Some(url) {
            *known = None;
        }
    }

    /// Whether a crawler uses the list of `url`, now or formerly.
    pub(crate) fn url_now<'a>(&'a self, url: &'a str) -> Option<&'a str> {
        let mut known = self.known.iter().map(String::as_str);
        let now = known.find(|now| all_urls(now).any(|of| of == url));
        now.or_else(|| Some(url).filter(|_| self.is_open && url.starts_with("https://")))
    }

    /// The URL of the list in the file or folder with this path; the folder counts if the file's own name
    /// is only a time.
    pub(crate) fn url_of(&self, path: &Path) -> Option<&str> {
        let name = path.file_name()?.to_str()?;
        let own = undated(name);
        if own.is_empty() || undated(stem(name)).is_empty() {
            return self.url_of_name(path.parent()?.file_name()?.to_str()?);
        }
        self.url_of_name(name)
    }

    fn url_of_name(&self, name: &str) -> Option<&str> {
        let get = |name: &str| self.urls.get(name)?.as_deref();
        let name = undated(name).to_lowercase();
        if let Some(url) = get(&name) {
            return Some(url);
        }
        let stem = stem(&name).trim_matches(is_between);
        let is_of_crawler = CRAWLER_WORDS.iter().any(|word| stem.contains(word));
        get(stem).filter(|_| is_of_crawler && stem.len() >= STEM_BYTES_MIN)
    }
}

/// The time in the name of a file, or else in that of its folder.
pub(crate) fn time_of(path: &Path) -> Option<UtcTime> {
    let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
    let in_name = |path: &Path| dated(&name(path)?).map(|(_, time)| time);
    in_name(path).or_else(|| path.parent().and_then(in_name))
}

/// `name` without the time in it.
fn undated(name: &str) -> String {
    let Some((place, _)) = dated(name) else { return name.to_owned() };
    let (before, after) = (&name[..place.start], &name[place.end..]);
    format!("{}{}", before.trim_end_matches(is_between), after.trim_start_matches(is_apart))
}

/// The first time in `name`, and its place.
fn dated(name: &str) -> Option<(std::ops::Range<usize>, UtcTime)> {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)));
    starts.into_iter().find_map(|start| {
        // The longest first.
        [20, 19, 16, 15, 14, 10, 8].into_iter().find_map(|length| {
            let end = start + length;
            let text = name.get(start..end).filter(|_| !is_digit(end))?;
            let time = time_in(text)?;
            let is_plausible = (0..=32_503_680_000).contains(&time.unix_seconds());
            (is_plausible && text.starts_with(['1', '2'])).then_some((start..end, time))
        })
    })
}

/// The time that all of `text` says.
fn time_in(text: &str) -> Option<UtcTime> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let others = || text.chars().filter(|c| !c.is_ascii_digit());
    if !others().all(|c| "-_TZ:".contains(c)) {
        return None;
    }
    match (digits.len(), text.len()) {
        (8, 8) => time_named(&format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..])),
        (8, 10) => time_named(&text.replace('_', "-")),
        (14, _) => time_named(&digits),
        _ => None,
    }
}

/// `name` without its ending.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 4 => stem,
        _ => name,
    }
}

fn is_between(c: char) -> bool {
    "-_.@ ".contains(c)
}

fn is_apart(c: char) -> bool {
    "-_@ ".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_are_known() {
        let names = ListNames::new(&Registry::builtin());
        let google = "https://developers.google.com/static/crawling/ipranges/common-crawlers.json";
        let openai = "https://openai.com/gptbot.json";
        for (path, url, time) in [
            ("gptbot.json", openai, ""),
            ("openai.com_gptbot.json", openai, ""),
            ("iplists/googlebot.ips", google, ""),
            ("GPTBot_20250311_115100.json", openai, "2025-03-11T11:51:00Z"),
            (
                "ChatGPT-User_20250325_182641.json",
                "https://openai.com/chatgpt-user.json",
                "2025-03-25T18:26:41Z",
            ),
            ("gptbot-2026-03-01.json", openai, "2026-03-01T00:00:00Z"),
            ("gptbot.json.20260301", openai, "2026-03-01T00:00:00Z"),
            ("2026-03-01-gptbot.txt", openai, "2026-03-01T00:00:00Z"),
            ("2026-03-01/gptbot.json", openai, "2026-03-01T00:00:00Z"),
            ("gptbot/2026-03-01T04-00-00Z.json", openai, "2026-03-01T04:00:00Z"),
            ("gptbot.json/20260301040000", openai, "2026-03-01T04:00:00Z"),
            // A crawler with one list of another name.
            ("AhrefsBot.ips", "https://api.ahrefs.com/v3/public/crawler-ip-ranges", ""),
            // Names of many lists, or of none.
            ("ips", "", ""),
            ("ips.txt", "", ""),
            ("all.ips", "", ""),
            ("ip-ranges.json", "", ""),
            ("README.md", "", ""),
            ("2026-03-01", "", "2026-03-01T00:00:00Z"),
            ("x-2026-13-01-99999999", "", ""),
            ("v10000101-8.8.8.8", "", ""),
            ("", "", ""),
        ] {
            let path = Path::new(path);
            assert_eq!(names.url_of(path).unwrap_or_default(), url, "{}", path.display());
            let found = time_of(path).map(|time| time.to_string()).unwrap_or_default();
            assert_eq!(found, time, "{}", path.display());
        }
        assert_eq!(names.url_now(google), Some(google));
        assert_eq!(
            names.url_now("https://developers.google.com/search/apis/ipranges/googlebot.json"),
            Some(google)
        );
        assert_eq!(names.url_now("https://example.com/"), None);
    }
}
