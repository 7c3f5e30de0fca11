//! Logs of which the lines of crawlers, or others, cannot be read are no all-clear; nor are logs whose columns are others
//! than they seem.

use super::program::{Ran, Sandbox, gzip, line};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox
}

fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!(
        "audit --robots robots.txt --origin https://example.com -o report {arguments}"
    ))
}

/// A log of `count` lines, of which those after `from` are changed; one of 20 is of a crawler, if there are any.
fn log(count: u32, from: u32, has_crawlers: bool, change: impl Fn(String) -> String) -> String {
    let lines = (0..count).map(|at| {
        let who = if has_crawlers && at % 20 == 7 { GPTBOT } else { BROWSER };
        let target = format!("/private/{at}");
        let line =
            line(at, &target, 200, who).replace("192.0.2.7", &format!("192.0.2.{}", at % 250));
        if at < from { line } else { change(line) }
    });
    lines.collect()
}

/// What a layout does with a line of combined.
type Change = fn(String) -> String;

/// Layouts that differ in one field which is not read of a browser's line.
fn layouts() -> Vec<(&'static str, Change)> {
    fn between(line: String, from: &str, to: &str, with: impl Fn(&str) -> String) -> String {
        let start = line.find(from).unwrap() + from.len();
        let end = start + line[start..].find(to).unwrap();
        line[..start].to_owned() + &with(&line[start..end]) + &line[end..]
    }
    fn timed(line: String, with: impl Fn(&str) -> String) -> String {
        between(line, "[", "]", with)
    }
    vec![
        ("bad-time", |line| timed(line, |time| time.replace(" +0000", ""))),
        ("bad-time", |line| timed(line, |time| time.replace(" +0000", "Z"))),
        ("bad-time", |line| timed(line, |time| time.replace("Mar", "M\u{e4}r"))),
        ("bad-time", |line| timed(line, |time| time.replace("/Mar/2026:", "-Mar-2026 "))),
        ("bad-time", |line| timed(line, |_| "2026-03-01 00:00:01".to_owned())),
        ("bad-status", |line| line.replace("\" 200 ", "\" 0.005 200 ")),
        ("bad-status", |line| line.replace("\" 200 ", "\" 200/200 ")),
        ("bad-status", |line| line.replace("\" 200 ", "\" OK ")),
        ("bad-bytes", |line| line.replace("\" 200 ", "\" 200 0.005 ")),
        ("bad-request", |line| line.replace("\"GET /", "\"/").replace(" HTTP/1.1", "")),
    ]
}

#[test]
fn a_layout_that_is_not_read_is_no_all_clear() {
    for (reason, change) in layouts() {
        // All lines, the last half, and lines of browsers only.
        for (from, has_crawlers, first) in [(0, true, 1), (2_500, true, 0), (0, false, 1)] {
            let sandbox = sandbox();
            sandbox.write("access.log", log(5_000, from, has_crawlers, change));
            let ran = audit(&sandbox, "access.log").exits(3);
            let line =
                if first > 0 { format!("first unparsed line: {first} ") } else { String::new() };
            let ran = ran.complains(&format!("{line}({reason})"));
            assert!(
                !ran.stdout.contains("no requests of known crawlers to judge"),
                "{}",
                ran.stdout
            );
            assert_eq!(sandbox.json("report/run.json")["complete"], false, "{reason} {from}");
            assert!(sandbox.text("report/report.html").contains("Missing or damaged input"));
            sandbox.run("report report/report.tally -o again");
            assert_eq!(sandbox.json("again/run.json")["complete"], false, "{reason} {from}");
        }
    }
}

#[test]
fn values_of_json_are_read_in_a_sample() {
    let sandbox = sandbox();
    let line = |at: u32, status: &str, who: &str| {
        format!(
            "{{\"time\":\"2026-03-01T00:00:{:02}Z\",\"remote_addr\":\"192.0.2.{}\",\"request\":\"GET \
             /{at} HTTP/1.1\",\"status\":\"{status}\",\"bytes\":5,\"http_user_agent\":\"{who}\"}}\n",
            at % 60,
            at % 250
        )
    };
    let log = |from: u32| -> String {
        (0..6_000).map(|at| line(at, if at < from { "200" } else { "ok" }, BROWSER)).collect()
    };
    sandbox.write("access.log", log(6_000));
    audit(&sandbox, "access.log").exits(0);
    for (from, reason) in [(0, "first unparsed line: 1 (other-format)"), (3_000, "(bad-status)")] {
        sandbox.write("access.log", log(from));
        audit(&sandbox, "access.log").exits(3).complains(reason);
    }
}

/// The same lines are in the sample, whoever counts them.
#[test]
fn the_sample_does_not_depend_on_threads() {
    let sandbox = sandbox();
    let change = |line: String| line.replace("\" 200 ", "\" 200/200 ");
    sandbox.write("access.log", log(20_000, 9_000, false, change));
    let said = [1, 3].map(|threads| {
        let ran = audit(&sandbox, &format!("--threads {threads} --force access.log")).exits(3);
        ran.complains("% of the lines that are not of crawlers parsed, by a sample").stderr
    });
    assert_eq!(said[0], said[1]);
}

#[test]
fn the_lowest_rate_may_be_accepted() {
    let sandbox = sandbox();
    let change = |line: String| match line.contains("GPTBot") {
        true => line.replace(" +0000]", "]"),
        false => line,
    };
    sandbox.write("access.log", log(1_000, 500, true, change));
    let ran = audit(&sandbox, "access.log").exits(3);
    ran.complains("25 of 50 lines of crawlers parsed (50.0 %)").complains("--min-parse-rate 50");
    audit(&sandbox, "--min-parse-rate 50 access.log").exits(0);
}

/// Lines with another column where the user agent usually is.
#[test]
fn a_column_that_is_no_user_agent_is_not_taken_as_one() {
    let quoted = |line: String| {
        let (before, after) = line.split_once("\" 200 ").unwrap();
        let (bytes, after) = after.split_once(' ').unwrap();
        format!("{before}\" \"200\" \"{bytes}\" {after}")
    };
    let before_agent = |field: &'static str| {
        move |line: String| line.replacen("\"-\" \"", &format!("\"-\" \"{field}\" \""), 1)
    };
    let sandbox = sandbox();
    let check = |log: String, expected: &str| {
        sandbox.write("access.log", log);
        let ran = audit(&sandbox, "access.log").exits(3);
        ran.complains("format not recognised").complains(expected);
        // The proposal works.
        let text = sandbox.run("formats detect access.log").stdout;
        let format = text.split("--log-format '").nth(1).unwrap().split('\'').next().unwrap();
        let arguments = ["audit", "--robots", "robots.txt", "--log-format", format, "-o", "report"];
        sandbox.run_words(&[&arguments[..], &["access.log"]].concat(), b"").exits(0);
        assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 10);
    };
    check(log(200, 0, true, quoted), "(bad-status)");
    check(log(200, 0, true, before_agent("198.51.100.3")), "(other-format)");
    check(log(200, 0, true, before_agent("a=b; session=c/d")), "(other-format)");
    check(log(200, 0, true, before_agent("-")), "(other-format)");
    // Further fields after the user agent are usual.
    let behind = |line: String| line.trim_end().to_owned() + " \"198.51.100.3\" \"nginx/1.2\"\n";
    sandbox.write("access.log", log(200, 0, true, behind));
    audit(&sandbox, "access.log").exits(0);
}

#[test]
fn dates_in_digits_have_the_day_first_unless_the_file_shows_otherwise() {
    let sandbox = sandbox();
    let log = |dates: &[&str]| -> String {
        let line = |date: &&str| line(1, "/private", 200, GPTBOT).replace("01/Mar/2026", date);
        dates.iter().map(line).collect()
    };
    let days = |dates: &[&str]| {
        sandbox.write("access.log", log(dates));
        audit(&sandbox, "access.log").exits(0);
        sandbox.table("report/daily.csv").cells("day")
    };
    assert_eq!(days(&["03/04/2024"]), ["2024-04-03"]);
    assert_eq!(days(&["03/04/2024", "25/03/2024"]), ["2024-03-25", "2024-04-03"]);
    assert_eq!(days(&["03/04/2024", "03/25/2024"]), ["2024-03-04", "2024-03-25"]);
    sandbox.write("access.log", log(&["25/03/2024", "03/25/2024", "03/04/2024"]));
    audit(&sandbox, "access.log").exits(3).complains("format not recognised");
    let ran = sandbox.run("formats detect access.log");
    assert!(ran.stdout.contains("some of its dates have the day first"), "{}", ran.stdout);
    // What only later lines show: one line is enough.
    let later = log(&["03/04/2024"; 9_000]) + &log(&["03/25/2024"]) + &log(&["03/04/2024"; 9_000]);
    sandbox.write("access.log", later);
    audit(&sandbox, "access.log").exits(3).complains("dates have the day first");
}

/// In a log of another server than Varnish, clients write such targets.
#[test]
fn hosts_that_only_targets_name_are_not_ours() {
    let sandbox = sandbox();
    let foreign = line(1, "http://b.example/private", 200, GPTBOT);
    sandbox.write("access.log", foreign.repeat(60) + &line(2, "/", 200, GPTBOT).repeat(40));
    let origins = |arguments: &str| {
        audit(&sandbox, &format!("{arguments} access.log"));
        sandbox.table("report/summary.csv").cells("origin violations unknown")
    };
    let ours = "https://example.com | 0 | 0".to_owned();
    assert_eq!(origins(""), ["http://b.example | 0 | 60".to_owned(), ours.clone()]);
    let why =
        "60 requests for http://b.example: counted as unknown, because only the targets of these";
    audit(&sandbox, "access.log").complains(why);
    let named = ["http://b.example | 60 | 0".to_owned(), ours.clone()];
    assert_eq!(origins("--log-format varnish"), named);
    assert_eq!(origins("--alias b.example=http://b.example"), named);
    sandbox.write("robots/b.example.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.run("audit --robots robots --origin https://example.com -o report access.log");
    assert_eq!(
        sandbox.table("report/summary.csv").cells("origin violations")[0],
        "http://b.example | 60"
    );
}

#[test]
fn first_lines_without_user_agents_do_not_stand_for_the_others() {
    let sandbox = sandbox();
    // More than what the format is detected from.
    let probes = line(1, "x", 408, "-").replace("GET x HTTP/1.1", "-").repeat(8_000);
    for log in [probes.clone() + &log(2_000, 2_000, true, |line| line), probes.clone()] {
        let has_crawlers = log.contains("GPTBot");
        sandbox.write("access.log", gzip(log.as_bytes()));
        let ran = audit(&sandbox, "access.log").exits(if has_crawlers { 0 } else { 3 });
        assert_eq!(ran.stderr.contains("no user agents"), !has_crawlers, "{}", ran.stderr);
    }
}

#[test]
fn a_log_may_begin_with_long_messages_of_its_server() {
    let sandbox = sandbox();
    let start = "starting worker process, configuration of module follows\n".repeat(8_000);
    let log = start + &log(9_000, 9_000, true, |line| line);
    sandbox.write("access.log", log);
    audit(&sandbox, "--min-parse-rate 40 access.log").exits(0);
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 450);
}

fn night(sandbox: &Sandbox, day: u32) -> Ran {
    sandbox.run(&format!("nightly --config botaudit.toml -q --day 2026-03-{day:02}"))
}

#[test]
fn nights_say_that_lines_could_not_be_read_from_the_first_one_on() {
    const CONFIG: &str =
        "[sites.a]\nlogs = \"*.log\"\nrobots = \"robots.txt\"\norigin = \"https://a.example\"\n";
    let unzoned = |line: String| line.replace(" +0000]", "]");
    for (count, has_crawlers) in [(2, false), (5, false), (300, false), (300, true)] {
        let sandbox = sandbox();
        sandbox.write("botaudit.toml", CONFIG);
        sandbox.write("access.log", log(count, 0, has_crawlers, unzoned));
        for day in 1..4 {
            let ran = night(&sandbox, day).exits(3);
            ran.complains("first unparsed line: 1 (bad-time); its new lines were not counted");
        }
        // They are counted once the format is set.
        let format = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\"";
        sandbox.write("botaudit.toml", format!("{CONFIG}log_format = '{format}'\n"));
        night(&sandbox, 1).exits(0);
        let lines = &sandbox.json("reports/a/2026-03-01/run.json")["lines"]["lines"];
        assert_eq!(lines, count);
    }
}

/// New lines in another format do not hide behind those that were read before.
#[test]
fn a_night_looks_at_its_new_lines() {
    let sandbox = sandbox();
    sandbox.write(
        "botaudit.toml",
        "[sites.a]\nlogs = \"*.log\"\nrobots = \"robots.txt\"\norigin = \"https://a.example\"\n",
    );
    let good = log(5_000, 5_000, true, |line| line);
    sandbox.write("access.log", &good);
    night(&sandbox, 1).exits(0);
    let odd = |count: usize| line(1, "/", 200, BROWSER).replace("\" 200 ", "\" OK ").repeat(count);
    sandbox.write("access.log", good.clone() + &odd(2));
    night(&sandbox, 2);
    sandbox.write("access.log", good.clone() + &odd(2) + &odd(50));
    night(&sandbox, 2).exits(3).complains("first unparsed line: 5003 (bad-status)");
}
