//! The tables of what crawlers requested and got, against the plainest reading of the same random
//! requests, in one audit and in merged parts.

use std::collections::{BTreeMap, BTreeSet};

use super::program::Sandbox;
use crate::random::Random;

/// Name and user agent.
const CRAWLERS: [(&str, &str); 3] = [
    ("GPTBot", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
    ("bingbot", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"),
    ("CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)"),
];

/// Status, its cell, and its group.
const STATUSES: [(u16, &str, &str); 11] = [
    (200, "200", "ok"),
    (206, "206", "ok"),
    (304, "304", "not-modified"),
    (301, "301", "redirected"),
    (403, "403", "refused"),
    (451, "451", "refused"),
    (410, "410", "not-found"),
    (418, "418", "other-client-error"),
    (503, "503", "server-error"),
    (999, "", "other"),
    (100, "100", "other"),
];

struct Request {
    host: &'static str,
    crawler: usize,
    target: String,
    status: usize,
    bytes: u64,
}

impl Request {
    fn random(random: &mut Random, target: impl Fn(&mut Random) -> String) -> Request {
        Request {
            host: ["a.example", "b.example"][random.below(2)],
            crawler: random.below(CRAWLERS.len()),
            target: target(random),
            status: random.below(STATUSES.len()),
            bytes: random.below(1000) as u64,
        }
    }

    fn name(&self) -> &'static str {
        CRAWLERS[self.crawler].0
    }

    fn line(&self) -> String {
        let Request { host, crawler, target, status, bytes } = self;
        let (user_agent, status) = (CRAWLERS[*crawler].1, STATUSES[*status].0);
        format!(
            "{host}:443 192.0.2.1 - - [01/Mar/2026:10:00:00 +0000] \"GET {target} HTTP/1.1\" {status} \
             {bytes} \"-\" \"{user_agent}\"\n"
        )
    }
}

/// Audits all requests, and audits and merges parts; the function gets each report.
fn check(random: &mut Random, requests: &[Request], options: &str, check: impl Fn(&Sandbox, &str)) {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let mut logs = vec![String::new(); 3];
    for request in requests {
        logs[random.below(3)] += &request.line();
    }
    sandbox.write("all.log", logs.concat());
    sandbox.run(&format!("audit -q --robots robots.txt {options} -o all all.log")).exits(0);
    check(&sandbox, "all");
    for (at, log) in logs.iter().enumerate() {
        sandbox.write(&format!("{at}.log"), log);
        let audit = format!("audit -q --robots robots.txt {options} --partial {at}.tally {at}.log");
        sandbox.run(&audit).exits(0);
    }
    sandbox.run("merge 2.tally 0.tally 1.tally -o merged.tally").exits(0);
    sandbox.run("report merged.tally -o merged").exits(0);
    check(&sandbox, "merged");
}

/// The rows of a table, with these columns, against `expected`; both in any order.
#[track_caller]
fn assert_rows(sandbox: &Sandbox, table: &str, columns: &str, mut expected: Vec<String>) {
    let mut found = sandbox.table(table).cells(columns);
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{table}");
}

#[test]
fn answers_are_counted_by_status() {
    let mut random = Random(7);
    let requests: Vec<Request> =
        (0..300).map(|_| Request::random(&mut random, |_| "/a".to_owned())).collect();
    let mut rows: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    let mut all: BTreeMap<_, u64> = BTreeMap::new();
    for request in &requests {
        let key = (request.host, request.name());
        *all.entry(key).or_default() += 1;
        let sum = rows.entry((key, request.status)).or_default();
        *sum = (sum.0 + 1, sum.1 + request.bytes);
    }
    check(&mut random, &requests, "", |sandbox, report| {
        let rows = rows.iter().map(|((key @ (host, crawler), status), (requests, bytes))| {
            let ((_, status, group), share) =
                (STATUSES[*status], *requests as f64 / all[key] as f64);
            let row = format!("https://{host} | {crawler} | {status} | {group} | {requests}");
            format!("{row} | {share:.6} | {bytes}")
        });
        let columns = "origin crawler status status_group requests share bytes";
        assert_rows(sandbox, &format!("{report}/statuses.csv"), columns, rows.collect());
    });
}

/// At least the first two directories of `path` that this many of `paths` are in; at most all.
fn section(path: &str, paths: &[&str]) -> String {
    let directories = |path: &str| -> Vec<String> {
        let path = path.split('?').next().unwrap();
        let ends = path.match_indices('/').map(|(at, _)| at + 1).skip(1).take(2);
        ends.map(|end| path[..end].to_owned()).collect()
    };
    let is_large = |section: &String| {
        let inside = paths.iter().filter(|path| directories(path).contains(section)).count();
        inside * 100 >= paths.len()
    };
    directories(path).into_iter().rfind(is_large).unwrap_or_else(|| "/".to_owned())
}

#[test]
fn requests_are_counted_by_section() {
    let (mut random, mut sections) = (Random(11), BTreeSet::new());
    let target = |random: &mut Random| {
        let rare = random.below(500);
        let all =
            ["/", "/a/b", "/a/b/?c/d", "/a/b/c/d/e", "/a/c/d", "//a/b", "/b/c?/d/", "/robots.txt"];
        match random.below(9) {
            8 => format!("/rare{}/b/{rare}", rare % 300),
            7 => format!("/a/{rare}/b"),
            at => all[at].to_owned(),
        }
    };
    let requests: Vec<Request> = (0..800).map(|_| Request::random(&mut random, target)).collect();
    let mut rows: BTreeMap<_, (u64, u64, u64)> = BTreeMap::new();
    for request in &requests {
        let same_host = requests.iter().filter(|of| of.host == request.host);
        let paths: Vec<&str> = same_host.map(|of| of.target.as_str()).collect();
        let section = section(&request.target, &paths);
        sections.insert(section.clone());
        let sum = rows.entry((request.host, section, request.name())).or_default();
        let is_found = STATUSES[request.status].2 == "ok";
        *sum = (sum.0 + 1, sum.1 + u64::from(is_found), sum.2 + request.bytes);
    }
    assert_eq!(Vec::from_iter(sections), ["/", "//a/", "/a/", "/a/b/", "/a/c/", "/b/"]);
    check(&mut random, &requests, "--paths", |sandbox, report| {
        let rows = rows.iter().map(|((host, section, crawler), (requests, found, bytes))| {
            format!("https://{host} | {section} | {crawler} | {requests} | {found} | {bytes}")
        });
        let columns = "origin section crawler requests status_2xx bytes";
        assert_rows(sandbox, &format!("{report}/sections.csv"), columns, rows.collect());
    });
}

/// Of many directories, some are kept; the sums of all sections stay whole.
#[test]
fn directories_past_the_limit_count_for_the_one_above() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let request =
        |target: String| Request { host: "a.example", crawler: 0, target, status: 0, bytes: 1 };
    let deep = (0..40_000).map(|at| request(format!("/a/{at}/x")).line());
    let flat = (0..40_000).map(|at| request(format!("/{at}/x")).line());
    let log: String = deep.chain(flat).collect();
    sandbox.write("access.log", log);
    sandbox.run("audit -q --paths --robots robots.txt -o report access.log").exits(0);
    let rows = sandbox.table("report/sections.csv").cells("section requests bytes");
    // Of the first level `/a/` may be among those that are not kept.
    let split = ["/ | 40000 | 40000", "/a/ | 40000 | 40000"];
    assert!(rows == split || rows == ["/ | 80000 | 80000"], "{rows:?}");
}

#[test]
fn paths_and_urls_are_counted_by_crawler() {
    let mut random = Random(13);
    let target = |random: &mut Random| match random.below(5) {
        0 => "/".to_owned(),
        1 => format!("/search?q={}", random.below(40)),
        2 => format!("/few?q={}", random.below(8)),
        _ => format!("/page/{}", random.below(200)),
    };
    let requests: Vec<Request> = (0..1500).map(|_| Request::random(&mut random, target)).collect();
    let path = |request: &Request| request.target.split('?').next().unwrap().to_owned();
    let (mut paths, mut urls): (BTreeMap<_, (u64, u64)>, BTreeMap<_, BTreeSet<_>>) =
        Default::default();
    for request in &requests {
        let sum = paths.entry((request.name(), request.host, path(request))).or_default();
        *sum = (sum.0 + 1, sum.1 + request.bytes);
        urls.entry(request.name()).or_default().insert((request.host, &request.target));
    }
    let all: BTreeMap<_, u64> = CRAWLERS
        .map(|(name, _)| (name, requests.iter().filter(|of| of.name() == name).count() as u64))
        .into();
    for (options, is_stripped) in [("--paths", false), ("--paths --strip-query", true)] {
        check(&mut random, &requests, options, |sandbox, report| {
            let columns = "crawler origin path requests bytes";
            let mut rows = Vec::new();
            for (name, _) in CRAWLERS {
                let of = paths.iter().filter(|((crawler, ..), _)| *crawler == name);
                let mut of: Vec<_> = of.collect();
                // Keys are in order, and this sort keeps it.
                of.sort_by_key(|(_, (requests, _))| std::cmp::Reverse(*requests));
                let others = of.split_off(100);
                rows.extend(of.iter().map(|((_, host, path), (requests, bytes))| {
                    format!("{name} | https://{host} | {path} | {requests} | {bytes}")
                }));
                let sum = |part: fn(&(u64, u64)) -> u64| -> u64 {
                    others.iter().map(|(_, sums)| part(sums)).sum()
                };
                let (requests, bytes) = (sum(|sums| sums.0), sum(|sums| sums.1));
                rows.push(format!("{name} | * | (others) | {requests} | {bytes}"));
            }
            rows.sort_by_key(|row| row.split(" | ").next().unwrap().to_lowercase());
            let mut found = sandbox.table(&format!("{report}/paths.csv")).cells(columns);
            found.sort_by_key(|row| row.split(" | ").next().unwrap().to_lowercase());
            assert_eq!(found, rows);
            let columns =
                "crawler requests urls urls_form many_queries_requests many_queries_share";
            let rows = all.iter().map(|(name, all)| {
                let of = requests.iter().filter(|of| of.name() == *name);
                let found = of.filter(|of| of.target.starts_with("/search")).count();
                let (many, urls) = match is_stripped {
                    true => (0, paths.keys().filter(|(of, ..)| of == name).count()),
                    false => (found, urls[name].len()),
                };
                let share = many as f64 / *all as f64;
                format!("{name} | {all} | {urls} | exact | {many} | {share:.6}")
            });
            assert_rows(sandbox, &format!("{report}/urls.csv"), columns, rows.collect());
        });
    }
}

/// Of many paths, some are kept; the sums stay whole, and many URLs are estimated.
#[test]
fn paths_past_the_limit_are_summed_up() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let line = |at: usize| {
        let target = format!("/{}", at % 30_000);
        Request { host: "a.example", crawler: 0, target, status: 0, bytes: 1 }.line()
    };
    sandbox.write("access.log", (0..60_000).map(line).collect::<String>());
    sandbox.run("audit -q --paths --robots robots.txt -o report access.log").exits(0);
    let paths = sandbox.table("report/paths.csv");
    assert_eq!((paths.rows.len(), paths.sum("requests")), (101, 60_000));
    let urls = sandbox.table("report/urls.csv").cells("requests urls_form urls");
    let [row] = &urls[..] else { panic!("{urls:?}") };
    let urls = row.strip_prefix("60000 | estimate | ").unwrap().parse::<f64>().unwrap();
    assert!((urls - 30_000.0).abs() < 2_000.0, "{urls}");
}

#[test]
fn paths_are_counted_only_if_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let request = Request {
        host: "a.example",
        crawler: 0,
        target: "/a?secret".to_owned(),
        status: 0,
        bytes: 1,
    };
    sandbox.write("access.log", request.line());
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    assert!(
        !sandbox.path("report/paths.csv").exists() && !sandbox.path("report/urls.csv").exists()
    );
    sandbox.run("audit -q --paths --robots robots.txt -o with access.log").exits(0);
    assert!(!sandbox.text("with/paths.csv").contains("secret"));
}

/// `urls.csv` and `sessions.csv` count the same URLs, exactly up to 4,096.
#[test]
fn distinct_urls_are_one_number_in_all_tables() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    for (urls, kind) in [(1_024, "exact"), (4_096, "exact"), (6_000, "estimate")] {
        let line = |at: usize| {
            let target = format!("/{}?x={}", at % 100, at / 100);
            let request = Request { host: "a.example", crawler: 0, target, status: 0, bytes: 0 };
            request.line()
        };
        sandbox.write("access.log", (0..urls).chain(0..9).map(line).collect::<String>());
        for (strip, distinct) in [("", None), ("--strip-query", Some("100 | exact"))] {
            let audit = "audit -q --paths --session-minutes 5 --robots robots.txt";
            sandbox.run(&format!("{audit} {strip} -o report access.log")).exits(0);
            let of_urls = sandbox.table("report/urls.csv").cells("urls urls_form");
            let of_sessions =
                sandbox.table("report/sessions.csv").cells("distinct_paths paths_kind");
            assert_eq!(of_urls, of_sessions);
            let found = of_urls[0].split_once(" | ").unwrap();
            match distinct {
                Some(distinct) => assert_eq!(of_urls, [distinct]),
                None if kind == "exact" => assert_eq!(of_urls, [format!("{urls} | exact")]),
                None => {
                    let error = found.0.parse::<f64>().unwrap() / urls as f64 - 1.0;
                    assert!(found.1 == kind && error.abs() < 0.06, "{of_urls:?}");
                }
            }
        }
        // Sessions alone count the same.
        sandbox
            .run("audit -q --session-minutes 5 --robots robots.txt -o alone access.log")
            .exits(0);
        sandbox.run("audit -q --paths --robots robots.txt -o paths access.log").exits(0);
        assert_eq!(
            sandbox.table("alone/sessions.csv").cells("distinct_paths paths_kind"),
            sandbox.table("paths/urls.csv").cells("urls urls_form")
        );
    }
}

#[test]
fn bytes_have_a_price() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let request = |crawler, bytes| {
        Request { host: "a.example", crawler, target: "/".to_owned(), status: 0, bytes }.line()
    };
    let log = [request(0, 1_000_000_000), request(1, 7_000_000_000), request(0, 2_000_000_000)];
    // A tool and a spoofed crawler, which are no crawlers of a headline.
    let other = |client: &str, user_agent: &str| {
        request(0, 5_000_000_000).replace(CRAWLERS[0].1, user_agent).replace("192.0.2.1", client)
    };
    let others = other("192.0.2.1", "curl/8.5.0") + &other("192.0.2.9", CRAWLERS[1].1);
    sandbox.write("access.log", log.concat() + &others);
    let list =
        r#"{"creationTime": "2026-03-01T00:00:00", "prefixes": [{"ipv4Prefix": "192.0.2.0/29"}]}"#;
    sandbox.write("ranges/bingbot.json", list);
    let columns = "crawler requests bytes bytes_share cost currency";
    let check = |report: &str, currency: &str| {
        let rows = sandbox.table(&format!("{report}/costs.csv")).cells(columns);
        let of_bing = format!("bingbot | 1 | 7000000000 | 0.700000 | 0.630000 | {currency}");
        let of_openai = format!("GPTBot | 2 | 3000000000 | 0.300000 | 0.270000 | {currency}");
        assert_eq!(rows, [of_bing, of_openai]);
    };
    let ranges = "--ip-ranges ranges --robots robots.txt";
    let run = &format!("audit --cost-per-gb 0.09USD {ranges} -o report access.log");
    let summary = sandbox.run(run).exits(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        summary.contains(
            "10,000,000,000 bytes for known crawlers cost 0.900000 USD (most: bingbot 0.630000 USD, \
             GPTBot 0.270000 USD); see costs.csv"
        ),
        "{summary}"
    );
    check("report", "USD");
    let page = sandbox.text("report/report.html");
    assert!(
        page.contains("<strong>10,000.0 MB</strong>")
            && page.contains("<strong>0.900000 USD</strong>")
    );
    assert!(page.contains("The most bytes went to bingbot and GPTBot."));
    let config = "[sites.a]\nlogs = [\"access.log\"]\nrobots = \"robots.txt\"\ncost_per_gb = 0.09\n\
         ip_ranges = \"ranges\"\n";
    sandbox.write("botaudit.toml", config);
    sandbox.run("audit -q --config botaudit.toml --site a -o site").exits(0);
    check("site", "");
    sandbox.run("audit -q --robots robots.txt -o without access.log").exits(0);
    assert!(!sandbox.path("without/costs.csv").exists());
    sandbox
        .run("audit --cost-per-gb 1,5 --robots robots.txt -o x access.log")
        .exits(2)
        .complains("write a number with up to 6 decimals, such as 0.09 or 0.09USD");
}
