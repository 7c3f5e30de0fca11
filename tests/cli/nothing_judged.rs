//! A run that judged nothing exits with 3, and its message has the reason and the next step. The
//! summary, the page, `run.json`, the mail, the metrics and the exit code say the same.

use std::net::TcpListener;

use super::program::{Ran, Sandbox, gzip, line};

const BOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
/// A person asks ChatGPT for a page, so robots.txt does not bind it.
const TRIGGERED: &str = "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)";
/// The server asks itself: not bound, too.
const WORDPRESS: &str = "WordPress/6.5; https://a.example";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("robots/a.example", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private", 200, BOT));
    sandbox
}

#[track_caller]
fn nothing_judged(sandbox: &Sandbox, arguments: &str, why: &str) -> Ran {
    let ran = sandbox.run(&format!("audit {arguments} -o report")).exits(3);
    let ran = ran.complains(&format!("no request could be judged: {why}"));
    assert!(ran.stdout.contains(", none could be judged, "), "{}", ran.stdout);
    assert!(!ran.stdout.contains("violation"), "{}", ran.stdout);
    let run = sandbox.json("report/run.json");
    let cause = run["nothing_judged"].as_str().unwrap().to_owned();
    assert!(cause.starts_with(&format!("no request could be judged: {why}")), "{cause}");
    assert_eq!(run["coverage"]["outcome"], "nothing-judged");
    assert_eq!(run["coverage"]["requests_judged"], 0);
    let page = sandbox.text("report/report.html");
    assert!(page.contains(": nothing could be judged</h1>"), "{page}");
    assert!(page.contains("<p class=\"headline\">No request could be judged: "), "{page}");
    assert!(!page.contains("class=\"tiles\"") && !page.contains("No known crawler broke"));
    let again = sandbox.run("report report --format text").exits(3);
    let again = again.complains(&format!("no request could be judged: {why}"));
    assert!(again.stdout.contains(", none could be judged, "), "{}", again.stdout);
    assert!(sandbox.run(&format!("audit -q {arguments} -o report")).exits(3).stdout.is_empty());
    ran
}

/// A request of GPTBot, and others that no robots.txt binds.
fn mixed() -> String {
    let curl = line(5, "/private", 200, "curl/8.5.0");
    let fetch = line(4, "/robots.txt", 200, BOT);
    let options = line(6, "*", 200, BOT).replace("GET", "OPTIONS");
    let unbound = line(2, "/wp-cron.php", 200, WORDPRESS) + &line(3, "/private", 200, TRIGGERED);
    line(1, "/private", 200, BOT) + &unbound + &fetch + &curl + &options
}

/// As `http://127.0.0.1:PORT`: nothing answers there.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port())
}

#[test]
fn what_robots_txt_cannot_bind_hides_no_failure() {
    let sandbox = sandbox();
    sandbox.write("access.log", mixed());
    let with_hosts =
        mixed().lines().map(|line| format!("a.example:80 {line}\n")).collect::<String>();
    sandbox.write("vhosts.log", with_hosts);
    for (name, text) in
        [("passwd", "root:x:0:0\n"), ("hosts", "::1 localhost\n"), ("host.conf", "")]
    {
        sandbox.write(&format!("etc/{name}"), text);
    }
    sandbox.write("https/https_a.example_443.txt", "User-agent: *\nDisallow: /private\n");
    let none = "no robots.txt of the hosts in the logs: ";
    for (arguments, why) in [
        (
            "--robots robots --origin https://b.example access.log",
            "https://b.example (1 request, file b",
        ),
        (
            "--robots etc --origin https://b.example access.log",
            "https://b.example (1 request, file b",
        ),
        ("--robots https vhosts.log", "http://a.example (1 request, file a"),
    ] {
        nothing_judged(&sandbox, arguments, &format!("{none}{why}"));
    }
    let why = "the log names no host; add --origin https://example.com";
    nothing_judged(&sandbox, "--robots robots access.log", why);
    // One judged request is a result.
    let ran = sandbox.run("audit --robots robots --origin https://a.example -o report access.log");
    assert!(ran.exits(0).stdout.contains(", 1 violation (100.0 % of those judged), "));
    let run = sandbox.json("report/run.json");
    assert_eq!(run["coverage"]["outcome"], "judged");
    assert_eq!(run["coverage"]["requests_judged"], 1);
}

/// A fetch that fails today says nothing about requests of yesterday.
#[test]
fn a_failed_fetch_makes_earlier_requests_unknown() {
    let sandbox = sandbox();
    sandbox.write("access.log", mixed());
    let origin = closed();
    let arguments = format!("--robots robots.db --fetch --origin {origin} access.log");
    let why = format!("robots.txt could not be fetched: {origin} (1 request; connect at ");
    // The fetch itself fails, too.
    nothing_judged(&sandbox, &arguments, &why);
    let requests = &sandbox.json("report/run.json")["requests"];
    assert_eq!((&requests["unknown"], &requests["unreachable"]), (&1.into(), &0.into()));
}

/// Snapshots of `https://a.example`, and what they make of a request of 2026-03-01.
#[test]
fn failures_count_for_the_time_after_them() {
    let sandbox = sandbox();
    let audit = "--robots db --origin https://a.example access.log";
    let import = |rows: &str| {
        let _ = std::fs::remove_file(sandbox.path("db"));
        sandbox.write("manifest.csv", format!("origin,fetched_at,status,path\n{rows}"));
        sandbox.run("robots import -q -a db manifest.csv").exits(0);
    };
    let requests = |what: &str| sandbox.json("report/run.json")["requests"][what].clone();
    for status in ["503", "429", "timeout"] {
        import(&format!("https://a.example,2026-03-05,{status},\n"));
        let why = "robots.txt could not be fetched: https://a.example (1 request; ";
        let ran =
            nothing_judged(&sandbox, audit, &format!("{why}{status} at 2026-03-05T00:00:00Z); "));
        ran.complains(
            "requests older than the first snapshot of their robots.txt: 1; they were counted as \
             unknown, because only failed fetches of it were known",
        );
        assert_eq!((requests("unknown"), requests("unreachable")), (1.into(), 0.into()));
        import(&format!("https://a.example,2026-02-20,{status},\n"));
        let why = "robots.txt was unreachable at the time of the requests: https://a.example (1 request); ";
        nothing_judged(&sandbox, audit, why);
        assert_eq!((requests("unknown"), requests("unreachable")), (0.into(), 1.into()));
        // The first snapshot that is not a failure counts for earlier times.
        let rows = ["2026-03-05,", status, ",\nhttps://a.example,2026-03-06,200,robots.txt\n"];
        import(&format!("https://a.example,{}", rows.concat()));
        let ran = sandbox.run(&format!("audit {audit} -o report")).exits(0);
        ran.complains("1; they were judged by that snapshot");
        assert_eq!(requests("violations"), 1);
    }
}

#[test]
fn crawlers_that_nothing_binds_are_no_failure() {
    let sandbox = sandbox();
    let unbound = line(2, "/wp-cron.php", 200, WORDPRESS) + &line(3, "/private", 200, TRIGGERED);
    sandbox.write("access.log", unbound + &line(4, "/robots.txt", 200, BOT));
    let audit = "audit --robots robots --origin https://a.example -o report access.log";
    let ran = sandbox.run(audit).exits(0);
    assert!(ran.stdout.contains("requests of known crawlers, none that robots.txt can bind, "));
    assert!(!ran.stdout.contains("violation"), "{}", ran.stdout);
    let run = sandbox.json("report/run.json");
    assert_eq!(run["coverage"]["outcome"], "none-bound");
    assert_eq!(run["coverage"]["requests_to_judge"], 0);
    let page = sandbox.text("report/report.html");
    assert!(page.contains("https://a.example: no request that robots.txt can bind</h1>"), "{page}");
    assert!(page.contains(" of known crawlers is one that robots.txt can bind."), "{page}");
    assert!(!page.contains("class=\"tiles\"") && !page.contains("No known crawler broke"));
    let again = sandbox.run("report report --format text").exits(0);
    assert!(again.stdout.contains(", none that robots.txt can bind, "), "{}", again.stdout);
    let config =
        "[sites.a]\nlogs = ['access.log']\nrobots = 'robots'\norigin = 'https://a.example'\n";
    sandbox.write("botaudit.toml", config);
    let ran = sandbox.run("nightly --day 2026-03-01 --mail-summary").exits(0);
    assert!(ran.stdout.starts_with("botaudit: nothing judged\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains(" of known crawlers, none that robots.txt can bind\n"));
}

#[test]
fn a_grace_period_is_a_judgement() {
    let sandbox = sandbox();
    sandbox.write("open.txt", "User-agent: *\nAllow: /\n");
    let rows = "origin,fetched_at,status,path\n\
                https://a.example,2026-02-01,200,open.txt\n\
                https://a.example,2026-02-28T12:00:00Z,200,robots.txt\n";
    sandbox.write("manifest.csv", rows);
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    let ran = sandbox.run("audit --robots db --origin https://a.example -o report access.log");
    let words = "1 request of known crawlers, 0 violations (all 1 judged in a grace period), ";
    let ran = ran.exits(0);
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let page = sandbox.text("report/report.html");
    let words = " that could be judged were allowed or in a grace period (1).";
    assert!(page.contains(words), "{page}");
    assert!(page.contains(": no crawler broke a rule in 1 judged request</h1>"), "{page}");
}

/// The site gets an error, not silence.
#[test]
fn a_night_that_judged_nothing_is_a_failure() {
    let closed = closed();
    for (robots, origin, why) in [
        ("robots = 'robots'", "https://b.example", "no robots.txt of the hosts in the logs: "),
        ("robots = 'db'\nfetch = true", &closed, "robots.txt could not be fetched: "),
    ] {
        let sandbox = sandbox();
        sandbox.write("access.log", mixed());
        let config = format!("[sites.a]\nlogs = ['access.log']\n{robots}\norigin = '{origin}'\n");
        sandbox.write("botaudit.toml", config);
        let night = "nightly --day 2026-03-01 -q --mail-summary --notify-cmd";
        let words: Vec<&str> = night.split(' ').chain(["cat > told.txt"]).collect();
        let ran = sandbox.run_words(&words, b"").exits(3);
        let ran = ran.complains(&format!("no request could be judged: {why}{origin} (1 request"));
        for mail in [ran.stdout, sandbox.text("told.txt")] {
            assert!(mail.starts_with("botaudit: nothing judged, "), "{mail}");
            assert!(mail.contains(" of known crawlers, no request could be judged\n"), "{mail}");
            assert!(mail.contains(&format!("  a: no request could be judged: {why}")), "{mail}");
        }
        let metrics = sandbox.text("reports/botaudit.prom");
        assert!(metrics.contains("botaudit_last_run_exit_code{site=\"a\"} 3\n"), "{metrics}");
        assert!(metrics.contains("botaudit_day_judged_requests{site=\"a\"} 0\n"), "{metrics}");
        assert!(!metrics.contains("botaudit_last_success"), "{metrics}");
        let run = sandbox.json("reports/a/2026-03-01/run.json");
        assert_eq!(run["coverage"]["outcome"], "nothing-judged");
    }
}

#[test]
fn a_log_without_user_agents() {
    let sandbox = sandbox();
    let common = "192.0.2.7 - - [01/Mar/2026:00:00:01 +0000] \"GET /private HTTP/1.1\" 200 100\n";
    sandbox.write("common.log", common);
    let ran = nothing_judged(
        &sandbox,
        "--robots robots.txt common.log",
        "the log records no user \
             agents, so crawlers cannot be recognised; log them (Apache: %",
    );
    ran.complains("%{User-Agent}i");
    // Another log with violations changes the exit code.
    sandbox.run("audit --robots robots.txt common.log access.log").exits(0);
}

#[test]
fn hosts_of_which_no_robots_txt_is_known() {
    let sandbox = sandbox();
    let of = |host: &str, count: usize| format!("{host} {}", line(1, "/", 200, BOT)).repeat(count);
    let hosts = [of("b.example:443", 3), of("c.example:8443", 2), of("d.example:443", 1)];
    sandbox.write("vhosts.log", hosts.concat() + &of("e.example:443", 1));
    let why = "no robots.txt of the hosts in the logs: ";
    let ran = nothing_judged(&sandbox, "--robots robots vhosts.log", why);
    let ran = ran.complains("//b.example (3 requests, file b.example.txt), ");
    let ran = ran.complains("c.example:8443 (2 requests, file http");
    let ran = ran.complains("_c.example_8443.txt), ");
    ran.complains(
        "//d.example (1 request, file d.example.txt) and 1 more; for your own hosts, add files",
    );
    // The file with that name was missing.
    sandbox.write("robots/b.example.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.run("audit --robots robots vhosts.log").exits(0);
}

#[test]
fn a_log_that_names_no_host() {
    let why = "the log names no host; add --origin https://example.com";
    nothing_judged(&sandbox(), "--robots robots access.log", why);
    sandbox().run("audit --robots robots --origin https://a.example access.log").exits(0);
}

#[test]
fn logs_without_requests() {
    let sandbox = sandbox();
    sandbox.write("empty.log", "");
    sandbox.write("blank.log", "\n\n");
    for (logs, names) in [
        ("empty.log", "empty.log"),
        ("blank.log", "blank.log"),
        ("empty.log blank.log", "blank.log, empty.log"),
    ] {
        let arguments = format!("--robots robots.txt {logs}");
        let why = format!("no requests in {names}; use other logs, or check that the server");
        nothing_judged(&sandbox, &arguments, &why);
    }
    sandbox.run("audit --robots robots.txt empty.log access.log").exits(0);
    sandbox.write("odd.log", "one\ntwo\n");
    let odd = "--robots robots.txt --min-parse-rate 0 odd.log";
    nothing_judged(&sandbox, odd, "no line of odd.log could be parsed; to see why, run: botaudit");
}

#[test]
fn requests_of_other_times() {
    let sandbox = sandbox();
    for window in ["--since 2026-03-02", "--until 2026-03-01"] {
        let arguments = format!("--robots robots.txt {window} access.log");
        let why = format!("all requests of access.log are outside {window}T00:00:00Z; use other");
        nothing_judged(&sandbox, &arguments, &why);
    }
    sandbox.run("audit --robots robots.txt --since 2026-03-01 access.log").exits(0);
}

/// A lost archive, for example. In a directory, an empty file is a robots.txt without rules.
#[test]
fn an_empty_file_is_not_taken_as_a_robots_txt_in_silence() {
    let sandbox = sandbox();
    for name in ["robots.db", "robots/empty.example"] {
        sandbox.write(name, "");
    }
    sandbox.write("urls", "https://empty.example/x\n");
    let check = "check --crawler GPTBot https://empty.example/x";
    for (command, code) in [(check, 0), ("classify --token gptbot urls", 3)] {
        let why = "robots.db is an empty file, not a robots.txt, so it allows everything; use the";
        sandbox.run(&format!("{command} --robots robots.db")).exits(code).complains(why);
        let ran = sandbox.run(&format!("{command} --robots robots")).exits(0);
        assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    }
    for command in ["check --at 2026-01-01 --robots", "robots list -a", "robots export out -a"] {
        let command = match command.starts_with("check") {
            true => format!("{command} robots.db --crawler GPTBot https://empty.example/x"),
            false => format!("{command} robots.db"),
        };
        sandbox.run(&command).exits(2).complains("botaudit robots import");
    }
}

#[test]
fn a_robots_txt_that_is_something_else() {
    let sandbox = sandbox();
    sandbox.write("page.html", "<!DOCTYPE html>\n<html><style>a { color: red }</style></html>\n");
    sandbox.write("binary", [0, 159, 146, 150, 10, 0, 255, 1]);
    sandbox.write("empty", "");
    for (robots, why) in [
        ("page.html", "page.html is not a robots.txt"),
        ("binary", "binary is not a robots.txt"),
        ("access.log", "access.log is not a robots.txt"),
        ("empty", "empty is empty"),
    ] {
        sandbox.write("copy.log", line(1, "/private", 200, BOT));
        nothing_judged(&sandbox, &format!("--robots {robots} copy.log"), why);
    }
    sandbox.write("pages/a.example", "<html>\n");
    let pages = "--robots pages --origin https://a.example access.log";
    nothing_judged(&sandbox, pages, "pages/a.example is not a robots.txt");
    for (name, text) in [
        ("comment.txt", "# everything is allowed\n"),
        ("sitemap.txt", "Sitemap: https://a.example/sitemap.xml\n"),
        ("rules.txt", "what\nDisallow: /\n"),
        ("allowed/a.example", ""),
    ] {
        sandbox.write(name, text);
        let robots = name.split('/').next().unwrap();
        let audit = format!("audit --robots {robots} --origin https://a.example access.log");
        sandbox.run(&audit).exits(0);
    }
}

/// Without requests of known crawlers, nothing is wrong, but nothing was judged either.
#[test]
fn a_log_without_crawlers_is_clean() {
    let sandbox = sandbox();
    sandbox.write("people.log", line(1, "/private", 200, BROWSER));
    let ran = sandbox.run("audit --robots robots.txt -o report people.log").exits(0);
    assert!(
        ran.stdout.starts_with("1 line, no requests of known crawlers to judge, 0 lines rejected")
    );
    assert!(!ran.stdout.contains("violation"), "{}", ran.stdout);
    assert!(sandbox.json("report/run.json").get("nothing_judged").is_none());
    sandbox.write("fetch.log", line(1, "/robots.txt", 200, BOT));
    let ran = sandbox.run("audit --robots robots.txt fetch.log").exits(0);
    assert!(!ran.stdout.contains("violation"), "{}", ran.stdout);
}

#[test]
fn a_night_without_new_lines_is_no_failure() {
    let sandbox = sandbox();
    let config = "[sites.a]\nlogs = ['access.log']\nrobots = 'robots.txt'\n";
    sandbox.write("botaudit.toml", config);
    sandbox.run("nightly --day 2026-03-01").exits(0);
    sandbox.run("nightly --day 2026-03-02").exits(0);
    let quiet = sandbox.run("nightly --day 2026-03-02 --mail-summary").exits(0);
    assert!(quiet.stdout.starts_with("botaudit: nothing judged\n"), "{}", quiet.stdout);
    // Lines that cannot be judged are a reason.
    sandbox.write("botaudit.toml", config.replace("sites.a", "sites.b"));
    sandbox.write("robots.txt", "<html>\n");
    sandbox.write("access.log", line(1, "/private", 200, BOT).replace("01/Mar", "03/Mar"));
    let ran = sandbox.run("nightly --day 2026-03-03").exits(3);
    ran.complains("no request could be judged: robots.txt is not a robots.txt");
}

#[test]
fn too_little_that_could_be_judged_is_not_enough() {
    let sandbox = sandbox();
    let of =
        |host: &str, count: usize| format!("{host}:443 {}", line(1, "/", 200, BOT)).repeat(count);
    sandbox.write("vhosts.log", of("a.example", 1) + &of("b.example", 149));
    let audit = "audit --robots robots vhosts.log -o report";
    let why = "only 1 of 150 requests could be judged (less than --min-judged-rate 1): no robots.txt \
               of the hosts in the logs: https://b.example (149 requests, file b.example.txt)";
    sandbox.run(audit).exits(3).complains(why);
    let run = sandbox.json("report/run.json");
    assert!(run["too_little_judged"].as_str().unwrap().starts_with("only 1 of 150"), "{run}");
    assert!(run.get("nothing_judged").is_none());
    assert_eq!(run["coverage"]["outcome"], "too-little-judged");
    assert_eq!(run["coverage"]["requests_judged"], 1);
    sandbox.run(&format!("{audit} --min-judged-rate 0.5")).exits(0);
    // Requests that cannot be bound are not part of the share.
    let unbound = format!("a.example:443 {}", line(2, "/", 200, TRIGGERED)).repeat(50);
    sandbox.write("more.log", unbound);
    sandbox.run(&format!("{audit} more.log")).exits(3).complains("only 1 of 150 requests");
    sandbox.run(&format!("{audit} --allow-unjudged")).exits(0).complains("only 1 of 150");
    let config = "min_judged_rate = 0.5\nrobots = \"robots\"\nlogs = \"vhosts.log\"\n";
    sandbox.write("site.toml", format!("[sites.a]\n{config}"));
    sandbox.run("audit --config site.toml --site a -o other").exits(0);
    // Nothing that was judged may be allowed, too.
    sandbox.write("robots/a.example", "");
    sandbox
        .run("audit --robots robots.txt access.log -o page --allow-unjudged --since 2027")
        .exits(2);
    sandbox.write("none.log", "");
    sandbox.run("audit --robots robots.txt none.log -o page --allow-unjudged").exits(0);
    let page = std::fs::read_to_string(sandbox.path("page/report.html")).unwrap();
    assert!(
        page.contains("<p class=\"headline\">No request could be judged: no requests in")
            && !page.contains("class=\"tiles\"")
    );
}

/// A tally keeps what its audit failed for, so that nothing made of it says that all is well.
#[test]
fn what_an_audit_failed_for_fails_what_is_made_of_its_tally() {
    let sandbox = sandbox();
    let packed = gzip(line(2, "/private", 200, BOT).repeat(50).as_bytes());
    sandbox.write("cut.log.gz", &packed[..packed.len() - 9]);
    sandbox.write("page.html", "<html>\n");
    let partial = |robots: &str, log: &str, code| {
        let run = format!("audit -q --robots {robots} --partial {log}.tally --force {log}");
        sandbox.run(&run).exits(code);
    };
    let check = |tallies: &str, code, why: &str| {
        let merge = format!("merge {tallies} -o all --force");
        for command in [
            merge.clone(),
            format!("{merge} -q"),
            format!("report {tallies} -o report"),
            format!("report {tallies} --format text"),
            format!("report {tallies} --format json"),
            format!("report {tallies} --format jsonl"),
            "report all --format text".to_owned(),
        ] {
            let ran = sandbox.run(&command).exits(code).complains(why);
            assert_eq!(ran.stderr.matches(why).count(), 1, "{command}: {}", ran.stderr);
        }
    };
    partial("robots.txt", "access.log", 0);
    partial("robots.txt", "cut.log.gz", 3);
    let cut = "cut.log.gz: truncated gzip stream at byte";
    check("cut.log.gz.tally", 3, cut);
    check("access.log.tally cut.log.gz.tally", 3, cut);
    // Parts alone do not say whether the whole can be judged.
    partial("page.html", "access.log", 0);
    check("access.log.tally", 3, "no request could be judged: page.html is not a robots.txt");
    // What the user accepted is accepted again.
    partial("page.html --allow-unjudged", "access.log", 0);
    check("access.log.tally", 0, "no request could be judged: page.html is not a robots.txt");
    sandbox.write("more.log", line(3, "/private", 200, BOT));
    partial("page.html", "more.log", 0);
    check("access.log.tally more.log.tally", 3, "no request could be judged: page.html is not");
}
