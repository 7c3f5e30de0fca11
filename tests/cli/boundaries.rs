//! The definitions of docs/reports.md at their boundaries: one second or one request before, at and after.

use std::fmt::Write;

use super::program::Sandbox;

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const CHATGPT_USER: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; \
     +https://openai.com/bot";
const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0";

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// Seconds since 2026-03-01 as a time of the archive.
fn utc(time: i64) -> String {
    let (day, hour) = (1 + time / DAY, time / HOUR % 24);
    format!("2026-03-{day:02}T{hour:02}:{:02}:{:02}Z", time / 60 % 60, time % 60)
}

/// A line of a log without hosts.
fn line(time: i64, target: &str, status: &str, agent: &str) -> String {
    let (day, hour) = (1 + time / DAY, time / HOUR % 24);
    format!(
        "192.0.2.1 - - [{day:02}/Mar/2026:{hour:02}:{:02}:{:02} +0000] \"GET {target} HTTP/1.1\" \
         {status} 0 \"https://www.google.com/\" \"{agent}\"\n",
        time / 60 % 60,
        time % 60
    )
}

/// A sandbox with an archive of these copies.
fn archive(copies: &[(i64, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut manifest = "origin,fetched_at,status,path,max_age\n".to_owned();
    for (at, (time, text)) in copies.iter().enumerate() {
        sandbox.write(&format!("{at}.txt"), text);
        writeln!(manifest, "https://a.example,{},200,{at}.txt,", utc(*time)).unwrap();
    }
    sandbox.write("manifest.csv", manifest);
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    sandbox
}

const AUDIT: &str = "audit -q --robots db --origin https://a.example -o out";

const OPEN: &str = "User-agent: *\nDisallow:\n";
const CLOSED: &str = "User-agent: *\nDisallow: /shop\n";

#[test]
fn times_around_a_change_include_both_of_their_ends() {
    let (after, before, until) = (4 * DAY, 4 * DAY + 12 * HOUR, 7 * DAY);
    let copies = [(0, OPEN), (after, OPEN), (before, CLOSED), (until, CLOSED), (8 * DAY, OPEN)];
    let sandbox = archive(&copies);
    // GPTBot's operator promises 24 hours.
    let around = [after, before, before + DAY, until].map(|time| [time - 1, time, time + 1]);
    let log: String =
        around.iter().flatten().map(|time| line(*time, "/shop", "200", GPTBOT)).collect();
    sandbox.write("access.log", log);
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    let columns = "direction promised_hours requests_before requests_uncertain requests_until_fetch \
                   requests_after_promise";
    assert_eq!(
        sandbox.table("out/reactions.csv").cells(columns),
        ["newly-disallowed | 24 | 2 | 2 | 7 | 4", "newly-allowed | 24 | 7 | 1 | 0 | 0"]
    );
    sandbox.run("report out --compare-at changes -o compared").exits(0);
    assert_eq!(
        sandbox
            .table("compared/change-comparison.csv")
            .cells("direction requests_before touched_before requests_since touched_since"),
        ["newly-disallowed | 2 | 2 | 7 | 7", "newly-allowed | 7 | 7 | 0 | 0"]
    );
}

/// A fetch counts if its whole minute lies in the time of the new rules, and the earliest in any order.
#[test]
fn a_fetch_counts_from_the_minute_of_a_change_to_that_of_its_end() {
    let (before, until) = (4 * DAY + 12 * HOUR, 7 * DAY + 59);
    let copies =
        |until| [(0, OPEN), (4 * DAY, OPEN), (before, CLOSED), (until, CLOSED), (8 * DAY, OPEN)];
    for (until, fetches, first) in [
        (until, &[before][..], utc(before)),
        (until, &[before - 1], String::new()),
        (until, &[7 * DAY + 10], utc(7 * DAY)),
        (until - 1, &[7 * DAY + 10], String::new()),
        (until, &[before + 2 * HOUR, before + HOUR, before + 3 * HOUR], utc(before + HOUR)),
    ] {
        let sandbox = archive(&copies(until));
        let fetches = fetches.iter().map(|time| line(*time, "/robots.txt", "200", GPTBOT));
        let touched = line(before + 4 * HOUR, "/shop", "200", GPTBOT);
        sandbox.write("access.log", fetches.collect::<String>() + &touched);
        sandbox.run(&format!("{AUDIT} access.log")).exits(0);
        let rows = sandbox.table("out/reactions.csv").cells("direction first_fetch_utc");
        assert!(rows.contains(&format!("newly-disallowed | {first}")), "{first}: {rows:?}");
    }
}

#[test]
fn a_crawler_obeyed_late_from_a_tenth_of_the_time_after_the_fetch() {
    let (after, fetch) = (4 * DAY, 4 * DAY + HOUR);
    let sandbox = archive(&[(0, OPEN), (after, OPEN), (fetch, CLOSED)]);
    let end = fetch + 100 * HOUR;
    // Four requests in the ten hours before the change.
    let early =
        [10 * HOUR, 30_000, 20_000, 10_000].map(|time| line(after - time, "/shop", "200", GPTBOT));
    let fetched = line(fetch + 30, "/robots.txt", "200", GPTBOT);
    let last = line(end, "/about", "200", GPTBOT);
    for (touched, requests, expected) in [
        (end - 10 * HOUR - 1, 3, "0 | 1 | obeyed-late"),
        (end - 10 * HOUR, 3, "0 | 1 | obeyed-late"),
        (end - 10 * HOUR + 1, 3, "0 | 1 | still-requesting"),
        // Four are expected in ten hours.
        (end - 10 * HOUR, 4, "0 | 1 | obeyed-late"),
        (end - 10 * HOUR, 5, "0 | 1 | still-requesting"),
        // The minute of the fetch is after the fetch, the one before is not.
        (fetch + 59, 3, "0 | 1 | obeyed-late"),
        (fetch, 3, "0 | 1 | obeyed-late"),
    ] {
        let touched = line(touched, "/shop", "200", GPTBOT);
        sandbox.write("access.log", early.concat() + &fetched + &touched + &last);
        sandbox.run(&format!("{AUDIT} --reaction-requests {requests} access.log")).exits(0);
        let columns = "requests_until_fetch requests_after_fetch reaction";
        assert_eq!(sandbox.table("out/reactions.csv").cells(columns), [expected], "{touched}");
    }
}

#[test]
fn a_preference_changed_recently_for_a_day_from_the_new_copy() {
    let text = |value: &str| format!("User-agent: *\nAllow: /\nContent-Usage: train-ai={value}\n");
    let changed = 3 * DAY;
    let (no, yes) = (text("n"), text("y"));
    let sandbox = archive(&[(0, &no), (DAY, &no), (changed, &yes)]);
    for (time, expected) in [
        (changed - 1, "reserved"),
        (changed, "changed-recently"),
        (changed + DAY - 1, "changed-recently"),
        (changed + DAY, "changed-recently"),
        (changed + DAY + 1, "permitted"),
    ] {
        sandbox.write("access.log", line(time, "/a", "200", GPTBOT));
        sandbox.run(&format!("{AUDIT} access.log")).exits(0);
        let found = sandbox.table("out/usage.csv").cells("preference requests");
        assert_eq!(found, [format!("{expected} | 1")], "{time}");
    }
}

/// An earlier copy states something else, too, if it states nothing, disallows the path, or was none.
#[test]
fn silence_is_another_preference() {
    let no = "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n";
    for earlier in [OPEN, "User-agent: *\nDisallow: /\nContent-Usage: train-ai=n\n"] {
        let sandbox = archive(&[(0, earlier), (DAY, no)]);
        sandbox.write("access.log", line(DAY + HOUR, "/a", "200", GPTBOT));
        sandbox.run(&format!("{AUDIT} access.log")).exits(0);
        assert_eq!(sandbox.table("out/usage.csv").cells("preference"), ["changed-recently"]);
    }
    // Without a statement in force, there is no row.
    let sandbox = archive(&[(0, no), (DAY, OPEN)]);
    sandbox.write("access.log", line(DAY + HOUR, "/a", "200", GPTBOT));
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    assert!(sandbox.table("out/usage.csv").rows.is_empty());
}

/// The rules in force decide, also for crawlers that they do not bind.
#[test]
fn usage_counts_what_the_rules_allow_whether_or_not_they_bind() {
    let text = "User-agent: *\nDisallow: /shop\nContent-Signal: ai-input=no, ai-train=no\n";
    let sandbox = archive(&[(0, text)]);
    let mut log = String::new();
    for agent in [GPTBOT, CHATGPT_USER] {
        for path in ["/a", "/shop", "/robots.txt"] {
            log += &line(DAY, path, "200", agent);
        }
    }
    sandbox.write("access.log", log);
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    assert_eq!(
        sandbox.table("out/usage.csv").cells("crawler category preference requests"),
        ["ChatGPT-User | ai-input | reserved | 1", "GPTBot | ai-train | reserved | 1"]
    );
    let sums = sandbox.table("out/summary.csv").cells("crawler allowed violations not_bound");
    assert_eq!(sums, ["ChatGPT-User | 0 | 0 | 2", "GPTBot | 1 | 1 | 0"]);
}

#[test]
fn minutes_between_fetches_are_those_of_the_clock() {
    let sandbox = archive(&[(0, OPEN)]);
    let fetch = 10 * HOUR;
    let times = [
        (fetch - 1, "/a"),
        (fetch, "/a"),
        (fetch + 59, "/robots.txt"),
        (fetch + 60, "/robots.txt"),
        (fetch + DAY + 60, "/a"),
        (fetch + DAY + 119, "/a"),
        (fetch + DAY + 120, "/a"),
    ];
    let log: String = times.iter().map(|(time, path)| line(*time, path, "200", GPTBOT)).collect();
    sandbox.write("access.log", log);
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    let columns = "origin successful_fetches gaps gap_minutes_median gap_minutes_p95 \
                   requests_after_first_fetch requests_on_old_copy old_copy_share";
    assert_eq!(
        sandbox.table("out/refetches.csv").cells(columns),
        [
            "* | 2 | 1 | 1 | 1 | 4 | 1 | 0.250000",
            "https://a.example | 2 | 1 | 1 | 1 | 4 | 1 | 0.250000"
        ]
    );
    let fetches = sandbox.table("out/robots-fetches.csv").cells("requests_before_first_fetch");
    assert_eq!(fetches, ["1"]);
}

#[test]
fn methods_count_as_sent() {
    let sandbox = archive(&[(0, CLOSED)]);
    let methods = ["GET", "get", "HEAD", "POST", "PROPFIND", "GET"];
    let log = methods.map(|of| line(DAY, "/shop", "200", GPTBOT).replacen("GET", of, 1)).concat();
    sandbox.write("access.log", log + &line(DAY, "/robots.txt", "200", GPTBOT));
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    assert_eq!(
        sandbox.table("out/methods.csv").cells("method requests share violations"),
        [
            "GET | 3 | 0.428571 | 2",
            "HEAD | 1 | 0.142857 | 1",
            "POST | 1 | 0.142857 | 1",
            "other | 2 | 0.285714 | 2"
        ]
    );
}

#[test]
fn only_a_status_of_an_answer_is_in_a_group() {
    let sandbox = archive(&[(0, OPEN)]);
    let statuses = ["000", "-", "0", "099", "100", "199", "200", "299", "300", "599", "600"];
    let log: String = statuses.map(|status| line(DAY, "/a", status, GPTBOT)).concat();
    // A visit was answered: 000 is no status below 400.
    let visits = ["000", "-", "200", "399", "400"].map(|status| line(DAY, "/a", status, BROWSER));
    sandbox.write("access.log", log + &visits.concat());
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    assert_eq!(
        sandbox.table("out/statuses.csv").cells("status status_group requests"),
        [
            " | other | 5",
            "100 | other | 1",
            "199 | other | 1",
            "200 | ok | 1",
            "299 | ok | 1",
            "300 | redirected | 1",
            "599 | server-error | 1"
        ]
    );
    let visits = sandbox.table("out/referrals.csv").cells("product visits");
    assert!(visits.contains(&"Google Search | 2".to_owned()), "{visits:?}");
}

#[test]
fn ten_queries_are_many_and_no_query_is_one_of_them() {
    let sandbox = archive(&[(0, OPEN)]);
    let mut log = String::new();
    for (path, queries) in [("/nine", 8), ("/ten", 9)] {
        log += &line(DAY, path, "200", GPTBOT);
        (0..queries).for_each(|query| log += &line(DAY, &format!("{path}?{query}"), "200", GPTBOT));
        // Again, with what is not part of the query.
        log += &line(DAY, &format!("{path}?1#x"), "200", GPTBOT);
    }
    sandbox.write("access.log", log);
    sandbox.run(&format!("{AUDIT} --paths access.log")).exits(0);
    let columns = "requests urls many_queries_requests many_queries_share";
    assert_eq!(sandbox.table("out/urls.csv").cells(columns), ["21 | 19 | 11 | 0.523810"]);
}

#[test]
fn a_delay_of_zero_sets_no_limit() {
    for (delay, directives) in [
        ("0", &["disallow"][..]),
        ("0.0", &["disallow"]),
        ("1", &["crawl-delay-gaps", "crawl-delay-pace", "disallow"]),
    ] {
        let robots = format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /shop\n");
        let sandbox = archive(&[(0, &robots)]);
        let log: String =
            [HOUR, HOUR + 1, HOUR + 5].map(|at| line(at, "/", "200", GPTBOT)).concat();
        sandbox.write("access.log", log);
        sandbox.run(&format!("{AUDIT} --session-minutes 5 access.log")).exits(0);
        let rows = sandbox.table("out/compliance.csv").cells("scope directive");
        let of_crawler = rows.iter().filter_map(|row| row.strip_prefix("crawler | "));
        assert_eq!(of_crawler.collect::<Vec<_>>(), directives, "{delay}");
    }
}
