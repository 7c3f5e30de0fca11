//! Visits that products sent, beside the requests of their operators' crawlers.

use std::collections::BTreeMap;

use super::nightly::on;
use super::program::{Sandbox, line};
use super::random_world::one;
use crate::random::Random;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const ALL: &str = "origin operator product product_kind visits visit_bytes first_visit_utc \
                   last_visit_utc crawler_requests crawler_bytes requests_per_visit";

/// User agents, and the operator of those that are crawlers. A tool, an unknown crawler and a crawler
/// of an operator without products are neither visitors nor counted.
const CLIENTS: [(&str, &str); 7] = [
    (BROWSER, ""),
    ("-", ""),
    (GPTBOT, "OpenAI"),
    (BINGBOT, "Microsoft"),
    ("CCBot/2.0 (https://commoncrawl.org/faq/)", "-"),
    ("Unheard-of-crawler/1.0", "-"),
    ("curl/8.5.0", "-"),
];

/// Referers, with the operator and the product.
const REFERERS: [(&str, &str, &str); 12] = [
    ("-", "", ""),
    ("https://a.example/page", "", ""),
    ("https://a.example:8443/page", "", ""),
    ("https://a.example", "", ""),
    ("https://chatgpt.com/", "OpenAI", "ChatGPT"),
    ("https://chatgpt.com.evil.example/", "", ""),
    ("https://www.bing.com/search?q=x", "Microsoft", "Bing"),
    ("HTTPS://COPILOT.Microsoft.com:443/\\\"", "Microsoft", "Copilot"),
    ("https://www.bing.com@a.example/", "", ""),
    ("https://www.google.co.uk/", "Google", "Google Search"),
    ("android-app://com.google.android.googlequicksearchbox/", "Google", "Google Search"),
    ("garbage \\x22", "", ""),
];

/// Visits, their bytes, and their first and last second.
type Visits = (u64, u64, u64, u64);

/// The rows of random requests, which are written to three logs.
fn world(random: &mut Random, sandbox: &Sandbox) -> Vec<String> {
    let mut rows: BTreeMap<(String, &str, &str), (Visits, u64, u64)> = BTreeMap::new();
    let mut logs = vec![String::new(); 3];
    for _ in 0..random.below(400) {
        let host = one(random, &["a.example", "b.example"]);
        let (user_agent, operator) = CLIENTS[random.below(CLIENTS.len()) / (1 + random.below(2))];
        let (referer, sender, product) = one(random, &REFERERS);
        let (method, status) =
            (one(random, &["GET", "GET", "POST"]), one(random, &[200, 304, 404, 0]));
        let (second, bytes) = (random.below(60) as u64, random.below(9) as u64);
        logs[random.below(3)] += &format!(
            "{host}:443 192.0.2.1 - - [01/Mar/2026:10:00:{second:02} +0000] \"{method} / HTTP/1.1\" \
             {status:03} {bytes} \"{referer}\" \"{user_agent}\"\n"
        );
        let origin = format!("https://{host}");
        if operator.is_empty()
            && !sender.is_empty()
            && method == "GET"
            && (1..400).contains(&status)
        {
            for product in ["*", product] {
                let (visits, ..) = rows.entry((origin.clone(), sender, product)).or_default();
                let first = if visits.0 == 0 { second } else { visits.2.min(second) };
                *visits = (visits.0 + 1, visits.1 + bytes, first, visits.3.max(second));
            }
        } else if operator.len() > 1 {
            let row = rows.entry((origin, operator, "*")).or_default();
            (row.1, row.2) = (row.1 + 1, row.2 + bytes);
        }
    }
    for (at, log) in logs.iter().enumerate() {
        sandbox.write(&format!("logs/{at}.log"), log);
    }
    let time = |second: u64| format!("2026-03-01T10:00:{second:02}Z");
    let rows = rows.iter().map(|((origin, operator, product), (visits, requests, taken))| {
        let (count, bytes, first, last) = *visits;
        let span = match count {
            0 => " | ".to_owned(),
            _ => format!("{} | {}", time(first), time(last)),
        };
        let crawlers = match (*product, count) {
            ("*", 0) => format!("{requests} | {taken} | "),
            ("*", _) => format!("{requests} | {taken} | {:.6}", *requests as f64 / count as f64),
            _ => " |  | ".to_owned(),
        };
        format!("{origin} | {operator} | {product} | {count} | {bytes} | {span} | {crawlers}")
    });
    rows.collect()
}

#[test]
fn visits_are_counted_in_any_order_and_split() {
    let (mut random, mut sum) = (Random(5), 0);
    for _ in 0..20 {
        let sandbox = Sandbox::new();
        sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
        let expected = world(&mut random, &sandbox);
        let audit = "audit -q --allow-unjudged --log-format vhost_combined --robots robots.txt";
        sandbox.run(&format!("{audit} -o whole logs")).exits(0);
        for at in 0..3 {
            sandbox.run(&format!("{audit} --partial {at}.tally logs/{at}.log")).exits(0);
        }
        let parts = one(&mut random, &["1 0", "2 1", "0 2"]);
        let (left, right) = parts.split_once(' ').unwrap();
        sandbox.run(&format!("merge {left}.tally {right}.tally -o two.tally")).exits(0);
        let last = (0..3).find(|at| !parts.contains(&at.to_string())).unwrap();
        sandbox.run(&format!("report two.tally {last}.tally -o merged")).exits(0);
        for report in ["whole", "merged"] {
            let columns = ALL.replace("product_kind ", "");
            let found = sandbox.table(&format!("{report}/referrals.csv")).cells(&columns);
            assert_eq!(found, expected, "{report}");
        }
        sum += expected.len();
    }
    assert!(sum > 100, "{sum}");
}

#[test]
fn an_operator_that_took_and_sent_nothing_has_a_row() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let visit = |second, referer: &str| {
        line(second, "/page?secret", 200, BROWSER).replacen("\"-\"", &format!("\"{referer}\""), 1)
    };
    let log = [
        line(1, "/", 200, GPTBOT),
        line(2, "/", 200, GPTBOT),
        line(3, "/", 200, BINGBOT),
        visit(4, "https://www.bing.com/search?q=private"),
        visit(5, "https://www.bing.com/"),
        visit(6, "=cmd|' /C calc'!A0"),
        visit(7, "https://<script>.bing.com/"),
    ];
    sandbox.write("access.log", log.concat());
    let audit = "audit -q --robots robots.txt --origin https://a.example -o report access.log";
    sandbox.run(audit).exits(0);
    let seen = "2026-03-01T00:00:04Z | 2026-03-01T00:00:05Z";
    let expected = [
        format!("https://a.example | Microsoft | * |  | 2 | 200 | {seen} | 1 | 100 | 0.500000"),
        format!("https://a.example | Microsoft | Bing | search | 2 | 200 | {seen} |  |  | "),
        "https://a.example | OpenAI | * |  | 0 | 0 |  |  | 2 | 200 | ".to_owned(),
    ];
    assert_eq!(sandbox.table("report/referrals.csv").cells(ALL), expected);
    let page = sandbox.text("report/report.html");
    assert!(
        page.contains("Crawler requests, and visits sent back, by operator (2 rows)"),
        "{page}"
    );
    for name in ["report.tally", "referrals.csv", "report.html", "run.json"] {
        let text = sandbox.text(&format!("report/{name}"));
        assert!(
            !["q=private", "secret", "calc", "<script>."].iter().any(|part| text.contains(part))
        );
    }
}

#[test]
fn a_log_without_a_referer_field_has_no_rows() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let json = |user_agent: &str, more: &str| {
        format!(
            "{{\"time\":\"2026-03-01T10:00:00Z\",\"request\":\"GET / HTTP/1.1\",\"status\":200,\
             \"user_agent\":\"{user_agent}\"{more}}}\n"
        )
    };
    let rows = |log: String| {
        sandbox.write("access.log", log);
        sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
        sandbox.table("report/referrals.csv").cells("operator product visits crawler_requests")
    };
    assert!(rows(json(GPTBOT, "") + &json(BROWSER, "")).is_empty());
    assert!(!sandbox.text("report/report.html").contains("Visits sent"));
    // Crawlers send no Referer, so their lines do not tell.
    assert!(rows(line(1, "/", 200, GPTBOT)).is_empty());
    let own = json(BROWSER, ",\"referer\":\"https:\\/\\/a.example\\/\"");
    assert_eq!(rows(json(GPTBOT, "") + &own), ["OpenAI | * | 0 | 1"]);
    let sent = json(BROWSER, ",\"referer\":\"https:\\/\\/chatgpt.com\\/\"");
    assert_eq!(
        rows(own + &sent + &json(GPTBOT, "")),
        ["OpenAI | * | 1 | 1", "OpenAI | ChatGPT | 1 | "]
    );
}

/// Each night has the visits of its day, also if the lines of a day come in two nights.
#[test]
fn nights_have_the_visits_of_their_days() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let config = "reports = \"reports\"\nstate = \"state.sqlite\"\n\n[sites.shop]\n\
                  logs = [\"access.log\"]\nrobots = \"robots.txt\"\norigin = \"https://a.example\"\n";
    sandbox.write("botaudit.toml", config);
    let visit = |day: &str| {
        let line = line(60, "/", 200, BROWSER).replacen("\"-\"", "\"https://chatgpt.com/\"", 1);
        line.replace("01/Mar/2026", day)
    };
    let (first, second) = ("01/Mar/2026", "02/Mar/2026");
    let mut log = visit(first) + &on(first, 61, "/") + &visit(second);
    let check = |day: &str, expected: &str| {
        let run = format!("nightly -q --config botaudit.toml --day {day}");
        sandbox.run(&run).exits(0);
        let table = sandbox.table(&format!("reports/shop/{day}/referrals.csv"));
        assert_eq!(table.cells("operator product visits crawler_requests")[0], expected, "{day}");
    };
    sandbox.write("access.log", &log);
    check("2026-03-01", "OpenAI | * | 1 | 1");
    log += &(visit(second) + &on(second, 61, "/") + &visit(first));
    sandbox.write("access.log", &log);
    check("2026-03-02", "OpenAI | * | 2 | 1");
    check("2026-03-01", "OpenAI | * | 2 | 1");
}

/// A site that only visitors requested is not judged, so its robots.txt is not used.
#[test]
fn visits_need_no_robots_txt() {
    let sandbox = Sandbox::new();
    for host in ["a.example", "b.example"] {
        sandbox.write(&format!("robots/{host}"), format!("User-agent: *\nDisallow: /{host}\n"));
    }
    let at = |host: &str, user_agent: &str| {
        let line = line(1, "/", 200, user_agent);
        format!("{host}:80 {}", line.replacen("\"-\"", "\"https://chatgpt.com/\"", 1))
    };
    let robots_of = |user_agent: &str| {
        sandbox.write("access.log", at("a.example", GPTBOT) + &at("b.example", user_agent));
        sandbox.run("audit -q --robots robots -o report access.log").exits(0);
        let rows = sandbox.table("report/referrals.csv").cells("origin product visits");
        let run = sandbox.text("report/run.json");
        (rows, run.contains("robots/b.example"))
    };
    assert!(robots_of(GPTBOT).1);
    let (rows, is_used) = robots_of(BROWSER);
    assert!(!is_used);
    assert!(rows.contains(&"http://b.example | ChatGPT | 1".to_owned()), "{rows:?}");
}
