//! Lint, case by case: a robots.txt, and the lines it has something to say about.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use botaudit::crawlers::registry::Registry;
use botaudit::lint::catalogue::{Code, LINTS};
use botaudit::lint::lint;
use botaudit::lint::names::Names;
use botaudit::lint::remark::KEPT_MAX;

/// What 500 KiB may take. An unoptimized build on a busy machine needs up to a second.
const TIME_MAX: Duration = Duration::from_secs(10);

const CASES: &str = include_str!("lint/cases.txt");

fn remarks(text: &[u8]) -> Vec<String> {
    let registry = Registry::builtin();
    let remarks = lint(text, &Names::new(&registry));
    let kept = remarks.kept().iter();
    kept.map(|remark| format!("{} {}", remark.line, remark.code.lint().name)).collect()
}

/// One case of the file.
#[derive(Debug, Default)]
struct Case {
    sentence: &'static str,
    text: Vec<&'static str>,
    expected: Vec<&'static str>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let (mut is_text, mut sentence) = (false, "");
    for line in CASES.lines() {
        match line {
            "== robots.txt" => {
                is_text = true;
                cases.push(Case { sentence, ..Case::default() });
            }
            "== remarks" => is_text = false,
            _ if is_text => cases.last_mut().unwrap().text.push(line),
            _ if line.starts_with('#') => sentence = line,
            "" => {}
            _ => cases.last_mut().unwrap().expected.push(line),
        }
    }
    cases
}

fn bytes(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}

/// What a file of cases cannot hold.
fn large_cases() -> Vec<(Vec<u8>, Vec<&'static str>)> {
    let long_line = [b"User-agent: *\nDisallow: /", &*b"a".repeat(17_000)].concat();
    let long_comment = [b"User-agent: *\nDisallow: /a #", &*b"a".repeat(17_000)].concat();
    let mut large = b"User-agent: *\n".to_vec();
    large.resize(512_000, b'\n');
    let harmless = [&*large, b"\n# Disallow: /a\n"].concat();
    large.extend(b"\nDisallow: /a\nDisallow: /b");
    vec![
        (long_line, vec!["2 long-line"]),
        (long_comment, vec![]),
        (large, vec!["511988 too-large"]),
        (harmless, vec![]),
    ]
}

#[test]
fn cases_are_remarked_on_as_expected() {
    for Case { sentence, text, expected } in cases() {
        assert_eq!(remarks(&bytes(&text.join("\n"))), expected, "{sentence}");
    }
    for (text, expected) in large_cases() {
        assert_eq!(remarks(&text), expected);
    }
}

#[test]
fn each_code_has_a_case() {
    let cases = cases().into_iter().flat_map(|case| case.expected);
    let large = large_cases().into_iter().flat_map(|(_, expected)| expected);
    let shown: BTreeSet<String> =
        cases.chain(large).map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
    let listed: BTreeSet<String> = LINTS.iter().map(|lint| lint.name.to_owned()).collect();
    assert_eq!(shown, listed);
}

/// 500 KiB of `line`, in which each `{}` becomes the number of the line.
fn full_of(line: &str) -> Vec<u8> {
    let mut text = b"User-agent: *\nDisallow: /zzz\n".to_vec();
    let mut number = 0;
    while text.len() < 512_000 {
        text.extend(line.replace("{}", &number.to_string()).bytes());
        number += 1;
    }
    text
}

#[test]
fn hostile_files_take_little_time_and_room() {
    let registry = Registry::builtin();
    let names = Names::new(&registry);
    let deep = |byte: &str| -> Vec<u8> {
        let rules = (1..1000).map(|length| format!("Disallow: /{}\n", byte.repeat(length)));
        [b"User-agent: *\n", rules.collect::<String>().as_bytes()].concat()
    };
    let files = [
        full_of("a\n"),
        full_of("Disallow: /{}\n"),
        full_of("Disallow: /a{}\nAllow: /a{}*\n"),
        full_of("Allow: /*{}/\nDisallow: /*{}*x\n"),
        full_of("Disallow: /\n"),
        full_of("User-agent: Googelbto{}\n"),
        full_of("User-agent: a{}\nDisallow: /\n"),
        full_of("User-agent: *\nDisallow: /{}\nCrawl-delay: 1\n"),
        full_of("User-agent: a,b c d e f g h i j{}\n"),
        full_of("f{}: x\n"),
        full_of("dissalo{} x y\n"),
        full_of("Disallow: /%7e%zz%2a$/\\.{}\n"),
        full_of("Disallow: /\u{e9}{}"),
        full_of("User-agent: a{}"),
        deep("a"),
        deep("*"),
        vec![0; 512_000],
        vec![b'\n'; 512_000],
    ];
    for file in files {
        let start = Instant::now();
        let remarks = lint(&file, &names);
        let shown = String::from_utf8_lossy(&file[..60.min(file.len())]).into_owned();
        assert!(start.elapsed() < TIME_MAX, "{:?} for {shown:?}", start.elapsed());
        assert!(remarks.kept().len() <= KEPT_MAX * LINTS.len());
        let bytes =
            |remark: &botaudit::lint::remark::Remark| remark.message.len() + remark.advice.len();
        assert!(remarks.kept().iter().map(bytes).max() < Some(2000), "{shown:?}");
    }
}

#[test]
fn a_remark_that_is_not_kept_is_counted() {
    let registry = Registry::builtin();
    let remarks = lint(&full_of("a\n"), &Names::new(&registry));
    assert!(remarks.count(Code::UnreadLine) > 200_000);
}
