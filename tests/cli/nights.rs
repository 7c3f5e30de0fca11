//! The summary of a night, and the first configuration.

use crate::nightly::{GPTBOT, ROBOTS, on};
use crate::program::{Sandbox, line};

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
    sandbox.write("etc/robots.txt", format!("# another\n{ROBOTS}"));
    sandbox
        .write("etc/shop.log", line(1, "/private", 200, GPTBOT) + &line(2, "/open", 200, GPTBOT));
    sandbox
}

const PAGE: &str = "botaudit: 1 violation, 2 events

shop on 2026-03-01
  2 requests of known crawlers, 1 violation (50.0 % of those judged)
  reports/shop/2026-03-01
           1   50.0 %  GPTBot

Events
  shop on 2026-03-01: first violations by GPTBot (unverified): 1
  shop on 2026-03-01: the robots.txt of robots.txt changed
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
    let run = RUN.replace("2026-03-01", "2026-02-28");
    let arguments = ["--notify-cmd", "touch told.txt", "--mail-summary"];
    let arguments: Vec<&str> = run.split(' ').chain(arguments).collect();
    let ran = sandbox.run_words(&arguments, b"").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(!sandbox.path("etc/told.txt").exists());
    let loud: Vec<&str> = arguments.into_iter().filter(|word| *word != "-q").collect();
    let ran = sandbox.run_words(&loud, b"").exits(0);
    assert!(
        ran.stdout.starts_with("botaudit: 0 violations\n\nshop on 2026-02-28\n"),
        "{}",
        ran.stdout
    );
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
    let ran = sandbox.run("nightly --check-config --day 2026-03-01").exits(0);
    assert!(ran.stdout.contains("shop.example.com.access.log\n"), "{}", ran.stdout);
    sandbox.run("init --root root").exits(2).complains(
        "already exists; not overwritten; name \
         another file, or move it away",
    );
    assert_eq!(sandbox.text("botaudit.toml"), config);
    sandbox.write(
        "one.toml",
        config.split("[sites.apache]").next().unwrap().to_owned()
            + &config[config.find("[sites.\"shop").unwrap()..],
    );
    sandbox.run("nightly --config one.toml -q --day 2026-03-01").exits(0);
    let report = "reports/shop.example.com/2026-03-01/summary.csv";
    assert_eq!(sandbox.table(report).cells("origin violations"), ["https://shop.example.com | 1"]);
}
