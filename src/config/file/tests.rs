use std::path::PathBuf;

use super::*;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, errors) = parse(text);
    let found: Vec<String> = errors.iter().map(|error| error.at("botaudit.toml")).collect();
    let expected: Vec<String> =
        expected.iter().map(|expected| format!("botaudit.toml:{expected}")).collect();
    assert_eq!(found, expected);
}

const SITE: &str = "[sites.a]\nlogs = \"x\"\nrobots = \"r\"\n";

/// A file with `lines` from the fourth line on.
fn site(lines: &str) -> String {
    format!("{SITE}{lines}\n")
}

#[test]
fn sites_have_the_defaults_and_their_own() {
    let text = "reports = \"r\"\nkeep-days = 30\n[defaults]\nverify-dns = true\ndns_max = 5\n\
                [sites.shop]\nlogs = \"a.log\"\ndns_max = 7\nfail_on = [\"x\", \"y\"]\n\
                [sites.blog]\nlogs = [\"b.log\", \"c*\"]\noutput = \"elsewhere\"\nverify_dns = false\n";
    let (config, errors) = parse(text);
    assert_eq!(errors, []);
    assert_eq!(config.keep_days.map(Days::get), Some(30));
    assert_eq!(config.state, PathBuf::from("r/state.sqlite"));
    let [blog, shop] = &config.sites[..] else { panic!("{config:?}") };
    assert_eq!((blog.name.as_str(), blog.line), ("blog", 10));
    assert_eq!((&blog.reports, &shop.reports), (&"elsewhere".into(), &"r/shop".into()));
    assert_eq!((shop.logs.join(" "), blog.logs.join(" ")), ("a.log".into(), "b.log c*".into()));
    assert_eq!((shop.audit.dns_max, shop.line_of("dns_max")), (Some(7), Some(8)));
    assert_eq!((blog.audit.dns_max, blog.line_of("dns_max")), (Some(5), Some(5)));
    assert_eq!((shop.audit.verify_dns, blog.audit.verify_dns), (Some(true), Some(false)));
    assert_eq!(shop.audit.fail_on.as_ref().unwrap().len(), 2);
    let inherited = blog.error(&Fault::new("dns_max", "odd"));
    assert_eq!(inherited.at("f"), "f:5: defaults.dns_max: odd");
}

#[test]
fn every_kind_of_value_is_read() {
    let (config, errors) = parse(&site(
        "origin = \"HTTPS://Example.com/\"\nalias = \"a=b\"\ndns_server = \"192.0.2.1:53\"\n\
         verify_dns = true\ndns_timeout = 0.5\nmin_parse_rate = 99\nip = \"mask\"\n\
         dialect = \"rfc9309\"\ntimezone = \"Europe/Berlin\"\nthreads = 3",
    ));
    assert_eq!(errors, []);
    let audit = config.sites[0].audit.clone();
    assert_eq!(audit.check(), []);
    let json = serde_json::to_value(audit.with_defaults()).unwrap();
    for (key, expected) in [
        ("robots", "\"r\""),
        ("origin", "\"https://example.com\""),
        ("aliases", "[\"a=b\"]"),
        ("trusted_proxies", "[]"),
        ("dns_max", "1000"),
        ("min_parse_rate", "99.0"),
        ("ip", "\"mask\""),
        ("dialect", "\"rfc9309\""),
        ("timezone", "\"Europe/Berlin\""),
        ("since", "null"),
        ("fetch", "false"),
    ] {
        assert_eq!(json[key].to_string(), expected, "{key}");
    }
    assert!(json.get("threads").is_none() && json.get("ip_salt").is_none());
}

#[test]
fn what_is_missing_is_named() {
    check("", &["1: sites: no sites are configured; add a [sites.NAME] table"]);
    check("sites = 5\n", &["1: sites: no sites are configured; add a [sites.NAME] table"]);
    check(
        "[sites.a]\n",
        &["1: sites.a.logs: missing; write logs = [\"/var/log/nginx/access.log*\"]"],
    );
    check(
        "[sites.a]\nlogs = []\n",
        &["2: sites.a.logs: expected a list of files, directories or patterns"],
    );
    check(
        "[sites.a]\nlogs = [\"-\"]\n",
        &["2: sites.a.logs: standard input cannot be used here; name files"],
    );
}

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    check(&site("robot = \"x\""), &["4: unknown key 'robot'; did you mean 'robots'?"]);
    check(&site("verfy-dns = true"), &["4: unknown key 'verfy-dns'; did you mean 'verify_dns'?"]);
    check(&format!("report = 1\n{SITE}"), &["1: unknown key 'report'; did you mean 'reports'?"]);
    check(&format!("[default]\n{SITE}"), &["1: unknown key 'default'; did you mean 'defaults'?"]);
    check(
        &format!("colour = 1\n{SITE}"),
        &[
            "1: unknown key 'colour'; the keys are reports, keep_days, state, keep_state_days, silent_lines, late_lines, lists_days, volume_times, volume_requests, defaults, sites",
        ],
    );
}

#[test]
fn keys_in_the_wrong_table_are_sent_to_their_own() {
    check(
        &site("keep_days = 5"),
        &["4: 'keep_days' belongs at the top of the file, before all tables"],
    );
    check(
        &format!("robots = \"x\"\n[defaults]\nlogs = \"x\"\n{SITE}"),
        &[
            "1: 'robots' belongs in [defaults] or in a [sites.NAME] table",
            "3: 'logs' belongs in a [sites.NAME] table",
        ],
    );
}

#[test]
fn values_of_a_wrong_type_are_named() {
    for (line, expected) in [
        ("crawlers = 5", "crawlers: expected a path in quotes"),
        ("crawlers = \"\"", "crawlers: expected a path in quotes"),
        ("crawlers = [\"a\"]", "crawlers: expected a path in quotes"),
        ("verify_dns = \"yes\"", "verify_dns: expected true or false"),
        ("dns_max = \"5\"", "dns_max: expected a whole number, 0 or more"),
        ("dns_max = -5", "dns_max: expected a whole number, 0 or more"),
        ("dns_max = 99999999999999999999", "dns_max: expected a whole number, 0 or more"),
        ("fail_on = [1]", "fail_on: expected text in quotes, or a list of such texts"),
        ("fail_on = { a = 1 }", "fail_on: expected text in quotes, or a list of such texts"),
        ("since = 2026-01-31", "since: expected text in quotes"),
        ("min_parse_rate = \"90\"", "min_parse_rate: expected a number from 0 to 100"),
    ] {
        check(&site(line), &[&format!("4: sites.a.{expected}")]);
    }
    check(
        &format!("keep_days = 0\n{SITE}"),
        &["1: keep_days: expected a number of days, 1 or more"],
    );
    check(&format!("defaults = 1\n{SITE}"), &["1: defaults: expected a table: [defaults]"]);
    check("[sites]\na = 1\n", &["2: sites.a: expected a table"]);
}

#[test]
fn values_that_are_not_valid_are_named() {
    for (line, expected) in [
        (
            "origin = \"shop\"",
            "origin: 'shop': not a valid origin; write one as https://example.com",
        ),
        (
            "timezone = \"Mars\"",
            "timezone: 'Mars': unknown time zone; write a name such as \
                                 Europe/Berlin",
        ),
        ("ip = \"half\"", "ip: 'half': write none, mask, hash or full"),
        ("dialect = \"bing\"", "dialect: 'bing': write google or rfc9309"),
        ("dns_timeout = 0", "dns_timeout: write seconds from 0.01 to 600"),
        ("dns_timeout = nan", "dns_timeout: write seconds from 0.01 to 600"),
        ("dns_server = \"ns\"", "dns_server: 'ns': invalid socket address syntax"),
        ("min_parse_rate = 101", "min_parse_rate: write a number from 0 to 100"),
    ] {
        check(&site(line), &[&format!("4: sites.a.{expected}")]);
    }
}

#[test]
fn what_is_given_twice_is_named() {
    check(&site("verify-dns = true\nverify_dns = true"), &["5: sites.a.verify_dns: duplicate key"]);
    check(&site("robots = \"s\""), &["4: duplicate key 'robots'"]);
    check(&site("[sites.a]\nlogs = \"y\""), &["4: duplicate key 'a'", "5: duplicate key 'logs'"]);
    check(
        "[sites.a]\nlogs = \"x\"\noutput = \"r/b\"\n[sites.b]\nlogs = \"y\"\noutput = \"c/../r/./b/\"\n",
        &["6: sites.b.output: its reports would overwrite those of the site 'a', which also go \
             to r/b; use another name"],
    );
}

#[test]
fn names_of_sites_stay_within_the_directory_of_reports() {
    for name in ["", "../c", ".hidden", "a/b", "a b", "ü"] {
        let (config, errors) = parse(&format!("[sites.\"{name}\"]\nlogs = \"x\"\n"));
        assert!(config.sites.is_empty(), "{name}");
        assert!(
            errors[0].why.starts_with(
                "not a valid site name; use letters, digits, _, - \
             and . (not first)"
            ),
            "{name}"
        );
    }
}

#[test]
fn mistakes_beside_broken_lines_are_found_too() {
    let (_, errors) = parse("keep_days = \n[sites.a]\nlogs = \"x\"\nrobot = 1\n[sites.b\n");
    let lines: Vec<u64> = errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [1, 4, 5], "{errors:?}");
}

#[test]
fn hostile_files_give_mistakes_only() {
    for text in ["\u{0}", "[[sites]]", "[sites]]", "a.b.c = {", "\"\"\"", "sites.a.logs.b = 1", "="]
    {
        let (_, errors) = parse(text);
        assert!(!errors.is_empty(), "{text:?}");
    }
    let deep = format!("a = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(!parse(&deep).1.is_empty());
}

#[test]
fn contradictions_are_found_by_their_keys() {
    let check = |lines: &str, expected: &[&str]| {
        let (config, errors) = parse(&site(lines));
        assert_eq!(errors, [], "{lines}");
        let site = &config.sites[0];
        let faults = site.audit.check();
        let found: Vec<String> = faults.iter().map(|fault| site.error(fault).at("f")).collect();
        assert_eq!(found, expected, "{lines}");
    };
    check("dns_max = 5", &["f:4: sites.a.dns_max: it has no effect without verify_dns"]);
    check("ip_salt = \"x\"", &["f:4: sites.a.ip_salt: it has no effect without ip"]);
    check(
        "ip_salt = \"x\"\nip = \"mask\"",
        &["f:4: sites.a.ip_salt: it has no effect unless ip is hash"],
    );
    check("ip_salt = \"x\"\nip = \"hash\"", &[]);
    check(
        "ip = \"hash\"",
        &["f:4: sites.a.ip: hash needs a secret, otherwise the addresses can be found by \
             trying all of them; add ip_salt"],
    );
    check(
        "since = \"2026-02-01\"\nuntil = \"2026-01-01\"",
        &["f:5: sites.a.until: 2026-01-01T00:00:00Z is not later than 2026-02-01T00:00:00Z"],
    );
    check(
        "since = \"x\"\nuntil = \"y\"",
        &[
            "f:4: sites.a.since: 'x' is not a valid time; write since = \"2026-01-31T12:00:00Z\"",
            "f:5: sites.a.until: 'y' is not a valid time; write until = \"2026-01-31T12:00:00Z\"",
        ],
    );
}

#[test]
fn what_a_site_says_makes_defaults_void_that_it_contradicts() {
    let defaults = "[defaults]\nip = \"hash\"\nip_salt = \"x\"\norigin = \"https://a.example\"\n";
    let check = |lines: &str, salt: bool, origin: bool| {
        let (config, errors) = parse(&format!("{defaults}{}", site(lines)));
        let audit = &config.sites[0].audit;
        assert_eq!((errors, audit.check()), (Vec::new(), Vec::new()), "{lines}");
        assert_eq!((audit.ip_salt.is_some(), audit.origin.is_some()), (salt, origin), "{lines}");
    };
    check("", true, true);
    check("ip = \"hash\"", true, true);
    check("ip = \"mask\"", false, true);
    check("origin_from_path = \"x\"", true, false);
    check("origin_from_path = \"x\"\norigin = \"https://b.example\"", true, true);
}

#[test]
fn robots_are_needed_unless_they_are_fetched() {
    let faults = |text: &str| parse(text).0.sites[0].audit.check();
    let found = faults("[sites.a]\nlogs = \"x\"\n");
    assert_eq!(found[0].key, "robots");
    assert!(found[0].of_flags().ends_with("; write --robots robots.txt"), "{found:?}");
    assert_eq!(faults("[sites.a]\nlogs = \"x\"\nfetch = true\n"), []);
    assert_eq!(faults("[sites.a]\nlogs = \"x\"\nrobots = \"r\"\nfetch = false\n"), []);
}

#[test]
fn paths_are_relative_to_the_file() {
    let audit = parse(&site("crawlers = \"/abs.csv\"")).0.sites[0].audit.clone();
    let audit = audit.below(Path::new("etc"));
    assert_eq!(audit.robots, Some("etc/r".into()));
    assert_eq!(audit.crawlers, Some("/abs.csv".into()));
    let fetched = parse("[sites.a]\nlogs = \"x\"\nfetch = true\n").0.sites[0].audit.clone();
    assert_eq!(fetched.below(Path::new("etc")).robots, Some("etc/robots.db".into()));
}

#[test]
fn settings_of_an_application_are_checked_together() {
    let config = AuditConfig::from_toml("robots = \"r\"\nreaction_days = 7\nip = \"mask\"\n");
    let config = config.unwrap();
    assert_eq!((config.robots, config.reaction_days), (Some("r".into()), Some(7)));
    let error = AuditConfig::from_toml("robotz = \"r\"\nip = \"some\"\nthreads = \"2\"\n");
    assert_eq!(
        error.unwrap_err().to_string(),
        "ip: 'some': write none, mask, hash or full; threads: expected a whole number, 0 or more; \
         unknown key 'robotz'; did you mean 'robots'?"
    );
    assert!(AuditConfig::from_toml("ip = ").is_err());
}
