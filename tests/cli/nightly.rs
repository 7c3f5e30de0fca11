//! Daily reports of each site: no line counts twice, no report is incomplete.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::program::{Ran, Sandbox, gzip, line, text_of};

pub const GPTBOT: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
pub const ROBOTS: &str = "User-agent: *\nDisallow: /private\n";
const CONFIG: &str = "[sites.shop]\nlogs = [\"shop.log*\"]\nrobots = \"robots.txt\"\norigin = \"https://shop.example\"\n";

/// As `line`, which is of 2026-03-01, but for the given day.
pub fn on(day: &str, second: u32, target: &str) -> String {
    line(second, target, 200, GPTBOT).replace("01/Mar/2026", day)
}

/// Three days of a site.
fn log() -> String {
    let day = |day: &str, requests: u32| -> String {
        (0..requests).map(|at| on(day, 60 * at, ["/open", "/private"][at as usize % 2])).collect()
    };
    [day("28/Feb/2026", 5), day("01/Mar/2026", 8), day("02/Mar/2026", 3)].concat()
}

fn site(config: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("etc/botaudit.toml", config);
    sandbox.write("etc/robots.txt", ROBOTS);
    sandbox.write("etc/shop.log", log());
    sandbox
}

fn run(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!("nightly --config etc/botaudit.toml -q {arguments}"))
}

const DAY: &str = "--day 2026-03-01";
const REPORT: &str = "etc/reports/shop/2026-03-01";

#[test]
fn verbose_names_formats_and_times() {
    let config = "[sites.shop]\nlogs = [\"shop.log\"]\nrobots = \"robots.txt\"\n\
                  origin = \"https://shop.example\"\n";
    let sandbox = site(config);
    let ran = run(&sandbox, &format!("{DAY} -v")).exits(0);
    ran.complains("shop.log: format combined\n").complains("note: report written: 0.");
}

#[track_caller]
fn check_counts(sandbox: &Sandbox) {
    let rows = sandbox.table(&format!("{REPORT}/summary.csv")).cells("origin requests violations");
    assert_eq!(rows, ["https://shop.example | 8 | 4"]);
}

/// All files of a report, without the time of its writing, and without its own name in the commands
/// of the page.
pub fn bytes(report: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(report)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = text_of(&path);
            let lines = text.lines().filter(|line| !line.contains("\"made_at_utc\""));
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, unnamed(&lines.collect::<Vec<_>>().join("\n")))
        })
        .collect();
    files.sort();
    files
}

fn unnamed(page: &str) -> String {
    let mut parts = page.split_inclusive("<code>botaudit ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += &unnamed_command(part).unwrap_or_else(|| part.to_owned());
    }
    text
}

/// `None` if the command does not name the report.
fn unnamed_command(command: &str) -> Option<String> {
    let (name, rest) = command.split_once(' ')?;
    match name {
        "deny" | "evidence" | "report" => {
            Some(format!("{name} REPORT --{}", rest.split_once(" --")?.1))
        }
        "audit" => {
            let (options, output) = rest.split_once(" -o ")?;
            Some(format!("{name} {options} -o REPORT {}", output.split_once(' ')?.1))
        }
        _ => None,
    }
}

#[test]
fn the_directory_of_the_trend_need_not_exist() {
    let sandbox = site(&format!("state = \"state.db\"\n{CONFIG}output = \"out\"\n"));
    run(&sandbox, DAY).exits(0);
    assert!(sandbox.path("etc/reports/trend.csv").exists());
}

#[test]
fn a_day_is_audited_and_latest_leads_to_the_last() {
    let sandbox = site(CONFIG);
    let ran = run(&sandbox, DAY).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    check_counts(&sandbox);
    run(&sandbox, "--day 2026-02-28").exits(0);
    // All days in the log are complete.
    let latest = fs::read_link(sandbox.path("etc/reports/shop/latest")).unwrap();
    assert_eq!(latest, Path::new("2026-03-02"));
    let before = bytes(&sandbox.path(REPORT));
    run(&sandbox, DAY).exits(0);
    assert_eq!(bytes(&sandbox.path(REPORT)), before);
}

#[test]
fn what_lies_in_two_files_while_logs_rotate_is_counted_once() {
    let half = gzip(log().as_bytes());
    let half = &half[..half.len() - 12];
    for (name, copy) in [
        ("shop.log.1", log().as_bytes()),
        ("shop.log.1.gz", &gzip(log().as_bytes())),
        ("shop.log.1.gz", half),
    ] {
        let sandbox = site(CONFIG);
        sandbox.write(&format!("etc/{name}"), copy);
        run(&sandbox, DAY).exits(0);
        check_counts(&sandbox);
    }
    let sandbox = site(CONFIG);
    let lines: Vec<String> = log().split_inclusive('\n').map(str::to_owned).collect();
    sandbox.write_gz("etc/shop.log.1.gz", lines[..9].concat());
    sandbox.write("etc/shop.log", lines[9..].concat());
    run(&sandbox, DAY).exits(0);
    check_counts(&sandbox);
}

#[test]
fn every_mistake_is_named_with_file_line_and_key() {
    let sandbox = site(
        "keep_days = 0\n[sites.shop]\nlogs = \"shop.log\"\nrobots = \"robots.txt\"\ntimezone = \"Mars\"\n\
         [sites.blog]\nlogs = \"shop.log\"\n[sites.api]\nlogs = \"x\"\nrobots = \"gone.txt\"\nrobts = 1\n\
         [sites.www]\nlogs = \"shop.log\"\nrobots = \"robots.txt\"\nfail_on = \"violation > 0\"\n\
         evidence = \"evidence.csv\"\ninfer-outages = true\n",
    );
    let ran = run(&sandbox, "--check-config").exits(2);
    for expected in [
        "etc/botaudit.toml:1: keep_days: expected a number of days",
        "etc/botaudit.toml:5: sites.shop.timezone: ",
        "etc/botaudit.toml:6: sites.blog.robots: missing; name a robots.txt file",
        "etc/botaudit.toml:10: sites.api.robots: cannot read --robots gone.txt",
        "etc/botaudit.toml:11: unknown key 'robts'; did you mean 'robots'?",
        "etc/botaudit.toml:15: sites.www.fail_on: \"violation > 0\": at character 1",
        "etc/botaudit.toml:16: sites.www.evidence: not possible in a nightly job",
        "etc/botaudit.toml:17: sites.www.infer-outages: not possible in a nightly job",
        "etc/botaudit.toml has 8 mistakes; nothing was read",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}\n{}", ran.stderr);
    }
    assert!(!sandbox.path("etc/reports").exists());
}

#[test]
fn a_dry_run_lists_the_logs_and_reads_none() {
    let sandbox = site(CONFIG);
    sandbox.write("etc/shop.log.1", log());
    let ran = run(&sandbox, &format!("{DAY} --check-config")).exits(0);
    let expected = "shop on 2026-03-01, report in reports/shop/2026-03-01\n  shop.log\n  (shop.log.1 is skipped: shop.log contains all of it)\n";
    assert_eq!(ran.stdout, expected);
    assert!(!sandbox.path("etc/reports").exists());
}

#[test]
fn a_second_run_learns_which_run_holds_the_lock() {
    let sandbox = site(CONFIG);
    fs::create_dir_all(sandbox.path("etc/reports/shop")).unwrap();
    let lock = fs::File::create(sandbox.path("etc/reports/shop/.lock")).unwrap();
    lock.lock().unwrap();
    fs::write(sandbox.path("etc/reports/shop/.lock"), "process 7 since then\n").unwrap();
    run(&sandbox, DAY).exits(4).complains("is locked by process 7 since then");
    drop(lock);
    run(&sandbox, DAY).exits(0);
}

#[test]
fn the_worst_of_all_sites_is_the_exit_code_and_none_keeps_another_from_being_read() {
    let threshold = "fail_on = \"violations > 3\"\n";
    let sandbox = site(&format!("{CONFIG}{threshold}"));
    let ran = run(&sandbox, DAY).exits(1).complains("1 row meets fail_on \"violations > 3\"");
    assert_eq!(ran.stdout, "");
    let api = "[sites.api]\nlogs = \"gone.log\"\nrobots = \"robots.txt\"\n";
    sandbox.write("etc/botaudit.toml", format!("{CONFIG}{threshold}{api}"));
    run(&sandbox, DAY).exits(2).complains("api on 2026-03-01: cannot open gone.log");
    sandbox.write("etc/cut.log.gz", &gzip(log().as_bytes())[..80]);
    run(&sandbox, DAY).exits(2);
    let old = std::time::SystemTime::now() - Duration::from_secs(2 * 86_400);
    fs::File::options()
        .write(true)
        .open(sandbox.path("etc/cut.log.gz"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    let api = "[sites.api]\nlogs = \"cut.log.gz\"\nrobots = \"robots.txt\"\n";
    sandbox.write("etc/botaudit.toml", format!("{CONFIG}{threshold}{api}"));
    run(&sandbox, DAY).exits(3).complains("cut.log.gz: truncated gzip stream");
    sandbox.write("etc/shop.log", "");
    sandbox.write("etc/botaudit.toml", CONFIG);
    run(&sandbox, DAY).exits(0);
}

#[test]
fn reports_of_old_days_are_removed() {
    let sandbox = site(&format!("keep_days = 2\n{CONFIG}"));
    for day in ["2026-02-27", "2026-02-28", "2026-03-01"] {
        run(&sandbox, &format!("--day {day}")).exits(0);
    }
    let names = sandbox.names("etc/reports/shop");
    assert_eq!(names, [".lock", "2026-02-28", "2026-03-01", "2026-03-02", "index.html", "latest"]);
}

#[test]
fn a_day_in_the_future_is_refused_and_latest_never_leads_there() {
    let sandbox = site(CONFIG);
    let ran = run(&sandbox, "--day 2999-01-01").exits(2);
    ran.complains("error: --day 2999-01-01 is in the future: today is 2");
    assert!(!sandbox.path("etc/reports/shop/2999-01-01").exists());
    run(&sandbox, DAY).exits(0);
    // As an earlier version left it.
    let [day, later] =
        ["2026-03-01", "2999-01-01"].map(|day| sandbox.path(&format!("etc/reports/shop/{day}")));
    fs::create_dir(&later).unwrap();
    for entry in fs::read_dir(&day).unwrap() {
        let from = entry.unwrap().path();
        fs::copy(&from, later.join(from.file_name().unwrap())).unwrap();
    }
    let latest = sandbox.path("etc/reports/shop/latest");
    fs::remove_file(&latest).unwrap();
    std::os::unix::fs::symlink("2999-01-01", &latest).unwrap();
    run(&sandbox, DAY).exits(0);
    assert_eq!(fs::read_link(&latest).unwrap().to_str(), Some("2026-03-02"));
}

/// Cron mails both streams: a condition that is met is on one of them, and counts once.
#[test]
fn a_mail_has_each_condition_once() {
    let fail_on = "fail_on = [\"violations > 0\", \"requests > 1\"]\n";
    let sandbox = site(&format!("{CONFIG}{fail_on}"));
    let ran = run(&sandbox, &format!("{DAY} --mail-summary")).exits(1);
    assert!(ran.stdout.starts_with("botaudit: "), "{}", ran.stdout);
    let headline = ran.stdout.lines().next().unwrap();
    assert_eq!(headline, "botaudit: 7 violations on 3 days, 6 problems");
    for condition in ["violations > 0", "requests > 1"] {
        let both = format!("{}{}", ran.stdout, ran.stderr);
        let of_days = both.matches(&format!("fail_on \"{condition}\"")).count();
        assert_eq!(of_days, 3, "one for each day that was read: {both}");
    }
    assert!(!ran.stderr.contains("--fail-on"), "{}", ran.stderr);
    // In a file, the page is no part of the mail of cron.
    let ran = run(&sandbox, &format!("{DAY} --mail-summary night.txt")).exits(1);
    assert!(ran.stderr.contains("fail_on \"violations > 0\""), "{}", ran.stderr);
}

/// A line that cannot be parsed has no time: it is of the day of the line before it, which an earlier
/// night has read.
#[test]
fn a_line_without_a_time_is_of_the_day_that_an_earlier_night_ended_with() {
    let sandbox = site(&format!("{CONFIG}min_parse_rate = 0\n"));
    fs::remove_file(sandbox.path("etc/shop.log")).unwrap();
    let first = on("01/Mar/2026", 1, "/open");
    sandbox.write("etc/shop.log", first.clone());
    run(&sandbox, DAY).exits(0);
    sandbox.write("etc/shop.log", first + "no line of a log\n" + &on("02/Mar/2026", 1, "/open"));
    run(&sandbox, "--day 2026-03-02").exits(0);
    let rejects =
        |day: &str| sandbox.table(&format!("etc/reports/shop/{day}/rejects.csv")).rows.len();
    assert_eq!([rejects("2026-03-01"), rejects("2026-03-02")], [1, 0]);
}

/// A thread may read lines of one minute from two logs, and of another day between them.
#[test]
fn lines_of_a_minute_count_for_their_day_whatever_is_read_between() {
    const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
    let sandbox = site(&CONFIG.replace("shop.log*", "logs/"));
    let labelled = |log: u32, at: u32| {
        format!(
            "time:2026-03-02T08:00:{at:02}+00:00\thost:192.0.2.7\treq:GET /{log}/{at} HTTP/1.1\tstatus:200\tsize:5\tua:GPTBot/1.2\n"
        )
    };
    // However many threads take turns, each of them reads logs of both kinds, in no regular order.
    for log in 0..64_u32 {
        let text: String = match log.count_ones() % 2 {
            0 => (0..30).map(|at| line(at, &format!("/{log}/{at}"), 200, BROWSER)).collect(),
            _ => (0..30).map(|at| labelled(log, at)).collect(),
        };
        sandbox.write(&format!("etc/logs/{log:02}.log"), text);
    }
    for (day, class) in [("2026-03-01", "browser"), ("2026-03-02", "crawler-unverified")] {
        run(&sandbox, &format!("--day {day}")).exits(0);
        let clients = sandbox.table(&format!("etc/reports/shop/{day}/clients.csv"));
        assert_eq!(clients.cells("day class requests"), [format!("{day} | {class} | 960")]);
    }
}

/// Objects of a browser, all alike, between others of a crawler on the next day.
#[test]
fn objects_of_a_minute_count_for_their_day_whatever_is_between() {
    let sandbox = site(CONFIG);
    let object = |day: u32, user_agent: &str, more: &str| {
        format!(
            "{{\"remote_addr\":\"192.0.2.7\",\"time_iso8601\":\"2026-03-0{day}T08:00:07+00:00\",\"request_method\":\"GET\",\
             \"request_uri\":\"/open\",\"status\":\"200\",\"http_user_agent\":\"{user_agent}\"{more}}}\n"
        )
    };
    let browser =
        object(1, "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "");
    let crawler = object(2, "GPTBot/1.2", ",\"more\":{\"a\":1}");
    sandbox.write("etc/shop.log", (browser.repeat(5) + &crawler).repeat(20));
    for (day, class) in [("2026-03-01", "browser | 100"), ("2026-03-02", "crawler-unverified | 20")]
    {
        run(&sandbox, &format!("--day {day}")).exits(0);
        let clients = sandbox.table(&format!("etc/reports/shop/{day}/clients.csv"));
        assert_eq!(clients.cells("class requests"), [class]);
    }
}

#[test]
fn a_change_in_an_archive_is_an_event_of_its_origin() {
    let sandbox = site(&CONFIG.replace("\"robots.txt\"", "\"robots.db\""));
    sandbox.write("old.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("new.txt", "User-agent: *\nDisallow: /secret\n");
    sandbox.write(
        "manifest.csv",
        "origin,fetched_at,status,path,max_age\n\
         https://shop.example,2026-02-20,200,old.txt,\n\
         https://shop.example,2026-03-02,200,new.txt,\n",
    );
    sandbox.run("robots import -q -a etc/robots.db manifest.csv").exits(0);
    let log = ["01", "02"].map(|day| on(&format!("{day}/Mar/2026"), 1, "/open"));
    sandbox.write("etc/shop.log", log.concat());
    run(&sandbox, DAY).exits(0);
    run(&sandbox, "--day 2026-03-02").exits(0);
    let events = sandbox.table("etc/reports/events.csv").cells("day event source");
    assert_eq!(events, ["2026-03-02 | robots-changed | https://shop.example"]);
}
