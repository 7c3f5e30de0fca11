//! Logs with other line ends or encodings, and logs of which most cannot be read.

use super::program::{Ran, Sandbox, gzip, line};
use crate::random::Random;

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox
}

fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!("audit --robots robots.txt -o report {arguments}"))
}

/// So many violations.
fn lines(count: u32) -> String {
    (0..count).map(|second| line(second, "/private", 200, BINGBOT)).collect()
}

/// Some bytes of the line are removed, replaced, or put elsewhere; others are a time in another form.
fn damaged(line: &str, random: &mut Random) -> String {
    let mut line = line.trim_end().to_owned();
    for _ in 0..random.below(4) {
        let (from, to) = (random.below(line.len()), random.below(line.len()));
        match random.below(4) {
            0 => line.replace_range(from..line.len().min(from + 9), ""),
            1 => line.replace_range(
                from..=from,
                ["\"", " ", "\\", "[", "]", "-", "\r", "0"][random.below(8)],
            ),
            2 => {
                let part = line[from.min(to)..from.max(to)].to_owned();
                line.insert_str(to, &part);
            }
            _ => {
                let times = ["0", "1772323200", "", "2026-03-02T00:00:01Z", "02/Mar/2026:08:00:0"];
                let start = line.find('[').map_or(0, |at| at + 1);
                let end = line[start..].find(']').map_or(line.len(), |at| start + at);
                line.replace_range(start..end, times[random.below(times.len())]);
            }
        }
        if line.len() < 2 {
            return "\n".to_owned();
        }
    }
    line + "\n"
}

/// What is counted of a line does not depend on the line before, and some lines are counted with others.
#[test]
fn damaged_lines_count_the_same_in_any_order() {
    const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    let (sandbox, random) = (sandbox(), &mut Random(1970));
    let mut lines: Vec<String> = (0..4_000)
        .map(|at| {
            let target = ["/a", "/private", "/b?c=d", "/robots.txt"][random.below(4)];
            let who = [BROWSER, BROWSER, BINGBOT, "-", "curl/8.5.0"][random.below(5)];
            let line = line(at / 10, target, [200, 404][random.below(2)], who);
            let referer = ["-", "https://chatgpt.com/", "https://example.com/"][random.below(3)];
            let line = line.replacen("\"-\"", &format!("\"{referer}\""), 1);
            if random.below(8) == 0 { damaged(&line, random) } else { line }
        })
        .collect();
    let mut expected = Vec::new();
    for order in 0..6 {
        sandbox.write("access.log", lines.concat());
        let threads = 1 + order % 2;
        let options = "--origin https://example.com --min-parse-rate 0 --force";
        audit(&sandbox, &format!("{options} --threads {threads} access.log")).exits(0);
        let tables =
            ["clients", "compliance", "daily", "hourly", "methods", "referrals", "statuses"];
        let found = tables.map(|table| sandbox.text(&format!("report/{table}.csv")));
        if order == 0 {
            let clients = sandbox.table("report/clients.csv").cells("day class");
            assert!(clients.contains(&"1970-01-01 | browser".to_owned()), "{clients:?}");
            expected = found.to_vec();
        }
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{order}");
        }
        for at in (1..lines.len()).rev() {
            lines.swap(at, random.below(at + 1));
        }
    }
}

/// A log of IIS; its lines end in `end`. Each tenth request is a violation.
fn iis(end: &str, requests: u32) -> String {
    let mut lines = vec![
        "#Software: Microsoft Internet Information Services 10.0".to_owned(),
        "#Version: 1.0".to_owned(),
        "#Date: 2026-03-01 00:00:00".to_owned(),
        "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) \
         cs(Referer) sc-status sc-substatus sc-win32-status time-taken"
            .to_owned(),
    ];
    for at in 0..requests {
        let (h, m, s) = (at / 3600 % 24, at / 60 % 60, at % 60);
        let path = if at % 10 == 0 { "/private" } else { "/" };
        let agent = BINGBOT.replace(' ', "+");
        lines.push(format!(
            "2026-03-01 {h:02}:{m:02}:{s:02} 192.0.2.1 GET {path} - 80 - 198.51.100.7 {agent} - 200 0 0 15"
        ));
    }
    lines.iter().map(|line| format!("{line}{end}")).collect()
}

fn utf16(text: &str, is_big_endian: bool, has_mark: bool) -> Vec<u8> {
    let mark = has_mark.then_some(0xfeff);
    let units = mark.into_iter().chain(text.encode_utf16());
    let bytes = |unit: u16| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
    units.flat_map(bytes).collect()
}

/// All tables and the lines of the report, for comparisons.
fn results(sandbox: &Sandbox) -> Vec<String> {
    let names = sandbox.names("report").into_iter().filter(|name| name.ends_with(".csv"));
    let mut results: Vec<String> =
        names.map(|name| sandbox.text(&format!("report/{name}"))).collect();
    results.push(sandbox.json("report/run.json")["lines"].to_string());
    results
}

#[test]
fn lines_may_end_in_cr_alone() {
    let sandbox = sandbox();
    sandbox.write("iis.log", iis("\r\n", 9_711));
    audit(&sandbox, "iis.log").exits(0);
    let expected = results(&sandbox);
    assert_eq!(sandbox.json("report/run.json")["lines"]["crawler"], 9_711);
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 972);
    let examples = sandbox.table("report/violations.csv").cells("example_line");
    assert_eq!(examples, ["5"]);
    for end in ["\r", "\n"] {
        for threads in [1, 3] {
            sandbox.write("iis.log", iis(end, 9_711));
            audit(&sandbox, &format!("--threads {threads} iis.log")).exits(0);
            assert_eq!(results(&sandbox), expected, "{end:?}");
        }
    }
    sandbox.write("iis.log", gzip(iis("\r", 9_711).as_bytes()));
    audit(&sandbox, "iis.log").exits(0);
    assert_eq!(results(&sandbox), expected);
    let ran = sandbox.run("formats detect iis.log").exits(0);
    assert!(ran.stdout.contains("iis"), "{}", ran.stdout);
    // A CR within a line of a usual log ends nothing.
    let with_cr = lines(3).replace("bingbot.htm)", "bingbot.htm)\r");
    sandbox.write("usual.log", with_cr);
    audit(&sandbox, "usual.log").exits(0);
    assert_eq!(sandbox.json("report/run.json")["lines"]["lines"], 3);
}

#[test]
fn utf16_with_a_byte_order_mark_is_read() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(2_000));
    audit(&sandbox, "access.log").exits(0);
    let expected = results(&sandbox);
    for is_big_endian in [false, true] {
        let text = utf16(&lines(2_000), is_big_endian, true);
        for bytes in [gzip(&text), text] {
            sandbox.write("access.log", bytes);
            audit(&sandbox, "access.log").exits(0);
            assert_eq!(results(&sandbox), expected);
            let ran = sandbox.run("formats detect access.log").exits(0);
            assert!(ran.stdout.contains("combined"), "{}", ran.stdout);
        }
    }
    sandbox.write("access.log", utf16(&lines(2_000).replace('\n', "\r"), false, true));
    audit(&sandbox, "access.log").exits(0);
    assert_eq!(results(&sandbox), expected);
}

#[test]
fn nights_continue_logs_with_other_line_ends_and_encodings() {
    let sandbox = sandbox();
    sandbox.write(
        "botaudit.toml",
        "[sites.a]\nlogs = \"*.log\"\nrobots = \"robots.txt\"\norigin = \"https://a.example\"\n",
    );
    let night = || {
        sandbox.run("nightly --config botaudit.toml --day 2026-03-01");
        sandbox.table("reports/a/2026-03-01/summary.csv").sum("violations")
    };
    let write = |count| {
        sandbox.write("cr.log", lines(count).replace('\n', "\r"));
        sandbox.write(
            "utf16.log",
            utf16(&lines(count).replace("/private", "/private/2"), false, true),
        );
    };
    write(50);
    let first = night();
    write(80);
    assert_eq!((first, night(), night()), (100, 160, 160));
}

#[test]
fn a_log_of_which_most_is_unread_is_named_beside_good_ones() {
    let sandbox = sandbox();
    sandbox.write("good.log", lines(50));
    let syslog = |line: &str| format!("<134>1 2026-03-01T00:00:01Z host proxy 1 - - {line}\n");
    let access = line(1, "/", 200, BINGBOT);
    let other = "10.0.0.1 GET /private bingbot 200".to_owned();
    let dialect: String = std::iter::once(&access)
        .chain(std::iter::repeat_n(&other, 300))
        .map(|line| syslog(line.trim_end()))
        .collect();
    let dialect = dialect.replacen("proxy 1", "nginx 1", 1);
    let enormous = [lines(3), "x".repeat(3 << 20), "\n".to_owned(), lines(2)].concat();
    let (bytes_unread, no_format) =
        ("more than half of the bytes are in no", "format not recognised");
    for (name, bytes, why) in [
        ("unmarked.log", utf16(&lines(20), false, false), no_format),
        ("dialect.log", dialect.into_bytes(), bytes_unread),
        ("enormous.log", enormous.into_bytes(), bytes_unread),
        ("comment.log", format!("#{}", "x".repeat(9_000)).into_bytes(), no_format),
        ("one.log", b"one odd line\n".to_vec(), no_format),
    ] {
        sandbox.write(name, bytes);
        let ran = audit(&sandbox, &format!("good.log {name}")).exits(3);
        let expected = format!("not read in full: {name}");
        assert!(ran.stdout.contains(&expected), "{}", ran.stdout);
        let ran = ran.complains(&format!("warning: {name}: {why}"));
        ran.complains(&format!("botaudit formats detect '{name}'"));
        assert_eq!(sandbox.json("report/run.json")["complete"], false);
        assert!(sandbox.text("report/report.html").contains("Missing or damaged input"));
        assert!(sandbox.table("report/summary.csv").sum("violations") >= 50, "{name}");
        audit(&sandbox, &format!("--min-parse-rate 0 good.log {name}")).exits(0);
        // The same from tallies.
        let partial = |log: &str| {
            sandbox.run(&format!("audit --robots robots.txt --partial {log}.tally {log} good.log"))
        };
        partial(name).exits(3).complains(why);
        let ran = sandbox.run(&format!("report {name}.tally -o merged")).exits(3);
        assert!(ran.stdout.contains(&expected), "{}", ran.stdout);
    }
}

#[test]
fn odd_lines_comments_and_other_times_are_no_unread_logs() {
    let sandbox = sandbox();
    sandbox.write("good.log", lines(50));
    let check = |name: &str, bytes: &str| {
        sandbox.write(name, bytes);
        audit(&sandbox, &format!("--until 2026-03-02 good.log {name}")).exits(0);
    };
    check("header.log", &iis("\r\n", 0));
    check("blank.log", "\n\n\n");
    check("comments.log", &(iis("\n", 0) + &"#Remark: nothing happened\n".repeat(1_000)));
    check("later.log", &lines(300).replace("01/Mar", "05/Mar"));
    check("odd.log", &format!("{}{}\n", lines(1), "x".repeat(2_000)));
    check("error.log", &"2026/03/02 10:11:12 [error] 123#123: *45 open() failed\n".repeat(300));
}

#[test]
fn logs_alone_that_are_not_understood_show_no_result() {
    let sandbox = sandbox();
    for bytes in [utf16(&lines(20), false, false), vec![b'x'; 3 << 20]] {
        sandbox.write("access.log", bytes);
        let ran = audit(&sandbox, "access.log").exits(3);
        ran.complains("access.log: ").complains("no request could be judged");
        assert_eq!(sandbox.json("report/run.json")["coverage"]["outcome"], "nothing-judged");
    }
}

/// Evidence is in the order of logs, and does not wait for one that is not there.
#[test]
fn evidence_goes_on_after_a_log_that_cannot_be_opened() {
    let sandbox = sandbox();
    sandbox.write("good.log", lines(5));
    for threads in [1, 2] {
        let ran =
            audit(&sandbox, &format!("--threads {threads} --evidence e.csv gone.log good.log"));
        ran.exits(3).complains("cannot open gone.log");
        assert_eq!(sandbox.table("e.csv").rows.len(), 5);
    }
}

#[test]
fn logs_that_are_not_understood_are_named_up_to_three() {
    let sandbox = sandbox();
    let bad = lines(20) + &"no line of a log\n".repeat(80);
    for name in ["a", "b", "c", "d"] {
        sandbox.write(&format!("{name}.log"), bad.replace("/private", &format!("/private{name}")));
    }
    let said = |logs: &str| audit(&sandbox, logs).exits(3).stderr;
    let three = said("a.log b.log c.log");
    for name in ["a", "b", "c"] {
        assert!(
            three.contains(&format!("{name}.log: read as combined: 20 of 100 lines")),
            "{three}"
        );
    }
    assert!(!three.contains("more file"), "{three}");
    let four = said("a.log b.log c.log d.log");
    assert!(four.contains("; and 1 more file; the minimum is"), "{four}");
    assert!(!four.contains("d.log"), "{four}");
    assert_eq!(three.matches(" lines parsed (20.0 %)").count(), 3, "{three}");
}
