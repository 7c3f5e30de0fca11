//! The cases of `tests/conformance/cases`: Google's parser and botaudit answer what they expect, with every engine.
//!
//! Others run these cases against parsers of their own, so a wrong case is a wrong accusation. `tests/conformance/README.md`
//! describes the format.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::IndexedDecision;
use botaudit::matcher::limits::Limits;
use botaudit::matcher::reference;
use botaudit::robots::model::Rule;
use botaudit::url::path::Dialect;
use botaudit::{Matcher, RobotsTxt};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    topic: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    rule: String,
    basis: String,
    level: Level,
    robots_txt: Option<Vec<Part>>,
    robots_txt_base64: Option<String>,
    requests: Vec<Request>,
}

#[derive(Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Rfc,
    Google,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Line(String),
    Repeated { text: String, times: usize },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    token: String,
    url: String,
    expected: Answer,
    rfc9309: Option<Answer>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Allow,
    Disallow,
}

impl From<bool> for Answer {
    fn from(allowed: bool) -> Answer {
        if allowed { Answer::Allow } else { Answer::Disallow }
    }
}

impl Case {
    fn body(&self) -> Vec<u8> {
        match (&self.robots_txt, &self.robots_txt_base64) {
            (None, Some(encoded)) => STANDARD.decode(encoded).unwrap(),
            (Some(parts), None) => {
                let part = |part: &Part| match part {
                    Part::Line(line) => format!("{line}\n"),
                    Part::Repeated { text, times } => text.repeat(*times),
                };
                parts.iter().map(part).collect::<String>().into_bytes()
            }
            _ => panic!("{}: one of robots_txt and robots_txt_base64", self.name),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

fn documents() -> Vec<Document> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder().join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let document: Document = serde_json::from_str(&fs::read_to_string(path).unwrap())
            .unwrap_or_else(|err| panic!("{}: {err}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str(), Some(&*document.topic));
        document
    };
    paths.iter().map(read).collect()
}

/// What the reference and the compiled matcher decide.
#[track_caller]
fn decide(rules: &[&Rule], path: &[u8]) -> IndexedDecision {
    let expected = reference::decide(rules, Dialect::Google, path);
    let compiled = CompiledPolicy::new(rules, Dialect::Google, &Limits::default());
    assert_eq!(compiled.decide(path), expected);
    expected
}

fn matcher(body: &[u8], dialect: Dialect, token: &str) -> Matcher {
    RobotsTxt::parse(body).with_dialect(dialect).matcher([token]).unwrap()
}

#[test]
fn every_case_is_what_the_parsers_answer() {
    let mut requests_count = 0;
    for document in documents() {
        for case in &document.cases {
            let body = case.body();
            for Request { token, url, expected, rfc9309 } in &case.requests {
                let location = format!("{}/{}: {token} {url}", document.topic, case.name);
                let google =
                    crate::google_parser::ask(&body, token.as_bytes(), url.as_bytes(), decide);
                assert_eq!(Answer::from(google.decision.allowed), *expected, "{location}");
                let botaudit = matcher(&body, Dialect::Google, token).is_allowed(url);
                assert_eq!(Answer::from(botaudit), *expected, "botaudit: {location}");
                let strict = matcher(&body, Dialect::Rfc9309, token).is_allowed(url);
                let expected = rfc9309.unwrap_or(*expected);
                assert_eq!(Answer::from(strict), expected, "RFC 9309: {location}");
                requests_count += 1;
            }
        }
    }
    assert!(requests_count >= 600, "only {requests_count} requests were read");
}

/// A case can be judged by its reader: it says its rule, and where the rule comes from.
#[test]
fn every_case_says_what_it_rests_on() {
    for document in documents() {
        let mut names = BTreeSet::new();
        for case in &document.cases {
            let location = format!("{}/{}", document.topic, case.name);
            assert!(names.insert(&case.name), "{location} stands twice");
            assert!(case.rule.ends_with('.') && case.rule.len() > 15, "{location}: {}", case.rule);
            let is_rfc = case.basis.starts_with("RFC 9309 section ");
            let is_google = case.basis.starts_with("Google's ");
            assert!(is_rfc || is_google, "{location}: {}", case.basis);
            assert_eq!(case.level == Level::Rfc, is_rfc, "{location}: level and basis differ");
            assert!(!case.requests.is_empty(), "{location}: no requests");
            let differ = case.requests.iter().any(|request| request.rfc9309.is_some());
            assert!(!(is_rfc && differ), "{location}: the RFC cannot differ from itself");
            for Request { token, url, expected, rfc9309 } in &case.requests {
                let is_usual = |c: char| c.is_ascii_alphabetic() || "_-".contains(c);
                assert!(token.chars().all(is_usual), "{location}: {token}");
                assert!(url.is_ascii() && url.contains("://"), "{location}: {url}");
                assert!(!url.ends_with("/robots.txt"), "{location}: parsers differ there by right");
                assert_ne!(Some(*expected), *rfc9309, "{location}: {url} differs from nothing");
            }
        }
    }
}

#[test]
fn the_readme_describes_every_topic() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    for Document { topic, .. } in documents() {
        assert!(readme.contains(&format!("| `{topic}` |")), "README.md: {topic}");
    }
}

/// The exit code is what others build on: 0 if all agree, 1 if one differs, 2 if nothing was compared.
#[test]
fn the_runner_says_by_its_exit_code_whether_all_agree() {
    let run = |arguments: &[&str]| {
        Command::new("python3").arg(folder().join("run.py")).args(arguments).output()
    };
    let rows = tempfile::Builder::new().suffix(".tsv").tempfile().unwrap();
    let rows_path = rows.path().to_str().unwrap();
    // "User-agent: *", "Disallow: /", and an empty file.
    fs::write(
        rows.path(),
        "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=\tfoo\thttps://e.com/\t0\n\
         \tfoo\thttps://e.com/\t1\n",
    )
    .unwrap();
    let agrees = "grep -q Disallow \"$0\" && exit 1 || exit 0";
    let agreeing = format!("sh -c '{agrees}'");
    let cases: [(&[&str], i32); 5] = [
        (&["--command", &agreeing, "--cases", rows_path], 0),
        (&["--command", "true", "--cases", rows_path], 1),
        (&["--command", "sh -c 'exit 3'", "--cases", rows_path], 1),
        (&["--pipe", "no-such-program", "--cases", rows_path], 2),
        (&["--command", "true", "--cases", "no-such-file.tsv"], 2),
    ];
    for (arguments, expected) in cases {
        let ran = match run(arguments) {
            Err(err) => return eprintln!("skipped: no python3 here: {err}"),
            Ok(ran) => ran,
        };
        assert_eq!(ran.status.code(), Some(expected), "{arguments:?} {ran:?}");
    }
}
