//! Nights between which robots.txt changes: a day is judged by the rules of its time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use rusqlite::{Connection, params};

use super::nightly::{GPTBOT, ROBOTS, on};
use super::program::{Ran, Sandbox, Table, line};
use crate::random::Random;

const CONFIG: &str = "[defaults]\nfail_on = [\"violations > 0\"]\n[sites.shop]\nlogs = [\"shop.log*\"]\n\
                      robots = \"robots.txt\"\norigin = \"https://shop.example\"\n";

/// Where the versions of the files of the site are.
const KEPT: &str = "etc/reports/state.sqlite.robots/shop.db";

/// Makes `file` one that was changed at `time`.
pub fn changed_at(sandbox: &Sandbox, file: &str, time: &str) {
    let time: Timestamp = time.parse().unwrap();
    let file = File::options().append(true).open(sandbox.path(file)).unwrap();
    file.set_modified(time.into()).unwrap();
}

/// Makes the last run one at `time`: what it saw of robots.txt files, it saw then.
pub fn seen_at(sandbox: &Sandbox, time: &str) {
    let time: Timestamp = time.parse().unwrap();
    let kept = Connection::open(sandbox.path(KEPT)).unwrap();
    // All else in these tests is older.
    let today = Timestamp::now().as_second() - 86_400;
    let sql = "UPDATE OR REPLACE snapshots SET fetched_at = ?1 WHERE fetched_at > ?2";
    kept.execute(sql, params![time.as_second(), today]).unwrap();
}

struct Site(Sandbox);

impl Site {
    fn new() -> Site {
        let site = Site(Sandbox::new());
        site.0.write("etc/botaudit.toml", CONFIG);
        site
    }

    /// Writes a robots.txt that was changed at `time`.
    fn robots(&self, name: &str, text: &str, time: &str) {
        self.0.write(name, text);
        changed_at(&self.0, name, time);
    }

    /// The night after `day`, at three o'clock, after more lines.
    fn night(&self, day: u32, lines: &str) -> Ran {
        let log = self.0.path("etc/shop.log");
        let known = std::fs::read_to_string(log).unwrap_or_default();
        self.0.write("etc/shop.log", known + lines);
        let run =
            format!("nightly --config etc/botaudit.toml -q --mail-summary --day 2026-03-{day:02}");
        let ran = self.0.run(&run);
        seen_at(&self.0, &format!("2026-03-{:02}T03:00:00Z", day + 1));
        ran
    }

    #[track_caller]
    fn counts(&self, day: u32, expected: &[&str]) {
        let summary = self.0.table(&format!("etc/reports/shop/2026-03-{day:02}/summary.csv"));
        let found = summary.cells("origin requests allowed violations grace unknown");
        assert_eq!(found, expected, "{day}");
    }
}

/// 50 requests from this hour of the day on.
fn lines(day: u32, hour: u32, target: &str) -> String {
    (0..50).map(|at| on(&format!("{day:02}/Mar/2026"), 3600 * hour + at, target)).collect()
}

#[test]
fn a_day_is_judged_by_the_rules_of_its_time() {
    let site = Site::new();
    site.robots("etc/robots.txt", "User-agent: *\nDisallow: /x/\n", "2026-01-05T00:00:00Z");
    site.night(1, &lines(1, 1, "/p/1")).exits(0);
    site.robots("etc/robots.txt", "User-agent: *\nDisallow: /p/\n", "2026-03-03T02:50:00Z");
    site.night(2, &(lines(2, 1, "/p/1") + &lines(3, 2, "/p/1"))).exits(0);
    site.counts(2, &["https://shop.example | 50 | 50 | 0 | 0 | 0"]);
    // Crawlers may keep a copy for a day.
    let ran = site.night(3, &(lines(3, 12, "/p/1") + &lines(4, 2, "/p/1"))).exits(0);
    assert!(
        ran.stdout.contains("shop on 2026-03-03: the file robots.txt changed\n"),
        "{}",
        ran.stdout
    );
    site.counts(3, &["https://shop.example | 100 | 50 | 0 | 50 | 0"]);
    site.night(4, &lines(4, 12, "/p/1")).exits(1);
    site.counts(4, &["https://shop.example | 100 | 0 | 50 | 50 | 0"]);
    // Lines that come late are judged by the rules of their time, too.
    site.night(5, &lines(2, 20, "/p/1")).exits(0);
    site.counts(2, &["https://shop.example | 100 | 100 | 0 | 0 | 0"]);
    let events = site.0.table("etc/reports/events.csv").cells("day event source");
    assert!(events.contains(&"2026-03-03 | robots-changed | robots.txt".to_owned()), "{events:?}");
    assert_eq!(events.iter().filter(|row| row.contains("robots-changed")).count(), 1);
    let history = site.0.run(&format!("robots log --archive {KEPT} https://shop.example")).exits(0);
    for time in ["2026-01-05", "2026-03-03T02:49:59Z", "2026-03-03T02:50:00Z", "2026-03-06"] {
        assert!(history.stdout.contains(time), "{time}: {}", history.stdout);
    }
    let reactions = site.0.table("etc/reports/shop/2026-03-04/reactions.csv");
    let rows = reactions.cells("direction changed_after_utc changed_before_utc");
    let times = "2026-03-03T02:49:59Z | 2026-03-03T02:50:00Z";
    let both =
        ["newly-disallowed", "newly-allowed"].map(|direction| format!("{direction} | {times}"));
    assert_eq!(rows, both);
}

/// A file that was copied with its old time may have been there since the last night, or only since a moment.
#[test]
fn where_nobody_knows_when_robots_txt_changed_both_rules_excuse() {
    let site = Site::new();
    site.robots(
        "etc/robots.txt",
        "User-agent: *\nDisallow: /old\nDisallow: /both\n",
        "2026-01-05T00:00:00Z",
    );
    site.night(1, &lines(1, 1, "/old")).exits(1);
    site.robots(
        "etc/robots.txt",
        "User-agent: *\nDisallow: /new\nDisallow: /both\n",
        "2025-01-05T00:00:00Z",
    );
    let late = lines(1, 20, "/old");
    let between = [lines(2, 4, "/old"), lines(2, 5, "/new")].concat();
    site.night(2, &(late + &between)).exits(1);
    site.counts(1, &["https://shop.example | 100 | 0 | 100 | 0 | 0"]);
    site.counts(2, &["https://shop.example | 100 | 50 | 0 | 50 | 0"]);
    site.night(3, &(lines(3, 1, "/both") + &lines(3, 4, "/old"))).exits(1);
    site.counts(3, &["https://shop.example | 100 | 50 | 50 | 0 | 0"]);
    site.night(4, &lines(4, 4, "/new")).exits(1);
    site.counts(4, &["https://shop.example | 50 | 0 | 50 | 0 | 0"]);
}

#[test]
fn each_file_of_a_directory_has_its_versions() {
    let site = Site::new();
    let config = CONFIG.replace("\"robots.txt\"", "\"robots/\"");
    site.0.write("etc/botaudit.toml", config.replace("origin = \"https://shop.example\"\n", ""));
    for host in ["a.example", "b.example"] {
        site.robots(&format!("etc/robots/{host}"), ROBOTS, "2026-01-05T00:00:00Z");
    }
    let of = |host: &str, lines: &str| -> String {
        lines.lines().map(|line| format!("{host}:443 {line}\n")).collect()
    };
    let both =
        |day| of("a.example", &lines(day, 5, "/open")) + &of("b.example", &lines(day, 5, "/open"));
    site.night(1, &both(1)).exits(0);
    site.robots("etc/robots/b.example", "User-agent: *\nDisallow: /\n", "2026-03-03T02:50:00Z");
    site.night(2, &both(2)).exits(0);
    site.night(3, &both(3)).exits(0);
    site.night(4, &both(4)).exits(1);
    let of_day = |a: &str, b: &str| {
        [format!("https://a.example | 50 | {a}"), format!("https://b.example | 50 | {b}")]
    };
    for (day, b) in [(2, "50 | 0 | 0 | 0"), (3, "0 | 0 | 50 | 0"), (4, "0 | 50 | 0 | 0")] {
        let expected = of_day("50 | 0 | 0 | 0", b);
        site.counts(day, &expected.each_ref().map(String::as_str));
    }
    let history = site.0.run(&format!("robots log --archive {KEPT} https://b.example")).exits(0);
    assert!(history.stdout.contains("2026-03-03T02:50:00Z"), "{}", history.stdout);
}

/// The first night takes the file for that of all earlier days. An unchanged file is in force for ever.
#[test]
fn an_unchanged_file_is_in_force_at_all_times() {
    let site = Site::new();
    site.robots("etc/robots.txt", ROBOTS, "2026-03-02T01:00:00Z");
    for day in [1, 2, 3, 4, 9, 20] {
        site.night(day, &(lines(day, 1, "/private") + &lines(day, 20, "/open"))).exits(1);
        site.counts(day, &["https://shop.example | 100 | 50 | 50 | 0 | 0"]);
    }
    let kept = Connection::open(site.0.path(KEPT)).unwrap();
    let count = "SELECT count(*) FROM snapshots";
    assert_eq!(kept.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

/// Requests of any host and without a host are judged by a single file.
#[test]
fn a_single_file_has_versions_for_all_hosts() {
    let site = Site::new();
    site.0.write("etc/botaudit.toml", CONFIG.replace("origin = \"https://shop.example\"\n", ""));
    site.robots("etc/robots.txt", ROBOTS, "2026-01-05T00:00:00Z");
    site.night(1, &lines(1, 1, "/open")).exits(0);
    site.robots("etc/robots.txt", "User-agent: *\nDisallow: /\n", "2026-03-03T02:50:00Z");
    site.night(2, &lines(2, 1, "/open")).exits(0);
    site.counts(2, &["- | 50 | 50 | 0 | 0 | 0"]);
    site.night(4, &lines(4, 12, "/open")).exits(1);
    site.counts(4, &["- | 50 | 0 | 50 | 0 | 0"]);
    site.0.run(&format!("robots log --archive {KEPT} https://any.invalid")).exits(0);
}

/// A report of one day knows who read robots.txt on the days before, as that of both days does.
#[test]
fn who_read_robots_txt_yesterday_has_read_it_today() {
    let site = Site::new();
    site.robots("etc/robots.txt", ROBOTS, "2026-01-05T00:00:00Z");
    let fetch = on("01/Mar/2026", 23 * 3600 + 1800, "/robots.txt").replace(" 200 100 ", " 200 35 ");
    // Another crawler of the operator fetched nothing itself.
    let other = "Mozilla/5.0 (compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot)";
    let of_other = line(3600, "/private", 200, other).replace("01/Mar", "02/Mar");
    let bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
    let of_bingbot = line(3600, "/private", 200, bingbot).replace("01/Mar", "02/Mar");
    site.night(1, &fetch).exits(0);
    site.night(2, &(lines(2, 1, "/private") + &of_other + &of_bingbot)).exits(1);
    let columns = "crawler conduct violations violations_after_fetch";
    let expected = [
        "GPTBot | ignores | 50 | 50",
        "OAI-SearchBot | breaks-some | 1 | 1",
        "bingbot | not-read | 1 | 0",
    ];
    let check = |report: &str| {
        assert_eq!(
            site.0.table(&format!("{report}/summary.csv")).cells(columns),
            expected,
            "{report}"
        );
    };
    check("etc/reports/shop/2026-03-02");
    let page = site.0.text("etc/reports/shop/2026-03-02/report.html");
    let said = "On earlier days: GPTBot (unverified) read it on 2026-03-01, OAI-SearchBot (unverified) read it on 2026-03-01.";
    assert!(page.contains(said), "{page}");
    let shown = site.0.run("report etc/reports/shop/2026-03-02 --format text").exits(0).stdout;
    let said = "50 of 50 violations came after it had fetched robots.txt (read it on 2026-03-01)";
    assert!(shown.contains(said), "{shown}");
    site.0.run("report etc/reports/shop --from 2026-03-01 --to 2026-03-02 -o both").exits(0);
    let both = site.0.table("both/summary.csv").cells(columns);
    assert!(expected.iter().all(|row| both.contains(&(*row).to_owned())), "{both:?}");
    // It is remembered for a month.
    site.night(28, &lines(28, 1, "/private")).exits(1);
    let last = site.0.table("etc/reports/shop/2026-03-28/summary.csv");
    assert_eq!(last.cells("crawler conduct"), ["GPTBot | ignores"]);
}

#[test]
fn a_report_of_several_nights_names_who_came_and_who_went() {
    let site = Site::new();
    site.robots("etc/robots.txt", ROBOTS, "2026-01-05T00:00:00Z");
    let bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
    let of_bingbot = |day| lines(day, 1, "/open").replace(GPTBOT, bingbot);
    for day in [1, 2] {
        site.night(day, &of_bingbot(day)).exits(0);
    }
    for day in [3, 4] {
        site.night(day, &lines(day, 1, "/open")).exits(0);
    }
    let report = "report etc/reports/shop --from 2026-03-01 --to 2026-03-04 -o week";
    let said = "since 2026-03-03: came GPTBot 0 \u{2192} 100; went bingbot 100 \u{2192} 0\n";
    let shown = site.0.run(report).exits(0).stdout;
    assert!(shown.contains(said), "{shown}");
    let page = site.0.text("week/report.html");
    assert!(page.contains(&format!("<p>S{}.</p>", said[1..].trim_end())), "{page}");
    let at = site.0.run("report week --compare-at 2026-03-02 --format text").exits(0).stdout;
    assert!(at.contains("since 2026-03-02: came GPTBot 0 \u{2192} 100\n"), "{at}");
    let all = site.0.run("report week --compare-at 2026-03-01 --format text").exits(0).stdout;
    assert!(!all.contains("came"), "nothing is before that day: {all}");
}

/// Before the first sight of a file nothing is known of other versions. If it was just changed, the night says so.
#[test]
fn a_file_that_was_changed_since_the_day_began_is_named_at_its_first_sight() {
    let now = Timestamp::now();
    let yesterday = now.to_zoned(TimeZone::UTC).date().yesterday().unwrap();
    for (age_hours, is_named) in [(0, true), (96, false), (-1, false)] {
        let site = Site::new();
        let changed = now - age_hours.hours();
        site.robots("etc/robots.txt", "User-agent: *\nDisallow: /p/\n", &changed.to_string());
        let day = yesterday.strftime("%d/%b/%Y").to_string();
        site.0.write("etc/shop.log", on(&day, 60, "/p/1"));
        let night = "nightly --config etc/botaudit.toml -q";
        let said = "robots.txt was changed at ";
        let stderr = site.0.run(night).exits(1).stderr;
        assert_eq!(stderr.matches(said).count(), usize::from(is_named), "{age_hours}: {stderr}");
        assert!(!site.0.run(night).exits(1).stderr.contains(said), "only at the first sight");
        let summary = site.0.table(&format!("etc/reports/shop/{yesterday}/summary.csv"));
        assert_eq!(summary.cells("crawler violations"), ["GPTBot | 1"]);
    }
}

/// A fetch that comes late changes what the reports of later days say about conduct.
#[test]
fn a_late_fetch_changes_the_reports_of_later_days() {
    let site = Site::new();
    site.robots("etc/robots.txt", ROBOTS, "2026-01-05T00:00:00Z");
    let bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
    site.night(1, &lines(1, 1, "/open")).exits(0);
    site.night(2, &lines(2, 1, "/private")).exits(1);
    site.night(3, &lines(3, 1, "/open").replace(GPTBOT, bingbot)).exits(0);
    let conduct = |expected: &str| {
        let summary = site.0.table("etc/reports/shop/2026-03-02/summary.csv");
        assert_eq!(summary.cells("crawler conduct"), [expected]);
    };
    conduct("GPTBot | not-read");
    let fetch = on("01/Mar/2026", 23 * 3600, "/robots.txt").replace(" 200 100 ", " 200 35 ");
    let ran = site.night(4, &(fetch + &lines(4, 1, "/open"))).exits(1);
    conduct("GPTBot | ignores");
    let named = |day: u32| format!("  shop on 2026-03-{day:02} (changed since the last run): ");
    for (day, is_named) in [(1, true), (2, true), (3, false)] {
        assert_eq!(ran.stdout.contains(&named(day)), is_named, "{day}: {}", ran.stdout);
    }
    // Other late lines change no later day.
    let ran = site.night(5, &(lines(1, 5, "/open") + &lines(5, 1, "/open"))).exits(0);
    assert!(!ran.stdout.contains(&named(2)), "{}", ran.stdout);
    // A state that was made before it had fetches has them in its tallies.
    let state = Connection::open(site.0.path("etc/reports/state.sqlite")).unwrap();
    state.execute_batch("DROP TABLE fetches").unwrap();
    drop(state);
    site.night(2, "").exits(1);
    conduct("GPTBot | ignores");
}

/// Since the archive of a site is an ordinary one, the commands of archives read it.
#[test]
fn versions_of_nights_are_an_archive() {
    let site = Site::new();
    site.robots("etc/robots.txt", "User-agent: *\nDisallow: /x\n", "2026-01-05T00:00:00Z");
    let each = |day| lines(day, 1, "/p") + &lines(day, 3, "/x").replacen("/x", "/open", 40);
    for day in 1..=3 {
        site.night(day, &each(day));
    }
    site.robots("etc/robots.txt", "User-agent: *\nDisallow: /p\n", "2026-03-05T02:50:00Z");
    site.night(4, &each(4));
    for day in 5..=9 {
        site.night(day, &lines(day, 5, "/x"));
    }
    site.0.run(&format!("robots log --archive {KEPT} https://shop.example")).exits(0);
    site.0.run("report etc/reports/shop --from 2026-03-01 --to 2026-03-09 -o nights").exits(0);
    let audit =
        format!("audit -q --robots {KEPT} --origin https://shop.example -o audit etc/shop.log");
    site.0.run(&audit).exits(0);
    let reactions = |report: &str| {
        let table = site.0.table(&format!("{report}/reactions.csv"));
        table.cells("direction changed_before_utc requests_before reaction")
    };
    let changed = "2026-03-05T02:50:00Z";
    let expected = [
        format!("newly-disallowed | {changed} | 50 | unknown"),
        format!("newly-allowed | {changed} | 10 | unknown"),
    ];
    assert_eq!(reactions("nights"), expected, "what was counted before the change was seen");
    let expected = [
        format!("newly-disallowed | {changed} | 200 | never-fetched"),
        format!("newly-allowed | {changed} | 40 | found"),
    ];
    assert_eq!(reactions("audit"), expected);
}

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const CCBOT: &str = "CCBot/2.0 (https://commoncrawl.org/faq/)";

/// A line, with its day at the site.
type DayLine = (Date, String);

/// Some lines of `number`, a day in UTC. One crawler is new on the 12th, one breaks rules only since the 6th, and one
/// only until the 14th.
fn lines_of_day(random: &mut Random, number: u32) -> Vec<DayLine> {
    let searchbot = "Mozilla/5.0 (compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot)";
    let agents = [GPTBOT, searchbot, BINGBOT, CCBOT];
    let targets = ["/robots.txt", "/a", "/b", "/c", "/open"];
    let mut seconds: Vec<u32> = (0..80).map(|_| random.below(86_400) as u32).collect();
    seconds.sort_unstable();
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let line_at = |second: u32| {
        let agent = agents[random.below(if number < 12 { 3 } else { 4 })];
        let target = match targets[random.below(5)] {
            "/a" | "/b" | "/c" if agent == BINGBOT && number < 6 => "/open",
            "/a" | "/b" | "/c" if agent == GPTBOT && number > 14 => "/open",
            target => target,
        };
        let start: Timestamp = format!("2026-03-{number:02}T00:00:00Z").parse().unwrap();
        let day = (start + i64::from(second).seconds()).to_zoned(zone.clone()).date();
        let line = line(second, target, 200, agent);
        (day, line.replace("01/Mar", &format!("{number:02}/Mar")))
    };
    seconds.into_iter().map(line_at).collect()
}

/// What is expected of the news, by the words of docs/nightly.md: what a night must say depends on what it read.
#[derive(Default)]
struct ExpectedNews {
    /// The lines of each day that nights read.
    lines: BTreeMap<Date, usize>,
    events: BTreeSet<String>,
}

const SILENT_LINES: usize = 20;

impl ExpectedNews {
    /// The night of `day` read `new` lines.
    fn night(&mut self, day: Date, new: &[DayLine]) {
        let reported: BTreeSet<Date> = self.lines.keys().copied().collect();
        let mut late: BTreeMap<Date, usize> = BTreeMap::new();
        for (of, _) in new {
            *self.lines.entry(*of).or_default() += 1;
            *late.entry(*of).or_default() += 1;
        }
        self.lines.entry(day).or_default();
        for (of, lines) in late.into_iter().filter(|(of, _)| *of != day && reported.contains(of)) {
            self.events.insert(format!("{day} | late-lines |  | {of} | {lines}"));
        }
        let known = |of: Date| self.lines.get(&of).copied().unwrap_or_default();
        let next = self.lines.keys().map(|of| (*of, *of + 1.day()));
        let silent = next.filter(|(of, next)| known(*of) >= SILENT_LINES && known(*next) == 0);
        let silent = silent.map(|(_, next)| format!("{next} | log-silent |  |  | 0"));
        self.events.extend(silent);
    }

    /// The requests of crawlers by day, in the table of an audit over all days.
    fn crawlers(&mut self, daily: &Table) {
        let rows = daily.cells("crawler day requests allowed violations");
        let mut by_crawler: BTreeMap<String, BTreeMap<Date, [u64; 3]>> = BTreeMap::new();
        for row in &rows {
            let cells: Vec<&str> = row.split(" | ").collect();
            let day: Date = cells[1].parse().unwrap();
            let counts = [2, 3, 4].map(|at| cells[at].parse::<u64>().unwrap());
            by_crawler.entry(cells[0].to_owned()).or_default().insert(day, counts);
        }
        let all: BTreeSet<Date> = by_crawler.values().flat_map(BTreeMap::keys).copied().collect();
        let (first, last) = (*all.first().unwrap(), *all.last().unwrap());
        let days = || first.series(1.day()).take_while(|day| *day <= last);
        for (crawler, of) in &by_crawler {
            let sum = |from: Date, to: Date, at: usize| -> u64 {
                of.range(from..=to).map(|(_, counts)| counts[at]).sum()
            };
            let mut add = |day: Date, kind: &str, now: u64| {
                self.events.insert(format!("{day} | {kind} | {crawler} |  | {now}"));
            };
            if let Some(day) = days().find(|day| sum(*day, *day, 2) > 0).filter(|day| *day > first)
            {
                add(day, "first-violation", sum(day, day, 2));
            }
            let came = days().find(|day| sum(*day, *day, 0) > 0).unwrap();
            if came >= first + 7.days() {
                add(came, "new-crawler", sum(came, came, 0));
            }
            for broke in days().filter(|day| sum(*day, *day, 2) > 0) {
                let is_over = |day: &Date| {
                    *day >= broke + 7.days()
                        && all.contains(day)
                        && sum(broke + 1.day(), *day, 2) == 0
                        && sum(broke + 1.day(), *day, 1) >= 100
                };
                let stopped =
                    days().find(is_over).filter(|_| sum(broke - 14.days(), broke, 2) >= 20);
                stopped.into_iter().for_each(|day| add(day, "stopped-breaking", 0));
            }
        }
    }
}

/// Thirty nights with rotated logs, late lines, missed runs, changes of robots.txt and a change of the clock: together
/// they are one audit by the versions that the nights saw, and their news is what an audit over all days shows.
#[test]
fn thirty_nights_are_one_audit() {
    let mut random = Random(7);
    let site = Site::new();
    let config = CONFIG.replace("violations > 0", "violations > 9000");
    let limits = format!("silent_lines = {SILENT_LINES}\n");
    site.0.write("etc/botaudit.toml", limits + &config + "timezone = \"Europe/Berlin\"\n");
    let mut robots = "User-agent: *\nDisallow: /a\n".to_owned();
    let mut seen: Option<String> = None;
    site.robots("etc/robots.txt", &robots, "2026-01-05T00:00:00Z");
    let (mut new, mut late, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    let (mut expected, mut mails) = (ExpectedNews::default(), String::new());
    let mut changed = None;
    for number in 1..=30 {
        let day = date(2026, 3, i8::try_from(number).unwrap());
        new.append(&mut late);
        if number > 20 {
            new.append(&mut silent);
        }
        for line in lines_of_day(&mut random, number) {
            match random.below(20) {
                // The log of a day comes a day late.
                _ if line.0 == date(2026, 3, 20) => silent.push(line),
                0 if number < 30 => late.push(line),
                _ => new.push(line),
            }
        }
        if random.below(5) == 0 {
            robots = format!("User-agent: *\nDisallow: /{}\n", ["a", "b", "c"][random.below(3)]);
            site.robots("etc/robots.txt", &robots, &format!("{day}T13:50:00Z"));
            changed = Some(day);
        }
        if random.below(6) == 0 {
            let log = site.0.path("etc/shop.log");
            let _ = std::fs::rename(&log, log.with_extension(format!("log.{number}")));
        }
        if matches!(number, 20 | 30) || random.below(4) > 0 {
            expected.night(day, &new);
            let lines: String = new.drain(..).map(|(_, line)| line).collect();
            mails += &site.night(number, &lines).exits(0).stdout;
            if let Some(day) = changed.filter(|_| seen.as_ref().is_some_and(|seen| *seen != robots))
            {
                expected.events.insert(format!("{day} | robots-changed |  | robots.txt | "));
            }
            seen = Some(robots.clone());
        }
    }
    site.0.run("report etc/reports/shop --from 2026-03-01 --to 2026-03-31 -o nights").exits(0);
    let logs = site.0.names("etc").into_iter().filter(|name| name.starts_with("shop.log"));
    let logs: Vec<String> = logs.map(|name| format!("etc/{name}")).collect();
    let audit = format!(
        "audit --robots {KEPT} --origin https://shop.example --timezone Europe/Berlin -o audit {}",
        logs.join(" ")
    );
    site.0.run(&audit).exits(0);
    for (table, columns) in [
        ("summary", "crawler identity requests allowed violations grace unknown conduct"),
        ("summary", "crawler violations violations_after_fetch"),
        ("daily", "day crawler requests allowed violations grace"),
    ] {
        let of = |report: &str| site.0.table(&format!("{report}/{table}.csv")).cells(columns);
        let (nights, audit) = (of("nights"), of("audit"));
        assert!(nights.len() >= 4 && nights == audit, "{table}: {nights:#?}\n{audit:#?}");
    }
    expected.crawlers(&site.0.table("audit/daily.csv"));
    let table = site.0.table("etc/reports/events.csv");
    let found = table.cells("day event crawler source now").into_iter().map(|row| {
        // Digests of robots.txt, and how many requests were judged since.
        let cut = row.contains("robots-changed").then(|| row.rfind("sha256"));
        cut.flatten().map_or(row.clone(), |at| row[..at].to_owned())
    });
    let found: BTreeSet<String> = found.collect();
    assert_eq!(found, expected.events);
    for kind in ["first-violation", "new-crawler", "stopped-breaking", "late-lines", "log-silent"] {
        assert!(found.iter().any(|row| row.contains(kind)), "{kind}: {found:#?}");
    }
    // What no later line changes is mailed once.
    for row in table.cells("event day message") {
        let [kind, day, message] = row.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!() };
        if matches!(kind, "late-lines" | "robots-changed") {
            let told = format!("  shop on {day}: {message}\n");
            assert_eq!(mails.matches(&told).count(), 1, "{told}\n{mails}");
        }
    }
}
