//! `botaudit robots fetch`, run as by its users.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use botaudit::archive::reader::Archive;
use botaudit::url::origin::Origin;

use super::server::{PATIENCE, Server, deaf_port, listen, response};

/// Runs `botaudit robots fetch` on the archive `robots.db` of `directory`.
fn run(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let command = ["robots", "fetch", "--archive", "robots.db"];
    run_words(directory, &[&command, arguments].concat(), input)
}

pub fn run_words(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_botaudit"));
    // Sentences of summaries stay on one line.
    command.env("COLUMNS", "400");
    command.current_dir(directory);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Proxies in the environment must be ignored.
    command.env("http_proxy", "http://127.0.0.1:1").env("ALL_PROXY", "http://127.0.0.1:1");
    let mut child = command.spawn().unwrap();
    // A program that needs no input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Exit code, standard output, standard error.
pub fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The outcomes of `origin` in the archive, the earliest first.
fn outcomes(directory: &Path, origin: &Origin) -> Vec<String> {
    let archive = Archive::open(&directory.join("robots.db")).unwrap();
    let history = archive.history(origin).unwrap();
    history.iter().map(|entry| entry.fetch.outcome.to_string()).collect()
}

#[test]
fn every_outcome_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Server::saying(response(
        "200 OK",
        "Cache-Control: max-age=60\r\n",
        b"User-agent: *\nDisallow: /\n",
    ));
    let busy = Server::saying(response("503 No", "", b""));
    let dead = Origin::new(b"http", b"127.0.0.1", Some(deaf_port())).unwrap();
    let list = format!("# ours\n\n{}\n", busy.origin());
    let arguments = [rules.origin().to_string(), dead.to_string(), "-".to_owned()];
    let output = run(dir.path(), &arguments.each_ref().map(String::as_str), &list);
    let (code, stdout, stderr) = said(&output);
    assert_eq!(code, 3, "{stdout}");
    // 429 and 5xx close a site for a while, but its rules are not known.
    let expected = "the robots.txt of 1 of 3 origins was fetched: no usable answer from ";
    assert!(stderr.contains(expected), "{stderr}");
    assert!(stderr.contains(&format!("{} (HTTP 503)", busy.origin())), "{stderr}");
    assert!(stderr.contains(&format!("{dead} (connect)")), "{stderr}");
    assert!(
        stdout.ends_with("1 of 3 origins fetched: 1 × HTTP 200, 1 × HTTP 503, 1 × connect\n"),
        "{stdout}"
    );
    assert!(stdout.contains(&format!("503               {}\n", busy.origin())), "{stdout}");
    assert_eq!(outcomes(dir.path(), &rules.origin()), ["200"]);
    assert_eq!(outcomes(dir.path(), &busy.origin()), ["503"]);
    assert_eq!(outcomes(dir.path(), &dead), ["connect"]);

    let archive = Archive::open(&dir.path().join("robots.db")).unwrap();
    let entry = archive.newest(&rules.origin(), None).unwrap().unwrap();
    assert_eq!(entry.fetch.max_age_seconds, Some(60));
    assert!(entry.source.starts_with("fetched by botaudit "), "{}", entry.source);
    let snapshot = archive.snapshot(&rules.origin(), entry).unwrap();
    assert_eq!(snapshot.body, b"User-agent: *\nDisallow: /\n");
}

#[test]
fn fetches_without_a_usable_answer_fail() {
    let dir = tempfile::tempdir().unwrap();
    let statuses = ["200 OK", "404 No", "302 Found", "429 No", "500 No", "503 No"];
    for (status, is_usable) in statuses.iter().zip([true, true, true, false, false, false]) {
        let origin = Server::saying(response(status, "", b"")).origin().to_string();
        let (code, stdout, stderr) = said(&run(dir.path(), &["-q", &origin], ""));
        assert_eq!(stdout, "");
        let (expected, fetched) = if is_usable { (0, "") } else { (3, "0 of 1 origins was") };
        assert_eq!((code, stderr.is_empty()), (expected, is_usable), "{status} {stderr}");
        assert!(stderr.contains(fetched), "{stderr}");
    }
    let dead = format!("http://127.0.0.1:{}", deaf_port());
    let (code, stdout, stderr) = said(&run(dir.path(), &[&dead, "a.invalid"], ""));
    assert_eq!(
        (code, stdout.lines().last()),
        (3, Some("0 of 2 origins fetched: 1 × connect, 1 × dns")),
        "{stderr}"
    );
}

/// The report is written, and says why the exit code is 3. So does a report of its tally.
#[test]
fn an_audit_whose_fetches_failed_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let good = Server::saying(response("200 OK", "", b"User-agent: *\nDisallow: /x\n"));
    let dead = deaf_port();
    let line = |port: u16| {
        format!(
            "127.0.0.1:{port} 192.0.2.7 - - [01/Mar/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.2\"\n"
        )
    };
    std::fs::write(dir.path().join("access.log"), line(good.port) + &line(dead)).unwrap();
    let audit = |arguments: &[&str]| {
        let all = ["audit", "--fetch", "--allow-private-addresses", "--fetch-any-port"];
        said(&run_words(dir.path(), &[&all, arguments, &["access.log"]].concat(), ""))
    };
    let expected = format!(
        "the robots.txt of 1 of 2 origins was fetched: no usable answer from \
         http://127.0.0.1:{dead} (connect)"
    );
    let (code, stdout, stderr) = audit(&["-o", "report"]);
    assert_eq!(code, 3, "{stdout}{stderr}");
    assert!(stderr.contains(&expected), "{stderr}");
    assert!(stdout.contains("1 of 2 origins fetched: 1 × HTTP 200, 1 × connect"), "{stdout}");
    let run_json = || std::fs::read_to_string(dir.path().join("report/run.json")).unwrap();
    assert!(run_json().contains(&expected), "{}", run_json());

    let (_, _, stderr) = said(&run_words(dir.path(), &["report", "report"], ""));
    assert!(stderr.contains(&expected), "{stderr}");
    assert!(run_json().contains(&expected), "{}", run_json());

    let (code, _, stderr) = audit(&["--partial", "part.tally"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains(&expected), "{stderr}");
    let (code, _, stderr) = audit(&["-o", "accepted", "--allow-unjudged"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains(&expected), "{stderr}");
}

#[test]
fn hosts_of_a_log_are_asked_where_anybody_could_ask_them() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::saying(response("404 No", "", b""));
    let port = server.port;
    let line = |host: &str, user_agent: &str| {
        format!(
            "{host} 192.0.2.7 - - [01/Mar/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 1 \"-\" \"{user_agent}\"\n"
        )
    };
    let bot = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    let log = line(&format!("127.0.0.1:{port}"), bot)
        + &line(&format!("127.0.0.1:{port}"), bot)
        + &line("browsed.invalid:80", "Mozilla/5.0 Firefox/140.0");
    std::fs::write(dir.path().join("access.log"), log).unwrap();
    let any_port = ["--from-log", "access.log", "--fetch-any-port"];
    let (code, stdout, _) = said(&run(dir.path(), &any_port, ""));
    assert_eq!(code, 3, "{stdout}");
    assert!(stdout.ends_with("0 of 1 origins fetched: 1 × not fetched\n"), "{stdout}");
    assert!(stdout.contains("127.0.0.1 is a private address"), "{stdout}");
    assert!(server.requests.lock().unwrap().is_empty());
    assert!(outcomes(dir.path(), &server.origin()).is_empty());

    let (code, stdout, _) =
        said(&run(dir.path(), &["--from-log", "access.log", "--allow-private-addresses"], ""));
    assert_eq!((code, server.requests.lock().unwrap().len()), (3, 0), "{stdout}");
    let why = format!("port {port} is not usual for web sites: not fetched; see --fetch-any-port");
    assert!(stdout.contains(&why), "{stdout}");

    let anywhere = ["--from-log", "access.log", "--allow-private-addresses", "--fetch-any-port"];
    let (code, stdout, _) = said(&run(dir.path(), &anywhere, ""));
    assert_eq!(
        (code, stdout.lines().last()),
        (0, Some("1 origin fetched: 1 × HTTP 404")),
        "{stdout}"
    );
    assert_eq!(outcomes(dir.path(), &server.origin()), ["404"]);
}

#[test]
fn an_audit_fetches_what_it_needs_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::saying(response("200 OK", "", b"User-agent: *\nDisallow: /x\n"));
    let line = "192.0.2.7 - - [01/Mar/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.2\"\n";
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("plain.log"), line).unwrap();
    std::fs::write(path("vhost.log"), format!("127.0.0.1:{} {line}", server.port)).unwrap();
    std::fs::write(path("robots.txt"), "User-agent: *\n").unwrap();
    let origin = server.origin().to_string();
    let audit = |arguments: &[&str], log: &str| {
        said(&run_words(dir.path(), &[&["audit", "--fetch"], arguments, &[log]].concat(), ""))
    };
    let asked = || server.requests.lock().unwrap().len();

    // Any client could have written that host and that port into the log.
    let (code, stdout, stderr) = audit(&["--allow-private-addresses"], "vhost.log");
    assert_eq!((code, asked()), (3, 0), "{stdout}{stderr}");
    assert!(stdout.contains("is not usual for web sites"), "{stdout}");
    let (code, stdout, stderr) = audit(&["--fetch-any-port"], "vhost.log");
    assert_eq!((code, asked()), (3, 0), "{stdout}{stderr}");
    assert!(stderr.contains("no robots.txt of the hosts in the logs:"), "{stderr}");
    assert!(stdout.contains("127.0.0.1 is a private address"), "{stdout}");

    let anywhere = ["--allow-private-addresses", "--fetch-any-port"];
    let (code, stdout, stderr) = audit(&anywhere, "vhost.log");
    assert_eq!((code, asked()), (0, 1), "{stdout}{stderr}");
    assert!(stdout.contains("1 origin fetched: 1 × HTTP 200"), "{stdout}");
    assert!(stdout.contains("1 request of known crawlers, 1 violation"), "{stdout}");
    assert!(
        stderr.contains(
            "they were judged by that snapshot; --unknown-before-first-snapshot \
                             counts them as unknown"
        ),
        "{stderr}"
    );
    assert_eq!(outcomes(dir.path(), &server.origin()), ["200"]);

    // Origins that the user names are fetched at any address, and added to the existing archive.
    let (code, stdout, stderr) =
        audit(&["--origin", &origin, "--robots", "robots.db"], "plain.log");
    assert_eq!((code, asked()), (0, 2), "{stdout}{stderr}");
    let (code, stdout, stderr) = audit(
        &["--origin", &origin, "--unknown-before-first-snapshot", "-q", "--robots", "new.db"],
        "plain.log",
    );
    assert_eq!((code, stdout.as_str(), path("new.db").exists()), (3, "", true));
    assert!(
        stderr.contains(
            "all requests are older than the first snapshot of their robots.txt; \
                             import an older snapshot, or omit --unknown-before-first-snapshot"
        ),
        "{stderr}"
    );

    let (code, _, stderr) = audit(&["--robots", "robots.txt", "-o", "other"], "plain.log");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("--fetch needs an archive, but robots.txt is not one"), "{stderr}");
    assert!(!path("other").exists());
    let (code, _, stderr) = audit(&["-o", "other"], "-");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("--fetch reads the logs twice"), "{stderr}");
}

/// The host is unknown in the first pass, and known when its answers are used.
#[test]
fn outages_of_hosts_that_are_fetched_first_count() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::saying(response("200 OK", "", b"User-agent: *\nDisallow: /x\n"));
    let line = |host: &str, client: u8, target: &str, status: u16| {
        format!(
            "{host} 192.0.2.{client} - - [01/Mar/2026:00:00:0{client} +0000] \"GET {target} HTTP/1.1\" {status} 1 \"-\" \"GPTBot/1.2\"\n"
        )
    };
    let host = format!("127.0.0.1:{}", server.port);
    let mut log = line(&host, 4, "/x", 200);
    for client in 1..=3 {
        log += &line(&host, client, "/robots.txt", 503);
        log += &line("a b:80", client, "/robots.txt", 503);
    }
    std::fs::write(dir.path().join("access.log"), log).unwrap();
    let audit = |arguments: &[&str]| {
        let all = [
            "audit",
            "--fetch",
            "--allow-private-addresses",
            "--fetch-any-port",
            "--infer-outages",
        ];
        said(&run_words(dir.path(), &[&all, arguments, &["access.log"]].concat(), ""))
    };
    // The only other request was made during the outage, so nothing is judged.
    let (code, stdout, stderr) = audit(&["-o", "once"]);
    assert_eq!((code, server.requests.lock().unwrap().len()), (3, 1), "{stdout}{stderr}");
    let expected = "outages from logs: hours in which all robots.txt fetches failed: 1 (origins: 1); \
                requests counted as unreachable: 1";
    assert!(stdout.contains(expected), "{stdout}{stderr}");

    let (code, stdout, stderr) = audit(&["--collect", "a.collected", "--robots", "new.db"]);
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    // A collecting run fetches nothing, and creates no archive.
    assert_eq!(server.requests.lock().unwrap().len(), 1);
    assert!(!dir.path().join("new.db").exists());
    let (code, stdout, stderr) =
        audit(&["--collected", "a.collected", "--robots", "new.db", "-o", "twice"]);
    assert_eq!((code, server.requests.lock().unwrap().len()), (3, 2), "{stdout}{stderr}");
    assert!(stdout.contains(expected), "{stdout}{stderr}");
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let (code, _, stderr) = said(&run(dir.path(), arguments, ""));
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?} {stderr}");
    };
    check(&["gopher://example.com"], "'gopher://example.com' cannot have a robots.txt");
    check(&["http://a b/"], "' is not a valid origin; write https://example.com");
    check(&["a.invalid", "--timeout", "0"], "--timeout 0 is too short; write --timeout 30");
    check(&["a.invalid", "--delay=-1"], "--delay -1 is not valid");
    check(&["a.invalid", "--jobs", "0"], "--jobs 0 is not valid; write a number from 1 to 1000");
    check(
        &["a.invalid", "--user-agent", "ü"],
        "' is not a valid user agent; use ASCII, such as \
         'ExampleAudit/1.0 (+https://example.com/audit)'",
    );
    check(&["a.invalid", "--ca-file", "none.pem"], "cannot read none.pem");
    check(&[], "ORIGIN");
    assert!(!dir.path().join("robots.db").exists());
}

#[test]
fn a_bad_line_of_a_list_does_not_keep_the_others_away() {
    let dir = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = said(&run(dir.path(), &["-"], "a.invalid\nno origin\n"));
    assert_eq!(
        (code, stdout.lines().last()),
        (3, Some("0 of 1 origins fetched: 1 × dns")),
        "{stdout}{stderr}"
    );
    assert!(stderr.contains("standard input:2: 'no origin' is not a valid origin"), "{stderr}");
}

/// Lines of a crawler that name each of `ports` of this machine.
fn log_of(ports: &[u16]) -> String {
    let line = |port: &u16| {
        format!(
            "127.0.0.1:{port} 192.0.2.7 - - [01/Mar/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.2\"\n"
        )
    };
    ports.iter().map(line).collect()
}

const ANYWHERE: [&str; 4] =
    ["--from-log", "access.log", "--allow-private-addresses", "--fetch-any-port"];

#[test]
fn four_ports_of_a_host_in_a_log_are_asked() {
    let dir = tempfile::tempdir().unwrap();
    let servers: Vec<Server> =
        (0..7).map(|_| Server::saying(response("200 OK", "", b""))).collect();
    let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
    std::fs::write(dir.path().join("access.log"), log_of(&ports)).unwrap();
    let asked =
        || servers.iter().map(|server| server.requests.lock().unwrap().len()).sum::<usize>();
    let (code, stdout, stderr) = said(&run(dir.path(), &ANYWHERE, ""));
    assert_eq!((code, asked()), (0, 4), "{stdout}{stderr}");
    assert!(
        stdout.ends_with("4 of 7 origins fetched: 4 × HTTP 200, 3 × not fetched\n"),
        "{stdout}"
    );
    assert!(stdout.contains("more than 4 ports of this host: not fetched"), "{stdout}");

    // The user may name as many as there are.
    let named: Vec<String> = servers.iter().map(|server| server.origin().to_string()).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let (code, stdout, stderr) = said(&run(dir.path(), &[&named[..], &ANYWHERE].concat(), ""));
    assert_eq!((code, asked()), (0, 11), "{stdout}{stderr}");
}

/// Hosts that never answer take no more than the time that is allowed, the origin of the user is
/// fetched in any case, and nothing is recorded about the others.
#[test]
fn fetches_from_hosts_in_logs_end_when_their_time_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let silent = |_| {
        listen(|stream| {
            std::thread::sleep(4 * PATIENCE);
            drop(stream);
        })
    };
    let ports: Vec<u16> = (0..4).map(silent).collect();
    std::fs::write(dir.path().join("access.log"), log_of(&ports)).unwrap();
    let named = Server::saying(response("200 OK", "", b"User-agent: *\nDisallow: /x\n"));
    let origin = named.origin().to_string();
    let start = std::time::Instant::now();
    let limited = [&[origin.as_str()], &ANYWHERE[..], &["--fetch-budget", "1", "-q"]].concat();
    let (code, _, stderr) = said(&run(dir.path(), &limited, ""));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(code, 3, "{stderr}");
    let expected = "the robots.txt of 1 of 5 origins was fetched: the time for fetches (1 seconds) \
                    was over before 4 origins answered";
    assert!(stderr.contains(expected), "{stderr}");
    assert_eq!(outcomes(dir.path(), &named.origin()), ["200"]);
    let unknown = Origin::new(b"http", b"127.0.0.1", Some(ports[0])).unwrap();
    assert!(outcomes(dir.path(), &unknown).is_empty());

    let audit = ["audit", "--fetch", "--fetch-budget", "1", "-q", "-o", "report"];
    let open =
        ["--allow-private-addresses", "--fetch-any-port", "--robots", "new.db", "access.log"];
    let start = std::time::Instant::now();
    let (code, _, stderr) = said(&run_words(dir.path(), &[&audit[..], &open].concat(), ""));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(code, 3, "{stderr}");
    let expected = "the robots.txt of 0 of 4 origins was fetched: the time for fetches (1 seconds)";
    assert!(stderr.contains(expected), "{stderr}");
    let run_json = std::fs::read_to_string(dir.path().join("report/run.json")).unwrap();
    assert!(run_json.contains(expected), "{run_json}");
}
