//! The tables of what crawlers requested and got, against the plainest reading of the same random
//! requests, in one audit and in merged parts.

use std::collections::BTreeMap;

use crate::program::Sandbox;

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

fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
    (*state >> 33) as usize % below
}

struct Request {
    host: &'static str,
    crawler: usize,
    target: String,
    status: usize,
    bytes: u64,
}

impl Request {
    fn random(state: &mut u64, target: impl Fn(&mut u64) -> String) -> Request {
        Request {
            host: ["a.example", "b.example"][random(state, 2)],
            crawler: random(state, CRAWLERS.len()),
            target: target(state),
            status: random(state, STATUSES.len()),
            bytes: random(state, 1000) as u64,
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
fn check(state: &mut u64, requests: &[Request], options: &str, check: impl Fn(&Sandbox, &str)) {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let mut logs = vec![String::new(); 3];
    for request in requests {
        logs[random(state, 3)] += &request.line();
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
    let mut state = 7;
    let requests: Vec<Request> =
        (0..300).map(|_| Request::random(&mut state, |_| "/a".to_owned())).collect();
    let mut rows: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    let mut all: BTreeMap<_, u64> = BTreeMap::new();
    for request in &requests {
        let key = (request.host, request.name());
        *all.entry(key).or_default() += 1;
        let sum = rows.entry((key, request.status)).or_default();
        *sum = (sum.0 + 1, sum.1 + request.bytes);
    }
    check(&mut state, &requests, "", |sandbox, report| {
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
