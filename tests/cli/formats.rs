//! `botaudit formats`: lists the formats and detects the format of a log.

use super::program::{Sandbox, line};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

#[test]
fn all_formats_are_listed_with_a_sample() {
    let sandbox = Sandbox::new();
    let list = sandbox.run("formats").exits(0).stdout;
    for name in ["combined", "vhost_combined", "common", "haproxy"] {
        assert!(list.contains(&format!("\n{name}: ")) || list.starts_with(&format!("{name}: ")));
    }
    assert!(
        list.contains("    192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] \"GET /music/ HTTP/2.0\"")
    );
    assert!(list.contains("  It has no user agents, so crawlers cannot"), "{list}");
    assert_eq!(sandbox.run("formats list").exits(0).stdout, list);
}

#[test]
fn the_detected_format_and_the_unexplained_lines_are_shown() {
    let sandbox = Sandbox::new();
    let good: String = (0..97).map(|second| line(second, "/", 200, BINGBOT)).collect();
    let bad = "198.51.100.99 \x1b[2J is no log\nno log\n\nno log\nno log\n";
    sandbox.write("access.log", good.clone() + bad);
    let text = sandbox.run("formats detect access.log").exits(0).stdout;
    let expected = "access.log
  format    combined
  why       combined parses 96 of 100 lines
  lines     first 102: 97 of 101 parsed (96.0 %)
  skipped   blank 1
  rejected  no-time 4
            line 98 (no-time): 198.51.100.0/24 \\x1B[2J is no log
            line 99 (no-time): no log
            line 101 (no-time): no log
";
    assert_eq!(text, expected);
    sandbox.write(
        "keys.log",
        "{\"a\\u001b[2J\\u202e\": \"2026-03-01T00:00:00Z\", \"b\": \"/x\"}\n".repeat(9),
    );
    let ran = sandbox.run("formats detect keys.log");
    let is_hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(ran.stdout.contains("a\\x1B[2J\\xE2\\x80\\xAE"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(is_hidden), "{:?}", ran.stdout);
    let ran = sandbox.run("formats detect --log-format common access.log").exits(0);
    assert!(ran.stdout.contains("caveat    it has no user agent"), "{}", ran.stdout);
    // A failed audit refers to this command, which must show the failure.
    sandbox.write("broken.log", "one line\n".repeat(10));
    let ran = sandbox.run("formats detect broken.log gone.log access.log").exits(2);
    assert!(
        ran.stdout.contains("format    unknown")
            && ran.stdout.contains("try       use --log-format")
    );
    assert!(ran.stdout.contains("format    combined"));
    ran.complains("cannot open gone.log");
    sandbox.run("formats detect --log-format nonsense access.log").exits(2).complains("nonsense");
}

#[test]
fn damage_is_reported() {
    let sandbox = Sandbox::new();
    let gzip = super::program::gzip(line(1, "/", 200, BINGBOT).repeat(100).as_bytes());
    sandbox.write("access.log.gz", &gzip[..gzip.len() - 3]);
    let ran = sandbox.run("formats detect access.log.gz").exits(2);
    assert!(ran.stdout.contains("damage    truncated gzip stream at byte"), "{}", ran.stdout);
}

#[test]
fn keys_of_json_may_be_named() {
    let sandbox = Sandbox::new();
    let record = r#"{"when":"2026-03-01T00:00:01Z","who":{"says":"bingbot/2.0"},"asked":"/private","m":"GET","code":200}"#;
    sandbox.write("access.log", format!("{record}\n").repeat(6));
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let fields = "--json-fields time=when,user-agent=who.says,target=asked,method=m,status=code";
    sandbox.run(&format!("audit --robots robots.txt -o report {fields} access.log")).exits(0);
    assert_eq!(sandbox.table("report/summary.csv").cells("violations"), ["6"]);
    sandbox.run("formats detect --json-fields colour=x access.log").exits(2).complains("colour");
}

/// An audit does not look at the request of a line that no crawler sent.
#[test]
fn a_tls_probe_counts_as_in_an_audit() {
    let sandbox = Sandbox::new();
    let probe = line(2, "x", 400, "-").replace("GET x HTTP/1.1", r"\x16\x03\x01");
    assert!(probe.contains(r#""\x16"#), "{probe}");
    let broken = line(3, "/", 200, BINGBOT).replace("GET / HTTP/1.1", r"\x16\x03\x01");
    sandbox.write("access.log", line(1, "/", 200, BINGBOT).repeat(20) + &probe + &broken);
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    assert_eq!(sandbox.table("report/rejects.csv").cells("reason lines"), ["bad-request | 1"]);
    let ran = sandbox.run("formats detect access.log").exits(0);
    assert!(ran.stdout.contains("first 22: 21 of 22 parsed"), "{}", ran.stdout);
}

/// What is proposed reads the log as it is.
#[test]
fn a_proposal_works_in_one_step() {
    let logs = [
        r#"{"level":30,"time":1772323201123,"pid":1,"hostname":"web1.internal","req":{"method":"GET","url":"/private?a","headers":{"host":"www.example.org","user-agent":"bingbot/2.0"},"remoteAddress":"192.0.2.7"},"res":{"statusCode":200}}"#,
        r#"{"at":"2026-03-01T00:00:01Z","resourceId":"/SUBSCRIPTIONS/X","data":{"clientIP":"192.0.2.7","httpMethod":"GET","requestUri":"/private","requestQuery":"a","userAgent":"bingbot/2.0","httpStatus":200,"sentBytes":5,"host":"www.example.org"}}"#,
        r#"Mar  1 00:00:01 lb haproxy[7]: [01/Mar/2026:00:00:01.143] 192.0.2.7:53332 fe~ be/srv 200 11394 0/0/7/1457/1487 {www.example.org|Mozilla/5.0 (compatible; bingbot/2.0)} "GET /private?a HTTP/1.1""#,
        r#"Mar  1 00:00:01 lb haproxy[7]: 192.0.2.7:53332 [01/Mar/2026:00:00:01.143] "GET /private?a HTTP/1.1" 200 11394 "Mozilla/5.0 (compatible; bingbot/2.0)" www.example.org be/srv 0/0/7/1457/1487"#,
        r#"192.0.2.7 - - [01/Mar/2026:00:00:01 +0000] "GET /private?a HTTP/1.1" 0.000 471 404 555 www.example.org "Mozilla/5.0 (compatible; bingbot/2.0)""#,
    ];
    for log in logs {
        let sandbox = Sandbox::new();
        sandbox.write("access.log", format!("{log}\n").repeat(6));
        sandbox.write("robots/www.example.org", "User-agent: *\nDisallow: /private?a\n");
        let detected = sandbox.run("formats detect access.log");
        let advice = detected
            .stdout
            .split_once("as in: ")
            .unwrap_or_else(|| panic!("{}", detected.stdout))
            .1;
        let (flag, value) = advice.lines().next().unwrap().split_once(' ').unwrap();
        let value = value.trim_matches('\'');
        let arguments = ["audit", "--robots", "robots", "-o", "report", flag, value, "access.log"];
        sandbox.run_words(&arguments, b"").exits(0);
        let cells = sandbox.table("report/summary.csv").cells("origin crawler requests violations");
        assert!(
            cells.len() == 1
                && cells[0].contains("www.example.org")
                && cells[0].ends_with("bingbot | 6 | 6"),
            "{cells:?}"
        );
    }
}

/// Where columns cannot be known, the message says what is missing.
#[test]
fn a_log_of_iis_without_its_fields_line_is_named() {
    let sandbox = Sandbox::new();
    let request = "2026-03-01 00:00:01 192.0.2.80 GET /private - 80 - 192.0.2.7 Mozilla/5.0+(compatible;+bingbot/2.0;++x) - 200 0 0 15\n";
    sandbox.write("iis.log", request.repeat(9));
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let ran = sandbox.run("formats detect iis.log").exits(2);
    let what = "no line names their columns; put the #Fields line of that server in front of them";
    assert!(ran.stdout.contains(what), "{}", ran.stdout);
    sandbox.run("audit --robots robots.txt -o report iis.log").exits(3).complains(what);
}
