//! Log lines: time windows, parse rates, origins, addresses.

use super::program::{Sandbox, line};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const HOUR: u32 = 3600;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox
}

/// For each hour, one line of a crawler, one of a browser and one invalid line.
fn day() -> String {
    let hour = |hour: u32| {
        line(hour * HOUR, "/private", 200, BINGBOT)
            + &line(hour * HOUR, "/", 200, BROWSER)
            + "no line of a log\n"
    };
    (0..24).map(hour).collect()
}

#[test]
fn lines_of_other_times_are_skipped_whoever_sent_them() {
    let sandbox = sandbox();
    sandbox.write("access.log", day());
    let check = |flags: &str, hours: u64| {
        let run =
            format!("audit --robots robots.txt -o report --min-parse-rate 0 {flags} access.log");
        sandbox.run(&run).exits(if hours == 0 { 3 } else { 0 });
        let run = sandbox.json("report/run.json");
        let counts = ["lines", "crawler", "other", "rejected", "skipped"]
            .map(|name| run["lines"][name].as_u64().unwrap());
        assert_eq!(counts, [72, hours, hours, 24, 48 - 2 * hours], "{flags}");
        let outside = &run["lines"]["skipped_by_reason"]["outside-time"];
        assert_eq!(outside.as_u64().unwrap_or(0), 48 - 2 * hours, "{flags}");
        assert_eq!(sandbox.table("report/daily.csv").sum("requests"), hours);
    };
    check("", 24);
    check("--since 2026-03-01", 24);
    check("--since 2026-03-02", 0);
    check("--until 2026-03-01", 0);
    check("--since 2026-03-01T10:00:00Z --until 2026-03-01T12:00:00Z", 2);
    check("--since 2026-03-01T10:00:01Z --until 2026-03-01T12:00:01Z", 2);
    check("--since 2026-03-01T10:00+02:00", 16);
    check("--timezone Europe/Berlin --until 2026-03-02", 23);
    check("--timezone Europe/Berlin --since 2026-03-01T12:00", 13);
}

#[test]
fn impossible_times_are_refused_at_once() {
    let sandbox = sandbox();
    sandbox.write("access.log", day());
    let run = |flags: &str| sandbox.run(&format!("audit --robots robots.txt {flags} access.log"));
    run("--since yesterday")
        .exits(2)
        .complains("'yesterday' is not a valid time; write --since 20");
    run("--until 2026-02-30").exits(2).complains("write --until 2026-01-31");
    let ran = run("--since 2026-03-02 --until 2026-03-01").exits(2);
    ran.complains("--until: 2026-03-01T00:00:00Z is not later than 2026-03-02T00:00:00Z");
    assert_eq!(sandbox.names("."), ["access.log", "robots.txt"]);
}

#[test]
fn a_log_that_is_not_understood_is_named() {
    let sandbox = sandbox();
    sandbox.write("access.log", day());
    sandbox.write("good.log", line(1, "/", 200, BINGBOT));
    let ran = sandbox.run("audit --robots robots.txt -o report access.log good.log").exits(3);
    let ran = ran.complains(
        "access.log: read as combined: 48 of 72 lines parsed (66.7 %), first unparsed line: 3 \
         (no-time)",
    );
    let ran = ran.complains("botaudit formats detect 'access.log'").complains("--log-format");
    ran.complains("--min-parse-rate 66");
    assert_eq!(sandbox.json("report/run.json")["complete"], false);
    let lenient = "audit --robots robots.txt -o report --min-parse-rate 66 access.log good.log";
    sandbox.run(lenient).exits(0);
    sandbox
        .run("audit --robots robots.txt --min-parse-rate 101 access.log")
        .exits(2)
        .complains("a number from 0 to 100");
}

#[test]
fn tiny_logs_prevent_no_report_but_one_of_which_nothing_is_known() {
    let sandbox = sandbox();
    sandbox.write("empty.log", "\n\n \n");
    sandbox.write("odd.log", "one odd line\n");
    sandbox.write("good.log", line(1, "/", 200, BINGBOT));
    let run = |logs: &str| sandbox.run(&format!("audit --robots robots.txt -o report {logs}"));
    run("empty.log").exits(3).complains("no request could be judged");
    run("empty.log good.log").exits(0);
    run("odd.log good.log")
        .exits(3)
        .complains("odd.log: format not recognised: 0 of 1 line parsed");
    let ran = run("odd.log empty.log").exits(3);
    ran.complains("odd.log: format not recognised: 0 of 1 line parsed (0.0 %)");
}

#[test]
fn origins_come_from_the_names_of_files() {
    let sandbox = sandbox();
    sandbox.write("logs/a.example.access.log", line(1, "/private", 200, BINGBOT));
    sandbox.write("logs/https_b.example_8443.log", line(2, "/private", 200, BINGBOT));
    sandbox.write("logs/other.log", line(3, "/private", 200, BINGBOT));
    let pattern =
        r"logs/(?:(?<scheme>https?)_)?(?<host>[a-z.]+\.example)(?:_(?<port>\d+)|\.access)\.log";
    let run = |flags: &[&str]| {
        let always = ["audit", "--robots", "robots.txt", "-o", "report", "logs"];
        sandbox.run_words(&[&always[..], flags].concat(), b"")
    };
    let why = "1 request for https://b.example:8443: counted as unknown, because one robots.txt is for one port";
    run(&["--origin-from-path", pattern]).exits(0).complains(why);
    let origins = || sandbox.table("report/summary.csv").cells("origin violations");
    assert_eq!(origins(), ["- | 1", "http://a.example | 1", "https://b.example:8443 | 0"]);
    run(&["--origin-from-path", pattern, "--origin", "https://c.example"]).exits(0);
    assert_eq!(origins(), ["https://c.example | 3"]);
    let ran = run(&["--origin-from-path", "logs/([^/]+)"]).exits(2);
    ran.complains("--origin-from-path: it needs a group named host, such as (?<host>[^/]+)");
}

#[test]
fn a_host_and_its_aliases_are_one() {
    let sandbox = sandbox();
    let host = |host: &str, second| format!("{host} {}", line(second, "/private", 200, BINGBOT));
    let hosts = ["example.com:443", "www.example.com:443", "WWW.example.com:80", "a.test:443"];
    sandbox.write("access.log", hosts.map(|name| host(name, 1)).concat());
    let run = |flags: &str| {
        sandbox.run(&format!("audit --robots robots.txt -o report {flags} access.log"))
    };
    let origins = || sandbox.table("report/summary.csv").cells("origin violations");
    run("--alias www.example.com=example.com").exits(0);
    assert_eq!(
        origins(),
        ["http://example.com | 1", "https://a.test | 1", "https://example.com | 2"]
    );
    run("--alias www.example.com=https://example.com --alias a.test=example.com").exits(0);
    assert_eq!(origins(), ["https://example.com | 4"]);
    run("--alias example.com")
        .exits(2)
        .complains("--alias: 'example.com': '=' and the second name are missing");
}

/// A client chooses the first field of many logs, such as the host or X-Forwarded-For.
#[test]
fn a_field_that_begins_with_a_number_sign_hides_no_line() {
    let sandbox = sandbox();
    let usual = line(1, "/private", 200, BINGBOT);
    let logs = [
        (
            "host.log",
            ["#a.example ", "# ", "#Fields: ", "a.example "].map(|host| format!("{host}{usual}")),
        ),
        (
            "client.log",
            ["#", "#a", "#Fields:", "192.0.2.7"].map(|client| usual.replace("192.0.2.7", client)),
        ),
    ];
    for (name, lines) in logs {
        sandbox.write(name, lines.concat());
        let run = format!("audit --robots robots.txt --origin http://a.example -o report {name}");
        let ran = sandbox.run(&run).exits(0);
        let counts = sandbox.json("report/run.json")["lines"].clone();
        assert_eq!((&counts["lines"], &counts["crawler"]), (&4.into(), &4.into()), "{name}");
        assert!(!ran.stdout.contains("skipped"), "{}", ran.stdout);
        assert_eq!(sandbox.table("report/skips.csv").rows.len(), 0);
    }
    // Elsewhere a line that begins so is not read, and that is said.
    sandbox.write("odd.log", usual.repeat(40) + "# a remark\n\n");
    sandbox.run("audit --robots robots.txt --origin http://a.example -o report odd.log").exits(0);
    assert_eq!(sandbox.table("report/rejects.csv").cells("reason lines"), ["no-time | 1"]);
    assert_eq!(
        sandbox.table("report/skips.csv").cells("file reason lines"),
        ["odd.log | blank | 1"]
    );
}

#[test]
fn skipped_lines_are_in_the_summary_by_reason() {
    let sandbox = sandbox();
    let directives =
        "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri sc-status cs(User-Agent)\n\n";
    let request = |day| format!("2026-03-0{day} 12:00:00 192.0.2.7 GET /private 200 bingbot/2.0\n");
    sandbox.write("w3c.log", format!("{directives}{}{}", request(1), request(2).repeat(3)));
    let run =
        "audit --robots robots.txt --origin http://a.example --since 2026-03-02 -o report w3c.log";
    let ran = sandbox.run(run).exits(0);
    let words = "skipped: 4 lines (blank 1, comment 1, directive 1, outside-time 1)";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let skips = sandbox.table("report/skips.csv").cells("reason lines");
    assert_eq!(skips, ["blank | 1", "comment | 1", "directive | 1", "outside-time | 1"]);
}

/// The kinds of container logs: the beginning of the line, and the line.
fn in_container(kind: &str, stream: &str, text: &str, is_whole: bool) -> String {
    match (kind, is_whole) {
        ("cri", true) => format!("2026-03-01T00:00:00Z {stream} F {text}\n"),
        ("cri", false) => format!("2026-03-01T00:00:00Z {stream} P {text}\n"),
        (_, is_whole) => {
            let end = if is_whole { "\n" } else { "" };
            let log = serde_json::Value::from(format!("{text}{end}"));
            format!("{{\"log\":{log},\"stream\":\"{stream}\",\"time\":\"2026-03-01T00:00:00Z\"}}\n")
        }
    }
}

/// A client may send long targets to hide its requests.
#[test]
fn lines_that_a_container_runtime_cut_are_joined() {
    const PIECE_BYTES: usize = 16 << 10;
    let sandbox = sandbox();
    for kind in ["cri", "docker"] {
        let mut log = String::new();
        for at in 0..20 {
            let target = format!("/private?{}", "x".repeat(PIECE_BYTES * (1 + at as usize % 3)));
            let request = line(at, &target, 200, BINGBOT);
            let mut rest = request.trim_end();
            while rest.len() > PIECE_BYTES {
                log += &in_container(kind, "stdout", &rest[..PIECE_BYTES], false);
                log += &in_container(kind, "stderr", "2026/03/01 00:00:00 [error] 7#7: x", true);
                rest = &rest[PIECE_BYTES..];
            }
            log += &in_container(kind, "stdout", rest, true);
            log += &in_container(kind, "stdout", line(at, "/", 200, BROWSER).trim_end(), true);
        }
        sandbox.write("access.log", &log);
        for threads in [1, 2] {
            let run = "audit --robots robots.txt --origin http://a.example -o report --force";
            sandbox.run(&format!("{run} --threads {threads} access.log")).exits(0);
            let lines = sandbox.json("report/run.json")["lines"].clone();
            let counts = ["crawler", "other", "rejected"].map(|name| lines[name].as_u64().unwrap());
            assert_eq!(counts, [20, 20, 0], "{kind} {threads}");
            assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 20);
            let skips = sandbox.table("report/skips.csv").cells("reason lines");
            assert_eq!(skips, ["wrapper-partial | 39", "not-access | 39"]);
        }
    }
    // Of a piece whose line is not whole, nothing is known.
    let piece = in_container("cri", "stdout", line(1, "/private", 200, BINGBOT).trim_end(), false);
    let whole = in_container("cri", "stdout", line(2, "/private", 200, BINGBOT).trim_end(), true);
    sandbox.write("access.log", whole.repeat(30) + &piece);
    sandbox
        .run("audit --robots robots.txt --origin http://a.example -o report --force access.log")
        .exits(0);
    let rejects = sandbox.table("report/rejects.csv").cells("reason lines example_line");
    assert_eq!(rejects, ["incomplete | 1 | 31"]);
}

const ADDRESSES: [&str; 2] = ["192.0.2.77", "2001:db8:1:2::3"];

/// Valid and invalid lines of two clients.
fn clients() -> String {
    let lines = |address: &str| {
        let good = line(1, "/private?session=secret", 200, BINGBOT).replace("192.0.2.7", address);
        let cut = good.replace("200 100", "OK 100");
        format!("{good}{good}{good}{good}{cut}{address} is no log\n")
    };
    ADDRESSES.map(lines).concat()
}

#[test]
fn no_address_leaves_unless_it_is_asked_for() {
    let sandbox = sandbox();
    sandbox.write("access.log", clients());
    let run = |flags: &str| {
        let flags = format!("--min-parse-rate 50 --evidence report/evidence.csv {flags}");
        sandbox.run(&format!("audit --robots robots.txt -o report {flags} access.log"))
    };
    let text = || {
        let names = sandbox.names("report");
        names.iter().map(|name| sandbox.text(&format!("report/{name}"))).collect::<String>()
    };
    let clients = || {
        let mut clients = sandbox.table("report/evidence.csv").cells("client");
        clients.dedup();
        clients
    };
    run("").exits(0);
    assert!(ADDRESSES.iter().all(|address| !text().contains(address)), "{}", text());
    assert!(!text().contains("192.0.2.") && !text().contains("2001:db8:1"));
    assert!(text().contains(",2001:db8::/32,"), "a network of many clients");
    assert_eq!(clients(), [""]);
    let rejects = sandbox.table("report/rejects.csv").cells("example");
    assert!(rejects[0].starts_with("(address) is no log"), "{rejects:?}");

    run("--ip mask").exits(0);
    assert!(ADDRESSES.iter().all(|address| !text().contains(address)));
    assert_eq!(clients(), ["192.0.2.0/24", "2001:db8:1::/48"]);

    run("--ip hash --ip-salt pepper").exits(0);
    assert!(ADDRESSES.iter().all(|address| !text().contains(address)));
    assert!(!text().contains("pepper"));
    let first = clients();
    assert_eq!((first.len(), first[0].len()), (2, 16));
    run("--ip hash --ip-salt pepper").exits(0);
    assert_eq!(clients(), first);
    run("--ip hash").exits(2).complains("add --ip-salt");

    run("--ip full").exits(0);
    assert_eq!(clients(), ADDRESSES);
    assert!(text().contains("secret"));
    run("--strip-query").exits(0);
    assert!(!text().contains("secret"), "{}", text());
    assert_eq!(sandbox.table("report/violations.csv").cells("example_target"), ["/private?"]);
}

#[test]
fn addresses_in_user_agents_follow_the_flag() {
    let sandbox = sandbox();
    let unknown = |address: &str| format!("WonderBot/1.2.3.4 (for {address}; +http://x.example/)");
    let known = |address: &str| format!("{BINGBOT} for {address}");
    let mut log = String::new();
    for address in ["192.0.2.77", "192.0.2.78", "2002:c000:24d:1::3"] {
        log += &line(1, "/private", 200, &unknown(address));
        log += &line(1, "/private", 200, &known(address));
    }
    sandbox.write("access.log", log);
    let run = |flags: &str| {
        let flags = format!("--evidence report/evidence.csv {flags}");
        sandbox.run(&format!("audit --robots robots.txt -o report {flags} access.log")).exits(0);
        let agents = |table: &str| {
            let mut agents = sandbox.table(&format!("report/{table}")).cells("user_agent");
            agents.dedup();
            agents
        };
        assert_eq!(sandbox.table("report/unknown-crawlers.csv").sum("requests"), 3);
        let all = [agents("unknown-crawlers.csv"), agents("evidence.csv")];
        // The tally has no others.
        sandbox.run("report report/report.tally -o again").exits(0);
        let again = sandbox.table("again/unknown-crawlers.csv").cells("user_agent");
        assert_eq!(again, all[0]);
        all
    };
    assert_eq!(run(""), [[unknown("(address)")], [known("(address)")]]);
    let masked = ["192.0.2.0/24", "2002:c000:200::/40"];
    assert_eq!(run("--ip mask"), [masked.map(unknown), masked.map(known)]);
    let all = ["192.0.2.77", "192.0.2.78", "2002:c000:24d:1::3"];
    assert_eq!(run("--ip full"), [all.map(unknown), all.map(known)]);
    let hashed = run("--ip hash --ip-salt pepper").concat();
    assert_eq!(hashed.len(), 6);
    assert!(!hashed.concat().contains("192.0.2") && hashed.concat().contains("WonderBot/1.2.3.4"));
}

#[test]
fn nothing_like_a_query_leaves_with_strip_query() {
    let sandbox = sandbox();
    let targets = [
        "/private/a?token=SECRET",
        "/private/b#token=SECRET",
        "/private/c;jsessionid=SECRET/d",
        "/private/e%3Ftoken=SECRET",
        "http://SECRET:SECRET@example.com/private/f",
    ];
    let lines: Vec<String> = (1..).zip(targets).map(|(s, to)| line(s, to, 200, BINGBOT)).collect();
    sandbox.write("access.log", lines.concat());
    let arguments = "audit --robots robots.txt --origin http://example.com --paths -o report \
                     --what-if draft.txt --evidence report/evidence.csv";
    sandbox.write("draft.txt", "User-agent: *\nDisallow:\n");
    sandbox.run(&format!("{arguments} access.log")).exits(0);
    let names = || sandbox.names("report");
    let leaks = |name: &String| {
        let bytes = std::fs::read(sandbox.path(&format!("report/{name}"))).unwrap();
        memchr::memmem::find(&bytes, b"SECRET").is_some()
    };
    assert!(names().iter().filter(|name| leaks(name)).count() > 2);
    sandbox.run(&format!("{arguments} --strip-query access.log")).exits(0);
    let leaking: Vec<String> = names().into_iter().filter(leaks).collect();
    assert_eq!(leaking, [""; 0]);
    let stripped = [
        "/private/a?",
        "/private/b#",
        "/private/c;jsessionid=/d",
        "/private/e%3F",
        "http://@example.com/private/f",
    ];
    assert_eq!(sandbox.table("report/evidence.csv").cells("target"), stripped);
}

#[test]
fn strangers_addresses_are_not_shown_on_the_terminal_either() {
    let sandbox = sandbox();
    sandbox.write("access.log", clients() + &clients());
    let ran = sandbox.run("audit --robots robots.txt -o report access.log").exits(3);
    assert!(ADDRESSES.iter().all(|address| !ran.stdout.contains(address)));
    assert!(ADDRESSES.iter().all(|address| !ran.stderr.contains(address)), "{}", ran.stderr);
}

#[test]
fn a_proxy_must_be_a_network() {
    let sandbox = sandbox();
    sandbox.write("access.log", clients());
    let run = "audit --robots robots.txt --trusted-proxy 10.0.0.0/33 access.log";
    sandbox.run(run).exits(2).complains("'10.0.0.0/33' is not an address or network");
}

#[test]
fn a_format_may_log_the_scheme_and_the_client_behind_a_proxy() {
    let sandbox = sandbox();
    let line = |peer: &str, scheme: &str, forwarded_for: &str| {
        format!(
            "{peer} {scheme} example.com [01/Mar/2026:00:00:01 +0000] \"GET /private HTTP/1.1\" 200 5 \"{BINGBOT}\" \"{forwarded_for}\"\n"
        )
    };
    sandbox.write(
        "access.log",
        line("10.0.0.1", "https", "203.0.113.5, 198.51.100.7, 10.9.9.9")
            + &line("10.0.0.1", "http", "-")
            + &line("192.0.2.1", "https", "66.249.66.1"),
    );
    let format = "$remote_addr $scheme $host [$time_local] \"$request\" $status $body_bytes_sent \"$http_user_agent\" \"$http_x_forwarded_for\"";
    let run = |flags: &[&str]| {
        let always = ["audit", "--robots", "robots.txt", "-o", "report", "access.log"];
        let evidence = ["--evidence", "evidence.csv", "--ip", "full", "--log-format", format];
        sandbox.run_words(&[&always[..], &evidence, flags].concat(), b"").exits(0);
        sandbox.table("evidence.csv").cells("origin client")
    };
    let none = ["https://example.com | 10.0.0.1", "http://example.com | 10.0.0.1"];
    let peer = "https://example.com | 192.0.2.1";
    assert_eq!(run(&[]), [none[0], none[1], peer]);
    let trusted = run(&["--trusted-proxy", "10.0.0.0/8"]);
    assert_eq!(trusted, ["https://example.com | 198.51.100.7", none[1], peer]);
}
