//! URLs that a crawler might ask for: half of them made from the rules of the file.

use std::collections::HashSet;

use botaudit::robots::model::Rule;
use botaudit::url::path::Dialect::Google;
use botaudit::url::path::prepare;

/// Numbers that look random, the same in each run.
pub struct Random(pub u64);

impl Random {
    /// One from 0 to less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
}

const WORDS: [&str; 24] = [
    "",
    "index",
    "blog",
    "2024",
    "some-long-article-title",
    "products",
    "search",
    "wp-content",
    "uploads",
    "images",
    "en",
    "category",
    "x",
    "feed",
    "node/1234",
    "comments",
    "index.html",
    "a.b",
    "user",
    "login",
    "%C3%A4",
    "tag",
    "p",
    "assets/app.min.js",
];

const ENDS: [&str; 10] = [
    "",
    "",
    ".html",
    ".php",
    ".php?id=42",
    "/",
    "?page=2&sort=asc",
    ".pdf",
    "/?s=robots",
    "/index.html",
];

/// `count` distinct paths as they stand in well-formed requests: ASCII, percent-encoded, no
/// fragment. What peers never get to judge, `/robots.txt` and `//`, is left out.
pub fn urls(rules: &[&Rule], count: usize, random: &mut Random) -> Vec<String> {
    let mut known = HashSet::with_capacity(count);
    let mut urls = Vec::with_capacity(count);
    while urls.len() < count {
        let raw = match urls.len() % 2 {
            0 if !rules.is_empty() => of_rule(rules[random.below(rules.len())], random),
            _ => of_words(random),
        };
        let mut url = prepared(&raw);
        if url.starts_with("//") || url.starts_with("/robots.txt") {
            continue;
        }
        if !known.insert(url.clone()) {
            url.push_str(&format!("{}{}", random.word(), random.below(count * 4)));
            if !known.insert(url.clone()) {
                continue;
            }
        }
        urls.push(url);
    }
    urls
}

/// What the rule matches, or nearly: its wildcards filled, sometimes cut, sometimes prolonged.
fn of_rule(rule: &Rule, random: &mut Random) -> Vec<u8> {
    let mut path = Vec::new();
    for byte in &rule.pattern {
        match byte {
            b'*' => {
                for _ in 0..random.below(3) {
                    path.extend(random.word().bytes());
                    path.extend([&b"/"[..], b"", b"-"][random.below(3)]);
                }
            }
            b'$' => {}
            byte => path.push(*byte),
        }
    }
    match random.below(4) {
        0 => path.truncate(path.len() - random.below(path.len().min(4) + 1)),
        1 => {}
        _ => path.extend([random.word(), ENDS[random.below(ENDS.len())]].concat().bytes()),
    }
    path
}

fn of_words(random: &mut Random) -> Vec<u8> {
    let count = 1 + random.below(5);
    let mut path = Vec::new();
    for _ in 0..count {
        path.push(b'/');
        path.extend(random.word().bytes());
    }
    path.extend(ENDS[random.below(ENDS.len())].bytes());
    path
}

fn prepared(raw: &[u8]) -> String {
    let rooted = if raw.starts_with(b"/") { raw.to_vec() } else { [b"/", raw].concat() };
    let mut scratch = Vec::new();
    let path = prepare(&rooted, Google, &mut scratch);
    path.as_bytes().iter().map(|byte| char::from(*byte)).collect()
}
