//! Lint, case by case: a robots.txt, and the lines with findings.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::random::Random;
use botaudit::StarGroups;
use botaudit::crawlers::registry::Registry;
use botaudit::lint::catalogue::{Code, LINTS};
use botaudit::lint::diagnostic::KEPT_MAX;
use botaudit::lint::known_tokens::KnownTokens;
use botaudit::lint::lint;
use botaudit::matcher::{reference, select};
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect;
use botaudit::url::path::prepare;

/// Hostile files are linted in two sizes. Time proportional to the size is eight times as long for
/// the large one; comparing each line with each other takes sixty-four times.
const SMALL_BYTES: usize = 8_000;
const LARGE_BYTES: usize = 64_000;
const RATIO_MAX: u32 = 24;

/// The noise of a measurement.
const NOISE: Duration = Duration::from_millis(5);

/// The most measurements of a file before it counts as slow.
const TRIES_MAX: usize = 5;

const CASES: &str = include_str!("lint/cases.txt");

fn remarks(text: &[u8]) -> Vec<String> {
    let registry = Registry::builtin();
    let remarks = lint(text, &KnownTokens::new(&registry), Dialect::Google);
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

/// Cases that are too large for the file of cases.
fn large_cases() -> Vec<(Vec<u8>, Vec<&'static str>)> {
    let long_line = [b"User-agent: *\nDisallow: /", &*b"a".repeat(17_000)].concat();
    let long_comment = [b"User-agent: *\nDisallow: /a #", &*b"a".repeat(17_000)].concat();
    let mut large = b"User-agent: *\n".to_vec();
    large.resize(512_000, b'\n');
    let harmless = [&*large, b"\n# Disallow: /a\n"].concat();
    let mut whole = large.clone();
    whole.truncate(512_000 - 12);
    whole.extend(b"Disallow: /a\n# Disallow: /b");
    let mut cut = large.clone();
    cut.truncate(512_000 - 11);
    cut.extend(b"Disallow: /a");
    large.extend(b"\nDisallow: /a\nDisallow: /b");
    vec![
        (whole, vec![]),
        (cut, vec!["511977 too-large"]),
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

/// At least `bytes` of `line`, in which each `{}` is replaced by the line number.
fn full_of(line: &str, bytes: usize) -> Vec<u8> {
    let mut text = b"User-agent: *\nDisallow: /zzz\n".to_vec();
    let mut number = 0;
    while text.len() < bytes {
        text.extend(line.replace("{}", &number.to_string()).bytes());
        number += 1;
    }
    text
}

/// Hostile files of about `bytes`.
fn hostile(bytes: usize) -> Vec<Vec<u8>> {
    let full_of = |line: &str| full_of(line, bytes);
    // Each path is a prefix of the next one.
    let deep = |letter: &str| -> Vec<u8> {
        let rules = (1..(2 * bytes).isqrt())
            .map(|length| format!("Disallow: /{}\n", letter.repeat(length)));
        [b"User-agent: *\n", rules.collect::<String>().as_bytes()].concat()
    };
    vec![
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
        vec![0; bytes],
        vec![b'\n'; bytes],
    ]
}

/// The processor time of this thread, which excludes other programs.
#[cfg(target_os = "linux")]
fn time_used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The elapsed time, which includes other programs.
#[cfg(not(target_os = "linux"))]
fn time_used() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// The shortest time for linting `file` in several tries.
fn least_time(file: &[u8], names: &KnownTokens<'_>, tries: usize) -> Duration {
    let time = |_| {
        let start = time_used();
        lint(file, names, Dialect::Google);
        time_used() - start
    };
    (0..tries).map(time).min().unwrap()
}

#[test]
fn hostile_files_take_little_time_and_room() {
    let registry = Registry::builtin();
    let names = KnownTokens::new(&registry);
    for (small, large) in hostile(SMALL_BYTES).iter().zip(hostile(LARGE_BYTES)) {
        let shown = large[..60.min(large.len())].escape_ascii();
        let remarks = lint(&large, &names, Dialect::Google);
        assert!(remarks.kept().len() <= KEPT_MAX * LINTS.len());
        let bytes = |remark: &botaudit::lint::diagnostic::Diagnostic| {
            remark.message.len() + remark.advice.len()
        };
        assert!(remarks.kept().iter().map(bytes).max() < Some(2000), "{shown}");
        let is_in_proportion = |tries: usize| {
            let expected = least_time(small, &names, tries) * RATIO_MAX + NOISE;
            least_time(&large, &names, tries) <= expected
        };
        assert!((1..=TRIES_MAX).any(is_in_proportion), "timed out: {shown}");
    }
}

#[test]
fn a_remark_that_is_not_kept_is_counted() {
    let registry = Registry::builtin();
    let remarks = lint(&full_of("a\n", 512_000), &KnownTokens::new(&registry), Dialect::Google);
    assert!(remarks.count(Code::UnreadLine) > 200_000);
}

fn text_of(random: &mut Random, pieces: &[&str], pieces_max: usize) -> String {
    (0..random.below(pieces_max + 1)).map(|_| pieces[random.below(pieces.len())]).collect()
}

fn random_robots_txt(random: &mut Random) -> Vec<String> {
    let mut lines = vec![];
    for _ in 0..=random.below(3) {
        for _ in 0..=random.below(2) {
            lines.push(format!("User-agent: {}", ["x", "y", "*"][random.below(3)]));
        }
        for _ in 0..random.below(6) {
            let directive = ["Allow", "Disallow"][random.below(2)];
            let pattern =
                text_of(random, &["a", "b", "/", "*", "$", "/index.html", "%61", "%2A"], 5);
            lines.push(format!("{directive}: /{pattern}"));
        }
    }
    lines
}

/// Removing all redundant rules at once changes no verdict.
#[test]
fn useless_rules_are_useless() {
    for dialect in [Dialect::Google, Dialect::Rfc9309] {
        check_that_useless_rules_are_useless(dialect);
    }
}

fn check_that_useless_rules_are_useless(dialect: Dialect) {
    let useless = [Code::OverriddenRule, Code::DuplicateRule, Code::RedundantRule];
    let registry = Registry::builtin();
    let names = KnownTokens::new(&registry);
    let mut random = Random(9309);
    let mut removed = 0;
    for _ in 0..1000 {
        let mut lines = random_robots_txt(&mut random);
        let before = lines.join("\n");
        for remark in lint(before.as_bytes(), &names, dialect).kept() {
            if useless.contains(&remark.code) {
                // An empty Disallow in its place keeps the groups apart.
                lines[remark.line as usize - 1] = "Disallow:".to_owned();
                removed += 1;
            }
        }
        let after = lines.join("\n");
        let texts = [parse_body(before.as_bytes()), parse_body(after.as_bytes())];
        for token in ["x", "y", "z"] {
            let bound =
                texts.each_ref().map(|text| select::select(text, &[token], StarGroups::Honoured));
            for _ in 0..60 {
                let pieces = ["a", "b", "/", "$", "/index.html", "%61", "*"];
                let path = format!("/{}", text_of(&mut random, &pieces, 5));
                let mut scratch = Vec::new();
                let path = prepare(path.as_bytes(), dialect, &mut scratch);
                let [was, is] = bound.each_ref().map(|bound| {
                    reference::decide(&bound.rules(), dialect, path.as_bytes()).allowed()
                });
                assert_eq!(was, is, "{token} {path:?}\n{before}\n\n{after}");
            }
        }
    }
    assert!(removed > 300, "{removed}");
}

#[test]
fn the_dialect_decides_which_rules_are_equal() {
    let registry = Registry::builtin();
    let text = b"User-agent: *\nDisallow: /a\nDisallow: /%61\n";
    let duplicates =
        |dialect| lint(text, &KnownTokens::new(&registry), dialect).count(Code::DuplicateRule);
    assert_eq!([duplicates(Dialect::Google), duplicates(Dialect::Rfc9309)], [0, 1]);
}

/// Any bytes give findings, each on an existing line.
#[test]
fn any_bytes_can_be_linted() {
    const PIECES: [&[u8]; 30] = [
        b"User-agent",
        b"user agent",
        b"Disallow",
        b"Allow",
        b"Sitemap",
        b"Crawl-delay",
        b":",
        b" ",
        b"\n",
        b"\r\n",
        b"\r",
        b"#",
        b"/",
        b"*",
        b"$",
        b"%",
        b"%2a",
        b"%7E",
        b"\xEF\xBB\xBF",
        b"\xC2\xA0",
        b"\xFF",
        b"\0",
        b"Mozilla/5.0",
        b"Googlebot",
        b"MJ12bot",
        b",",
        b"index.html",
        b"http://",
        b"<",
        b"?",
    ];
    let registry = Registry::builtin();
    let names = KnownTokens::new(&registry);
    let mut random = Random(7);
    for _ in 0..5000 {
        let pieces = (0..random.below(60)).map(|_| PIECES[random.below(PIECES.len())]);
        let text = pieces.collect::<Vec<_>>().concat();
        let lines = parse_body(&text).lines;
        for remark in lint(&text, &names, Dialect::Rfc9309).kept() {
            assert!((1..=lines).contains(&remark.line), "{remark:?} {text:?}");
            assert!(!remark.message.is_empty() && !remark.message.ends_with(b"."), "{remark:?}");
        }
    }
}
