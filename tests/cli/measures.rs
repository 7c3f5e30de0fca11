//! The tables of measures against the plainest reading of the same requests: random robots.txt
//! files that change, random requests, and logs that are divided and merged in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::program::Sandbox;

const DAY: i64 = 86_400;
const DAYS: i64 = 9;

/// Name, product token and user agent.
const CRAWLERS: [(&str, &str, &str); 4] = [
    ("GPTBot", "GPTBot", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
    (
        "bingbot",
        "bingbot",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    ),
    ("CCBot", "CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)"),
    ("ClaudeBot", "ClaudeBot", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"),
];
const HOSTS: [&str; 2] = ["a.example", "b.example"];
const PATHS: [&str; 8] =
    ["/", "/a", "/a/b", "/c", "/robots.txt", "/llms.txt?x", "/map.xml", "/wp-sitemap.xml"];

fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
    (*state >> 33) as usize % below
}

fn one<T: Copy>(state: &mut u64, of: &[T]) -> T {
    of[random(state, of.len())]
}

/// The token of one group, its lines, each `(is_allow, path)`, and its Crawl-delay.
type Group = (&'static str, Vec<(bool, &'static str)>, Option<i64>);

/// A version of robots.txt.
#[derive(Clone, Debug, Default, PartialEq)]
struct File {
    groups: Vec<Group>,
    sitemap: Option<&'static str>,
    license: Option<&'static str>,
}

impl File {
    fn random(state: &mut u64) -> File {
        let groups = (0..random(state, 4)).map(|_| {
            let token = one(state, &["*", "*", "GPTBot", "bingbot", "CCBot"]);
            let lines = (0..1 + random(state, 3))
                .map(|_| (random(state, 3) == 0, one(state, &["/", "/a", "/a/b", "/c"])));
            let lines = lines.collect();
            (token, lines, (random(state, 3) == 0).then(|| one(state, &[5, 2_000, 40_000])))
        });
        let urls = ["https://a.example/map.xml", "http://b.example/c", "/a/b"];
        File {
            groups: groups.collect(),
            sitemap: (random(state, 2) == 0).then(|| one(state, &urls)),
            // A licence must be a complete URL.
            license: (random(state, 2) == 0).then(|| one(state, &urls[..2])),
        }
    }

    /// The groups that bind a crawler, and whether they name it.
    fn groups(&self, crawler: usize) -> (Vec<&Group>, bool) {
        let of = |token: &str| self.groups.iter().filter(|group| group.0 == token).collect();
        let own: Vec<&Group> = of(CRAWLERS[crawler].1);
        if own.is_empty() { (of("*"), false) } else { (own, true) }
    }

    /// The lines that bind a crawler.
    fn lines(&self, crawler: usize) -> Vec<(bool, &'static str)> {
        self.groups(crawler).0.iter().flat_map(|group| group.1.clone()).collect()
    }

    fn allows(&self, crawler: usize, path: &str) -> bool {
        let lines = self.lines(crawler);
        let longest = |of: bool| {
            let lines = lines.iter().filter(|line| line.0 == of && path.starts_with(line.1));
            lines.map(|line| line.1.len()).max()
        };
        longest(true) >= longest(false)
    }

    /// The kind of directive that binds a crawler.
    fn restriction(&self, crawler: usize) -> Option<&'static str> {
        let lines = self.lines(crawler);
        let has = |line: (bool, &str)| lines.contains(&line);
        if has((false, "/")) && !has((true, "/")) {
            let has_allow = lines.iter().any(|line| line.0);
            return Some(if has_allow { "allow-list" } else { "disallow-all" });
        }
        lines.iter().any(|line| !line.0 && line.1 != "/").then_some("disallow")
    }

    fn delay(&self, crawler: usize) -> Option<i64> {
        self.groups(crawler).0.iter().filter_map(|group| group.2).min()
    }

    fn text(&self) -> String {
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
struct Request {
    /// Seconds since 2026-03-01.
    time: i64,
    crawler: usize,
    host: usize,
    path: &'static str,
    status: u16,
    bytes: u64,
    client: usize,
}

impl Request {
    fn random(state: &mut u64) -> Request {
        Request {
            time: random(state, (DAYS * DAY) as usize) as i64,
            crawler: random(state, CRAWLERS.len()),
            host: random(state, HOSTS.len()),
            path: one(state, &PATHS),
            status: one(state, &[200, 200, 304, 404]),
            bytes: random(state, 9) as u64,
            client: random(state, 3),
        }
    }

    fn line(&self) -> String {
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
struct World {
    files: [Vec<(i64, File)>; 2],
    requests: Vec<Request>,
}

impl World {
    fn random(state: &mut u64, requests: usize) -> World {
        let mut files: [Vec<(i64, File)>; 2] = Default::default();
        for files in &mut files {
            let mut time = 0;
            for _ in 0..1 + random(state, 4) {
                let file = File::random(state);
                if files.last().is_none_or(|(_, last)| *last != file) {
                    files.push((time, file));
                }
                time += 3600 + random(state, 3 * DAY as usize) as i64;
            }
        }
        World { files, requests: (0..requests).map(|_| Request::random(state)).collect() }
    }

    /// The version in force.
    fn now(&self, request: &Request) -> usize {
        let is_past = |(since, _): &(i64, File)| *since <= request.time;
        self.files[request.host].iter().rposition(is_past).unwrap_or(0)
    }

    fn file(&self, request: &Request) -> &File {
        &self.files[request.host][self.now(request)].1
    }

    /// Whether a request is a violation; `None` if it is uncertain, or for robots.txt.
    fn is_violation(&self, request: &Request) -> Option<bool> {
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
    fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::new();
        let mut manifest = "origin,fetched_at,status,path,max_age\n".to_owned();
        for (host, files) in HOSTS.iter().zip(&self.files) {
            for (at, (time, file)) in files.iter().enumerate() {
                sandbox.write(&format!("{host}{at}"), file.text());
                let fetched_at = utc(*time);
                writeln!(manifest, "https://{host},{fetched_at},200,{host}{at},").unwrap();
            }
        }
        sandbox.write("manifest.csv", manifest);
        sandbox.run("robots import -q -a db manifest.csv").exits(0);
        sandbox
    }

    /// Audits all, and audits and merges parts; the function gives each report.
    fn check(&self, state: &mut u64, options: &str, check: impl Fn(&Sandbox, &str)) {
        let sandbox = self.sandbox();
        let mut logs = vec![String::new(); 3];
        for request in &self.requests {
            logs[random(state, 3)] += &request.line();
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
            tallies.insert(random(state, tallies.len() + 1), format!("{at}.tally"));
        }
        sandbox.run(&format!("merge {} -o merged.tally", tallies.join(" "))).exits(0);
        sandbox.run("report merged.tally -o merged").exits(0);
        check(&sandbox, "merged");
    }
}

/// The time as a report writes it.
fn utc(time: i64) -> String {
    let (day, hour) = (1 + time / DAY, time / 3600 % 24);
    format!("2026-03-{day:02}T{hour:02}:{:02}:{:02}Z", time / 60 % 60, time % 60)
}

#[test]
fn files_beside_robots_txt_are_counted_by_crawler() {
    let mut state = 3;
    for _ in 0..4 {
        let world = World::random(&mut state, 200);
        let mut rows: BTreeMap<_, (u64, u64, u64, i64, i64)> = BTreeMap::new();
        for request in &world.requests {
            let (file, host) = (world.file(request), HOSTS[request.host]);
            let names = |url: &Option<&str>| {
                url.is_some_and(|url| {
                    url == request.path || url.ends_with(&format!("//{host}{}", request.path))
                })
            };
            let kind = match request.path {
                "/llms.txt?x" => "llms.txt",
                "/wp-sitemap.xml" => "sitemap",
                _ if names(&file.license) => "license",
                _ if names(&file.sitemap) => "sitemap",
                _ => continue,
            };
            let key = (host, CRAWLERS[request.crawler].0.to_lowercase(), kind);
            let sum = rows.entry(key).or_insert((0, 0, 0, i64::MAX, i64::MIN));
            sum.0 += 1;
            sum.1 += u64::from(request.status == 200);
            sum.2 += request.bytes;
            (sum.3, sum.4) = (sum.3.min(request.time), sum.4.max(request.time));
        }
        let expected: Vec<String> = rows
            .into_iter()
            .map(|((host, crawler, kind), (requests, ok, bytes, first, last))| {
                let (first, last) = (utc(first), utc(last));
                format!("https://{host} | {crawler} | {kind} | {requests} | {ok} | {bytes} | {first} | {last}")
            })
            .collect();
        world.check(&mut state, "", |sandbox, report| {
            let columns =
                "origin crawler file requests status_2xx bytes first_seen_utc last_seen_utc";
            let table = sandbox.table(&format!("{report}/policy-files.csv")).cells(columns);
            let mut found: Vec<String> = table
                .iter()
                .map(|row| {
                    let mut cells: Vec<String> = row.split(" | ").map(str::to_owned).collect();
                    cells[1] = cells[1].to_lowercase();
                    cells.join(" | ")
                })
                .collect();
            found.sort();
            let mut expected = expected.clone();
            expected.sort();
            assert_eq!(found, expected, "{report} {world:#?}");
            assert!(found.len() > 10);
        });
    }
}

/// What each scope calls a crawler or a host.
fn scopes(crawler: usize, host: usize) -> [(&'static str, String); 4] {
    let [operator, purpose] = [
        ["OpenAI", "ai-training"],
        ["Microsoft", "search"],
        ["Common Crawl", "archive"],
        ["Anthropic", "ai-training"],
    ][crawler];
    [
        ("crawler", CRAWLERS[crawler].0.to_owned()),
        ("operator", operator.to_owned()),
        ("purpose", purpose.to_owned()),
        ("origin", format!("https://{}", HOSTS[host])),
    ]
}

/// How many requests exceed a limit in one period.
fn over(times: &[i64], period: i64, delay: i64) -> u64 {
    let allowed = (period as u64).div_ceil(delay as u64);
    let mut periods: BTreeMap<i64, u64> = BTreeMap::new();
    times.iter().for_each(|time| *periods.entry(time / period).or_default() += 1);
    periods.values().map(|requests| requests.saturating_sub(allowed)).sum()
}

#[test]
fn compliance_is_counted_by_directive() {
    let (mut state, mut directives) = (5, BTreeSet::new());
    for _ in 0..4 {
        let world = World::random(&mut state, 300);
        let mut rows: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        let mut add = |crawler: usize, host, directive: &str, is_specific, requests, kept| {
            for (scope, name) in scopes(crawler, host) {
                let group = if is_specific { "specific" } else { "*" };
                let key = (scope, name, directive.to_owned(), group);
                let sum = rows.entry(key).or_default();
                *sum = (sum.0 + requests, sum.1 + kept);
            }
        };
        let mut delayed: BTreeMap<_, (i64, bool, Vec<i64>)> = BTreeMap::new();
        for request in &world.requests {
            let (file, crawler) = (world.file(request), request.crawler);
            let is_specific = file.groups(crawler).1;
            if let (Some(is_violation), Some(restriction)) =
                (world.is_violation(request), file.restriction(crawler))
            {
                let kept = u64::from(!is_violation);
                add(crawler, request.host, restriction, is_specific, 1, kept);
            }
            if let Some(delay) = file.delay(crawler).filter(|_| request.path != "/robots.txt") {
                let key = (crawler, request.host, file.text());
                let times = delayed.entry(key).or_insert((delay, is_specific, Vec::new()));
                times.2.push(request.time);
            }
        }
        for ((crawler, host, _), (delay, is_specific, times)) in delayed {
            let requests = times.len() as u64;
            let over = over(&times, 3600, delay).max(over(&times, DAY, delay));
            add(crawler, host, "crawl-delay-pace", is_specific, requests, requests - over);
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|((scope, name, directive, group), (requests, kept))| {
                directives.insert((directive.clone(), requests == kept));
                let share = kept as f64 / requests as f64;
                let row = format!("{scope} | {name} | {directive} | {group} | {requests} | {kept}");
                format!("{row} | {share:.6}")
            })
            .collect();
        expected.sort();
        world.check(&mut state, "", |sandbox, report| {
            let table = sandbox.table(&format!("{report}/compliance.csv"));
            let mut found = table.cells("scope name directive group requests kept share");
            found.sort();
            assert_eq!(found, expected, "{report} {world:#?}");
        });
    }
    assert!(directives.len() >= 6, "{directives:?}");
}

/// The nearest rank of sorted numbers.
fn percentile(sorted: &[i64], percent: usize) -> String {
    let rank = (sorted.len() * percent).div_ceil(100);
    rank.checked_sub(1).map_or(String::new(), |at| sorted[at].to_string())
}

#[test]
fn fetches_of_robots_txt_and_old_copies_are_counted() {
    let mut state = 7;
    for _ in 0..4 {
        let world = World::random(&mut state, 400);
        /// Fetches, gaps, other requests, and those on an old copy.
        type Row = (u64, Vec<i64>, u64, u64);
        let mut rows: BTreeMap<(String, usize), Row> = BTreeMap::new();
        for (host, crawler) in (0..8).map(|at| (at / 4, at % 4)) {
            let own = world.requests.iter().filter(|of| (of.host, of.crawler) == (host, crawler));
            let (fetches, other): (Vec<&Request>, Vec<&Request>) =
                own.partition(|of| of.path == "/robots.txt");
            let mut fetches: Vec<i64> =
                fetches.iter().filter(|of| of.status < 400).map(|of| of.time / 60).collect();
            fetches.sort_unstable();
            if fetches.is_empty() {
                continue;
            }
            for origin in ["*".to_owned(), format!("https://{}", HOSTS[host])] {
                let row = rows.entry((origin, crawler)).or_default();
                row.0 += fetches.len() as u64;
                row.1.extend(fetches.windows(2).map(|pair| pair[1] - pair[0]));
                for request in &other {
                    let minute = request.time / 60;
                    let before = fetches.iter().rfind(|fetch| **fetch <= minute);
                    row.2 += u64::from(before.is_some());
                    row.3 += u64::from(before.is_some_and(|fetch| minute - fetch > 1440));
                }
            }
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|((origin, crawler), (fetches, mut gaps, requests, old))| {
                gaps.sort_unstable();
                let (name, count) = (CRAWLERS[crawler].0, gaps.len());
                let (half, most) = (percentile(&gaps, 50), percentile(&gaps, 95));
                format!(
                    "{origin} | {name} | {fetches} | {count} | {half} | {most} | {requests} | {old}"
                )
            })
            .collect();
        expected.sort();
        world.check(&mut state, "", |sandbox, report| {
            let columns = "origin crawler successful_fetches gaps gap_minutes_median gap_minutes_p95 \
                           requests_after_first_fetch requests_on_old_copy";
            let mut found = sandbox.table(&format!("{report}/refetches.csv")).cells(columns);
            found.sort();
            assert_eq!(found, expected, "{report}");
            assert!(found.len() > 10 && found.iter().any(|row| !row.ends_with(" 0")), "{found:?}");
        });
    }
}

#[test]
fn shares_before_and_since_a_day_are_compared() {
    let mut state = 9;
    for _ in 0..3 {
        let world = World::random(&mut state, 400);
        // Requests and violations, before and since.
        let mut rows: BTreeMap<usize, [(u64, u64); 2]> = BTreeMap::new();
        for request in &world.requests {
            let parts = rows.entry(request.crawler).or_default();
            if let Some(is_violation) = world.is_violation(request) {
                let part = &mut parts[usize::from(request.time >= 4 * DAY)];
                *part = (part.0 + 1, part.1 + u64::from(is_violation));
            }
        }
        let mut expected: Vec<String> = rows
            .into_iter()
            .map(|(crawler, [before, since])| {
                let total = (before.0 + since.0) as f64;
                let share = (before.1 + since.1) as f64 / total;
                let expects = |of: f64| [share * of, (1.0 - share) * of];
                let counts = [expects(before.0 as f64), expects(since.0 as f64)].concat();
                let is_tested = counts.iter().all(|count| *count >= 5.0);
                let shares = [before, since].map(|of| format!("{:.6}", of.1 as f64 / of.0 as f64));
                let ((n1, v1), (n2, v2), [s1, s2]) = (before, since, shares);
                let name = CRAWLERS[crawler].0;
                format!("{name} | {n1} | {v1} | {s1} | {n2} | {v2} | {s2} | {is_tested}")
            })
            .collect();
        expected.sort();
        world.check(&mut state, "", |sandbox, report| {
            let ran = format!("report {report} --compare-at 2026-03-05 -o compared");
            sandbox.run(&ran).exits(0);
            let columns = "crawler requests_before violations_before share_before requests_since \
                           violations_since share_since z p_value";
            let mut found: Vec<String> = sandbox
                .table("compared/comparison.csv")
                .cells(columns)
                .iter()
                .map(|row| {
                    let cells: Vec<&str> = row.split(" | ").collect();
                    assert_eq!(cells[7].is_empty(), cells[8].is_empty());
                    format!("{} | {}", cells[..7].join(" | "), !cells[7].is_empty())
                })
                .collect();
            found.sort();
            assert_eq!(found, expected, "{report}");
            sandbox.run("report compared").exits(0);
            assert!(!sandbox.path("compared/comparison.csv").exists());
        });
    }
}
