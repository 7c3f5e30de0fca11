//! The log formats, each with its file of lines and what is expected of them.
//!
//! A case is a line after `> ` and, after `= `, what it is: the record's time,
//! origin (where the line names one), client, method, target, status, bytes and
//! user agent, with ` | ` between; or `reject` or `skip` and why. Bytes that
//! cannot be printed are shown as `\xHH`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::path::Path;

use botaudit::input;
use botaudit::logs::detect::{Detection, detect};
use botaudit::logs::record::{Record, Scratch};
use botaudit::logs::reject::Reject;
use botaudit::logs::{self, Line, LogFormat};

struct Case {
    number: usize,
    line: String,
    expected: String,
}

/// The cases of a format's file.
fn cases(format: LogFormat) -> Vec<Case> {
    let name = format!("tests/logs/{}.txt", format.name());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
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

/// What a line is, in the words of the files.
fn describe(format: LogFormat, line: &[u8]) -> String {
    let mut scratch = Scratch::default();
    match format.line(line) {
        Line::Skip(skip) => format!("skip {}", skip.as_str()),
        Line::Reject(reject) => format!("reject {}", reject.as_str()),
        Line::Fields(fields) => {
            let user_agent = fields.user_agent(&mut scratch).to_vec();
            match fields.record(&mut scratch) {
                Err(reject) => format!("reject {}", reject.as_str()),
                Ok(record) => {
                    assert_eq!(record.user_agent, user_agent, "both steps say the same");
                    describe_record(&record)
                }
            }
        }
    }
}

fn describe_record(record: &Record<'_>) -> String {
    let text =
        |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'");
    let host = record.host.map(|host| text(host) + " | ").unwrap_or_default();
    let host = match record.port {
        Some(port) => host.replace(" | ", &format!(":{port} | ")),
        None => host,
    };
    let target = record.target.map_or("none".to_owned(), text);
    let (client, method) = (text(record.client), text(record.method));
    let Record { time, status, bytes, .. } = record;
    let user_agent = text(record.user_agent);
    format!("{time} | {host}{client} | {method} | {target} | {status} | {bytes} | {user_agent}")
}

#[test]
fn every_line_gives_what_its_file_expects() {
    for format in LogFormat::ALL {
        for case in cases(format) {
            let found = describe(format, case.line.as_bytes());
            assert_eq!(found, case.expected, "{}.txt:{}", format.name(), case.number);
        }
    }
}

#[test]
fn every_file_has_records_and_rejects() {
    for format in LogFormat::ALL {
        let cases = cases(format);
        assert!(cases.iter().filter(|case| case.expected.starts_with("20")).count() >= 10);
        assert!(cases.iter().any(|case| case.expected.starts_with("reject ")));
    }
}

#[test]
fn every_format_is_told_from_its_lines() {
    for format in LogFormat::ALL {
        let cases = cases(format);
        let detection = detect(cases.iter().map(|case| case.line.as_bytes()));
        assert_eq!(detection.format, Some(format));
        let sample = format.sample().as_bytes();
        let expected = Detection { format: Some(format), lines_tried: 1, lines_parsed: 1 };
        assert_eq!(detect([sample]), expected);
        assert_eq!(LogFormat::from_name(format.name()), Some(format));
    }
}

#[test]
fn one_odd_line_does_not_decide_the_format() {
    for format in LogFormat::ALL {
        for other in LogFormat::ALL {
            let mut lines = vec![other.sample().as_bytes()];
            lines.extend([format.sample().as_bytes(); 9]);
            assert_eq!(detect(lines).format, Some(format), "{other:?} before {format:?}");
        }
    }
}

#[test]
fn what_is_no_access_log_is_not_detected() {
    let none = Detection { format: None, lines_tried: 0, lines_parsed: 0 };
    assert_eq!(detect([]), none);
    assert_eq!(detect([&b""[..], b"  ", b"# comment"]), none);
    let lines =
        [&b"2020-10-14 01:29:23 [spider] INFO: \"started\""[..], b"{\"status\":200}", b"\0\xff"];
    assert_eq!(detect(lines), Detection { lines_tried: 3, ..none });
}

#[test]
fn what_is_cut_for_its_length_is_rejected_for_it() {
    assert_eq!(input::lines::LINE_BYTES_MAX, logs::LINE_BYTES_MAX);
    let [sample, ..] = LogFormat::ALL.map(LogFormat::sample);
    let long = sample.replace("music", &"m".repeat(logs::LINE_BYTES_MAX));
    for format in LogFormat::ALL {
        let line = input::lines::lines(long.as_bytes()).next().unwrap();
        assert!(matches!(format.line(line), Line::Reject(Reject::TooLong)));
    }
}

#[test]
fn no_damage_to_a_line_panics() {
    for format in LogFormat::ALL {
        for case in cases(format) {
            let line = case.line.as_bytes();
            for at in 0..line.len() {
                describe(format, &line[..at]);
                for byte in *b"\"\\[] -\0\xff" {
                    let mut line = line.to_vec();
                    line[at] = byte;
                    for other in LogFormat::ALL {
                        describe(other, &line);
                    }
                }
            }
        }
    }
}
