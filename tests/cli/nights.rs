//! The summary of a night, and the first configuration.

use std::fs::File;
use std::time::{Duration, SystemTime};

use super::browser::{browser, show};
use super::nightly::{GPTBOT, ROBOTS, on};
use super::nights_rules::{changed_at, seen_at};
use super::program::{Sandbox, line, repository, text_of};
use botaudit::report::metrics::METRICS;

const CONFIG: &str = "[sites.shop]\nlogs = [\"shop.log*\"]\nrobots = \"robots.txt\"\norigin = \"https://shop.example\"\n";
const RUN: &str = "nightly --config etc/botaudit.toml -q --day 2026-03-01";

/// Two days: on the second one, GPTBot breaks a rule for the first time, and robots.txt has
/// changed.
fn site() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("etc/botaudit.toml", CONFIG);
    sandbox.write("etc/robots.txt", ROBOTS);
    sandbox.write("etc/shop.log.1", on("28/Feb/2026", 60, "/open"));
    sandbox.run(&RUN.replace("2026-03-01", "2026-02-28")).exits(0);
    seen_at(&sandbox, "2026-02-28T20:00:00Z");
    sandbox.write("etc/robots.txt", format!("# another\n{ROBOTS}"));
    changed_at(&sandbox, "etc/robots.txt", "2026-02-28T21:00:00Z");
    sandbox
        .write("etc/shop.log", line(1, "/private", 200, GPTBOT) + &line(2, "/open", 200, GPTBOT));
    sandbox
}

const PAGE: &str = "botaudit: 1 violation, 2 events

Events
  shop on 2026-03-01: first violations by GPTBot (unverified): 1
  shop on 2026-03-01: the file robots.txt changed

Sites, most violations first
  shop on 2026-03-01: 2 requests of known crawlers, 1 violation (50.0 % of those judged)
      GPTBot (unverified) 1
      reports/shop/2026-03-01

all sites: reports/index.html
";

#[test]
fn trend_and_events_stand_beside_the_reports() {
    let sandbox = site();
    let ran = sandbox.run(RUN).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let trend = sandbox.table("etc/reports/trend.csv");
    assert_eq!(
        trend.cells("site day crawler identity requests violations violation_rate"),
        [
            "shop | 2026-02-28 | GPTBot | unverified | 1 | 0 | 0.000000",
            "shop | 2026-03-01 | GPTBot | unverified | 2 | 1 | 0.500000"
        ]
    );
    let events = sandbox.table("etc/reports/events.csv");
    let rows = events.cells("site day event crawler source before");
    assert_eq!(rows[0], "shop | 2026-03-01 | first-violation | GPTBot |  | 0");
    assert!(rows[1].starts_with("shop | 2026-03-01 | robots-changed |  | robots.txt | sha256:"));
    assert_eq!(rows.len(), 2);
}

/// The samples of the file, without their values.
fn samples(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.rsplit_once(' ')?.0)).collect()
}

fn value<'t>(text: &'t str, sample: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{sample}: {text}"))
}

#[test]
fn metrics_of_the_night_are_for_the_textfile_collector() {
    let sandbox = site();
    sandbox.run(RUN).exits(0);
    let text = sandbox.text("etc/reports/botaudit.prom");
    let who = "site=\"shop\",crawler=\"GPTBot\",identity=\"unverified\"";
    for (sample, expected) in [
        (format!("botaudit_day_requests{{{who},verdict=\"violation\"}}"), "1"),
        (format!("botaudit_day_requests{{{who},verdict=\"allowed\"}}"), "1"),
        (format!("botaudit_day_response_bytes{{{who}}}"), "200"),
        ("botaudit_day_lines{site=\"shop\",outcome=\"crawler\"}".to_owned(), "2"),
        ("botaudit_day_judged_requests{site=\"shop\"}".to_owned(), "2"),
        ("botaudit_day_events{site=\"shop\",event=\"first-violation\"}".to_owned(), "1"),
        ("botaudit_day_start_timestamp_seconds{site=\"shop\"}".to_owned(), "1772323200"),
        ("botaudit_last_run_exit_code{site=\"shop\"}".to_owned(), "0"),
    ] {
        assert_eq!(value(&text, &sample), expected, "{sample}");
    }
    let success = "botaudit_last_success_timestamp_seconds{site=\"shop\"}";
    let run = "botaudit_last_run_timestamp_seconds";
    assert_eq!(value(&text, success), value(&text, run));
    let distinct: std::collections::BTreeSet<&str> = samples(&text).into_iter().collect();
    assert_eq!(distinct.len(), samples(&text).len(), "{text}");
    check_by_promtool(&sandbox);

    // A run that fails keeps the time of the last one that did not.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for log in ["etc/shop.log", "etc/shop.log.1"] {
        std::fs::remove_file(sandbox.path(log)).unwrap();
    }
    sandbox.run(RUN).exits(2);
    let later = sandbox.text("etc/reports/botaudit.prom");
    assert_eq!(value(&later, success), value(&text, success));
    assert_ne!(value(&later, run), value(&text, run));
    assert_eq!(value(&later, "botaudit_last_run_exit_code{site=\"shop\"}"), "2");
    assert!(!later.contains("botaudit_day_requests"), "{later}");
    check_by_promtool(&sandbox);
    sandbox.write("etc/reports/botaudit.prom", "node_x 1\n");
    sandbox.run(RUN).exits(2).complains("was not written by botaudit");
}

fn check_by_promtool(sandbox: &Sandbox) {
    let file = std::fs::File::open(sandbox.path("etc/reports/botaudit.prom")).unwrap();
    let mut promtool = std::process::Command::new("promtool");
    match promtool.args(["check", "metrics"]).stdin(file).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => eprintln!("skipped: there is no promtool"),
    }
}

/// The panels of the dashboard use metrics that exist.
#[test]
fn the_dashboard_uses_these_metrics() {
    let text = text_of(&repository().join("docs/grafana-dashboard.json"));
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut used = std::collections::BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let words = target["expr"].as_str().unwrap();
            let words = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            used.extend(words.filter(|word| word.starts_with("botaudit_")).map(str::to_owned));
        }
    }
    let known = METRICS.map(|(name, _)| name);
    assert!(used.iter().all(|name| known.contains(&name.as_str())), "{used:?}");
    assert_eq!(used.len(), known.len() - 2, "all but the version and the time of the run");
}

#[test]
fn the_page_of_a_night_goes_where_it_is_wanted() {
    let sandbox = site();
    let ran = sandbox.run(&format!("{RUN} --mail-summary")).exits(0);
    assert_eq!(ran.stdout, PAGE);
    sandbox.run(&format!("{RUN} --mail-summary night.txt")).exits(0);
    assert_eq!(sandbox.text("night.txt"), PAGE);
    let arguments: Vec<&str> = RUN.split(' ').chain(["--notify-cmd", "cat > told.txt"]).collect();
    sandbox.run_words(&arguments, b"").exits(0);
    assert_eq!(sandbox.text("etc/told.txt"), PAGE);
    let arguments: Vec<&str> = RUN.split(' ').chain(["--notify-cmd", "exit 7"]).collect();
    sandbox.run_words(&arguments, b"").exits(2).complains("--notify-cmd exit 7");
}

#[test]
fn a_page_shows_all_sites_and_each_site_has_one() {
    let sandbox = site();
    sandbox.run(RUN).exits(0);
    let all = sandbox.text("etc/reports/index.html");
    for part in [
        "<h1>1 site up to 2026-03-01</h1>",
        "href=\"./shop/index.html\"",
        "<td>new violations</td>",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let page = sandbox.text("etc/reports/shop/index.html");
    for part in [
        "<h1>shop up to 2026-03-01</h1>",
        "href=\"../index.html\"",
        "href=\"./2026-03-01/report.html\"",
        "href=\"./2026-02-28/report.html\"",
        "botaudit report reports/shop --from 2026-02-28 --to 2026-03-01 -o week-of-shop",
        "first violations by GPTBot (unverified): 1",
        "robots.txt changed",
        "since 2026-03-01, still",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let week = "report etc/reports/shop --from 2026-02-28 --to 2026-03-01 -o week-of-shop";
    sandbox.run(week).exits(0);
    assert!(sandbox.text("week-of-shop/report.html").contains("GPTBot"));
    sandbox.run(RUN).exits(0);
    assert_eq!(sandbox.text("etc/reports/index.html"), all, "equal nights give equal bytes");
    assert_eq!(sandbox.text("etc/reports/shop/index.html"), page);
    for written in ["etc/reports/index.html", "etc/reports/shop/index.html"] {
        let before = sandbox.text(written);
        sandbox.write(written, "<p>mine</p>");
        sandbox.run(RUN).exits(2).complains("was not written by botaudit");
        sandbox.write(written, before);
    }
    let Some(browser) = browser() else { return };
    for (page, table) in [(all, "sites"), (page, "site-crawlers")] {
        let shown = show(&browser, page, table, "shop");
        let seen = &shown.seen;
        for sound in ["captioned", "scoped", "ids", "charts_told", "named"] {
            assert_eq!(seen[sound], true, "{table}: {sound}");
        }
        for bad in ["wide", "wide_when_narrow", "main_wide", "main_wide_when_narrow", "pwned"] {
            assert_eq!(seen[bad], false, "{table}: {bad}");
        }
    }
}

/// Each is in the mail of its night, and in no other.
#[test]
fn news_of_the_logs_and_lists_is_mailed_once() {
    let sandbox = site();
    let limits = |limits: &str| sandbox.write("etc/botaudit.toml", format!("{limits}{CONFIG}"));
    let events = |day: &str| -> Vec<String> {
        let night = RUN.replace("2026-03-01", day);
        let mail = sandbox.run(&format!("{night} --mail-summary")).exits(0).stdout;
        let (_, events) = mail.split_once("Events\n").unwrap_or_default();
        let of_site = format!("  shop on {day}: ");
        let events = events.lines().take_while(|line| !line.is_empty());
        events.map(|line| line.replace(&of_site, "")).collect()
    };
    limits("silent_lines = 2\n");
    assert_eq!(events("2026-03-01").len(), 2);
    let silent = "the logs have no line of this day, after 2 lines on 2026-03-01";
    assert_eq!(events("2026-03-02"), [silent]);
    assert_eq!(events("2026-03-03"), [""; 0], "it was said");
    limits("silent_lines = 3\n");
    assert_eq!(events("2026-03-02"), [""; 0]);
    // Late lines of a day whose report is there.
    let log = sandbox.text("etc/shop.log") + &line(9, "/open", 200, GPTBOT);
    sandbox.write("etc/shop.log", log.clone());
    let late = "1 line of 2026-03-01 came late; the report of that day has changed";
    assert_eq!(events("2026-03-03"), [late]);
    assert_eq!(events("2026-03-04"), [""; 0]);
    assert_eq!(events("2026-03-03"), [late], "the same day has the same events");
    limits("late_lines = 2\nsilent_lines = 0\n");
    sandbox.write("etc/shop.log", log + &line(10, "/open", 200, GPTBOT));
    assert_eq!(events("2026-03-05"), [""; 0]);
    let table = sandbox.table("etc/reports/events.csv").cells("day event source now");
    assert!(table.contains(&"2026-03-03 | late-lines | 2026-03-01 | 1".to_owned()), "{table:?}");
}

/// A log that arrives a day late, and nights that were missed: their days are tested as the requested one is.
#[test]
fn every_day_that_changed_is_tested_and_mailed_once() {
    let sandbox = site();
    sandbox.write("etc/botaudit.toml", format!("{CONFIG}fail_on = [\"violations > 1\"]\n"));
    sandbox.run(RUN).exits(0);
    let night = |day: &str| format!("{} --mail-summary", RUN.replace("2026-03-01", day));
    let late: String = (60..80).map(|second| line(second, "/private/x", 200, GPTBOT)).collect();
    sandbox.write("etc/shop.log.2", late);
    sandbox.write("etc/shop.log.3", on("02/Mar/2026", 60, "/open"));
    let ran = sandbox.run(&night("2026-03-02")).exits(1);
    assert!(
        ran.stdout.starts_with("botaudit: 21 violations on 2 days, 1 problem, 1 event\n"),
        "{}",
        ran.stdout
    );
    let changed = "  shop on 2026-03-01 (changed since the last run): 22 requests of known crawlers, 21 violations (95.5 % of those judged)\n";
    assert!(ran.stdout.contains(changed), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("  shop on 2026-03-01: 1 row meets fail_on \"violations > 1\"\n"),
        "{}",
        ran.stdout
    );
    // The exit code is about both days; the values are those of the requested one.
    let metrics = sandbox.text("etc/reports/botaudit.prom");
    assert_eq!(value(&metrics, "botaudit_last_run_exit_code{site=\"shop\"}"), "1");
    assert_eq!(
        value(&metrics, "botaudit_day_start_timestamp_seconds{site=\"shop\"}"),
        "1772409600"
    );
    assert_eq!(value(&metrics, "botaudit_day_lines{site=\"shop\",outcome=\"crawler\"}"), "1");
    // The first violations of that day were in its own mail.
    assert_eq!(ran.stdout.matches("first violations").count(), 0, "{}", ran.stdout);
    let ran = sandbox.run(&night("2026-03-03")).exits(0);
    assert_eq!(ran.stdout, "", "nothing is new");
    // Three nights are missed; the log of the first one has violations of a crawler that never had any.
    let missed: String = (0..5).map(|at| on("05/Mar/2026", 60 * at, "/private")).collect();
    sandbox.write(
        "etc/shop.log.4",
        missed.replace(GPTBOT, "CCBot/2.0 (https://commoncrawl.org/faq/)")
            + &on("07/Mar/2026", 0, "/open"),
    );
    let ran = sandbox.run(&night("2026-03-08")).exits(1);
    assert!(ran.stdout.contains("shop on 2026-03-05: first violations by CCBot"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("  shop on 2026-03-07 (changed since the last run): "),
        "{}",
        ran.stdout
    );
    let without_mail = night("2026-03-08").replace(" --mail-summary", "");
    sandbox.run(&without_mail).exits(0);
}

#[test]
fn a_silent_day_stays_an_event_when_its_lines_come_late() {
    let sandbox = site();
    sandbox.write("etc/botaudit.toml", format!("silent_lines = 2\n{CONFIG}"));
    sandbox.run(RUN).exits(0);
    sandbox.run(&RUN.replace("2026-03-01", "2026-03-02")).exits(0);
    let late: String = (0..3).map(|at| on("02/Mar/2026", 60 * at, "/open")).collect();
    sandbox.write("etc/shop.log.2", late);
    let ran = sandbox.run(&format!("{} --mail-summary", RUN.replace("03-01", "03-04"))).exits(0);
    let came =
        "shop on 2026-03-04: 3 lines of 2026-03-02 came late; the report of that day has changed";
    assert!(ran.stdout.contains(came), "{}", ran.stdout);
    let table = sandbox.table("etc/reports/events.csv").cells("day event message");
    let stays = "2026-03-02 | log-silent | the logs have no line of this day, after 2 lines on 2026-03-01; 3 came late, on 2026-03-04";
    assert!(table.contains(&stays.to_owned()), "{table:?}");
}

/// An honest crawler and a client with its name are two rows.
#[test]
fn a_mail_and_the_page_name_each_identity_by_itself() {
    let sandbox = site();
    let own: String = (0..9).map(|at| on("01/Mar/2026", 60 * at, "/open")).collect();
    let own = own.replace("192.0.2.7 ", "74.7.227.9 ");
    sandbox.write("etc/shop.log", own + &line(1, "/private", 200, GPTBOT));
    let ran = sandbox.run(&format!("{RUN} --mail-summary")).exits(0);
    let violator = ran.stdout.lines().find(|line| line.starts_with("      GPTBot ("));
    let violator = violator.unwrap_or_default();
    assert!(violator.ends_with(") 1") && !violator.contains("(verified)"), "{}", ran.stdout);
    let page = sandbox.text("etc/reports/shop/index.html");
    assert!(page.contains("<td>verified</td>"), "the page has a row of the crawler itself");
}

/// The server's robots.txt is larger than the configured file since the second day.
#[test]
fn a_crawler_that_fetches_a_grown_file_has_not_stopped() {
    let sandbox = Sandbox::new();
    sandbox.write("etc/botaudit.toml", CONFIG);
    sandbox.write("etc/robots.txt", ROBOTS);
    let day = |number: u32| -> String {
        let day = format!("{number:02}/Mar/2026");
        let size = if number == 1 { " 200 5 " } else { " 200 9000 " };
        let fetch = on(&day, 0, "/robots.txt").replace(" 200 100 ", size);
        fetch + &(1..40).map(|at| on(&day, 60 * at, "/open")).collect::<String>()
    };
    sandbox.write("etc/shop.log", (1..=12).map(day).collect::<String>());
    sandbox.run(&RUN.replace("03-01", "03-12")).exits(0);
    let events = sandbox.table("etc/reports/events.csv").cells("event");
    assert_eq!(events, [""; 0]);
    sandbox.write(
        "etc/shop.log",
        (1..=3)
            .map(day)
            .chain((4..=12).map(|number| day(number).replace("/robots.txt", "/open")))
            .collect::<String>(),
    );
    std::fs::remove_file(sandbox.path("etc/reports/state.sqlite")).unwrap();
    sandbox.run(&RUN.replace("03-01", "03-12")).exits(0);
    let events = sandbox.table("etc/reports/events.csv").cells("day event before");
    assert_eq!(events, ["2026-03-10 | stopped-fetching | 2026-03-03"]);
}

#[test]
fn address_lists_that_get_old_are_news() {
    let sandbox = site();
    let list = r#"{"creationTime":"2026-02-20","prefixes":[{"ipv4Prefix":"192.0.2.0/25"}]}"#;
    sandbox.write("etc/ranges/gptbot.json", list);
    // 2026-02-20, when it was fetched.
    let fetched = SystemTime::UNIX_EPOCH + Duration::from_secs(1_771_545_600);
    let file = File::options().write(true).open(sandbox.path("etc/ranges/gptbot.json"));
    file.unwrap().set_modified(fetched).unwrap();
    let ranges = "ip_ranges = \"ranges\"\n";
    sandbox.write("etc/botaudit.toml", format!("lists_days = 9\n{CONFIG}{ranges}"));
    let log: String =
        ["01", "02", "03"].map(|day| on(&format!("{day}/Mar/2026"), 60, "/open")).concat();
    sandbox.write("etc/shop.log", log);
    let said = |day: &str| {
        let night = RUN.replace("2026-03-01", day);
        let mail = sandbox.run(&format!("{night} --mail-summary")).exits(0).stdout;
        mail.matches("the newest address list was fetched on 2026-02-20, 9 days before").count()
    };
    assert_eq!(["2026-02-28", "2026-03-01", "2026-03-02"].map(said), [0, 1, 0]);
}

#[test]
fn tools_cause_no_events() {
    let sandbox = site();
    let scanner = "Mozilla/5.0 (compatible; NetcraftSurveyAgent/1.0; +info@netcraft.com)";
    let log = sandbox.text("etc/shop.log") + &line(3, "/private", 200, scanner);
    sandbox.write("etc/shop.log", log);
    let ran = sandbox.run(&format!("{RUN} --mail-summary")).exits(0);
    assert_eq!(ran.stdout, PAGE);
    let trend = sandbox.table("etc/reports/trend.csv").cells("crawler violations");
    assert_eq!(trend, ["GPTBot | 0", "GPTBot | 1", "NetcraftSurveyAgent | 1"]);
}

#[test]
fn no_notification_is_sent_where_all_is_well() {
    let sandbox = site();
    sandbox.run(RUN).exits(0);
    let run = RUN.replace("2026-03-01", "2026-02-28");
    let arguments = ["--notify-cmd", "touch told.txt", "--mail-summary"];
    let arguments: Vec<&str> = run.split(' ').chain(arguments).collect();
    let ran = sandbox.run_words(&arguments, b"").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(!sandbox.path("etc/told.txt").exists());
    let loud: Vec<&str> = arguments.into_iter().filter(|word| *word != "-q").collect();
    let ran = sandbox.run_words(&loud, b"").exits(0);
    assert!(
        ran.stdout.starts_with(
            "botaudit: 0 violations\n\nSites, most violations first\n  shop on 2026-02-28: "
        ),
        "{}",
        ran.stdout
    );
}

/// Whoever may create files in a log directory or a web root chooses these names.
#[test]
fn names_of_files_do_not_act_on_terminals_or_configurations() {
    let sandbox = Sandbox::new();
    let name = "sh.example.com\u{1b}]0;x\u{7}op\n[sites.x]\u{202e}.access.log";
    sandbox.write(&format!("root/var/log/nginx/{name}"), line(1, "/private", 200, GPTBOT));
    sandbox.write("root/var/www/a\nlogs = 1 # \u{1b}[2J/robots.txt", ROBOTS);
    sandbox.write("root/var/www/b\nlogs = 1 # \u{1b}[2J/robots.txt", ROBOTS);
    let is_hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    let ran = sandbox.run("init --root root").exits(0);
    assert!(!ran.stdout.contains(is_hidden), "{:?}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 3, "{:?}", ran.stdout);
    let config = sandbox.text("botaudit.toml");
    assert!(!config.contains(is_hidden), "{config:?}");
    assert!(!config.lines().any(|line| line.starts_with("logs = 1") || line == "[sites.x]"));
    let to_stdout = sandbox.run("init --root root -").exits(0);
    assert!(!(to_stdout.stdout + &to_stdout.stderr).contains(is_hidden));
    let ran = sandbox.run("nightly --check-config --day 2026-03-01").exits(0);
    let log = "sh.example.com\\x1B]0;x\\x07op\\x0A[sites.x]\\xE2\\x80\\xAE.access.log\n";
    assert!(ran.stdout.contains(log), "{}", ran.stdout);
    assert!(!ran.stdout.contains(is_hidden), "{:?}", ran.stdout);
}

#[test]
fn a_configuration_to_begin_with_is_made_of_what_is_found() {
    let sandbox = Sandbox::new();
    sandbox.run("init --root root").exits(2).complains("no access log found in ");
    for log in [
        "nginx/shop.example.com.access.log",
        "nginx/shop.example.com.access.log.1",
        "nginx/access.log",
        "nginx/error.log",
        "apache2/other_vhosts_access.log",
        "caddy/blog.log",
    ] {
        sandbox.write(&format!("root/var/log/{log}"), line(1, "/private", 200, GPTBOT));
    }
    let packed = line(2, "/open", 200, GPTBOT);
    sandbox.write_gz("root/var/log/nginx/shop.example.com.access.log.2.gz", packed);
    sandbox.write("root/var/www/shop.example.com/robots.txt", ROBOTS);
    sandbox.write("root/var/www/elsewhere/public/robots.txt", ROBOTS);
    let ran = sandbox.run("init --root root").exits(0);
    assert!(ran.stdout.starts_with("botaudit.toml: 4 sites\n"), "{}", ran.stdout);
    let config = sandbox.text("botaudit.toml");
    for expected in [
        "[sites.apache]\n",
        "[sites.nginx]\n",
        "[sites.blog]\n",
        "[sites.\"shop.example.com\"]\n",
        "/var/www/shop.example.com/robots.txt\"\norigin = \"https://shop.example.com\"\n",
        "\n# Found, but not assigned to a site: ",
    ] {
        assert!(config.contains(expected), "{expected}\n{config}");
    }
    sandbox.run("init --root root").exits(2).complains(
        "already exists; not overwritten; name \
         another file, or move it away",
    );
    assert_eq!(sandbox.text("botaudit.toml"), config);
    // Three logs name no host, and their names are not hosts.
    let needed = "# The log names no host, so this line is needed, with the origin of its requests:\n\
                  # origin = \"https://www.example.com\"\n";
    assert_eq!(config.matches(needed).count(), 3, "{config}");
    let sentence = "names no host, so no robots.txt applies to its requests; write origin = \
                    \"https://www.example.com\"";
    assert_eq!(ran.stderr.matches(sentence).count(), 3, "{}", ran.stderr);
    let check = "nightly --check-config --day 2026-03-01";
    let ran = sandbox.run(check).exits(2).complains("botaudit.toml has 3 mistakes");
    assert_eq!(ran.stderr.matches(sentence).count(), 3, "{}", ran.stderr);
    let ran = ran.complains(": sites.nginx.origin: ");
    assert!(!ran.stderr.contains("sites.shop"), "{}", ran.stderr);
    // With these lines, the configuration is right.
    let line = "# origin = \"https://www.example.com\"";
    sandbox.write("botaudit.toml", config.replace(line, &line[2..]));
    let ran = sandbox.run(check).exits(0);
    assert!(ran.stdout.contains("shop.example.com.access.log\n"), "{}", ran.stdout);
    sandbox.write(
        "one.toml",
        config.split("[sites.apache]").next().unwrap().to_owned()
            + &config[config.find("[sites.\"shop").unwrap()..],
    );
    sandbox.run("nightly --config one.toml -q --day 2026-03-01").exits(0);
    let report = "reports/shop.example.com/2026-03-01/summary.csv";
    assert_eq!(sandbox.table(report).cells("origin violations"), ["https://shop.example.com | 1"]);
}

/// A line is judged once, so a first night without an origin would lose its lines.
#[test]
fn a_log_without_hosts_needs_an_origin() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/shop.example", ROBOTS);
    sandbox.write("robots.txt", ROBOTS);
    sandbox.write("shop.log", line(1, "/private", 200, GPTBOT));
    let config = |more: &str| {
        sandbox.write("botaudit.toml", format!("[sites.shop]\nlogs = [\"shop.log*\"]\n{more}"));
    };
    let sentence = "shop.log names no host, so no robots.txt applies to its requests; write origin = \
                    \"https://www.example.com\"";
    let (check, night) = ("nightly --check-config", "nightly -q --day 2026-03-01");
    config("robots = \"robots\"\n");
    let in_file = format!("botaudit.toml:1: sites.shop.origin: {sentence}");
    sandbox.run(check).exits(2).complains(&in_file);
    let ran = sandbox.run(night).exits(2).complains(&format!("sites.shop.origin: {sentence}"));
    assert_eq!(ran.stdout, "");
    assert!(!sandbox.path("reports/shop/2026-03-01").exists());
    // What is given in another way is not missing.
    for more in [
        "robots = \"robots.txt\"\n",
        "robots = \"robots\"\norigin_from_path = '(?<host>[a-z]+)\\.log'\n",
        "robots = \"robots\"\norigin = \"https://shop.example\"\n",
    ] {
        config(more);
        sandbox.run(check).exits(0);
    }
    // The lines were not counted before.
    sandbox.run(night).exits(0);
    let rows = sandbox.table("reports/shop/2026-03-01/summary.csv");
    assert_eq!(rows.cells("origin violations"), ["https://shop.example | 1"]);
    // A log with other lines does not stop a site that had its first night.
    config("robots = \"robots\"\n");
    sandbox.run("nightly -q --day 2026-03-01").exits(0);
    // One of its files names hosts.
    sandbox.write("vhost/shop.log", line(2, "/", 200, GPTBOT));
    sandbox.write("vhost/shop.log.1", format!("shop.example:443 {}", line(1, "/", 200, GPTBOT)));
    let vhost = "[sites.shop]\nlogs = [\"vhost/shop.log*\"]\nrobots = \"robots\"\n";
    sandbox.write("vhost.toml", vhost);
    sandbox.run("nightly --check-config --config vhost.toml").exits(0);
}

/// So many sites, each with an allowed request.
fn sites(number: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("etc/robots.txt", ROBOTS);
    let log = line(60, "/open", 200, GPTBOT);
    let site = |number: usize| {
        sandbox.write(&format!("etc/logs/{number}.log"), &log);
        format!(
            "[sites.site-{number}]\nlogs = [\"logs/{number}.log\"]\nrobots = \"robots.txt\"\n\
             origin = \"https://shop.example\"\n"
        )
    };
    let sites: String = (0..number).map(site).collect();
    let fail_on = "[defaults]\nfail_on = [\"violations > 0\"]\n";
    sandbox.write("etc/botaudit.toml", fail_on.to_owned() + &sites);
    sandbox
}

#[test]
fn a_night_of_200_sites_without_news_prints_nothing() {
    let run = format!("{RUN} --mail-summary");
    let arguments: Vec<&str> = run.split(' ').chain(["--notify-cmd", "touch told.txt"]).collect();
    let many = sites(200);
    let ran = many.run_words(&arguments, b"").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(!many.path("etc/told.txt").exists());
    let page = many.text("etc/reports/index.html");
    for number in 0..200 {
        assert!(page.contains(&format!("href=\"./site-{number}/index.html\"")), "{number}");
        assert!(many.path(&format!("etc/reports/site-{number}/index.html")).exists());
    }
    // Without -q, each site says what it does; nothing is wrong.
    let ran = sites(3).run(&RUN.replace(" -q", "")).exits(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.stdout.matches("report: reports/site-").count(), 3, "{}", ran.stdout);
}
