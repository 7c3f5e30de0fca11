//! The protocol: every case of `tests/rep/*.txt` with every engine, and random cases.
//!
//! A case file is a row of blocks: `#` lines with the law in words, then
//! `== robots.txt` (or `== robots.txt, escaped`, where `\xHH`, `\r`, `\n`, `\t`
//! and `\\` are undone), then one of
//!
//! - `== cases`: product tokens, target, `allow` or `disallow`, `line N` or `no
//!   rule`. Tokens are parted by `,`, most specific first; `-` is none; `!`
//!   behind them: the crawler ignores `*`. The target is prepared.
//! - `== cases, rfc9309`: the same in the other dialect.
//! - `== urls`: the same for Google's parser alone, which gets name and URL as they stand.
//!
//! Fields are parted by two spaces or more; `\xHH` is undone in all of them.

use crate::google_parser::ask;
use crate::random::Random;
use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::{Decision, IndexedDecision};
use botaudit::matcher::limits::Limits;
use botaudit::matcher::linear::LinearGlobs;
use botaudit::matcher::precedence::rank;
use botaudit::matcher::reference;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::model::{Directive, Rule};
use botaudit::robots::parse::parse;
use botaudit::url::path::Dialect;
use botaudit::url::path::prepare;

/// The limits for each way of deciding.
fn all_limits() -> Vec<Limits> {
    let standard = Limits::default();
    let set = Limits { ordered_patterns_max: 0, ..standard };
    let hot = Limits { searches_before_compiling: 0, ..set };
    vec![
        standard,
        set,
        hot,
        Limits { automata_bytes_max: 0, ..set },
        Limits { suffixes_to_index_min: 0, ..set },
        Limits { automaton_bytes_max: 0, ..hot },
        Limits { automata_bytes_max: 5000, ..hot },
        Limits { ordered_patterns_max: usize::MAX, ..standard },
    ]
}

/// The common decision of all engines.
#[track_caller]
fn decide(
    rules: &[&Rule],
    dialect: Dialect,
    path: &[u8],
    context: &dyn Fn() -> String,
) -> IndexedDecision {
    let expected = reference::decide(rules, dialect, path);
    let path_shown = path.escape_ascii();
    let ordered = LinearGlobs::new(&rank(rules, dialect), dialect);
    assert_eq!(ordered.decide(path), expected, "ordered: {path_shown} {}", context());
    for limits in all_limits() {
        let policy = CompiledPolicy::new(rules, dialect, &limits);
        for ask in ["first", "second"] {
            let found = policy.decide(path);
            assert_eq!(found, expected, "{ask} {limits:?}: {path_shown} {}", context());
        }
    }
    expected
}

#[derive(Default)]
struct Block {
    law: String,
    robots_txt: Vec<u8>,
}

#[test]
fn cases() {
    let mut cases_count = 0;
    let mut files: Vec<_> =
        std::fs::read_dir("tests/rep").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        cases_count += check_file(&file.display().to_string(), &text);
    }
    assert!(cases_count >= 350, "only {cases_count} cases were read");
}

fn check_file(file: &str, text: &str) -> usize {
    let mut block = Block::default();
    let mut section = "";
    let mut cases_count = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let location = format!("{file}:{number}");
        if let Some(name) = line.strip_prefix("== ") {
            section = name;
            if name.starts_with("robots.txt") {
                assert!(!block.law.is_empty(), "{location}: no law");
                block.robots_txt.clear();
            }
            continue;
        }
        match section {
            "robots.txt" => block.robots_txt.extend([line.as_bytes(), b"\n"].concat()),
            "robots.txt, escaped" => block.robots_txt.extend(unescape(line)),
            _ if line.is_empty() => section = "",
            "" => {
                assert!(line.starts_with('#'), "{location}: a law starts with #: {line}");
                block.law = line.to_string();
            }
            _ => {
                check_case(&location, section, &block, line);
                cases_count += 1;
            }
        }
    }
    cases_count
}

fn check_case(location: &str, section: &str, block: &Block, line: &str) {
    let fields: Vec<&str> = line.split("  ").map(str::trim).filter(|f| !f.is_empty()).collect();
    let [tokens, target, verdict, by] = fields[..] else {
        panic!("{location}: four fields: {line}")
    };
    let by = by.strip_prefix("line ").map(|number| number.parse().expect("a line number"));
    let expected = Decision { allowed: verdict == "allow", line: by };
    assert!(["allow", "disallow"].contains(&verdict), "{location}: {verdict}");
    let target = if target == "(empty)" { vec![] } else { unescape(target) };
    let found = match section {
        "cases" => decision_on(location, &block.robots_txt, tokens, &target, Dialect::Google),
        "cases, rfc9309" => {
            decision_on(location, &block.robots_txt, tokens, &target, Dialect::Rfc9309)
        }
        "urls" => {
            let asked = unescape(tokens);
            ask(&block.robots_txt, &asked, &target, |rules, path| {
                decide(rules, Dialect::Google, path, &|| location.to_string())
            })
            .decision
        }
        other => panic!("{location}: no section {other}"),
    };
    assert_eq!(found, expected, "{location}: {line}\n{}", block.law);
}

fn decision_on(
    location: &str,
    text: &[u8],
    tokens: &str,
    target: &[u8],
    dialect: Dialect,
) -> Decision {
    let (tokens, star) = match tokens.strip_suffix('!') {
        Some(tokens) => (tokens, StarGroups::Ignored),
        None => (tokens, StarGroups::Honoured),
    };
    let tokens: Vec<&str> = tokens.split(',').filter(|token| *token != "-").collect();
    let (robots, _) = parse(text);
    let selection = select(&robots, &tokens, star);
    let mut scratch = Vec::new();
    let path = prepare(target, dialect, &mut scratch);
    selection
        .decision(decide(&selection.rules(), dialect, path.as_bytes(), &|| location.to_string()))
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        let (byte, length) = match rest.as_bytes()[at + 1] {
            b'x' => (u8::from_str_radix(&rest[at + 2..at + 4], 16).expect("hex"), 4),
            b'r' => (b'\r', 2),
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'\\' => (b'\\', 2),
            other => panic!("no escape \\{}", char::from(other)),
        };
        bytes.push(byte);
        rest = &rest[at + length..];
    }
    bytes.extend(rest.bytes());
    bytes
}

fn text_of(random: &mut Random, parts: &[&[u8]], parts_max: usize) -> Vec<u8> {
    let count = random.below(parts_max + 1);
    (0..count).flat_map(|_| parts[random.below(parts.len())].to_vec()).collect()
}

/// Alphabets so small that most patterns nearly match.
const ALPHABETS: [&[&[u8]]; 5] = [
    &[b"a", b"b", b"*", b"/"],
    &[b"a", b"*", b"$", b"**", b"/"],
    &[b"%2A", b"%24", b"*", b"$", b"a", b"%2a", b"%61", b"%", b"2A"],
    &[b"\xc3\xa9", b"%C3%A9", b"%c3", b"\xa9", b"*", b"/"],
    &[b"/", b"index.htm", b"index.html", b"l", b"$", b"a/", b"*"],
];

#[test]
fn random_rules_and_paths() {
    let mut random = Random::new();
    for round in 0..1000 {
        let alphabet = ALPHABETS[round % ALPHABETS.len()];
        let count = 1 + random.below(if round % 7 == 0 { 40 } else { 9 });
        let rules: Vec<Rule> = (0..count).map(|_| rule(&mut random, alphabet)).collect();
        let rules: Vec<&Rule> = rules.iter().collect();
        let shown = || rules.iter().map(|rule| rule.written().escape_ascii().to_string() + " ");
        for _ in 0..4 {
            let target = [&b"/"[..], &text_of(&mut random, alphabet, 8)].concat();
            for dialect in [Dialect::Google, Dialect::Rfc9309] {
                let mut scratch = Vec::new();
                let path = prepare(&target, dialect, &mut scratch);
                decide(&rules, dialect, path.as_bytes(), &|| shown().collect());
                // Engines must agree on unprepared bytes as well.
                decide(&rules, dialect, &target[random.below(2)..], &|| shown().collect());
            }
        }
    }
}

fn rule(random: &mut Random, alphabet: &[&[u8]]) -> Rule {
    let directive = [Directive::Allow, Directive::Disallow][random.below(2)];
    let mut pattern = text_of(random, alphabet, 6);
    if random.below(8) > 0 {
        pattern.insert(0, b'/');
    }
    if random.below(6) == 0 {
        pattern.push(b'$');
    }
    Rule::new(directive, pattern, 1)
}

/// Many prefixes of each other, and more rules than any limit below the standard.
#[test]
fn random_large_sets() {
    let mut random = Random(42);
    let words: [&[u8]; 6] = [b"/a", b"/", b"ab", b"/aaaaaaaaaa", b"*", b"/index.html"];
    for _ in 0..20 {
        let rules: Vec<Rule> = (0..300).map(|_| rule(&mut random, &words)).collect();
        let rules: Vec<&Rule> = rules.iter().collect();
        let policies: Vec<_> = all_limits()
            .iter()
            .map(|limits| CompiledPolicy::new(&rules, Dialect::Google, limits))
            .collect();
        for _ in 0..100 {
            let path = [&b"/"[..], &text_of(&mut random, &words, 7)].concat();
            let expected = reference::decide(&rules, Dialect::Google, &path);
            for policy in &policies {
                assert_eq!(policy.decide(&path), expected, "{}", path.escape_ascii());
            }
        }
    }
}

/// With any body of 500 KiB, a policy stays under 4 MiB with everything compiled.
#[test]
fn hostile_sets_stay_small() {
    let zeros_after =
        |n: usize| (1..=17).map(move |m| format!("/{}{}", "a".repeat(n), "0".repeat(m)));
    let sets: [(&str, Vec<String>); 6] = [
        ("prefixes", (0..47_000).map(|n| format!("/{n}")).collect()),
        ("suffixes", (0..33_000).map(|n| format!("/*x*{n}")).collect()),
        ("ten wildcards", (0..50).map(|n| format!("/*{n}a*b*c*d*e*f*g*h*i*j")).collect()),
        ("prefixes in prefixes", (1..970).map(|n| format!("/{}*b*c", "a".repeat(n))).collect()),
        ("prefixes that part", (0..200).flat_map(zeros_after).collect()),
        ("long suffixes", (0..31).map(|n| format!("/*{n}{}", "ab".repeat(8000))).collect()),
    ];
    for (name, patterns) in sets {
        let rule = |pattern: &String| Rule::new(Directive::Disallow, pattern.clone(), 1);
        let rules: Vec<Rule> = patterns.iter().map(rule).collect();
        let rules: Vec<&Rule> = rules.iter().collect();
        let policy = CompiledPolicy::new(&rules, Dialect::Google, &Limits::default());
        policy.compile();
        assert!(policy.heap_bytes() < 4 << 20, "{name}: {}", policy.heap_bytes());
        let paths = ["/", "/4711", "/aaaabxc", "/x/1234", "/7axbcdefghij", "/aaaaaaaaaaaaa"];
        for path in paths.map(str::as_bytes) {
            assert_eq!(policy.decide(path), reference::decide(&rules, Dialect::Google, path));
        }
    }
}

#[test]
fn threads_share_policies_and_automata() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CompiledPolicy>();
    let (robots, _) =
        parse(b"user-agent: *\ndisallow: /*aba*cd\ndisallow: /*ab$\nallow: /x*aba*cd\n");
    let selection = select(&robots, &["foo"], StarGroups::Honoured);
    let limits =
        Limits { ordered_patterns_max: 0, searches_before_compiling: 100, ..Limits::default() };
    let dfa_cache = std::sync::Arc::default();
    let policy =
        || CompiledPolicy::with_dfa_cache(&selection.rules(), Dialect::Google, &limits, &dfa_cache);
    let policies = [policy(), policy()];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..1000 {
                    let policy = &policies[round % 2];
                    assert_eq!(policy.decide(b"/xababcd").rule(), Some(2));
                    assert_eq!(policy.decide(b"/yababcd").rule(), Some(0));
                    assert_eq!(policy.decide(b"/abac").rule(), None);
                }
            });
        }
    });
}

#[test]
fn any_bytes_are_a_robots_txt() {
    let mut random = Random(7);
    let parts: [&[u8]; 16] = [
        b"user-agent",
        b"a",
        b"*",
        b":",
        b" ",
        b"\t",
        b"disallow",
        b"allow",
        b"/",
        b"\n",
        b"\r",
        b"\xef\xbb\xbf",
        b"\0",
        b"#",
        b"$",
        b"\xff",
    ];
    for _ in 0..20_000 {
        let text = text_of(&mut random, &parts, 30);
        let (robots, findings) = parse(&text);
        let lines = text.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
        assert!(robots.lines as usize <= lines);
        assert!(findings.iter().all(|finding| finding.line <= robots.lines));
        let rules = robots.groups.iter().flat_map(|group| &group.rules);
        assert!(rules.clone().all(|rule| (1..=robots.lines).contains(&rule.line)));
        assert!(robots.groups.iter().all(|group| !group.product_tokens.is_empty()));
    }
}
