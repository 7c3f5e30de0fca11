//! Audits of a crawl by its own files: WARC and their indexes.

use std::fmt::Write;

use super::program::{Sandbox, gzip};
use super::random_world::{CRAWLERS, HOSTS, Request, UNSEEN, World, utc};
use crate::random::Random;

/// The two records of a request at `time` and its answer.
fn exchange(url: &str, time: &str, user_agent: &str, answer: &str) -> [String; 2] {
    let record = |kind: &str, block: &str| {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {time}\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let sent = format!("GET /{path} HTTP/1.1\r\nUser-Agent: {user_agent}\r\n\r\n");
    [record("request", &sent), record("response", answer)]
}

/// A crawl by `mybot`, and its index.
pub fn example() -> (String, String) {
    let (mut warc, mut index) = (String::new(), String::new());
    for (path, second) in [("robots.txt", 10), ("admin/1", 11), ("blog/", 12)] {
        let url = format!("https://example.com/{path}");
        let answer = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /admin/\n";
        warc +=
            &exchange(&url, &format!("2026-03-01T00:00:{second}Z"), "mybot/1.0", answer).concat();
        let json = format!(r#"{{"url": "{url}", "status": "200", "offset": "{second}"}}"#);
        writeln!(index, "com,example)/{path} 202603010000{second} {json}").unwrap();
    }
    (warc, index)
}

fn page(request: &Request) -> String {
    let body = "x".repeat(request.bytes as usize);
    format!("HTTP/1.1 {} x\r\n\r\n{body}", request.status)
}

/// A line of a log with the same request.
fn log_line(url: &str, time: &str, user_agent: &str, status: u16, bytes: usize) -> String {
    let (day, clock) = (&time[8..10], &time[11..19]);
    format!(
        "- - - [{day}/Mar/2026:{clock} +0000] \"GET {url} HTTP/1.1\" {status} {bytes} \"-\" \
         \"{user_agent}\"\n"
    )
}

/// A crawl and a log of the same requests give the same verdicts, and as many violations as a slow
/// judge counts.
#[test]
fn a_crawl_is_judged_as_a_log_of_it() {
    let mut random = Random(11);
    let mut all_violations = 0;
    for _ in 0..6 {
        let mut world = World::random(&mut random, 300);
        world.requests.retain(|request| request.path != "/robots.txt");
        let mut events: Vec<(String, [String; 2], String)> = Vec::new();
        for request in &world.requests {
            let url = format!("https://{}{}", HOSTS[request.host], request.path);
            let (time, user_agent) = (utc(request.time), CRAWLERS[request.crawler].2);
            let line = log_line(&url, &time, user_agent, request.status, request.bytes as usize);
            let records = exchange(&url, &time, user_agent, &page(request));
            events.push((time, records, line));
        }
        for (host, files) in HOSTS.iter().zip(&world.files) {
            for (at, (since, file)) in files.iter().enumerate() {
                let until = files.get(at + 1).map(|(next, _)| next - UNSEEN);
                for time in [Some(*since), until].into_iter().flatten() {
                    let (url, time) = (format!("https://{host}/robots.txt"), utc(time));
                    let body = file.text();
                    let answer = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
                    let line = log_line(&url, &time, "LabBot/1.0", 200, body.len());
                    events.push((time.clone(), exchange(&url, &time, "LabBot/1.0", &answer), line));
                }
            }
        }
        events.sort_by(|one, other| one.0.cmp(&other.0));
        let sandbox = world.sandbox();
        let records = events.iter().flat_map(|event| &event.1);
        let warc: Vec<u8> = records.flat_map(|record| gzip(record.as_bytes())).collect();
        sandbox.write("crawl.warc.gz", warc);
        let log: String = events.iter().map(|event| &*event.2).collect();
        sandbox.write("crawl.log", &log);
        sandbox.run("robots import -q -a own.db crawl.warc.gz").exits(0);
        let options = "--unknown-before-first-snapshot --session-minutes 60 --paths";
        let audit = |robots: &str, log: &str, out: &str| {
            sandbox.run(&format!("audit -q --robots {robots} {options} -o {out} {log}")).exits(0);
        };
        audit("own.db", "crawl.warc.gz --evidence evidence.csv", "by-warc");
        audit("db", "crawl.log", "by-log");
        for table in ["summary", "statuses", "compliance", "daily", "paths", "unknown-crawlers"] {
            let [warc, log] =
                ["by-warc", "by-log"].map(|out| sandbox.text(&format!("{out}/{table}.csv")));
            assert_eq!(warc, log, "{table}");
        }
        let slow = world.requests.iter().filter(|of| world.is_violation(of) == Some(true));
        let slow = slow.count() as u64;
        assert_eq!(sandbox.table("by-warc/violations.csv").sum("requests"), slow);
        all_violations += slow;
        check_offsets(
            &sandbox,
            &events.iter().flat_map(|event| event.1.clone()).collect::<Vec<_>>(),
        );
    }
    assert!(all_violations > 100, "{all_violations}");
}

/// The rows of the evidence name the request records.
fn check_offsets(sandbox: &Sandbox, records: &[String]) {
    let file = records.concat();
    for row in sandbox.table("evidence.csv").cells("line record_offset origin target") {
        let cells: Vec<&str> = row.split(" | ").collect();
        let (line, offset): (usize, usize) = (cells[0].parse().unwrap(), cells[1].parse().unwrap());
        let before: usize = records[..line - 1].iter().map(String::len).sum();
        assert_eq!(offset, before, "the line is the number of the record");
        let url = format!("WARC-Target-URI: {}{}\r\n", cells[2], cells[3]);
        assert!(file[offset..].split("\r\n\r\n").next().unwrap().contains(url.trim_end()), "{row}");
    }
}

/// One origin whose robots.txt moves, fails, comes back and is gone.
#[test]
fn redirects_failures_and_age_count_as_they_were_met() {
    let sandbox = Sandbox::new();
    let mut warc = String::new();
    let mut add = |url: &str, time: &str, answer: &str| {
        let records = exchange(url, &format!("2026-03-{time}Z"), "GPTBot/1.2", answer);
        warc += &records.concat();
    };
    let robots = "https://a.example/robots.txt";
    let page = |at: usize| format!("https://a.example/no/{at}");
    let ok = "HTTP/1.1 200 OK\r\n\r\nx";
    let closed =
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nUser-agent: *\nDisallow: /no\n";
    add(robots, "01T00:00:00", "HTTP/1.1 301 x\r\nLocation: https://b.example/r\r\n\r\n");
    add("https://b.example/r", "01T00:00:01", closed);
    add(&page(1), "01T00:00:02", ok); // a violation
    add(robots, "02T00:00:00", "HTTP/1.1 503 x\r\n\r\n");
    add(&page(2), "02T00:02:00", ok); // everything is disallowed
    add(robots, "03T00:00:00", "HTTP/1.1 404 x\r\n\r\n");
    add(&page(3), "03T00:02:00", ok); // allowed
    add(robots, "04T00:00:00", closed);
    add(&page(4), "04T00:00:30", ok); // there was none within a day
    add(&page(5), "05T00:02:00", ok); // a violation
    sandbox.write("crawl.warc", &warc);
    sandbox.run("robots import -q -a db crawl.warc").exits(0);
    sandbox.run("audit -q --robots db -o out crawl.warc").exits(0);
    let cells = "crawler requests violations allowed grace unreachable robots_txt_requests";
    let rows = sandbox.table("out/summary.csv").cells(&format!("origin {cells}"));
    assert_eq!(rows[0], "https://a.example | GPTBot | 9 | 2 | 1 | 1 | 1 | 4");
    let last = sandbox.table("out/violations.csv").cells("last_seen_utc example_line");
    assert_eq!(last, ["2026-03-05T00:02:00Z | 5"]);
}

#[test]
fn indexes_need_the_user_agent_of_the_crawl() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: GPTBot\nDisallow: /no\n");
    let (mut cdxj, mut cdx) = (String::new(), " CDX N b a m s k r M S V g\n".to_owned());
    for second in 10..30 {
        let url = format!("https://a.example/{}", ["no", "yes"][second % 2]);
        let time = format!("202603010000{second}");
        let json = format!(r#"{{"url": "{url}", "status": "200", "offset": "{second}"}}"#);
        writeln!(cdxj, "example,a)/x {time} {json}").unwrap();
        writeln!(cdx, "example,a)/x {time} {url} text/html 200 A - - 9 {second} a.gz").unwrap();
    }
    sandbox.write("crawl.cdxj", &cdxj);
    sandbox.write("crawl.cdx", &cdx);
    for log in ["crawl.cdxj", "crawl.cdx"] {
        let audit = format!("audit --robots robots.txt -o out {log}");
        let without = sandbox.run(&audit).exits(3);
        without.complains("has no user agents; name that of the crawl with --user-agent");
        let named = format!("{audit} --evidence evidence.csv --user-agent GPTBot/1.0");
        let ran = sandbox.run(&named).exits(0);
        assert!(!ran.stderr.contains("user agents"), "{}", ran.stderr);
        assert_eq!(sandbox.table("out/violations.csv").sum("requests"), 10);
        let rows = sandbox.table("evidence.csv").cells("method target record_offset");
        assert_eq!(rows[0], "GET | /no | 10", "{log}");
        assert_eq!(sandbox.json("out/run.json")["options"]["user_agent"], "GPTBot/1.0");
        let detected = sandbox.run(&format!("formats detect {log}")).exits(0).stdout;
        assert!(detected.contains("cdx"), "{detected}");
    }
}

#[test]
fn damage_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /no\n");
    let url = "https://a.example/no";
    let good =
        exchange(url, "2026-03-01T00:00:00Z", "GPTBot/1.2", "HTTP/1.1 200 OK\r\n\r\nx").concat();
    // A request without a length cannot be read; its answer is found, but not who asked.
    let odd = good.replacen("Content-Length", "Content-Size", 1);
    sandbox.write("odd.warc", format!("{}{odd}{}", good.repeat(40), good.repeat(40)));
    sandbox.run("audit -q --robots robots.txt -o out odd.warc").exits(0);
    assert_eq!(sandbox.table("out/violations.csv").sum("requests"), 80);
    let rejects = sandbox.table("out/rejects.csv").cells("file example_line example");
    assert_eq!(rejects, ["odd.warc | 81 | WARC record that cannot be read"]);
    // A file that is cut within a record, and a member of gzip that is damaged.
    sandbox.write("cut.warc", &good.repeat(40)[..good.len() * 40 - 6]);
    sandbox.run("audit -q --robots robots.txt -o out cut.warc").exits(0);
    assert_eq!(sandbox.table("out/rejects.csv").cells("example"), ["WARC record that is cut off"]);
    let mut damaged = gzip(good.as_bytes()).repeat(40);
    let bytes = damaged.len();
    damaged[bytes - 30] ^= 0xff;
    sandbox.write("damaged.warc.gz", damaged);
    sandbox
        .run("audit --robots robots.txt -o out damaged.warc.gz")
        .exits(3)
        .complains("damaged.warc.gz");
}
