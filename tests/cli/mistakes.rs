//! Common mistakes: each message names the cause and the next step.

use super::program::{Ran, Sandbox, line};

const BOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const RULES: &str = "User-agent: *\nDisallow: /private\n";

/// A log without hosts, a log of example.com under https, and a robots.txt.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", RULES);
    sandbox.write("access.log", line(1, "/private", 200, BOT));
    sandbox.write("https.log", of_hosts(&["example.com:443"]));
    sandbox
}

fn of_hosts(hosts: &[&str]) -> String {
    hosts.iter().map(|host| format!("{host} {}", line(1, "/private", 200, BOT))).collect()
}

/// Checks that `arguments` end with `code`, and that the message has all `parts`.
#[track_caller]
fn check(sandbox: &Sandbox, arguments: &str, code: i32, parts: &[&str]) -> Ran {
    let ran = sandbox.run(arguments).exits(code);
    parts.iter().fold(ran, |ran, part| ran.complains(part))
}

#[test]
fn a_url_as_robots() {
    let next = "botaudit robots fetch --archive robots.db https://a.example";
    let url = "https://a.example/robots.txt";
    for command in ["audit", "audit --fetch", "check --crawler GPTBot", "classify --token a"] {
        let command = format!("{command} --robots {url} access.log");
        check(&sandbox(), &command, 2, &[&format!("--robots {url} is a URL, not a file"), next]);
    }
}

#[test]
fn an_origin_with_a_path() {
    for (command, code) in [("audit access.log", 2), ("check --crawler GPTBot /x", 2)] {
        let run = format!("{command} --robots robots.txt --origin https://a.example/robots.txt");
        check(&sandbox(), &run, code, &["an origin has no path; write https://a.example\n"]);
    }
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt --origin https://a.example/ access.log").exits(0);
    let run = "audit --robots robots.txt --origin a.example access.log";
    check(&sandbox, run, 2, &["not a valid origin; write one as https://example.com"]);
}

#[test]
fn no_command() {
    let next = "run: botaudit audit --robots robots.txt ";
    check(&sandbox(), "access.log", 2, &["'access.log' is not a command", next]);
    check(&sandbox(), "/var/log/x", 2, &["'/var/log/x' is not a command", next]);
    check(&sandbox(), "adit", 2, &["unrecognized subcommand 'adit'", "'audit'"]);
}

#[test]
fn a_misspelt_crawler() {
    let near = "unknown crawler 'ClaudBot' (did you mean ClaudeBot?); ";
    let show = "crawlers show ClaudBot";
    check(&sandbox(), show, 2, &[near, "to list all names, run: botaudit crawlers list"]);
    let token = "use --token 'ClaudBot'";
    let options = "--robots robots.txt --crawler ClaudBot access.log";
    check(&sandbox(), &format!("check {options}"), 2, &[near, token]);
    check(&sandbox(), &format!("classify {options}"), 2, &[near, token]);
}

#[test]
fn a_crawler_in_place_of_a_command() {
    let show = "to show a crawler, run: botaudit crawlers show 'ChatGPT'";
    for run in ["crawlers ChatGPT", "crawlers --format json ChatGPT"] {
        check(&sandbox(), run, 2, &["'ChatGPT' is not a command; ", show]);
    }
    let near = "unknown crawler 'ChatGPT' (did you mean ChatGPT-User, ";
    check(&sandbox(), "crawlers show ChatGPT", 2, &[near]);
}

#[test]
fn a_crawler_of_a_condition() {
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt -o report https.log").exits(0);
    let deny =
        sandbox.command("deny report --for nginx --where").arg("crawler = 'gptbot'").output();
    let deny = deny.unwrap();
    let said = String::from_utf8_lossy(&deny.stderr);
    assert!(deny.status.success() && said.contains("refused: GPTBot (OpenAI)"), "{said}");
    let deny = sandbox.command("deny report --for nginx --where").arg("crawler = 'GPTBt'").output();
    let said = String::from_utf8(deny.unwrap().stderr).unwrap();
    let expected =
        "--where: \"crawler = 'GPTBt'\": unknown crawler 'GPTBt'; did you mean GPTBot?\n";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn no_report() {
    let parts = |name: &str| {
        format!(
            "no report in {name}; to write one, run: botaudit audit --robots robots.txt -o {name} LOG"
        )
    };
    let origin = "--crawler GPTBot --origin https://a.example -o x";
    for (run, name) in [
        ("deny nodir --for nginx", "nodir"),
        ("deny --for nginx", "botaudit-report"),
        ("report nodir", "nodir"),
        (&format!("evidence nodir {origin}"), "nodir"),
    ] {
        check(&sandbox(), run, 2, &[&parts(name)]);
    }
    // What is missing first is said first.
    check(&sandbox(), "deny nodir", 2, &[&parts("nodir")]);
    check(&sandbox(), "deny", 2, &[&parts("botaudit-report")]);
    let sandbox = sandbox();
    sandbox.run("audit -q --robots robots.txt https.log").exits(0);
    check(
        &sandbox,
        "deny",
        2,
        &["--for is missing; name the program that reads the rules: nginx, apache, "],
    );
}

#[test]
fn lint_of_a_url_and_of_a_directory() {
    let sandbox = sandbox();
    let url = "https://a.example/robots.txt";
    let next = format!("is a URL, and lint reads files; run: curl -s {url} | botaudit lint -");
    check(&sandbox, &format!("lint {url}"), 2, &[&next]);
    sandbox.write("site/robots.txt", RULES);
    sandbox.write("robots/a.example", RULES);
    sandbox.write("robots/b.example/robots.txt", "Disallow: /a\n");
    sandbox.write("robots/README", "Not a robots.txt\n");
    sandbox.write("empty/README", "");
    sandbox.run("lint site").exits(0);
    let ran = sandbox.run("lint robots site").exits(1);
    let named = ["robots/a.example", "robots/b.example/robots.txt", "site/robots.txt"];
    named.iter().for_each(|name| assert!(ran.stdout.contains(name), "{}", ran.stdout));
    assert!(!ran.stdout.contains("README"), "{}", ran.stdout);
    check(
        &sandbox,
        "lint empty",
        2,
        &["empty: is a directory without robots.txt files; name them"],
    );
}

/// The warning of an audit names a command that works.
#[test]
fn lint_of_the_directory_of_an_audit() {
    let sandbox = sandbox();
    for host in ["a", "b", "c", "d"] {
        let rules = format!("User-agent: *\nDisallow: x{host}\nDisallow: y\n");
        sandbox.write(&format!("many/{host}.example"), rules);
    }
    let hosts = ["a.example:443", "b.example:443", "c.example:443", "d.example:443"];
    sandbox.write("hosts.log", of_hosts(&hosts));
    let ran = sandbox.run("audit --robots many hosts.log").exits(0);
    let ran = ran.complains("more robots.txt errors; botaudit lint many shows all");
    assert_eq!(ran.stderr.matches("shows all").count(), 1);
    assert!(sandbox.run("lint many").exits(1).stdout.contains("many/d.example"));
}

#[test]
fn a_log_and_a_robots_txt_that_are_swapped() {
    let sandbox = sandbox();
    sandbox.write_gz("a.log.gz", line(1, "/private", 200, BOT));
    for (log, what) in
        [("access.log", "an access log"), ("a.log.gz", "other text without a User-agent line")]
    {
        let why = format!(
            "--robots and the log are swapped: {log} is {what}, and robots.txt is a robots.txt; write \
             --robots robots.txt {log}"
        );
        check(&sandbox, &format!("audit --robots {log} robots.txt"), 2, &[&why]);
    }
}

#[test]
fn a_day_in_another_form_and_a_short_flag() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt access.log";
    for day in ["26.11.2025", "11/26/2025"] {
        let why = format!("--since: '{day}' is not a valid time; write --since 2025-11-26");
        check(&sandbox, &format!("{audit} --since {day}"), 2, &[&why]);
    }
    let ran = sandbox.run(&format!("{audit} --until yesterday")).exits(2);
    ran.complains("--until: 'yesterday' is not a valid time; write --until 20");
    let why = "-r is not an option; write --robots robots.txt";
    check(&sandbox, "audit -r robots.txt access.log", 2, &[why]);
}

#[test]
fn numbers() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt -o report https.log";
    for (flag, expected) in [
        ("--threads many", "'many' for '--threads <N>': write a whole number, such as 4"),
        ("--threads -1", "'-1' for '--threads <N>': write a whole number, such as 4"),
        ("--top -5", "'-5' for '--top <N>': write a whole number of 1 or more, such as 20"),
        ("--top 0", "'0' for '--top <N>': write a whole number of 1 or more, such as 20"),
        ("--dns-max 1.5", "'1.5' for '--dns-max <N>': write a whole number, such as 4"),
        (
            "--session-minutes 0",
            "--session-minutes: 0 is not valid: each request would be a session; write \
             --session-minutes 5",
        ),
        (
            "--trusted-proxy 10.0.0.0",
            "--trusted-proxy: '10.0.0.0' is the address of a network without its size, so it would \
             be one proxy only; write --trusted-proxy 10.0.0.0/8",
        ),
        ("--trusted-proxy 2001:db8::", "'2001:db8::' is the address of a network without its size"),
        ("--what-if nope.txt", "--what-if: cannot read robots.txt nope.txt: No such file"),
    ] {
        check(&sandbox, &format!("{audit} {flag}"), 2, &[expected]);
        assert!(!sandbox.path("report").exists(), "{flag}");
    }
    sandbox.run(&format!("{audit} --trusted-proxy 10.0.0.1 --threads 1 --top 1")).exits(0);
}

#[test]
fn keys_of_a_log_that_is_not_json() {
    let sandbox = sandbox();
    let run = "audit --robots robots.txt -o report --json-fields time=ts https.log";
    let expected = "--json-fields is for the format json, and the format of https.log is vhost_combined; omit it, or \
                    add --log-format json";
    check(&sandbox, run, 2, &[expected]);
    assert!(!sandbox.path("report").exists());
    // Parts of an audit have the options of the whole.
    let part = run.replace("-o report", "--partial part.tally");
    let expected = "warning: --json-fields has no effect: it is for the format json, and the format \
                    of the logs is vhost_combined\n";
    check(&sandbox, &part, 0, &[]);
    check(&sandbox, "report part.tally -o drawn", 0, &[expected]);
    sandbox.write("json.log", format!("{{\"time\":\"2026-03-01T00:00:01Z\",\"path\":\"/\",\"user_agent\":\"{BOT}\",\"host\":\"example.com\"}}\n"));
    let run = "audit --robots robots.txt -o report --json-fields time=time json.log https.log";
    let said = sandbox.run(run).exits(0).stderr;
    assert!(!said.contains("--json-fields"), "{said}");
}

#[test]
fn a_log_in_place_of_a_list_of_urls() {
    let sandbox = sandbox();
    let run = "classify --robots robots.txt --crawler GPTBot -o v.csv";
    let next = "https.log is an access log (vhost_combined), not a list of URLs; to audit it, run: \
                botaudit audit --robots robots.txt https.log\n";
    let why = "no URL could be judged: https.log is an access log";
    check(&sandbox, &format!("{run} https.log"), 3, &["1 URL; 1 invalid-url", why, next]);
    sandbox.write("urls.txt", "nothing\n");
    let said = sandbox.run(&format!("{run} urls.txt")).exits(3).stderr;
    assert!(said.contains("1 invalid-url") && !said.contains("access log"), "{said}");
}

#[test]
fn a_misspelt_key() {
    let sandbox = sandbox();
    sandbox.write("c.toml", "[sites.a]\nlogs = ['access.log']\nrobot = 'robots.txt'\n");
    let parts = ["c.toml:3: unknown key 'robot'; did you mean 'robots'?", "nothing was read"];
    check(&sandbox, "nightly --config c.toml", 2, &parts);
}

#[test]
fn no_configuration() {
    let parts = ["botaudit.toml: the configuration file does not exist", "run: botaudit init"];
    check(&sandbox(), "nightly", 2, &parts);
    check(&sandbox(), "audit --config x.toml", 2, &["x.toml: the conf", "botaudit init x.toml"]);
}

#[test]
fn the_version_of_a_command() {
    for flag in ["--version", "-V"] {
        let run = format!("audit {flag}");
        check(&sandbox(), &run, 2, &["commands have no --version; run: botaudit --version"]);
    }
    assert!(sandbox().run("--version").exits(0).stdout.starts_with("botaudit "));
}

#[test]
fn an_origin_of_the_other_scheme() {
    let wrong = "--origin http://example.com: the logs have no requests for it, but 1 request for \
                 https://example.com; use --origin https://example.com";
    let run = "audit --robots robots.txt --origin http://example.com https.log";
    check(&sandbox(), run, 0, &[wrong]);
    let run = "audit --robots robots.txt --origin https://example.com https.log";
    assert_eq!(sandbox().run(run).exits(0).stderr, "");
}

#[test]
fn a_robots_txt_of_the_other_scheme() {
    let sandbox = sandbox();
    sandbox.write("robots/http_example.com_80.txt", RULES);
    let parts = [
        "no request could be judged: no robots.txt of the hosts in the logs: https://example.com (1 \
         request, file example.com.txt; robots/http_example.com_80.txt is for the other scheme only)",
        "add files with these names to the directory",
    ];
    check(&sandbox, "audit --robots robots https.log", 3, &parts);
}

#[test]
fn one_robots_txt_for_many_hosts() {
    let sandbox = sandbox();
    let hosts: Vec<String> = (10..22).map(|host| format!("h{host}.example:443")).collect();
    sandbox.write("hosts.log", of_hosts(&hosts.iter().map(String::as_str).collect::<Vec<_>>()));
    let parts = [
        "one robots.txt was used for 12 hosts (h10.example, h11.example, h12.example and 9 more)",
        "use --robots with a directory of files such as h10.example.txt, or use --fetch --robots robots.db",
    ];
    check(&sandbox, "audit --robots robots.txt hosts.log", 0, &parts);
    // The names of one site, and requests to its address.
    let names = ["a.example:443", "a.example:80", "www.a.example:443", "192.0.2.1:80", "[::1]:80"];
    sandbox.write("names.log", of_hosts(&names));
    assert_eq!(sandbox.run("audit --robots robots.txt names.log").exits(0).stderr, "");
}

#[test]
fn a_directory_without_the_hosts_of_the_log() {
    let sandbox = sandbox();
    sandbox.write("robots/a.example", RULES);
    let missing = "no robots.txt of the hosts in the logs: https://example.com (1 request, file \
                   example.com.txt); for your own hosts, add files with these names to the directory, \
                   or use --fetch --robots robots.db";
    let all = format!("no request could be judged: {missing}");
    check(&sandbox, "audit --robots robots https.log", 3, &[&all]);
    // Some lines have a host.
    sandbox.write("some.log", of_hosts(&["example.com:443", "a.example:443"]));
    check(&sandbox, "audit --robots robots some.log", 0, &[&format!("warning: {missing}")]);
}

#[test]
fn something_else_as_robots_txt() {
    let sandbox = sandbox();
    sandbox.write("page.html", "<!DOCTYPE html>\n<html><title>404</title>\n<p>a\n<p>b\n</html>\n");
    sandbox.write("error.txt", "Not Found\n\nNo such file: robots.txt\n");
    sandbox.write("log.txt", line(1, "/", 200, BROWSER).repeat(3));
    sandbox.write("urls", "https://a.example/private\n");
    for (name, what, code) in [
        ("page.html", "an HTML page", "html"),
        ("error.txt", "other text without a User-agent line", "not-robots-txt"),
        ("log.txt", "an access log", "not-robots-txt"),
    ] {
        let judged = format!("no request could be judged: {name} is not a robots.txt but {what}; ");
        let next = "the file that the site serves as /robots.txt";
        check(&sandbox, &format!("audit --robots {name} https.log"), 3, &[&judged, next]);
        let warning =
            format!("warning: {name} is {what}, not a robots.txt, so it allows everything");
        let check_run = format!("check --robots {name} --crawler GPTBot /a /b");
        let ran = check(&sandbox, &check_run, 0, &[&warning, next]);
        assert_eq!(ran.stderr.matches("warning").count(), 1, "{}", ran.stderr);
        let classify = format!("classify --robots {name} --crawler GPTBot urls");
        check(&sandbox, &classify, 3, &[&warning, next]);
        let found = sandbox.run(&format!("lint {name}")).exits(1).stdout;
        assert!(found.contains(&format!("[{code}]")) && found.contains(": 1 error\n"), "{found}");
    }
    sandbox.write("empty", "");
    let empty = ["empty is empty; use --robots with the file that the site serves"];
    check(&sandbox, "audit --robots empty https.log", 3, &empty);
    // One of several files.
    sandbox.write("robots/example.com", "Not Found\n");
    sandbox.write("robots/a.example", RULES);
    sandbox.write("two.log", of_hosts(&["example.com:443", "a.example:443"]));
    let one = "not robots.txt files, so they allow everything: robots/example.com (other text";
    check(&sandbox, "audit --robots robots two.log", 0, &[one]);
}

#[test]
fn logs_without_anything_to_judge() {
    let sandbox = sandbox();
    sandbox.write("empty.log", "");
    let parts = ["no request could be judged: no requests in empty.log; use other logs"];
    check(&sandbox, "audit --robots robots.txt empty.log", 3, &parts);
    sandbox.write("people.log", line(1, "/private", 200, BROWSER));
    let parts = ["no request of a known crawler in 1 line; to add crawlers, use --crawlers"];
    check(&sandbox, "audit --robots robots.txt people.log", 0, &parts);
    sandbox.write("strangers.log", line(1, "/private", 200, "WonderBot/1.0"));
    let parts = ["in 1 line; user agents that look automated are in unknown-crawlers.csv; to add"];
    check(&sandbox, "audit --robots robots.txt strangers.log", 0, &parts);
    let parts = [
        "--since 2999-01-01T00:00:00Z is in the future",
        "all requests of access.log are outside --since 2999-01-01T00:00:00Z; use other times",
    ];
    check(&sandbox, "audit --robots robots.txt --since 2999-01-01 access.log", 3, &parts);
}

#[test]
fn a_log_without_hosts() {
    let sandbox = sandbox();
    let next = "add --origin https://example.com";
    let parts = ["requests without a host: 1; their origin is '-' in the report", next];
    check(&sandbox, "audit --robots robots.txt access.log", 0, &parts);
    sandbox.write("robots/a.example", RULES);
    let parts = ["no request could be judged: the log names no host", next];
    check(&sandbox, "audit --robots robots access.log", 3, &parts);
}

#[test]
fn a_file_name_with_a_scheme_and_no_port() {
    let sandbox = sandbox();
    sandbox.write("robots/https_example.com.txt", RULES);
    sandbox.write("robots/http_example.com", RULES);
    sandbox.write("robots/https_example.com_443/robots.txt", RULES);
    let parts = [
        "robots/https_example.com.txt applies to no origin; rename it to https_example.com_443.txt, or \
         to example.com.txt for any scheme",
        "robots/http_example.com applies to no origin; rename it to http_example.com_80.txt",
        "robots/https_example.com_443 applies to no origin; rename it to https_example.com_443.txt",
    ];
    check(&sandbox, "audit --robots robots https.log", 2, &parts);
    let import = "robots import -a x.db --at 2026-01-01 robots";
    check(&sandbox, import, 3, &["robots/https_example.com.txt: the file name is not a host"]);
}

/// The line that a user pastes reads the log.
#[test]
fn text_of_an_unknown_format() {
    let sandbox = sandbox();
    let line = format!(
        r#"web1;2026-03-01T00:00:01Z;192.0.2.7;example.com;"GET /private HTTP/1.1";200;5;"{BOT}""#
    );
    sandbox.write("odd.log", format!("{line}\n").repeat(6));
    let format = r#"$other;$time_iso8601;$remote_addr;$http_host;"$request";$status;$body_bytes_sent;"$http_user_agent""#;
    let detected = sandbox.run("formats detect odd.log").stdout;
    let expected = format!("  try       name the fields, as in: --log-format '{format}'\n");
    assert!(detected.contains(&expected), "{expected:?} is not in:\n{detected}");
    let arguments =
        ["audit", "--robots", "robots.txt", "--log-format", format, "-o", "report", "odd.log"];
    sandbox.run_words(&arguments, b"").exits(0);
}

/// All keys are listed, also those past the beginning of a line that is shown.
#[test]
fn json_with_many_unknown_keys() {
    let sandbox = sandbox();
    let many: String = (0..60).map(|key| format!("\"number{key}\":{key},")).collect();
    let entry = format!(
        r#"{{{many}"moment":"2026-03-01T00:00:01Z","from":"192.0.2.7","site":"example.com","what":"/private","program":"{BOT}"}}"#
    );
    sandbox.write("json.log", format!("{entry}\n").repeat(6));
    let detected = sandbox.run("formats detect json.log").exits(2).stdout;
    let fields = "time=moment,client=from,host=site,target=what,user-agent=program";
    let expected = [
        "  keys      number0, number1, ",
        "number59, moment, from, site, what, program\n",
        &format!("  try       name them, as in: --json-fields {fields}\n"),
    ];
    for part in expected {
        assert!(detected.contains(part), "{part:?} is not in:\n{detected}");
    }
    let run = format!("audit --robots robots.txt --json-fields {fields} -o report json.log");
    sandbox.run(&run).exits(0);
    // An audit has only the beginning of the line.
    let all = "(formats detect lists all keys)";
    check(&sandbox, "audit --robots robots.txt json.log", 3, &[all]);
}

#[test]
fn json_with_unknown_keys() {
    let sandbox = sandbox();
    let entry = format!(
        r#"{{"requestTime":"2026-03-01T00:00:01Z","who":"192.0.2.7","vhostName":"example.com","uri":"/private","code":200,"userAgentString":"{BOT}"}}"#
    );
    sandbox.write("json.log", format!("{entry}\n").repeat(6));
    let fields = "time=requestTime,client=who,host=vhostName,target=uri,status=code,user-agent=userAgentString";
    let parts = [
        "its JSON keys are requestTime, who, vhostName, uri, code, userAgentString; ",
        &format!("--json-fields {fields};"),
    ];
    check(&sandbox, "audit --robots robots.txt json.log", 3, &parts);
    let detected = sandbox.run("formats detect json.log").exits(2).stdout;
    assert!(detected.contains(&format!("--json-fields {fields}\n")), "{detected}");
    // The proposed flags work.
    let run = format!("audit --robots robots.txt --json-fields {fields} -o report json.log");
    sandbox.run(&run).exits(0);
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 6);
}

#[test]
fn a_directory_on_standard_output_and_a_file_that_is_a_directory() {
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt -o report https.log").exits(0);
    let why = "is a directory and cannot be written to standard output (-); name a directory";
    for run in [
        "audit --robots robots.txt -o - https.log",
        "report report -o -",
        "robots export -a robots.db -",
        "crawlers fetch-ranges -",
    ] {
        check(&sandbox, run, 2, &[why]);
    }
    for flag in ["--evidence", "--partial", "--collect"] {
        let run = format!("audit --robots robots.txt --infer-outages {flag} report https.log");
        let why = format!("report: is a directory; use {flag} with the name of a file");
        check(&sandbox, &run, 2, &[&why]);
    }
}

#[test]
fn two_files_for_one_host() {
    let sandbox = sandbox();
    for host in ["a.example", "b.example"] {
        sandbox.write(&format!("robots/{host}"), RULES);
        sandbox.write(&format!("robots/{host}.txt"), "User-agent: *\nAllow: /\n");
        sandbox.write(&format!("equal/{host}"), RULES);
        sandbox.write(&format!("equal/{host}.txt"), RULES);
    }
    let parts = [
        "robots/a.example and robots/a.example.txt differ, and both are for a.example; remove one",
        "robots/b.example and robots/b.example.txt differ, and both are for b.example; remove one",
    ];
    check(&sandbox, "audit --robots robots --origin https://a.example access.log", 2, &parts);
    sandbox.run("audit --robots equal --origin https://a.example access.log").exits(0);
}

#[test]
fn an_error_log_among_access_logs() {
    let sandbox = sandbox();
    let error = "2026/03/02 10:11:12 [error] 9#9: *4 open() \"/x\" failed (2: No such file)\n";
    sandbox.write("logs/error.log", error.repeat(20));
    sandbox.write("logs/access.log", line(1, "/private", 200, "GPTBot/1.2"));
    let why = "logs/error.log: the log format error-log is not an access log; all its lines were \
               skipped";
    let audit = "audit --robots robots.txt --origin https://a.example";
    sandbox.run(&format!("{audit} logs")).exits(0).complains(why);
    sandbox.run(&format!("{audit} logs/error.log")).exits(3).complains("no requests in logs/error");
    let detected = sandbox.run("formats detect logs/error.log").exits(0).stdout;
    assert!(detected.contains("lines of an error log"), "{detected}");
}

#[test]
fn more_threads_than_any_machine_has_are_a_mistake() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\n");
    sandbox.write("access.log", line(1, "/", 200, "GPTBot/1.2"));
    sandbox.write("urls.txt", "https://a.example/\n");
    for threads in ["1025", "1000000", "18446744073709551615"] {
        let ran = sandbox.run(&format!("audit --robots robots.txt --threads {threads} access.log"));
        ran.exits(2).complains(&format!("--threads: {threads} is more than 1024; use 0"));
        let words = format!("classify --robots robots.txt --token a --threads {threads} urls.txt");
        let why = format!("--threads: {threads} is more than 1024; use 0");
        sandbox.run(&words).exits(2).complains(&why);
    }
    sandbox.write(
        "botaudit.toml",
        "[sites.a]\nlogs = ['access.log']\nrobots = 'robots.txt'\nthreads = 5000\n",
    );
    let ran = sandbox.run("nightly --config botaudit.toml --check-config").exits(2);
    ran.complains("threads: 5000 is more than 1024");
}

#[test]
fn many_files_that_are_not_robots_txt_are_one_warning() {
    let sandbox = Sandbox::new();
    let hosts: Vec<String> = (1..=5).map(|number| format!("h{number}.example")).collect();
    for host in &hosts {
        sandbox.write(&format!("robots/{host}"), "<!DOCTYPE html>\n<title>404</title>\n");
    }
    let warnings = |hosts: &[String], flags: &str| {
        let urls: String = hosts.iter().map(|host| format!("https://{host}/\n")).collect();
        sandbox.write("urls", urls);
        let run = format!("classify {flags} --robots robots --crawler GPTBot urls");
        let stderr = sandbox.run(&run).exits(3).stderr;
        let lines = stderr.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned);
        lines.collect::<Vec<String>>()
    };
    assert_eq!(warnings(&hosts[..3], "-q").len(), 3);
    let [summed] = &warnings(&hosts, "-q")[..] else { panic!() };
    let expected = "warning: 5 files are not robots.txt files, so they allow everything: \
                    robots/h1.example (an HTML page), robots/h2.example (an HTML page), \
                    robots/h3.example (an HTML page) and others, which --verbose names; use the \
                    files that the sites serve as /robots.txt";
    assert_eq!(summed, expected);
    let all = warnings(&hosts, "-v");
    assert!(all.iter().filter(|line| line.contains("not a robots.txt")).count() == 5, "{all:?}");
}
