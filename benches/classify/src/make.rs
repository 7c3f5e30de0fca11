//! Lists of URLs of many origins that share some robots.txt files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Rules of a file that URLs are made from.
const RULES_MAX: usize = 300;

const WORDS: [&str; 22] = [
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
    "tag",
    "p",
    "assets/app.min.js",
];

const ENDS: [&str; 9] =
    ["", "", ".html", ".php", ".php?id=42", "/", "?page=2&sort=asc", ".pdf", "/index.html"];

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Writes `robots/` and `shuffled.txt`: half of the URLs are made from rules, half of words.
pub fn make(corpus: &Path, directory: &Path, origins: usize, urls: usize) -> io::Result<()> {
    let mut files = Vec::new();
    list(corpus, &mut files)?;
    files.sort();
    let mut bodies = Vec::new();
    for file in &files {
        let body = fs::read(file)?;
        // Others are no robots.txt, or no peer takes them.
        if body.len() < 500_000 && std::str::from_utf8(&body).is_ok() {
            bodies.push(body);
        }
    }
    if bodies.is_empty() {
        return Err(io::Error::other(format!("no files below {}", corpus.display())));
    }
    let rules: Vec<Vec<&str>> = bodies.iter().map(|body| rules(body)).collect();
    fs::create_dir_all(directory.join("robots"))?;
    for origin in 0..origins {
        let path = directory.join("robots").join(format!("{}.txt", host(origin)));
        fs::write(path, &bodies[origin % bodies.len()])?;
    }
    let mut random = Random(9309);
    let mut out = BufWriter::new(File::create(directory.join("shuffled.txt"))?);
    for number in 0..urls {
        let origin = random.below(origins);
        let rules = &rules[origin % bodies.len()];
        let path = match number % 2 {
            0 if !rules.is_empty() => of_rule(rules[random.below(rules.len())], &mut random),
            _ => of_words(&mut random),
        };
        writeln!(out, "https://{}{path}", host(origin))?;
    }
    out.flush()
}

fn host(origin: usize) -> String {
    format!("www.site-{origin:07}.example")
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { list(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// Paths of rules of whomever, as far as they may stand in a URL as they are.
fn rules(body: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let rules = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim().to_ascii_lowercase();
        let value = value.split('#').next().unwrap_or_default().trim();
        let is_rule = matches!(&*name, "allow" | "disallow") && value.starts_with('/');
        let is_plain =
            value.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",\\%".contains(&byte));
        (is_rule && is_plain && !value.starts_with("//")).then_some(value)
    });
    rules.take(RULES_MAX).collect()
}

/// What the rule matches, or nearly: its wildcards filled, most often prolonged.
fn of_rule(rule: &str, random: &mut Random) -> String {
    let mut path = String::new();
    for letter in rule.chars() {
        match letter {
            '*' => path += random.of(&WORDS),
            '$' => {}
            letter => path.push(letter),
        }
    }
    if random.below(3) > 0 {
        path += random.of(&WORDS);
        path += random.of(&ENDS);
    }
    path
}

fn of_words(random: &mut Random) -> String {
    let mut path = String::new();
    for _ in 0..=random.below(4) {
        path.push('/');
        path += random.of(&WORDS);
    }
    path + random.of(&ENDS)
}
