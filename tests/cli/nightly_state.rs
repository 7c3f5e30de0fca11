//! The state between nights: logs that grow, rotate and are cut, and runs that are killed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::nightly::{GPTBOT, ROBOTS, bytes, on};
use super::program::{Sandbox, gzip, line};
use crate::random::Random;

const CONFIG: &str = "[sites.shop]\nlogs = [\"logs/*.log*\"]\nrobots = \"robots.txt\"\norigin = \"https://shop.example\"\n";
const RUN: &str = "nightly --config etc/botaudit.toml -q --day 2026-03-01";

fn site() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("etc/botaudit.toml", CONFIG);
    sandbox.write("etc/robots.txt", ROBOTS);
    sandbox
}

/// `count` requests of the day, one per second from `from` on, every second one disallowed.
fn lines(from: u32, count: u32) -> String {
    (from..from + count)
        .map(|at| line(at, ["/open", "/private"][at as usize % 2], 200, GPTBOT))
        .collect()
}

/// Requests and violations after another run.
#[track_caller]
fn check(sandbox: &Sandbox, requests: u32, violations: u32) {
    sandbox.run(RUN).exits(0);
    let summary = sandbox.table("etc/reports/shop/2026-03-01/summary.csv");
    let expected = format!("https://shop.example | {requests} | {violations}");
    assert_eq!(summary.cells("origin requests violations"), [expected]);
}

#[test]
fn a_log_is_counted_once_whatever_it_is_called() {
    let sandbox = site();
    sandbox.write("etc/logs/a.log", lines(0, 10));
    check(&sandbox, 10, 5);
    check(&sandbox, 10, 5);
    // It grows, with an incomplete last line; then it is rotated and no longer grows.
    let more = lines(10, 4);
    sandbox.write("etc/logs/a.log", lines(0, 10) + &more[..more.len() - 5]);
    check(&sandbox, 13, 6);
    fs::rename(sandbox.path("etc/logs/a.log"), sandbox.path("etc/logs/a.log.1")).unwrap();
    sandbox.write("etc/logs/a.log.1", lines(0, 14));
    sandbox.write("etc/logs/a.log", lines(100, 2));
    check(&sandbox, 16, 8);
    // It is compressed, first incompletely; the plain file still exists, then not.
    let packed = gzip(lines(0, 14).as_bytes());
    sandbox.write("etc/logs/a.log.2.gz", &packed[..packed.len() / 2]);
    check(&sandbox, 16, 8);
    fs::remove_file(sandbox.path("etc/logs/a.log.1")).unwrap();
    check(&sandbox, 16, 8);
    sandbox.write("etc/logs/a.log.2.gz", &packed);
    check(&sandbox, 16, 8);
    sandbox.write("etc/logs/other.log", lines(0, 14));
    check(&sandbox, 16, 8);
}

/// Equal lines of short logs with other names may be chance: they count, as in an audit, and the night says so.
#[test]
fn a_short_log_that_another_begins_with_is_counted() {
    let sandbox = site();
    sandbox.write("etc/logs/a.log", lines(0, 10));
    check(&sandbox, 10, 5);
    sandbox.write("etc/logs/b.log", lines(0, 4));
    sandbox.write("etc/logs/a.log.1", lines(0, 4));
    let warning = "logs/b.log was counted, though logs/a.log begins with the same lines";
    sandbox.run(RUN).exits(0).complains(warning);
    check(&sandbox, 14, 7);
    sandbox.write("etc/logs/b.log", lines(0, 4) + &lines(500, 2));
    check(&sandbox, 16, 8);
}

#[test]
fn a_log_that_is_cut_begins_anew_and_one_that_goes_on_elsewhere_goes_on() {
    let sandbox = site();
    sandbox.write("etc/logs/a.log", lines(0, 10));
    check(&sandbox, 10, 5);
    // Copied with four more lines, then cut.
    sandbox.write("etc/logs/a.log.1", lines(0, 14));
    sandbox.write("etc/logs/a.log", lines(200, 6));
    check(&sandbox, 20, 10);
    // A growing gzip file is read as far as possible.
    let packed = gzip(lines(300, 4_000).as_bytes());
    sandbox.write("etc/logs/b.log.gz", &packed[..packed.len() / 2]);
    sandbox.run(RUN).exits(0);
    sandbox.write("etc/logs/b.log.gz", &packed);
    check(&sandbox, 4_020, 2_010);
}

#[test]
fn equal_headers_make_no_two_logs_one_and_their_fields_hold() {
    let sandbox = site();
    let header =
        "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)\n"
            .repeat(40);
    let agent = GPTBOT.replace(' ', "+");
    let rows = |from: u32, count: u32| -> String {
        let row = |at| format!("2026-03-01 10:00:{at:02} 192.0.2.1 GET /private 200 {agent}\n");
        (from..from + count).map(row).collect()
    };
    sandbox.write("etc/logs/a.log", format!("{header}{}", rows(0, 5)));
    check(&sandbox, 5, 5);
    sandbox.write("etc/logs/b.log", format!("{header}{}", rows(20, 2)));
    check(&sandbox, 7, 7);
    sandbox.write("etc/logs/a.log", format!("{header}{}", rows(0, 8)));
    sandbox.write("etc/logs/b.log", format!("{header}{}", rows(20, 3)));
    check(&sandbox, 11, 11);
}

#[test]
fn a_late_day_is_opened_again_and_no_address_is_remembered() {
    let sandbox = site();
    sandbox.write("etc/logs/a.log", lines(0, 4) + "what is no record, of 192.0.2.7\n");
    check(&sandbox, 4, 2);
    sandbox.write("etc/logs/b.log", on("28/Feb/2026", 5, "/private"));
    sandbox.write("etc/logs/c.log", lines(900, 2));
    sandbox.run(&RUN.replace("2026-03-01", "2026-02-28")).exits(0);
    let summary = sandbox.table("etc/reports/shop/2026-03-01/summary.csv");
    assert_eq!(summary.cells("requests violations"), ["6 | 3"]);
    let rejects = sandbox.table("etc/reports/shop/2026-03-01/rejects.csv");
    assert_eq!(
        rejects.cells("file lines example_line example"),
        ["logs/a.log | 1 | 5 | what is no record, of (address)"]
    );
    let before = bytes(&sandbox.path("etc/reports/shop/2026-03-01"));
    fs::remove_dir_all(sandbox.path("etc/logs")).unwrap();
    sandbox.write("etc/logs/d.log", "");
    fs::remove_dir_all(sandbox.path("etc/reports/shop/2026-03-01")).unwrap();
    // Today's robots.txt does not change earlier verdicts.
    sandbox.write("etc/robots.txt", "");
    sandbox.run(RUN).exits(0);
    assert_eq!(bytes(&sandbox.path("etc/reports/shop/2026-03-01")), before);
}

#[test]
fn old_days_are_forgotten_and_their_lines_are_not_counted_again() {
    let sandbox = site();
    sandbox.write("etc/botaudit.toml", format!("keep_state_days = 30\n{CONFIG}"));
    sandbox.write("etc/logs/a.log", lines(0, 4));
    sandbox.run(RUN).exits(0);
    let summary = sandbox.table("etc/reports/shop/2026-03-01/summary.csv");
    assert!(summary.rows.is_empty(), "{summary:?}");
}

/// A log may end with a late line, and disappear; the days of its lines stay.
#[test]
fn a_log_that_is_gone_is_remembered_as_long_as_its_days() {
    let sandbox = site();
    let day = |days_ago: i64| {
        let day = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        day.saturating_sub(jiff::Span::new().days(days_ago))
    };
    let lines = |days_ago: i64| on(&day(days_ago).strftime("%d/%b/%Y").to_string(), 5, "/private");
    sandbox.write("etc/logs/a.log", lines(2) + &lines(20));
    sandbox.run(&RUN.replace("2026-03-01", &day(2).to_string())).exits(0);
    std::fs::remove_file(sandbox.path("etc/logs/a.log")).unwrap();
    sandbox.write("etc/logs/b.log", lines(3));
    sandbox.write("etc/botaudit.toml", format!("keep_state_days = 10\n{CONFIG}"));
    for _ in 0..2 {
        sandbox.run(&RUN.replace("2026-03-01", &day(2).to_string())).exits(0);
        let summary = sandbox.table(&format!("etc/reports/shop/{}/summary.csv", day(2)));
        assert_eq!(summary.cells("requests violations"), ["1 | 1"]);
    }
}

/// A host that the user names later was unknown before.
#[test]
fn an_origin_may_come_to_be_known() {
    let sandbox = site();
    let config = "[sites.shop]\nlogs = [\"logs/*.log*\"]\nrobots = \"robots\"\n";
    sandbox.write("etc/botaudit.toml", config);
    sandbox.write("etc/robots/other.example", ROBOTS);
    let of_host = |from, count| -> String {
        lines(from, count).lines().map(|line| format!("shop.example:443 {line}\n")).collect()
    };
    sandbox.write("etc/logs/a.log", of_host(0, 4));
    sandbox.run(RUN).exits(3).complains("no robots.txt of the hosts in the logs:");
    sandbox.write("etc/robots/shop.example", ROBOTS);
    sandbox.write("etc/logs/a.log", of_host(0, 8));
    sandbox.run(RUN).exits(0);
    let summary = sandbox.table("etc/reports/shop/2026-03-01/summary.csv");
    assert_eq!(summary.cells("requests unknown violations"), ["8 | 4 | 2"]);
    sandbox.run(RUN).exits(0);
}

#[test]
fn a_state_of_another_version_is_refused() {
    let sandbox = site();
    sandbox.write("etc/logs/a.log", lines(0, 4));
    sandbox.write("etc/reports/state.sqlite", "not a database, but a text of some length");
    sandbox.run(RUN).exits(2).complains("reports/state.sqlite: cannot be used as state");
}

/// A server that logs, with its log rotation.
struct Server {
    random: Random,
    /// Seconds since the start of the first day.
    time: u32,
    /// The written part of an incomplete line.
    half: String,
}

impl Server {
    fn random(&mut self, below: u32) -> u32 {
        self.random.below(below as usize) as u32
    }

    fn line(&mut self) -> String {
        self.time += self.random(900);
        // Some lines are late.
        let time = self.time.saturating_sub(if self.random(9) == 0 { 40_000 } else { 0 });
        let agent = [
            "curl-like-crawler/1.0",
            GPTBOT,
            "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
        ][self.random(3) as usize];
        let target =
            ["/open", "/private/a?b=c", "/robots.txt", "/private"][self.random(4) as usize];
        let day = format!("{:02}/Mar/2026", 1 + time / 86_400);
        match self.random(25) {
            0 => format!("no record at {time}\n"),
            _ => line(time % 86_400, target, 200, agent).replace("01/Mar/2026", &day),
        }
    }

    /// Between two runs, some lines are added, and sometimes logs are rotated.
    fn go_on(&mut self, logs: &Path) {
        let log = logs.join("access.log");
        let mut text =
            fs::read_to_string(&log).unwrap_or_default() + &std::mem::take(&mut self.half);
        for _ in 0..self.random(30) {
            text += &self.line();
        }
        match self.random(6) {
            0 => {
                self.rotate(logs);
                fs::write(logs.join("access.log.1"), &text).unwrap();
                text = String::new();
            }
            1 => {
                let line = self.line();
                let half = self.random(line.len() as u32) as usize;
                text += &line[..half];
                self.half = line[half..].to_owned();
            }
            _ => {}
        }
        fs::write(&log, text).unwrap();
    }

    /// Compresses the second last log. If the file is still incomplete, the plain one stays.
    fn rotate(&mut self, logs: &Path) {
        let last = logs.join("access.log.1");
        let Ok(text) = fs::read(&last) else { return };
        for number in (2..60).rev() {
            let name = |number| logs.join(format!("access.log.{number}.gz"));
            let _ = fs::rename(name(number), name(number + 1));
        }
        fs::write(logs.join("access.log.2.gz"), gzip(&text)).unwrap();
        fs::remove_file(last).unwrap();
    }
}

fn reports(sandbox: &Sandbox) -> Vec<(String, Vec<(String, String)>)> {
    let names =
        sandbox.names("etc/reports/shop").into_iter().filter(|name| name.starts_with("2026"));
    names
        .map(|name| {
            let report = bytes(&sandbox.path(&format!("etc/reports/shop/{name}")));
            (name, report)
        })
        .collect()
}

/// 200 runs are killed at random moments while logs grow and rotate. The final result is that of
/// one undisturbed run on the same logs.
#[test]
fn runs_may_be_killed_at_any_moment() {
    // Of the few lines between two runs, any share may be no records.
    let site = || {
        let sandbox = site();
        sandbox.write("etc/botaudit.toml", format!("{CONFIG}min_parse_rate = 1\n"));
        sandbox
    };
    let sandbox = site();
    let logs = sandbox.path("etc/logs");
    fs::create_dir_all(&logs).unwrap();
    let mut server = Server { random: Random(11), time: 0, half: String::new() };
    server.go_on(&logs);
    let started = Instant::now();
    sandbox.run(RUN).exits(0);
    let whole = u32::try_from(started.elapsed().as_micros()).unwrap();
    for _ in 0..200 {
        server.go_on(&logs);
        let mut child = sandbox.command(RUN).spawn().unwrap();
        // Some runs finish.
        thread::sleep(Duration::from_micros(u64::from(server.random(whole + whole / 10))));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let log = logs.join("access.log");
    let text = fs::read_to_string(&log).unwrap() + &server.half;
    fs::write(&log, text).unwrap();
    sandbox.run(RUN).exits(0);

    let once = site();
    fs::create_dir_all(once.path("etc/logs")).unwrap();
    for entry in fs::read_dir(&logs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        fs::copy(&path, once.path(&format!("etc/logs/{name}"))).unwrap();
    }
    once.run(RUN).exits(0);
    let (killed, undisturbed) = (reports(&sandbox), reports(&once));
    assert!(undisturbed.len() > 5, "{} days", undisturbed.len());
    let days = |reports: &[(String, Vec<(String, String)>)]| -> Vec<String> {
        reports.iter().map(|(day, _)| day.clone()).collect()
    };
    assert_eq!(days(&killed), days(&undisturbed));
    for ((day, killed), (_, undisturbed)) in killed.iter().zip(&undisturbed) {
        for (killed, undisturbed) in killed.iter().zip(undisturbed) {
            assert!(killed == undisturbed, "{day}: {killed:.2000?}\n{undisturbed:.2000?}");
        }
    }
}
