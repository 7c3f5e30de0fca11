//! Allow rules that differ from a Disallow rule only in case.
//!
//! `Disallow: /Private/` and `Allow: /private/press/` look related but are not. This is reported
//! only for an Allow rule without any Disallow rule that covers it: if the case is intended, that
//! rule has no effect.

use crate::robots::model::{Directive, Rule};

use super::catalogue::Code;
use super::diagnostic::{Diagnostics, quote, say};

/// The most rules compared with one, on either side of it in the order of their literals.
const LOOKED_AT_MAX: usize = 64;

/// A rule with the literal at its start.
#[derive(Debug)]
struct Entry<'r> {
    rule: &'r Rule,
    head: &'r [u8],
    folded: Vec<u8>,
}

/// Findings on the rules that bind the same crawlers.
pub(super) fn diagnose(rules: &[&Rule], diagnostics: &mut Diagnostics) {
    let mut entries: Vec<Entry<'_>> = rules.iter().map(|rule| entry(rule)).collect();
    entries.sort_by(|one, other| one.folded.cmp(&other.folded));
    let mut stack: Vec<&Entry<'_>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        while stack.last().is_some_and(|top| !entry.folded.starts_with(&top.folded)) {
            stack.pop();
        }
        match entry.rule.directive {
            Directive::Disallow => stack.push(entry),
            Directive::Allow => diagnose_allow(entry, &stack, &entries[at + 1..], diagnostics),
        }
    }
}

fn diagnose_allow(
    allow: &Entry<'_>,
    above: &[&Entry<'_>],
    behind: &[Entry<'_>],
    diagnostics: &mut Diagnostics,
) {
    let touches = |entry: &&Entry<'_>| {
        entry.rule.directive == Directive::Disallow
            && (entry.head.starts_with(allow.head) || allow.head.starts_with(entry.head))
    };
    let below = behind.iter().take_while(|entry| entry.folded.starts_with(&allow.folded));
    if above.len() > LOOKED_AT_MAX
        || above.iter().copied().any(|entry| touches(&entry))
        || below.clone().nth(LOOKED_AT_MAX).is_some()
        || below.clone().any(|entry| touches(&entry))
    {
        return;
    }
    let Some(disallow) = above.last() else { return };
    diagnostics.add(allow.rule.line, Code::CaseDiffers, || {
        let message = say(
            "{} is not an exception to {} on line {}: they differ in case",
            &[
                &quote(allow.rule.written()),
                &quote(disallow.rule.written()),
                disallow.rule.line.to_string().as_bytes(),
            ],
        );
        (message, "Write both as the site's URLs are written.")
    });
}

fn entry(rule: &Rule) -> Entry<'_> {
    let pattern = rule.pattern.strip_suffix(b"$").unwrap_or(&rule.pattern);
    let head = &pattern[..memchr::memchr(b'*', pattern).unwrap_or(pattern.len())];
    Entry { rule, head, folded: head.to_ascii_lowercase() }
}
