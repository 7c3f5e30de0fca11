//! Random robots.txt files that change, and random requests, for slow computations of the tables of
//! measures.

use std::fmt::Write;

use super::program::Sandbox;
use crate::random::Random;

pub const DAY: i64 = 86_400;
pub const DAYS: i64 = 9;
/// The seconds from the last fetch of a version to the first of the next one.
pub const UNSEEN: i64 = 1800;

/// Name, product token and user agent.
pub const CRAWLERS: [(&str, &str, &str); 4] = [
    ("GPTBot", "GPTBot", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
    (
        "bingbot",
        "bingbot",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    ),
    ("CCBot", "CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)"),
    ("ClaudeBot", "ClaudeBot", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"),
];
pub const HOSTS: [&str; 2] = ["a.example", "b.example"];
pub const PATHS: [&str; 8] =
    ["/", "/a", "/a/b", "/c", "/robots.txt", "/llms.txt?x", "/map.xml", "/wp-sitemap.xml"];

pub fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len())]
}

/// The token of one group, its lines, each `(is_allow, path)`, and its Crawl-delay.
pub type Group = (&'static str, Vec<(bool, &'static str)>, Option<i64>);

/// A version of robots.txt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    pub groups: Vec<Group>,
    pub sitemap: Option<&'static str>,
    pub license: Option<&'static str>,
}

impl File {
    pub fn random(random: &mut Random) -> File {
        let groups = (0..random.below(4)).map(|_| {
            let token = one(random, &["*", "*", "GPTBot", "bingbot", "CCBot"]);
            let lines = (0..1 + random.below(3))
                .map(|_| (random.below(3) == 0, one(random, &["/", "/a", "/a/b", "/c"])));
            let lines = lines.collect();
            (token, lines, (random.below(3) == 0).then(|| one(random, &[5, 2_000, 40_000])))
        });
        let urls = ["https://a.example/map.xml", "http://b.example/c", "/a/b"];
        File {
            groups: groups.collect(),
            sitemap: (random.below(2) == 0).then(|| one(random, &urls)),
            // A licence must be a complete URL.
            license: (random.below(2) == 0).then(|| one(random, &urls[..2])),
        }
    }

    /// The groups that bind a crawler, and whether they name it.
    pub fn groups(&self, crawler: usize) -> (Vec<&Group>, bool) {
        let of = |token: &str| self.groups.iter().filter(|group| group.0 == token).collect();
        let own: Vec<&Group> = of(CRAWLERS[crawler].1);
        if own.is_empty() { (of("*"), false) } else { (own, true) }
    }

    /// The lines that bind a crawler.
    pub fn lines(&self, crawler: usize) -> Vec<(bool, &'static str)> {
        self.groups(crawler).0.iter().flat_map(|group| group.1.clone()).collect()
    }

    pub fn allows(&self, crawler: usize, path: &str) -> bool {
        let lines = self.lines(crawler);
        let longest = |of: bool| {
            let lines = lines.iter().filter(|line| line.0 == of && path.starts_with(line.1));
            lines.map(|line| line.1.len()).max()
        };
        longest(true) >= longest(false)
    }

    /// The kind of directive that binds a crawler.
    pub fn restriction(&self, crawler: usize) -> Option<&'static str> {
        let paths = ["/", "/a", "/a/x", "/a/b", "/c"];
        let allowed = paths.iter().filter(|path| self.allows(crawler, path)).count();
        match (self.allows(crawler, "/other"), allowed) {
            (false, 0) => Some("disallow-all"),
            (false, _) => Some("allow-list"),
            (true, allowed) => (allowed < paths.len()).then_some("disallow"),
        }
    }

    pub fn delay(&self, crawler: usize) -> Option<i64> {
        self.groups(crawler).0.iter().filter_map(|group| group.2).min()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for (token, lines, delay) in &self.groups {
            writeln!(text, "User-agent: {token}").unwrap();
            for (is_allow, path) in lines {
                writeln!(text, "{}: {path}", if *is_allow { "Allow" } else { "Disallow" }).unwrap();
            }
            delay.iter().for_each(|delay| writeln!(text, "Crawl-delay: {delay}").unwrap());
        }
        self.sitemap.iter().for_each(|url| writeln!(text, "Sitemap: {url}").unwrap());
        self.license.iter().for_each(|url| writeln!(text, "License: {url}").unwrap());
        text
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Seconds since 2026-03-01.
    pub time: i64,
    pub crawler: usize,
    pub host: usize,
    pub path: &'static str,
    pub status: u16,
    pub bytes: u64,
    pub client: usize,
}

impl Request {
    /// Answers for robots.txt have no size, because this one fits each file.
    pub fn random(random: &mut Random) -> Request {
        let mut request = Request {
            time: random.below((DAYS * DAY) as usize) as i64,
            crawler: random.below(CRAWLERS.len()),
            host: random.below(HOSTS.len()),
            path: one(random, &PATHS),
            status: one(random, &[200, 200, 304, 404]),
            bytes: random.below(9) as u64,
            client: random.below(3),
        };
        if request.path == "/robots.txt" {
            request.bytes = 0;
        }
        request
    }

    pub fn line(&self) -> String {
        let Request { time, path, status, bytes, client, .. } = self;
        let (day, hour) = (1 + time / DAY, time / 3600 % 24);
        format!(
            "{}:443 192.0.2.{client} - - [{day:02}/Mar/2026:{hour:02}:{:02}:{:02} +0000] \"GET {path} \
             HTTP/1.1\" {status} {bytes} \"-\" \"{}\"\n",
            HOSTS[self.host],
            time / 60 % 60,
            time % 60,
            CRAWLERS[self.crawler].2
        )
    }
}

/// Versions by host, each with its time, and the requests.
#[derive(Debug)]
pub struct World {
    pub files: [Vec<(i64, File)>; 2],
    pub requests: Vec<Request>,
}

impl World {
    pub fn random(random: &mut Random, requests: usize) -> World {
        let mut files: [Vec<(i64, File)>; 2] = Default::default();
        for files in &mut files {
            let mut time = 0;
            for _ in 0..1 + random.below(4) {
                let file = File::random(random);
                if files.last().is_none_or(|(_, last)| *last != file) {
                    files.push((time, file));
                }
                time += 3600 + random.below(3 * DAY as usize) as i64;
            }
        }
        World { files, requests: (0..requests).map(|_| Request::random(random)).collect() }
    }

    /// The version in force.
    pub fn now(&self, request: &Request) -> usize {
        let is_past = |(since, _): &(i64, File)| *since <= request.time;
        self.files[request.host].iter().rposition(is_past).unwrap_or(0)
    }

    pub fn file(&self, request: &Request) -> &File {
        &self.files[request.host][self.now(request)].1
    }

    /// Whether a request is a violation; `None` if it is uncertain, or for robots.txt.
    pub fn is_violation(&self, request: &Request) -> Option<bool> {
        let (now, files) = (self.now(request), &self.files[request.host]);
        if request.path == "/robots.txt" {
            return None;
        }
        if files[now].1.allows(request.crawler, request.path) {
            return Some(false);
        }
        let is_held = |at: &usize| request.time - files[at + 1].0 <= DAY;
        let is_grace =
            (0..now).filter(is_held).any(|at| files[at].1.allows(request.crawler, request.path));
        (!is_grace).then_some(true)
    }

    /// A directory with the archive.
    pub fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::new();
        let mut manifest = "origin,fetched_at,status,path,max_age\n".to_owned();
        for (host, files) in HOSTS.iter().zip(&self.files) {
            for (at, (time, file)) in files.iter().enumerate() {
                sandbox.write(&format!("{host}{at}"), file.text());
                let fetched_at = utc(*time);
                writeln!(manifest, "https://{host},{fetched_at},200,{host}{at},").unwrap();
                if let Some((next, _)) = files.get(at + 1) {
                    let fetched_at = utc(next - UNSEEN);
                    writeln!(manifest, "https://{host},{fetched_at},200,{host}{at},").unwrap();
                }
            }
        }
        sandbox.write("manifest.csv", manifest);
        sandbox.run("robots import -q -a db manifest.csv").exits(0);
        sandbox
    }

    /// Audits all, and audits and merges parts; the function gives each report.
    pub fn check(&self, random: &mut Random, options: &str, check: impl Fn(&Sandbox, &str)) {
        let sandbox = self.sandbox();
        let mut logs = vec![String::new(); 3];
        for request in &self.requests {
            logs[random.below(3)] += &request.line();
        }
        sandbox.write("all.log", logs.concat());
        sandbox.run(&format!("audit -q --robots db {options} -o all all.log")).exits(0);
        check(&sandbox, "all");
        let mut tallies = Vec::new();
        for (log, at) in logs.iter().zip(0..).filter(|(log, _)| !log.is_empty()) {
            let file = format!("{at}.log");
            sandbox.write(&file, log);
            let audit = format!("audit -q --robots db {options} --partial {at}.tally {file}");
            sandbox.run(&audit).exits(0);
            tallies.insert(random.below(tallies.len() + 1), format!("{at}.tally"));
        }
        sandbox.run(&format!("merge {} -o merged.tally", tallies.join(" "))).exits(0);
        sandbox.run("report merged.tally -o merged").exits(0);
        check(&sandbox, "merged");
    }
}

/// The time as a report writes it.
pub fn utc(time: i64) -> String {
    let (day, hour) = (1 + time / DAY, time / 3600 % 24);
    format!("2026-03-{day:02}T{hour:02}:{:02}:{:02}Z", time / 60 % 60, time % 60)
}
