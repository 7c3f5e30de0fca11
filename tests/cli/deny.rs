//! Rules for servers that refuse crawlers.

use std::fs;
use std::process::Command;

use super::program::{Ran, Sandbox, line};

/// What may stand before a name in rules, and what after it.
const BEFORE: &str = r"(?:^|[\x00-\x2C\x2E\x2F\x3A-\x40\x5B-\x5E\x60\x7B-\x7F])";
const AFTER: &str = r"(?:$|[\x00-\x2C\x2E\x2F\x3A-\x40\x5B-\x5E\x60\x7B-\x7F])";

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const FORMS: [&str; 11] = [
    "nginx",
    "apache",
    "caddy",
    "haproxy",
    "lighttpd",
    "traefik",
    "nftables",
    "pf",
    "fail2ban",
    "crowdsec",
    "cloudflare",
];

/// A crawler whose name, operator and pattern try to leave comments and quotes.
const HOSTILE: &str = r##"name,operator,purpose,user_agent_regex,user_agent_exclude,product_tokens
"Evil""'`;}{#$(id)%0A
return 200; \","Op""'`;} {\",ai-training,"-ev""il'`#;%[""'`\\\]$%{}]+<b>\$\{x\}&|=evil\\bot","ev""il'` not this\\",evilbot
"##;

/// The user agent that the hostile pattern is for.
const HOSTILE_AGENT: &str = "=evil\\\\bot";

fn sandbox(lines: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("crawlers.csv", HOSTILE);
    sandbox.write("access.log", lines.concat());
    let lists = r#"{"prefixes":[{"ipv4Prefix":"192.0.2.0/25"},{"ipv6Prefix":"2001:db8::/33"},{"ipv4Prefix":"10.0.0.0/8"}]}"#;
    sandbox.write("ranges/gptbot.json", lists);
    sandbox
        .run("audit -q --robots robots.txt --crawlers crawlers.csv --origin https://a.example access.log")
        .exits(0);
    sandbox
}

fn gptbot_and_others() -> Sandbox {
    sandbox(&[
        line(1, "/private", 200, GPTBOT),
        line(2, "/private/2", 200, GPTBOT),
        line(3, "/robots.txt", 200, GPTBOT),
        line(4, "/private", 200, GOOGLEBOT),
        line(5, "/private", 200, HOSTILE_AGENT),
        line(6, "/private", 200, BROWSER),
    ])
}

fn deny(sandbox: &Sandbox, form: &str, more: &[&str]) -> Ran {
    let words = ["deny", "--for", form, "--crawlers", "crawlers.csv"];
    // Each has few requests: none is certain to ignore robots.txt.
    let all: &[&str] = if more.contains(&"--where") { &[] } else { &["--where", "violations > 0"] };
    sandbox.run_words(&[&words[..], all, more].concat(), b"")
}

/// The rules for all that may be denied by `form`.
fn rules(sandbox: &Sandbox, form: &str) -> String {
    let mut text = String::new();
    for by in ["user-agent", "address"] {
        let ran = deny(sandbox, form, &["--by", by, "--ip-ranges", "ranges"]);
        match ran.code {
            0 => text += &ran.stdout,
            _ => drop(ran.exits(2).complains("cannot recognise requests by")),
        }
    }
    text
}

#[test]
fn crawlers_that_meet_the_condition_are_refused_and_named() {
    let sandbox = gptbot_and_others();
    let ran = deny(&sandbox, "nginx", &["--where", "violations > 1", "--replay", "access.log"]);
    let Ran { stdout, stderr, .. } = ran.exits(0);
    let why = "GPTBot (OpenAI): 2 violations in 3 requests, on 2026-03-01, unverified";
    assert_eq!(
        stderr,
        format!(
            "2 of 6 requests would have been refused, none of them by a browser or another \
             crawler\n  GPTBot: 2\nrefused: {why}\n"
        )
    );
    let (head, rest) = stdout.split_once("\n\n").unwrap();
    for part in ["# Made by botaudit deny ", " Review by ", "# Report: botaudit-report\n"] {
        assert!(head.contains(part), "{head}");
    }
    assert!(head.contains("# Condition: violations > 1\n"), "{head}");
    let expected = format!(
        "map $http_user_agent $botaudit_agent_1 {{\n    default 0;\n    # {why}\n    \"~*{BEFORE}GPTBot{AFTER}\" \
         1;\n}}\n\nmap \"$uri:$botaudit_agent_1\" $botaudit_deny {{\n    default 0;\n    \
         \"~^/robots\\.txt:[01]+$\" 0;\n    \"~:[01]*1[01]*$\" 1;\n}}\n"
    );
    assert_eq!(rest, expected);
    let of_tally = ["botaudit-report/report.tally", "--where", "violations > 1"];
    assert!(deny(&sandbox, "nginx", &of_tally).exits(0).stdout.ends_with(&expected));
    deny(&sandbox, "nginx", &["--where", "violations > 9"]).exits(2).complains("no crawler meets");
    deny(&sandbox, "nginx", &["--where", "violation > 9"]).exits(2).complains("unknown column");
}

#[test]
fn search_engines_are_refused_only_where_they_are_named() {
    let sandbox = gptbot_and_others();
    let ran = deny(&sandbox, "nginx", &[]).exits(0);
    assert!(!ran.stdout.contains("Googlebot"), "{}", ran.stdout);
    ran.complains("note: not refused, although the condition is met: Googlebot;");
    let ran = deny(&sandbox, "nginx", &["--where", "crawler = 'Googlebot'"]).exits(0);
    // What is excluded by the row is an exception. A longer name needs none.
    let rules = ran.stdout;
    let at = |part: &str| rules.find(part).unwrap_or_else(|| panic!("{part}: {rules}"));
    assert!(at("like Googlebot|") < at(&format!("\"~*{BEFORE}Googlebot(?:-Mobile)?{AFTER}\" 1;")));
    assert!(!rules.contains("Googlebot-Image"), "{rules}");
}

#[test]
fn what_others_did_in_the_name_of_a_crawler_does_not_refuse_it() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(9, "/private", 200, GPTBOT));
    let list = r#"{"creationTime":"2026-03-01","prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}"#;
    sandbox.write("ranges/gptbot.json", list);
    sandbox.run("audit -q --robots robots.txt --ip-ranges ranges access.log").exits(0);
    let deny = |condition: &str| {
        sandbox.run_words(&["deny", "--for", "nginx", "--where", condition], b"").exits(2)
    };
    assert!(!deny("violations > 0").stderr.contains("note:"));
    deny("violations > 0 and identity = 'spoofed'")
        .complains("note: not refused, because only spoofed requests meet the condition: GPTBot");
}

#[test]
fn addresses_come_from_published_lists_without_private_networks() {
    let sandbox = gptbot_and_others();
    deny(&sandbox, "nftables", &[]).exits(2).complains("botaudit crawlers fetch-ranges ip-ranges/");
    let ran = deny(&sandbox, "nftables", &["--ip-ranges", "ranges"]).exits(0);
    for part in ["      192.0.2.0/25\n", "      2001:db8::/33\n", "# GPTBot (OpenAI): 2 violations"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("10.0.0.0"), "{}", ran.stdout);
    let ran = deny(&sandbox, "crowdsec", &["--ip-ranges", "ranges"]).exits(0);
    let why =
        "\"botaudit deny: GPTBot (OpenAI): 2 violations in 3 requests, on 2026-03-01, unverified\"";
    let rows: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(rows[0], "duration,scope,type,reason,value");
    assert_eq!(rows[1], format!("2160h,range,ban,{why},192.0.2.0/25"));
    ran.complains("has no list of addresses and is not refused; use --by user-agent");
    deny(&sandbox, "nginx", &["--by", "address"]).exits(2).complains("fetch-ranges");
}

/// Each network could be an operator's, and all of them are half of the internet.
#[test]
fn lists_that_nobody_can_have_refuse_nobody() {
    let sandbox = gptbot_and_others();
    let networks = (1..=128).map(|first| format!(r#"{{"ipv4Prefix":"{first}.0.0.0/8"}}"#));
    let networks = networks.collect::<Vec<_>>().join(",");
    sandbox.write("ranges/gptbot.json", format!(r#"{{"prefixes":[{networks}]}}"#));
    let ran = deny(&sandbox, "nginx", &["--by", "address", "--ip-ranges", "ranges"]).exits(2);
    assert_eq!(ran.stdout, "");
    ran.complains(
        "the address lists of OpenAI have 50.000 % of all IPv4 addresses; an operator has",
    );
}

#[test]
fn the_note_about_others_says_how_each_is_refused() {
    let mut lines: Vec<String> = (0..9).map(|at| line(at, "/open", 200, GPTBOT)).collect();
    lines.extend((10..19).map(|at| line(at, "/open", 200, GOOGLEBOT)));
    lines.extend([line(20, "/private", 200, GPTBOT), line(21, "/private", 200, GOOGLEBOT)]);
    let sandbox = sandbox(&lines);
    let ran = deny(&sandbox, "nginx", &["--where", "conduct = 'ignores'"]).exits(2);
    for (name, advice) in [
        ("GPTBot (", "--where \"violations > 0\" refuses them too\n"),
        ("Googlebot (", "must be named: --where \"crawler = 'Googlebot'\"\n"),
    ] {
        let start = format!("note: not refused, because they do not ignore robots.txt: {name}");
        let note =
            ran.stderr.split("note: ").find(|note| format!("note: {note}").starts_with(&start));
        let note = note.unwrap_or_else(|| panic!("{}", ran.stderr));
        let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(note.contains(advice.trim()), "{note}");
    }
    let all = deny(&sandbox, "nginx", &["--where", "violations > 0"]).exits(0).stdout;
    assert!(all.contains("GPTBot") && !all.contains("Googlebot"), "{all}");
}

/// No pattern leaves the quotes of Traefik's rules, which are in the quotes of TOML.
#[test]
fn traefik_answers_403_by_a_middleware_that_lets_nobody_pass() {
    let sandbox = gptbot_and_others();
    let parsed = |flags: &[&str]| -> toml::Table {
        deny(&sandbox, "traefik", flags).exits(0).stdout.parse().unwrap()
    };
    let rules = parsed(&[]);
    let deny = rules["http"]["middlewares"]["botaudit-deny"]["ipAllowList"].as_table().unwrap();
    assert_eq!(deny["sourceRange"].as_array().unwrap()[0].as_str(), Some("255.255.255.255/32"));
    let routers = rules["http"]["routers"].as_table().unwrap();
    assert!(routers.len() >= 2 && routers.len().is_multiple_of(2), "{routers:?}");
    for (name, router) in routers {
        let rule = router["rule"].as_str().unwrap();
        assert!(rule.starts_with("!Path(`/robots.txt`) && HeaderRegexp(`User-Agent`, `(?i)"));
        assert_eq!(rule.matches('`').count() % 2, 0, "{rule}");
        assert_eq!(router["middlewares"][0].as_str(), Some("botaudit-deny"));
        assert_eq!(router.get("tls").is_some(), name.ends_with("-tls"), "{name}");
    }
    assert!(routers["botaudit-agent-1"]["rule"].as_str().unwrap().contains("GPTBot"));
    let by_address = parsed(&["--by", "address", "--ip-ranges", "ranges"]);
    let rule = by_address["http"]["routers"]["botaudit-address"]["rule"].as_str().unwrap();
    let expected =
        "!Path(`/robots.txt`) && (ClientIP(`192.0.2.0/25`) || ClientIP(`2001:db8::/33`))";
    assert_eq!(rule, expected);
}

#[test]
fn pf_has_a_table_of_networks() {
    let sandbox = gptbot_and_others();
    deny(&sandbox, "pf", &[]).exits(2).complains("botaudit crawlers fetch-ranges ip-ranges/");
    let rules = deny(&sandbox, "pf", &["--ip-ranges", "ranges"]).exits(0).stdout;
    let lines: Vec<&str> = rules.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "table <botaudit> const { \\",
            "  192.0.2.0/25, \\",
            "  2001:db8::/33 \\",
            "}",
            "block drop in quick proto tcp from <botaudit> to any port { 80, 443 }",
            "block drop in quick proto udp from <botaudit> to any port 443",
        ]
    );
}

/// A trial fails before anything is written.
#[test]
fn a_trial_names_the_first_request_that_nobody_wanted_to_refuse() {
    let sandbox = gptbot_and_others();
    let browser = line(7, "/", 200, BROWSER).replacen("192.0.2.7", "192.0.2.9", 1);
    let lines = [line(6, "/private", 200, GPTBOT), browser];
    sandbox.write("browser.log", lines.concat());
    let flags = ["--by", "address", "--ip-ranges", "ranges", "-o", "rules", "--replay"];
    let ran = deny(&sandbox, "nginx", &[&flags[..], &["browser.log"]].concat()).exits(2);
    ran.complains("browser.log:2: these rules would refuse a browser ('Mozilla/5.0 (X11;");
    assert!(!sandbox.path("rules").exists());

    let table = "name,user_agent_regex\nAaa,FooBot/9\nFooBot,FooBot\n";
    sandbox.write("crawlers.csv", table);
    let audited = ["/private", "/robots.txt"].map(|path| line(1, path, 200, "FooBot/1.0"));
    sandbox.write("access.log", audited.concat());
    sandbox.run("audit -q --robots robots.txt --crawlers crawlers.csv access.log").exits(0);
    deny(&sandbox, "nginx", &["--replay", "access.log"]).exits(0);
    sandbox.write("other.log", line(1, "/", 200, "FooBot/9.0"));
    let ran = deny(&sandbox, "nginx", &["--replay", "access.log", "other.log"]).exits(2);
    ran.complains("other.log:1: these rules would refuse Aaa ('FooBot/9.0'), and 1 request");
    sandbox.write_gz("cut.log.gz", line(1, "/", 200, BROWSER).repeat(1000));
    let whole = fs::read(sandbox.path("cut.log.gz")).unwrap();
    sandbox.write("cut.log.gz", &whole[..whole.len() / 2]);
    deny(&sandbox, "nginx", &["--replay", "cut.log.gz"]).exits(2).complains("cut.log.gz: ");
}

#[test]
fn only_rules_are_overwritten() {
    let sandbox = gptbot_and_others();
    for form in FORMS {
        let write = ["--ip-ranges", "ranges", "-o", "rules"];
        deny(&sandbox, form, &write).exits(0);
        deny(&sandbox, form, &write).exits(0);
    }
    sandbox.write("rules", "server {}\n");
    let ran = deny(&sandbox, "nginx", &["-o", "rules"]).exits(2);
    ran.complains("was not written by botaudit");
}

/// Names, patterns and conditions end no line, no comment and no quote.
#[test]
fn nothing_of_strangers_leaves_its_place() {
    let sandbox = gptbot_and_others();
    let condition = "violations > 0 and origin != 'x\n}\nreturn 200;\\'";
    for form in FORMS {
        let flags = ["--ip-ranges", "ranges", "--where", condition];
        let text = deny(&sandbox, form, &flags).exits(0).stdout;
        let comments = || text.lines().filter(|line| line.trim_start().starts_with('#'));
        assert!(comments().all(|line| !line.ends_with('\\')), "{form}: {text}");
        let mut rest = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        assert!(rest.all(|line| !line.contains("(id)") && !line.contains("return 200")), "{text}");
    }
    let text = rules(&sandbox, "nginx");
    assert!(text.contains(r#""~*-ev\x22il\x27\x60\x23\x3B\x25"#), "{text}");
    assert!(text.contains(r"# Evil"), "{text}");
}

/// What the checker of a program says; `None` if it is not installed.
fn accepted(program: &str, arguments: &[&str], sandbox: &Sandbox) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(sandbox.path("."));
    match command.env("PATH", path()).env("HOME", sandbox.path(".")).output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(output.status.success(), "{program}: {said}");
            Some(said)
        }
        Err(_) => {
            eprintln!("skipped: there is no {program}");
            None
        }
    }
}

/// Servers are often outside of the path of users.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap())
}

#[cfg(unix)]
#[test]
fn each_program_reads_its_rules() {
    let sandbox = gptbot_and_others();
    for form in FORMS {
        sandbox.write(form, rules(&sandbox, form));
    }
    let at = |name: &str| sandbox.path(name).display().to_string();
    // A name is defined once, so both kinds of rules are in one map.
    let nginx = sandbox.text("nginx");
    let (agents, addresses) = nginx.split_at(nginx.rfind("# Made by").unwrap());
    for (name, rules) in [("agents", agents), ("addresses", addresses)] {
        sandbox.write(name, rules);
        let conf = format!(
            "pid {};\nerror_log stderr;\nevents {{}}\nhttp {{ access_log off;\ninclude {};\nserver {{ if \
             ($botaudit_deny) {{ return 403; }} }} }}\n",
            at("pid"),
            at(name)
        );
        sandbox.write("nginx.conf", conf);
        accepted("nginx", &["-t", "-c", &at("nginx.conf")], &sandbox);
    }
    let modules = "/usr/lib/apache2/modules";
    let load = ["mpm_event", "authz_core", "rewrite"]
        .map(|name| format!("LoadModule {name}_module {modules}/mod_{name}.so\n"));
    let conf = format!(
        "{}ServerName a\nListen 127.0.0.1:1\nPidFile {}\nErrorLog {}\n<VirtualHost *:1>\nInclude {}\n</VirtualHost>\n",
        load.concat(),
        at("pid"),
        at("error"),
        at("apache")
    );
    sandbox.write("apache.conf", conf);
    accepted("apache2", &["-t", "-f", &at("apache.conf")], &sandbox);
    sandbox.write("Caddyfile", format!(":1 {{\n\timport {}\n\trespond 200\n}}\n", at("caddy")));
    let flags = ["validate", "--adapter", "caddyfile", "--config", &at("Caddyfile")];
    accepted("caddy", &flags, &sandbox);
    let conf = format!(
        "defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\nfrontend f\n bind 127.0.0.1:1\n{} default_backend b\nbackend b\n http-request return status 200\n",
        sandbox.text("haproxy")
    );
    sandbox.write("haproxy.cfg", conf);
    accepted("haproxy", &["-c", "-f", &at("haproxy.cfg")], &sandbox);
    let conf = format!("server.document-root = \"/\"\ninclude \"{}\"\n", at("lighttpd"));
    sandbox.write("lighttpd.conf", conf);
    accepted("lighttpd", &["-tt", "-f", &at("lighttpd.conf")], &sandbox);
    if accepted("nft", &["--version"], &sandbox).is_some() {
        accepted("unshare", &["-rn", "nft", "-c", "-f", &at("nftables")], &sandbox);
    }
    sandbox.write("filter.conf", sandbox.text("fail2ban"));
    let log = format!("{}{}", line(1, "/a", 200, GPTBOT), line(2, "/robots.txt", 200, GPTBOT));
    sandbox.write("fail2ban.log", log + &line(3, "/a", 200, BROWSER));
    let said = accepted("fail2ban-regex", &[&at("fail2ban.log"), &at("filter.conf")], &sandbox);
    assert!(said.is_none_or(|said| said.contains("3 lines, 0 ignored, 1 matched, 2 missed")));
}
