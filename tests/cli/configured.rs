//! An audit with the settings of a site of a configuration file.

use super::nightly::{GPTBOT, ROBOTS};
use super::program::{Ran, Sandbox, line};

const SHOP: &str = "[defaults]\nip = \"mask\"\nmin_parse_rate = 50\n[sites.shop]\nlogs = [\"logs/shop.log*\"]\n\
                    robots = \"robots.txt\"\norigin = \"https://shop.example\"\nevidence = \"evidence.csv\"\n";
const BLOG: &str = "[sites.blog]\nlogs = [\"blog.log\"]\nrobots = \"robots.txt\"\nip = \"full\"\n";

fn sandbox(config: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("etc/botaudit.toml", config);
    sandbox.write("etc/robots.txt", ROBOTS);
    let lines = |requests: u32| -> String {
        (0..requests).map(|second| line(second, "/private", 200, GPTBOT)).collect()
    };
    sandbox.write("etc/logs/shop.log", lines(3));
    sandbox.write("other.log", lines(5));
    sandbox
}

fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!("audit -q --config etc/botaudit.toml {arguments}"))
}

#[track_caller]
fn check_violations(sandbox: &Sandbox, expected: &str) {
    let rows = sandbox.table("botaudit-report/summary.csv").cells("origin violations");
    assert_eq!(rows, [expected]);
}

#[test]
fn a_site_is_audited_with_its_settings() {
    let sandbox = sandbox(&format!("{SHOP}{BLOG}"));
    audit(&sandbox, "--site shop").exits(0);
    check_violations(&sandbox, "https://shop.example | 3");
    let options = &sandbox.json("botaudit-report/run.json")["options"];
    for (key, expected) in [
        ("ip", "\"mask\""),
        ("min_parse_rate", "50.0"),
        ("origin", "\"https://shop.example\""),
        ("dialect", "\"google\""),
    ] {
        assert_eq!(options[key].to_string(), expected, "{key}");
    }
    assert_eq!(sandbox.table("etc/evidence.csv").cells("target").len(), 3);
}

#[test]
fn logs_and_flags_of_the_command_line_win() {
    let sandbox = sandbox(&format!("{SHOP}{BLOG}"));
    audit(&sandbox, "--site shop --origin https://old.example --ip none other.log").exits(0);
    check_violations(&sandbox, "https://old.example | 5");
    assert_eq!(sandbox.json("botaudit-report/run.json")["options"]["ip"], "none");
}

#[test]
fn flags_make_settings_void_that_they_contradict() {
    let sandbox = sandbox(&format!("{BLOG}ip_salt = \"pepper\"\n").replace("full", "hash"));
    audit(&sandbox, "--ip mask --origin https://blog.example other.log").exits(0);
    assert_eq!(sandbox.json("botaudit-report/run.json")["options"]["ip"], "mask");
}

#[test]
fn a_directory_that_looks_like_a_pattern_is_none() {
    let sandbox = sandbox(SHOP);
    std::fs::rename(sandbox.path("etc"), sandbox.path("e[x]*")).unwrap();
    sandbox.run("audit -q --config e[x]*/botaudit.toml").exits(0);
    check_violations(&sandbox, "https://shop.example | 3");
}

#[test]
fn the_site_is_the_only_one_or_is_named() {
    audit(&sandbox(SHOP), "").exits(0);
    let both = sandbox(&format!("{SHOP}{BLOG}"));
    audit(&both, "").exits(2).complains("has several sites; choose one with --site: blog, shop");
    let ran = audit(&both, "--site shp").exits(2);
    ran.complains("--site shp: unknown site; the sites of etc/botaudit.toml are blog, shop");
    both.run("audit --site shop other.log").exits(2).complains("--config <FILE>");
    both.run("audit --robots etc/robots.txt").exits(2).complains("<LOG>");
    both.run("audit --config gone.toml").exits(2).complains("gone.toml: the configuration file");
    assert!(!both.path("botaudit-report").exists());
}

#[test]
fn every_mistake_is_named_where_it_was_made() {
    let sandbox = sandbox(&format!("{SHOP}alias = \"shop\"\nfail_on = \"violation > 0\"\n"));
    let ran = audit(&sandbox, "--json-fields colour=x --fail-on bad --since x").exits(2);
    for expected in [
        "etc/botaudit.toml:9: sites.shop.alias: 'shop': '=' and the second name are missing; write alias = \"www.",
        "error: --json-fields: ",
        "error: --fail-on: \"bad\": ",
        "error: --since: 'x' is not a valid time",
        "site shop of etc/botaudit.toml was not audited",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}\n{}", ran.stderr);
    }
    // The value on the command line replaces it.
    assert!(!ran.stderr.contains("violation > 0"), "{}", ran.stderr);
    sandbox.write("etc/botaudit.toml", format!("{SHOP}robot = 1\n"));
    let ran = audit(&sandbox, "").exits(2);
    ran.complains("etc/botaudit.toml:9: unknown key 'robot'; did you mean 'robots'?")
        .complains("etc/botaudit.toml has 1 mistake; nothing was read");
    assert!(!sandbox.path("botaudit-report").exists());
}

#[test]
fn what_an_audit_may_do_and_a_nightly_job_may_not_is_refused_with_its_line() {
    let config = "[sites.shop]\nlogs = [\"logs/shop.log\"]\nrobots = \"robots.txt\"\n\
                  origin = \"https://shop.example\"\nwhat_if = \"robots.txt\"\nsince = \"2026-01-01\"\n\
                  infer_outages = true\nsession_minutes = 5\nnetworks = \"networks.csv\"\n";
    let sandbox = sandbox(config);
    sandbox.write("etc/networks.csv", "prefix,network\n192.0.2.0/33,a\n");
    let why = "etc/botaudit.toml:9: sites.shop.networks: etc/networks.csv:2: '192.0.2.0/33' is not \
               a network such as 192.0.2.0/24";
    audit(&sandbox, "").exits(2).complains(why);
    sandbox.write("etc/networks.csv", "prefix,network\n192.0.2.0/24,a\n");
    audit(&sandbox, "").exits(0);
    let names = sandbox.names("botaudit-report");
    assert!(["what-if.csv", "networks.csv"].iter().all(|of| names.contains(&(*of).to_owned())));
    let ran = sandbox.run("nightly --config etc/botaudit.toml -q").exits(2);
    for expected in [
        "botaudit.toml:5: sites.shop.what_if: not possible in a nightly job",
        "botaudit.toml:6: sites.shop.since: not possible in a nightly job",
        "botaudit.toml:7: sites.shop.infer_outages: not possible in a nightly job",
        "botaudit.toml:8: sites.shop.session_minutes: not possible in a nightly job",
        "botaudit.toml:9: sites.shop.networks: not possible in a nightly job",
        "botaudit.toml has 5 mistakes; nothing was read",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}\n{}", ran.stderr);
    }
}
