//! The log formats, each with a file of lines and expected results.
//!
//! A case is a line after `> ` and its result after `= `: the record's time, origin (if the line
//! names one), client, method, target, status, bytes and user agent, with ` | ` in between, and the
//! forwarded addresses and the Referer if there are any; or `reject` or `skip` with the reason.
//! Unprintable bytes are `\xHH`. The lines of a file are read in order, as in a log.

use std::{fs, path::Path};

use botaudit::input::{self, lines::lines};
use botaudit::logs::detect::{detect, named};
use botaudit::logs::format::Hints;
use botaudit::logs::format::{Format, Reader};
use botaudit::logs::own_format;
use botaudit::logs::record::{Record, Scratch};
use botaudit::logs::registry::{BuiltinFormat, ENTRIES};
use botaudit::logs::reject::Limitation;
use botaudit::logs::{LineContent, json::own_names::OwnNames, proxies::Captures, reject::Reject};
use botaudit::{logs, time::Zone};

struct Case {
    number: usize,
    line: String,
    expected: String,
}

/// The cases of a format's file.
fn cases(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/logs/{name}.txt"));
    let text = fs::read_to_string(&path).expect("each format has its file");
    let mut cases = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let Some(line) = line.strip_prefix("> ") else {
            assert!(line.is_empty() || line.starts_with('#'), "{}:{number}", path.display());
            continue;
        };
        let expected = lines.next().and_then(|(_, line)| line.strip_prefix("= "));
        let expected = expected.expect("each line has what is expected of it below").to_owned();
        cases.push(Case { number, line: line.to_owned(), expected });
    }
    cases
}

/// Formats from server configurations, each with its cases; a format is written after `@ `, on one
/// or more lines.
fn own_formats() -> Vec<(String, Vec<Case>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs/own-formats.txt");
    let text = fs::read_to_string(path).unwrap();
    let mut formats: Vec<(String, Vec<Case>)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let (mark, rest) = line.split_at_checked(2).unwrap_or((line, ""));
        match (mark, formats.last_mut()) {
            ("@ ", Some((format, cases))) if cases.is_empty() => *format += &format!("\n{rest}"),
            ("@ ", _) => formats.push((rest.to_owned(), Vec::new())),
            ("> ", Some((_, cases))) => {
                cases.push(Case { number, line: rest.to_owned(), expected: String::new() });
            }
            ("= ", Some((_, cases))) => cases.last_mut().unwrap().expected = rest.to_owned(),
            _ => assert!(line.is_empty() || line.starts_with('#'), "own-formats.txt:{number}"),
        }
    }
    formats
}

/// All lines of a format's file, as a log.
fn log(name: &str) -> String {
    cases(name).into_iter().map(|case| case.line + "\n").collect()
}

/// The format that is detected from the lines of its own file.
fn format(entry: &BuiltinFormat) -> Format {
    let hints = Hints::default();
    let hints = Hints { format: named(entry.name, &hints), ..hints };
    assert!(hints.format.is_some(), "{}", entry.name);
    detect(lines(log(entry.name).as_bytes()), &hints).format.unwrap()
}

/// The result of a line, in the form of the files.
fn describe(reader: &mut Reader, line: &[u8]) -> String {
    let mut scratch = Scratch::default();
    match reader.line(line) {
        LineContent::Skip(skip) => format!("skip {}", skip.as_str()),
        LineContent::Reject(reject) => format!("reject {}", reject.as_str()),
        LineContent::Fields(fields) => {
            let user_agent = fields.user_agent(&mut scratch).to_vec();
            let referer = match fields.referer(&mut scratch) {
                b"" | b"-" => String::new(),
                referer => format!(" | referer {}", text(referer)),
            };
            match fields.record(&mut scratch) {
                Err(reject) => format!("reject {}", reject.as_str()),
                Ok(record) => {
                    assert_eq!(record.user_agent, user_agent, "both steps say the same");
                    describe_record(&record) + &referer
                }
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'")
}

fn describe_record(record: &Record<'_>) -> String {
    let scheme = record.scheme.map_or(String::new(), |scheme| format!("{}://", scheme.as_str()));
    let port = record.port.map_or(String::new(), |port| format!(":{port}"));
    let origin = scheme + &record.host.map(text).unwrap_or_default() + &port;
    let origin = if origin.is_empty() { origin } else { origin + " | " };
    let target = record.target.map_or("none".to_owned(), text);
    let (client, method) = (text(record.client), text(record.method));
    let Record { time, status, bytes, .. } = record;
    let user_agent = text(record.user_agent);
    let forwarded_for =
        record.forwarded_for.map_or(String::new(), |list| format!(" | {}", text(list)));
    format!(
        "{time} | {origin}{client} | {method} | {target} | {status} | {bytes} | {user_agent}{forwarded_for}"
    )
}

#[test]
fn every_line_gives_what_its_file_expects() {
    for entry in ENTRIES {
        let mut reader = format(entry).reader();
        for case in cases(entry.name) {
            let found = describe(&mut reader, case.line.as_bytes());
            assert_eq!(found, case.expected, "{}.txt:{}", entry.name, case.number);
        }
    }
}

/// Readers of JSON remember how lines are built.
#[test]
fn a_line_gives_the_same_after_lines_like_it() {
    for entry in ENTRIES {
        for case in cases(entry.name).iter().filter(|case| case.line.starts_with('{')) {
            let mut reader = format(entry).reader();
            for round in 1..=3 {
                let found = describe(&mut reader, case.line.as_bytes());
                assert_eq!(found, case.expected, "{}.txt:{}, {round}", entry.name, case.number);
            }
        }
    }
}

#[test]
fn every_file_has_records_and_rejects() {
    for entry in ENTRIES {
        let cases = cases(entry.name);
        assert!(cases.iter().filter(|case| case.expected.starts_with("20")).count() >= 10);
        assert!(cases.iter().any(|case| case.expected.starts_with("reject ")));
    }
}

/// A file may be cut into chunks anywhere without changing its records.
#[test]
fn any_chunk_size_gives_the_same() {
    for entry in ENTRIES {
        let text = log(entry.name);
        let whole: Vec<String> = cases(entry.name).into_iter().map(|case| case.expected).collect();
        for lines_per_chunk in [1, 2, 3, 7, 1000] {
            let mut format = format(entry);
            let mut found = Vec::new();
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            for chunk in all.chunks(lines_per_chunk) {
                let chunk = chunk.concat();
                let mut reader = format.reader();
                found.extend(lines(chunk.as_bytes()).map(|line| describe(&mut reader, line)));
                format.advance(chunk.as_bytes());
            }
            assert_eq!(found, whole, "{} in chunks of {lines_per_chunk} lines", entry.name);
        }
    }
}

#[track_caller]
fn check_detection(text: &str, expected: &str) {
    let detection = detect(lines(text.as_bytes()), &Hints::default());
    let found = detection.format.as_ref().map(|format| format.name().to_owned());
    assert_eq!(found.as_deref(), Some(expected), "{}\n{text}", detection.why);
}

#[test]
fn every_format_is_detected_from_its_lines() {
    for entry in ENTRIES {
        check_detection(&log(entry.name), entry.name);
        check_detection(entry.sample, entry.name);
        let detection = detect(lines(entry.sample.as_bytes()), &Hints::default());
        assert_eq!((detection.lines_tried, detection.lines_parsed), (1, 1), "{}", entry.name);
    }
}

#[test]
fn one_odd_line_does_not_decide_the_format() {
    for entry in ENTRIES {
        for other in ENTRIES {
            let odd = lines(other.sample.as_bytes()).last().unwrap();
            let odd = std::str::from_utf8(odd).unwrap();
            let record = entry.sample.lines().last().unwrap();
            let text = [entry.sample, odd].into_iter().chain([record; 8]);
            check_detection(&text.collect::<Vec<_>>().join("\n"), entry.name);
            if entry.sample.lines().count() == 1 {
                let text = [odd].into_iter().chain([record; 9]);
                check_detection(&text.collect::<Vec<_>>().join("\n"), entry.name);
            }
        }
    }
}

#[test]
fn names_and_samples_are_distinguished() {
    for entry in ENTRIES {
        assert_eq!(ENTRIES.iter().filter(|other| other.name == entry.name).count(), 1);
        assert_eq!(ENTRIES.iter().filter(|other| other.sample == entry.sample).count(), 1);
    }
}

#[test]
fn what_is_no_access_log_is_not_detected() {
    let tried = |lines: &[&[u8]]| {
        let detection = detect(lines.iter().copied(), &Hints::default());
        assert!(detection.format.is_none() && detection.lines_parsed == 0);
        detection.lines_tried
    };
    assert_eq!(tried(&[]), 0);
    assert_eq!(tried(&[b"", b"  "]), 0);
    assert_eq!(tried(&[b"", b"# comment"]), 1);
    assert_eq!(
        tried(&[b"2020-10-14 01:29:23 [spider] INFO: \"started\"", b"{\"status\":200}", b"\0\xff"]),
        3
    );
}

#[test]
fn a_file_that_names_its_columns_is_known_though_no_line_keeps_to_them() {
    for (text, expected) in [
        ("#Fields: date time cs-method cs-uri-stem\n2026-11-20 00:00:01 GET /a - 80 x y\n", "w3c"),
        ("#Version: 1.0\n#Fields: date time x-edge-location\n1 2\n", "cloudfront"),
    ] {
        let detection = detect(lines(text.as_bytes()), &Hints::default());
        assert_eq!(detection.format.unwrap().name(), expected);
        assert_eq!((detection.lines_tried, detection.lines_parsed), (1, 0));
    }
}

#[test]
fn a_named_format_is_used_however_little_it_reads() {
    for entry in ENTRIES {
        let hints = Hints::default();
        let hints = Hints { format: named(entry.name, &hints), ..hints };
        let detection = detect([&b"\0\xff"[..]], &hints);
        assert_eq!(detection.format.unwrap().name(), entry.name);
        assert_eq!((detection.lines_tried, detection.lines_parsed), (1, 0));
    }
}

#[test]
fn keys_of_json_can_be_named() {
    let line = r#"{"when":"2025-04-17T05:10:56Z","who":{"ip":"192.0.2.1","ua":"UA"},"what":"/x?y","status":200}"#;
    let names = "time=when,client=who.ip,user-agent=who.ua,target=what";
    let expected = "2025-04-17T05:10:56Z | 192.0.2.1 | - | /x?y | 200 | 0 | UA";
    let json_fields = Some(OwnNames::parse(names).unwrap());
    let hints = Hints { json_fields, ..Hints::default() };
    let detected = detect([line.as_bytes()], &hints).format.unwrap();
    assert_eq!(
        (detected.name(), &*describe(&mut detected.reader(), line.as_bytes())),
        ("json", expected)
    );
    assert!(detect([line.as_bytes()], &Hints::default()).format.is_none());
}

#[test]
fn what_is_cut_for_its_length_is_rejected_for_it() {
    assert_eq!(input::lines::LINE_BYTES_MAX, logs::LINE_BYTES_MAX);
    for entry in ENTRIES {
        let long = "m".repeat(logs::LINE_BYTES_MAX + 2);
        let line = lines(long.as_bytes()).next().unwrap();
        assert!(matches!(format(entry).reader().line(line), LineContent::Reject(Reject::TooLong)));
    }
}

#[test]
fn no_damage_to_a_line_panics() {
    for entry in ENTRIES {
        let format = format(entry);
        for case in cases(entry.name) {
            let line = case.line.as_bytes();
            for at in (0..line.len()).step_by(1 + line.len() / 200) {
                describe(&mut format.reader(), &line[..at]);
                for byte in *b"\"\\[] -\0\xff" {
                    let mut line = line.to_vec();
                    line[at] = byte;
                    describe(&mut format.reader(), &line);
                }
            }
        }
    }
}

#[test]
fn no_line_of_another_format_panics() {
    for entry in ENTRIES {
        let format = format(entry);
        for other in ENTRIES {
            for case in cases(other.name) {
                describe(&mut format.reader(), case.line.as_bytes());
            }
        }
    }
}

/// `line` in the envelope of containers or syslog.
fn wrapped(wrapper: &str, line: &str) -> String {
    match wrapper {
        "cri" => format!("2025-04-17T05:10:56.123456789Z stdout F {line}\n"),
        "compose" => format!("web-1  | {line}\n"),
        "syslog" => format!("<190>Apr 17 05:10:56 host web[7]: {line}\n"),
        "quoted" => format!("\"{line}\"\n"),
        _ => {
            let line = line.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
            format!(
                "{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2025-04-17T05:10:56Z\"}}\n"
            )
        }
    }
}

#[test]
fn every_format_is_read_in_every_wrapper() {
    for entry in ENTRIES {
        for wrapper in ["cri", "compose", "syslog", "docker-json", "quoted"] {
            let name = format!("{} ({wrapper})", entry.name);
            let sample: String = entry.sample.lines().map(|line| wrapped(wrapper, line)).collect();
            check_detection(&sample, &name);
            let text: String =
                cases(entry.name).iter().map(|case| wrapped(wrapper, &case.line)).collect();
            let hints = Hints::default();
            let hints = Hints { format: named(entry.name, &hints), ..hints };
            let format = detect(lines(text.as_bytes()), &hints).format.unwrap();
            assert_eq!(format.name(), name);
            let mut reader = format.reader();
            for (case, line) in cases(entry.name).into_iter().zip(lines(text.as_bytes())) {
                let found = describe(&mut reader, line);
                assert_eq!(found, case.expected, "{name}: {}", case.line);
            }
        }
    }
}

#[test]
fn wrappers_may_be_wrapped() {
    let sample = ENTRIES.iter().find(|entry| entry.name == "haproxy").unwrap().sample;
    let line = wrapped("docker-json", wrapped("syslog", sample).trim_end());
    check_detection(&line, "haproxy (syslog in docker-json)");
}

#[test]
fn variants_are_detected() {
    let line = |open: &str, quote: &str| {
        let q = quote;
        format!(
            "{open}192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] {q}GET /music/ HTTP/2.0{q} 200 10353 \
             {q}-{q} {q}Examplebot/1.2{q}"
        )
    };
    check_detection(&(line("\"", "\"\"") + "\"\n"), "combined (quoted)");
    check_detection(&(line("\"", "\\\"") + "\"\n"), "combined (quoted)");
    let spaced =
        line("{ \"log\": \"", "\\\"") + "\\n\", \"stream\": \"stdout\", \"time\": \"x\" }\n";
    check_detection(&spaced, "combined (docker-json)");
    check_detection(&spaced.replace("\": ", "\" : "), "combined (docker-json)");
    // What Fastly sends, as syslog servers store it.
    let fastly = r#"2025-04-17T05:10:56+00:00 151.101.1.1 {"timestamp":"2025-04-17T05:10:56+0000","client_ip":"192.0.2.7","host":"example.com","url":"/music/","request_method":"GET","request_user_agent":"UA","response_status":200}"#;
    check_detection(fastly, "json (syslog)");
    let other_host = "[17/Apr/2025:05:10:56 +0000] 301 - GET http a.example \"/a\" [Client 1.2.3.4] \
                      [Length 166] [Gzip -] \"UA\" \"-\"";
    check_detection(other_host, "nginx_proxy_manager");
}

/// Lines that may surround those of a format, and are not among them.
#[test]
fn lines_of_other_programs_are_skipped_wherever_chunks_are_cut() {
    let sample = ENTRIES.iter().find(|entry| entry.name == "combined").unwrap().sample;
    let cri = |stream: &str, tag: &str, line: &str| {
        format!("2025-04-17T05:10:56.1Z {stream} {tag} {line}\n")
    };
    let all = [
        (cri("stdout", "F", sample), "2025"),
        (
            cri("stderr", "F", "2025/04/17 05:10:56 [error] 7#7: *1 open() failed"),
            "skip not-access",
        ),
        (cri("stdout", "P", sample), "reject incomplete"),
        (cri("stdout", "P", ""), "skip wrapper-partial"),
        (cri("stderr", "P", "error"), "skip not-access"),
        (cri("stdout", "F", "no record"), "reject no-time"),
        (cri("stdout", "F", "# no comment"), "reject no-time"),
        (cri("stdout", "F", ""), "skip blank"),
        ("no wrapper\n".to_owned(), "reject other-format"),
        ("\n".to_owned(), "skip blank"),
        (cri("stdout", "F", sample), "2025"),
    ];
    let text: String = all.iter().map(|(line, _)| line.as_str()).collect();
    for lines_per_chunk in 1..=all.len() {
        let mut format = detect(lines(text.as_bytes()), &Hints::default()).format.unwrap();
        assert_eq!(format.name(), "combined (cri)");
        for chunk in all.chunks(lines_per_chunk) {
            let mut reader = format.reader();
            for (line, expected) in chunk {
                let found = describe(&mut reader, line.trim_end_matches('\n').as_bytes());
                assert!(found.starts_with(expected), "{line}: {found}");
            }
            format.advance(
                chunk.iter().map(|(line, _)| line.as_str()).collect::<String>().as_bytes(),
            );
        }
    }
}

#[test]
fn a_program_that_shares_the_syslog_is_skipped() {
    let sample = ENTRIES.iter().find(|entry| entry.name == "combined").unwrap().sample;
    let text = format!(
        "Apr 17 05:10:56 host nginx: {sample}\nApr 17 05:10:56 host sudo[7]: bob : TTY=pts/6\n\
         Apr 17 05:10:56 host nginx: broken\n"
    );
    let mut reader = detect(lines(text.as_bytes()), &Hints::default()).format.unwrap().reader();
    let found: Vec<String> =
        lines(text.as_bytes()).map(|line| describe(&mut reader, line)).collect();
    assert_eq!(found[1..], ["skip not-access", "reject no-time"]);
}

#[test]
fn captured_headers_are_named_by_the_user() {
    let line = r#"192.0.2.7:5 [25/Feb/2019:16:19:48.143] www~ app/app1 0/0/7/1457/1487 200 1 - - ---- 2/1/0/0/0 0/0 {example.com|203.0.113.9, 10.0.0.1|https://t.co/|Examplebot/1.2} "GET / HTTP/1.1""#;
    let captures = Captures::parse("Host,X-Forwarded-For,Referer,User-Agent").unwrap();
    let zone = Zone::named("Europe/Berlin").unwrap();
    let hints = Hints { haproxy_captures: Some(captures), zone, ..Hints::default() };
    let format = detect([line.as_bytes()], &hints).format.unwrap();
    assert_eq!(
        describe(&mut format.reader(), line.as_bytes()),
        "2019-02-25T15:19:48Z | https://example.com | 192.0.2.7 | GET | / | 200 | 1 | Examplebot/1.2 | 203.0.113.9, 10.0.0.1 | referer https://t.co/"
    );
    assert!(!format.limitations().contains(&Limitation::NoUserAgent));
}

#[test]
fn ten_records_without_a_user_agent_are_reported() {
    let line = r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET / HTTP/2.0" 200 5 "-" "-""#;
    for (count, expected) in [(9, false), (10, true)] {
        let text = vec![line; count].join("\n");
        let format = detect(lines(text.as_bytes()), &Hints::default()).format.unwrap();
        assert_eq!(format.limitations().contains(&Limitation::NoUserAgent), expected);
    }
}

#[test]
fn own_formats_are_read_as_configurations_have_them() {
    for (text, cases) in own_formats() {
        let hints = Hints::default();
        let format = own_format::parse(&text, &hints).unwrap_or_else(|err| panic!("{text}: {err}"));
        let hints = Hints { format: Some(format), ..hints };
        let lines: String = cases.iter().map(|case| case.line.clone() + "\n").collect();
        let format = detect(input::lines::lines(lines.as_bytes()), &hints).format.unwrap();
        for case in cases {
            let line = case.line.as_bytes();
            let found = describe(&mut format.reader(), line);
            assert_eq!(found, case.expected, "own-formats.txt:{}: {text}", case.number);
            for at in 0..line.len() {
                describe(&mut format.reader(), &line[..at]);
                describe(&mut format.reader(), &line[at..]);
            }
        }
    }
}

#[test]
fn own_formats_that_say_too_little_are_refused_with_what_is_missing() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found =
            own_format::parse(text, &Hints::default()).map(|format| format.name().to_owned());
        let found = found.unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
    check("combimed", "unknown log format 'combimed'; the formats are");
    check("$remote_addr \"$request\"", "no time; add $time_local");
    check("%h %l \"%r\"", "no time");
    check("$remote_addr [$time_local] $status", "no request; add $request");
    check("$time_local$request", "nothing between $time_local and $request");
    check("%t%r%>s", "nothing between %r and %>s");
    check("log_format x escape=xml '$time_local';", "escape=xml; it must be default, json or none");
    check("log_format x '$time_local", "quote at byte 1 of the log format is not closed");
    check("[${time_local] $request", "brace of ${time_local] $request in the log format");
    check("%t %{User-Agent i", "'%{User-Agent i' in the log format is not a directive");
    check("%t %", "'%' in the log format is not a directive");
    check("\"%t \\\"%r\\\"", "is not closed");
    check("%{%H:%M}t %r", "time %{%H:%M}t of the log format is not complete");
}

#[test]
fn own_formats_name_their_limitations() {
    #[track_caller]
    fn check(text: &str, expected: &[Limitation]) {
        let format = own_format::parse(text, &Hints::default()).unwrap();
        assert_eq!(**format.limitations(), *expected, "{text}");
    }
    use Limitation::{DecodedTargets, NoClient, NoQuery, NoUserAgent, NoZone};
    check(r#"$remote_addr $time_local "$request" "$http_user_agent""#, &[]);
    check(r#"%a %t "%r""#, &[NoUserAgent]);
    check(r#"%t %U %{User-Agent}i"#, &[DecodedTargets, NoQuery, NoClient]);
    check(r#"%h %{%F %T}t "%r" "%{User-Agent}i""#, &[NoZone]);
    check(r#"%h %{%F %T %z}t "%r" "%{User-Agent}i""#, &[]);
    check(r#"%h %t %U%q "%{User-Agent}i""#, &[DecodedTargets]);
    check(r#"$remote_addr $msec $uri?$args "$http_user_agent""#, &[DecodedTargets]);
}
