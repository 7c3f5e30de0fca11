//! Any bytes are a robots.txt: the model is determined by its lines, and writing it and parsing it
//! again gives the same model.

#![no_main]

use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::lines;
use botaudit::robots::lines::{strip, Content, Field, FieldKind, Separator, Spelling};
use botaudit::robots::parse::{Finding, FindingKind};
use botaudit::robots::lines::{LINE_BYTES_MAX, RobotsTxtLine, lines};
use botaudit::robots::model::{Directive, ParsedRobotsTxt, Rule};
use botaudit::robots::parse::{BODY_BYTES_MAX, cut, parse, parse_body};
use botaudit::robots::usage::USAGE_LINES_MAX;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let body = body(data);
    let (whole, _) = parse(&body);
    let kept = cut(&body);
    assert!(body.starts_with(kept) && kept.len() == body.len().min(BODY_BYTES_MAX));
    let (robots, findings) = parse(kept);
    assert_eq!(parse_body(&body), robots, "a body is its first 500 KiB");
    assert_eq!(parse(kept), (robots.clone(), findings.clone()), "parsing again changes nothing");
    // Nothing else: `User-agent a b`, which is not a field, may be cut to one.
    assert!(robots.lines <= whole.lines);
    if kept.len() < BODY_BYTES_MAX {
        check_lines(kept);
    }
    check_against_lines(kept, &robots, &findings);
    check_groups(&robots);
    check_usage(&robots);
    check_written_back(&robots);
});

/// The input itself; or, after an FF, with which a text hardly begins, moved to the position at
/// which a body is cut, or after as many bytes as a line may have.
fn body(data: &[u8]) -> Vec<u8> {
    let (before, rest) = match data {
        [0xFF, b'B', back, rest @ ..] => (BODY_BYTES_MAX - 1 - usize::from(*back), rest),
        [0xFF, b'L', back, rest @ ..] => (LINE_BYTES_MAX - usize::from(*back), rest),
        _ => return data.to_vec(),
    };
    let mut body = vec![b'x'; before];
    body.extend_from_slice(rest);
    body
}

/// The lines byte by byte, as in Google's parser.
fn check_lines(text: &[u8]) {
    let mark = [0xEF, 0xBB, 0xBF];
    let marked = text.iter().zip(mark).take_while(|(byte, mark)| **byte == *mark).count();
    let mut slow: Vec<(Vec<u8>, usize)> = Vec::new();
    let (mut kept, mut length, mut is_after_cr) = (Vec::new(), 0, false);
    let until_nul = |kept: &mut Vec<u8>| {
        kept.split(|byte| *byte == 0).next().map(<[u8]>::to_vec).unwrap_or_default()
    };
    for &byte in &text[marked..] {
        if matches!(byte, b'\n' | b'\r') {
            if !(byte == b'\n' && length == 0 && is_after_cr) {
                slow.push((until_nul(&mut kept), length));
            }
            kept.clear();
            length = 0;
            is_after_cr = byte == b'\r';
        } else {
            if length < LINE_BYTES_MAX {
                kept.push(byte);
            }
            length += 1;
        }
    }
    slow.push((until_nul(&mut kept), length));
    let fast: Vec<RobotsTxtLine<'_>> = lines(text).collect();
    assert_eq!(fast.len(), slow.len());
    for ((number, line), (kept, length)) in (1..).zip(&fast).zip(&slow) {
        assert_eq!((line.number, line.text, line.length_bytes), (number, &kept[..], *length));
        assert_eq!(line.is_too_long(), *length > LINE_BYTES_MAX);
    }
}

/// Each field of each line is once in the model or in the findings.
fn check_against_lines(text: &[u8], robots: &ParsedRobotsTxt, findings: &[Finding]) {
    let mut tokens = robots.groups.iter().flat_map(|group| &group.product_tokens);
    let mut rules = robots.groups.iter().flat_map(|group| &group.rules);
    let mut sitemaps = robots.sitemaps.iter();
    let mut findings = findings.iter().peekable();
    let mut lines_count = 0;
    let mut is_in_group = false;
    for line in lines(text) {
        lines_count = line.number;
        let mut found = Vec::new();
        while let Some(finding) = findings.next_if(|finding| finding.line == line.number) {
            found.push(&finding.kind);
        }
        let is_found = |kind: FindingKind| found.contains(&&kind);
        assert_eq!(is_found(FindingKind::Nul), line.has_nul);
        let content = lines::read(&line);
        assert_eq!(is_found(FindingKind::NoField), content == Content::NoField);
        let Content::Field(field) = content else { continue };
        check_field(&line, &field);
        assert_eq!(
            is_found(FindingKind::MissingColon(field.kind)),
            field.separator == Separator::Whitespace
        );
        assert_eq!(
            is_found(FindingKind::AcceptedTypo(field.kind, field.key.into())),
            field.spelling == Spelling::AcceptedTypo
        );
        match field.kind {
            FieldKind::UserAgent => {
                is_in_group = true;
                let token = tokens.next().expect("a token for each User-agent line");
                assert_eq!((&*token.written, token.line), (field.value, line.number));
            }
            FieldKind::Sitemap => {
                let sitemap = sitemaps.next().expect("a sitemap for each Sitemap line");
                assert_eq!((&*sitemap.url, sitemap.line), (field.value, line.number));
            }
            FieldKind::Allow | FieldKind::Disallow => {
                let directive = match field.kind {
                    FieldKind::Allow => Directive::Allow,
                    _ => Directive::Disallow,
                };
                assert_eq!(is_found(FindingKind::RuleOutsideGroup(directive)), !is_in_group);
                if is_in_group {
                    let rule = rules.next().expect("a rule for each Allow and Disallow");
                    assert_eq!(*rule, Rule::new(directive, field.value.to_vec(), line.number));
                }
            }
            FieldKind::Unused => assert!(is_found(FindingKind::UnusedField(field.key.into()))),
            FieldKind::Unknown => assert!(is_found(FindingKind::UnknownField(field.key.into()))),
        }
    }
    assert_eq!(robots.lines, lines_count);
    assert!(tokens.next().is_none() && rules.next().is_none() && sitemaps.next().is_none());
    assert!(findings.next().is_none(), "findings are in order and on lines that exist");
}

fn check_field(line: &RobotsTxtLine<'_>, field: &Field<'_>) {
    assert!(!field.key.is_empty());
    for part in [field.key, field.value] {
        assert_eq!(part, strip(part));
        assert!(!part.contains(&b'#') && !part.contains(&0));
        let is_within = line.text.as_ptr_range().contains(&part.as_ptr());
        assert!(part.is_empty() || is_within, "fields are slices of their line");
    }
}

fn check_groups(robots: &ParsedRobotsTxt) {
    for (index, group) in robots.groups.iter().enumerate() {
        assert!(!group.product_tokens.is_empty());
        assert!(!group.rules.is_empty() || index + 1 == robots.groups.len());
        for rule in &group.rules {
            assert!(rule.pattern.is_ascii());
            let again = Rule::new(rule.directive, rule.pattern.clone(), rule.line);
            assert_eq!(again.pattern, rule.pattern, "escaping is done once");
        }
    }
    for group in robots.groups.iter().take(8) {
        if let Some(rule) = group.rules.first() {
            assert_eq!(robots.rule_at(rule.line), Some((group, rule)));
        }
        for token in group.product_tokens.iter().take(8) {
            let selection = select(robots, &[&token.written], StarGroups::Honoured);
            let is_in = selection.groups.iter().any(|selected| std::ptr::eq(*selected, group));
            assert!(is_in || token.written.is_empty(), "a group binds whom it names");
        }
    }
}

/// Statements have a list of User-agent lines above them, and each category at most once.
fn check_usage(robots: &ParsedRobotsTxt) {
    assert!(robots.usage.len() <= USAGE_LINES_MAX && robots.licenses.len() <= USAGE_LINES_MAX);
    for usage in &robots.usage {
        let tokens = usage.product_tokens(robots);
        assert!(!tokens.is_empty() && tokens.iter().all(|token| token.line < usage.path.line));
        assert!(usage.path.pattern.is_empty() || usage.path.pattern.starts_with(b"/"));
        assert!(usage.preferences.is_sorted_by(|left, right| left.0 < right.0));
    }
    assert!(robots.usage.is_sorted_by(|left, right| left.path.line < right.path.line));
    for license in &robots.licenses {
        assert!(license.url.windows(3).any(|part| part == b"://"));
    }
}

/// Writes the model in the shortest spellings, so that no line exceeds its limit.
fn check_written_back(robots: &ParsedRobotsTxt) {
    let mut text = Vec::new();
    let mut push = |key: &[u8], value: &[u8]| text.extend([key, value, b"\r"].concat());
    for group in &robots.groups {
        group.product_tokens.iter().for_each(|token| push(b"useragent:", &token.written));
        for rule in &group.rules {
            let key: &[u8] = match rule.directive {
                Directive::Allow => b"allow:",
                Directive::Disallow => b"disalow:",
            };
            push(key, rule.written());
        }
    }
    robots.sitemaps.iter().for_each(|sitemap| push(b"sitemap:", &sitemap.url));
    let (mut again, _) = parse(&text);
    assert_eq!(again.groups.len(), robots.groups.len());
    // Neither the spelling nor other fields are written back.
    (again.lines, again.body) = (robots.lines, robots.body.clone());
    again.crawl_delays.clone_from(&robots.crawl_delays);
    again.usage.clone_from(&robots.usage);
    again.licenses.clone_from(&robots.licenses);
    for (group, original) in again.groups.iter_mut().zip(&robots.groups) {
        for (token, original) in group.product_tokens.iter_mut().zip(&original.product_tokens) {
            assert!(original.other_field.is_none_or(|line| line.get() > original.line));
            (token.line, token.other_field) = (original.line, original.other_field);
        }
        for (rule, original) in group.rules.iter_mut().zip(&original.rules) {
            rule.line = original.line;
        }
    }
    for (sitemap, original) in again.sitemaps.iter_mut().zip(&robots.sitemaps) {
        sitemap.line = original.line;
    }
    assert_eq!(&again, robots);
}
