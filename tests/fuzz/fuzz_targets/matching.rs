//! Every engine decides as the reference does, in both dialects and with all limits; and so does
//! the whole way from the bytes of a robots.txt to a verdict.

#![no_main]

#[path = "../../google_parser/mod.rs"]
mod google_parser;

use std::sync::Arc;

use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::IndexedDecision;
use botaudit::matcher::dfa_cache::DfaCache;
use botaudit::matcher::encoded;
use botaudit::matcher::glob::{WildcardSpelling, shape};
use botaudit::matcher::limits::Limits;
use botaudit::matcher::linear::LinearGlobs;
use botaudit::matcher::pattern;
use botaudit::matcher::precedence::rank;
use botaudit::matcher::reference;
use botaudit::matcher::rule_set_key::RuleSetKey;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::model::{Directive, Rule};
use botaudit::robots::parse::parse;
use botaudit::url::path::Dialect;
use botaudit::url::path::{of_url, prepare};
use google_parser::ask;
use libfuzzer_sys::fuzz_target;

/// The meanings of the input bytes, chosen so that most patterns nearly match.
const ALPHABETS: [&[&[u8]]; 8] = [
    &[b"a", b"b", b"*", b"/", b"$"],
    &[b"a", b"*", b"**", b"/", b"$", b"ab", b"aab"],
    &[b"%2A", b"%24", b"*", b"$", b"a", b"%2a", b"%61", b"%", b"2A", b"%%32A", b"/"],
    &[b"\xC3\xA9", b"%C3%A9", b"%c3", b"\xA9", b"*", b"/", b" ", b"%20", b"\0", b"\xFF"],
    &[b"/", b"index.htm", b"index.html", b"l", b"$", b"a/", b"*", b"?"],
    // Long enough for prefixes with equal first bytes, and for literals that need memmem.
    &[b"/", b"aaaaaaaa", b"a", b"b", b"*", LONG, b"%2A"],
    &[b"/", b"robots.txt", b"#", b":", b"://", b";", b"?", b"//", b"*", b"h"],
    // None: bytes stand for themselves.
    &[],
];

const LONG: &[u8] = &[b'a'; 100];

/// Bytes from here on end a text of the input; the byte says what the text is.
const ENDS_FROM: u8 = 0xF0;
const RULES_MAX: usize = 200;
const PATHS_MAX: usize = 4;
const TEXT_BYTES_MAX: usize = 500;

/// Rules and paths, read from the input.
#[derive(Default)]
struct Case {
    rules: Vec<Rule>,
    paths: Vec<Vec<u8>>,
}

fuzz_target!(|data: &[u8]| {
    let case = case(data);
    let rules: Vec<&Rule> = case.rules.iter().collect();
    // Building automata takes most of the time, so they are shared.
    let dfa_cache = Arc::default();
    for dialect in [Dialect::Google, Dialect::Rfc9309] {
        check_engines(&rules, dialect, &case.paths, &dfa_cache);
    }
    check_end_to_end(&rules, &case.paths);
});

fn case(data: &[u8]) -> Case {
    let mut case = Case::default();
    let Some((first, data)) = data.split_first() else { return case };
    let alphabet = ALPHABETS[usize::from(*first) % ALPHABETS.len()];
    let mut text = Vec::new();
    for byte in data {
        if *byte < ENDS_FROM {
            match alphabet {
                [] => text.push(*byte),
                parts => text.extend_from_slice(parts[usize::from(*byte) % parts.len()]),
            }
            continue;
        }
        text.truncate(TEXT_BYTES_MAX);
        let line = u32::try_from(case.rules.len() + 2).expect("few rules");
        match byte {
            0xF0..0xF6 => case.rules.push(Rule::new(Directive::Disallow, text.clone(), line)),
            0xF6..0xFB => case.rules.push(Rule::new(Directive::Allow, text.clone(), line)),
            _ => case.paths.push(text.clone()),
        }
        text.clear();
    }
    case.paths.push(text);
    case.rules.truncate(RULES_MAX);
    case.paths.truncate(PATHS_MAX);
    case
}

/// The limits for each way of deciding.
fn all_limits() -> [Limits; 8] {
    let standard = Limits::default();
    let set = Limits { ordered_patterns_max: 0, ..standard };
    let hot = Limits { searches_before_compiling: 0, ..set };
    [
        standard,
        set,
        hot,
        Limits { searches_before_compiling: 1, ..set },
        Limits { suffixes_to_index_min: 0, ..set },
        Limits { automaton_bytes_max: 0, ..hot },
        Limits { automata_bytes_max: 5000, ..hot },
        Limits { ordered_patterns_max: usize::MAX, ..standard },
    ]
}

fn check_engines(rules: &[&Rule], dialect: Dialect, paths: &[Vec<u8>], dfa_cache: &Arc<DfaCache>) {
    let ordered = LinearGlobs::new(&rank(rules, dialect), dialect);
    let policy = |limits: Limits| match limits.automaton_bytes_max {
        0 => CompiledPolicy::new(rules, dialect, &limits),
        _ => CompiledPolicy::with_dfa_cache(rules, dialect, &limits, dfa_cache),
    };
    let policies = all_limits().map(policy);
    for target in paths {
        let mut scratch = Vec::new();
        let prepared = prepare(target, dialect, &mut scratch);
        // Engines must agree on unprepared bytes as well.
        for path in [prepared.as_bytes(), target] {
            let expected = reference::decide(rules, dialect, path);
            assert_eq!(ordered.decide(path), expected, "ordered globs");
            for (policy, limits) in policies.iter().zip(all_limits()) {
                assert_eq!(policy.decide(path), expected, "{limits:?}");
            }
            check_decision(rules, dialect, path, expected);
            rules.iter().for_each(|rule| check_encoded(rule, path));
        }
    }
    for (policy, limits) in policies.iter().zip(all_limits()) {
        let cold_bytes = CompiledPolicy::new(rules, dialect, &limits).heap_bytes();
        policy.compile();
        let grown = policy.heap_bytes() - cold_bytes;
        assert!(grown <= limits.automata_bytes_max, "{grown} bytes of automata, {limits:?}");
        for path in paths {
            assert_eq!(policy.decide(path), ordered.decide(path), "compiled, {limits:?}");
        }
    }
    let mut later: Vec<Rule> = rules.iter().map(|rule| (*rule).clone()).collect();
    later.iter_mut().for_each(|rule| rule.line += 7);
    let later: Vec<&Rule> = later.iter().collect();
    assert_eq!(RuleSetKey::new(&later, dialect), RuleSetKey::new(rules, dialect));
}

/// The algorithm for long paths must be correct for all paths.
fn check_encoded(rule: &Rule, path: &[u8]) {
    let pattern = pattern::prepare(rule, Dialect::Rfc9309);
    let shape = shape(&pattern, Dialect::Rfc9309);
    if let (WildcardSpelling::Encoded, Some(rest)) =
        (shape.spelling, path.strip_prefix(shape.prefix))
    {
        let expected = reference::is_match(&pattern, Dialect::Rfc9309, path);
        assert_eq!(encoded::is_match(shape.suffix, shape.end, rest), expected, "encoded");
    }
}

/// The deciding rule matches, its directive fits the decision, and no matching rule is longer.
fn check_decision(rules: &[&Rule], dialect: Dialect, path: &[u8], decision: IndexedDecision) {
    let length = |rule: &&Rule| reference::matched_length(rule, dialect, path);
    let longest = rules.iter().filter_map(length).max();
    let Some(index) = decision.rule() else {
        assert!(decision.allowed() && longest.is_none());
        return;
    };
    let rule = rules[index];
    assert_eq!(length(&rule), longest);
    assert_eq!(decision.allowed(), rule.directive == Directive::Allow || longest == Some(0));
}

/// Writes the rules that fit in one line each into a robots.txt, and decides with that.
fn check_end_to_end(rules: &[&Rule], paths: &[Vec<u8>]) {
    let mut text = b"user-agent: other\ndisallow: /\nuser-agent: foobot\n".to_vec();
    let mut written: Vec<Rule> = Vec::new();
    for rule in rules.iter().filter(|rule| is_value(rule.written())) {
        text.extend_from_slice(match rule.directive {
            Directive::Allow => b"allow: ",
            Directive::Disallow => b"disallow: ",
        });
        text.extend([rule.written(), b"\n"].concat());
        let line = u32::try_from(written.len() + 4).expect("few rules");
        written.push(Rule::new(rule.directive, rule.written().to_vec(), line));
    }
    let (robots, findings) = parse(&text);
    assert_eq!(findings, []);
    let selection = select(&robots, &["foobot-image", "foobot"], StarGroups::Honoured);
    assert_eq!(selection.rules(), written.iter().collect::<Vec<_>>());
    let policy = CompiledPolicy::new(&selection.rules(), Dialect::Google, &Limits::default());
    for path in paths {
        let url = [b"http://h", &path[..]].concat();
        let answer = ask(&text, b"FooBot", &url, |rules, path| {
            let decision = reference::decide(rules, Dialect::Google, path);
            assert_eq!(policy.decide(path), decision);
            decision
        });
        assert!(answer.is_named && answer.path == of_url(&url));
        if let Some(line) = answer.decision.line {
            let (_, rule) = robots.rule_at(line).expect("the line of a rule");
            assert!(answer.decision.allowed || rule.directive == Directive::Disallow);
        }
        let other = ask(&text, b"nobody", &url, |_, _| IndexedDecision::NO_RULE);
        assert!(!other.is_named && other.decision.allowed);
    }
}

/// Whether a value stands for itself in a line.
fn is_value(written: &[u8]) -> bool {
    !written.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'#' | 0))
        && !written.first().is_some_and(|byte| is_space(*byte))
        && !written.last().is_some_and(|byte| is_space(*byte))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0D)
}
