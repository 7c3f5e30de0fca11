//! Rules of the same groups that can never decide, or can be removed.
//!
//! Only certain cases are reported. Groups that always bind the same crawlers form a set. Within
//! it, a rule *covers* another if it matches everything that the other matches. That is certain if
//! the covering rule is a plain prefix of the other rule's literal. If the rules are sorted by
//! their literals, the rules that can cover one form a stack, so a set takes time proportional to
//! its bytes.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::matcher::pattern;
use crate::robots::model::{Directive, Group, ParsedRobotsTxt, ProductToken, Rule};
use crate::url::path::Dialect;

use super::diagnostic::{Diagnostics, quote, say};
use super::{case, catalogue::Code, groups::identity};

/// The most rules that are checked as covers of one rule, and the most that are checked for being
/// in between. Beyond it, nothing is reported.
const LOOKED_AT_MAX: usize = 64;

/// Groups that always bind the same crawlers.
#[derive(Debug, Default)]
struct Set<'r> {
    /// The rules in the order of the file.
    rules: Vec<&'r Rule>,
    /// Whether groups outside of the set may bind the same crawler.
    company: Company,
}

/// Whether rules of other sets may apply together with those of a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Company {
    #[default]
    Alone,
    Mixed,
}

/// Findings on rules that other rules make redundant.
pub(super) fn diagnose(robots: &ParsedRobotsTxt, dialect: Dialect, diagnostics: &mut Diagnostics) {
    let mut respelled = Vec::new();
    for set in sets(robots) {
        let rules = without_duplicates(&set.rules, &mut respelled, diagnostics);
        let entries = sorted(&rules);
        let reported = diagnose_same_pattern(&rules, diagnostics);
        if !has_encoded_special(&rules, dialect) {
            let rivals = Rivals::new(&rules, dialect);
            diagnose_covered(&entries, &rivals, set.company, &reported, diagnostics);
        }
        case::diagnose(&rules, diagnostics);
        if set.company == Company::Alone {
            diagnose_allow_only(&rules, diagnostics);
        }
    }
    diagnose_respelled(&respelled, diagnostics);
}

/// Whether a literal has two spellings, so that bytes do not decide what covers what.
fn has_encoded_special(rules: &[&Rule], dialect: Dialect) -> bool {
    let is_special =
        |at: usize, rule: &Rule| pattern::encoded_special(&rule.pattern[at..], dialect).is_some();
    rules.iter().any(|rule| memchr::memchr_iter(b'%', &rule.pattern).any(|at| is_special(at, rule)))
}

fn sets(robots: &ParsedRobotsTxt) -> Vec<Set<'_>> {
    let mut sets: Vec<Set<'_>> = Vec::new();
    let mut by_names: HashMap<BTreeSet<Vec<u8>>, usize> = HashMap::new();
    let mut by_interpretation: HashMap<Vec<u8>, usize> = HashMap::new();
    for group in &robots.groups {
        let names = group.product_tokens.iter().map(identity).collect();
        let at = *by_names.entry(names).or_insert_with(|| {
            sets.push(Set::default());
            sets.len() - 1
        });
        sets[at].rules.extend(&group.rules);
        for interpretation in interpretations(group) {
            let other = *by_interpretation.entry(interpretation).or_insert(at);
            if other != at {
                sets[at].company = Company::Mixed;
                sets[other].company = Company::Mixed;
            }
        }
    }
    sets
}

/// All names that parsers may read from a group.
fn interpretations(group: &Group) -> impl Iterator<Item = Vec<u8>> {
    let google = |token: &ProductToken| token.google_form().to_ascii_lowercase();
    let tokens = group.product_tokens.iter();
    tokens
        .flat_map(move |token| [identity(token), google(token)])
        .filter(|interpretation| !interpretation.is_empty())
}

/// The first of equal rules. Those with another percent-encoding go to `respelled`.
fn without_duplicates<'r>(
    rules: &[&'r Rule],
    respelled: &mut Vec<(&'r Rule, u32)>,
    diagnostics: &mut Diagnostics,
) -> Vec<&'r Rule> {
    let mut first: HashMap<(Directive, &[u8]), &Rule> = HashMap::new();
    let mut kept = Vec::with_capacity(rules.len());
    for rule in rules.iter().filter(|rule| is_path(rule)) {
        let earlier = *first.entry((rule.directive, &rule.pattern)).or_insert(rule);
        let line = earlier.line;
        if line == rule.line {
            kept.push(*rule);
        } else if earlier.written() != rule.written() {
            respelled.push((rule, line));
        } else {
            diagnostics.add(rule.line, Code::DuplicateRule, || {
                let message = say(
                    "{} is already on line {}",
                    &[&quote(rule.written()), line.to_string().as_bytes()],
                );
                (message, "Remove one of the two.")
            });
        }
    }
    kept
}

/// One finding for all rules that differ only in their percent-encoding: files with such pairs have
/// many of them.
fn diagnose_respelled(respelled: &[(&Rule, u32)], diagnostics: &mut Diagnostics) {
    let Some((rule, line)) = respelled.iter().min_by_key(|(rule, _)| rule.line) else { return };
    diagnostics.add(rule.line, Code::DuplicateRule, || {
        let more = match respelled.len() - 1 {
            0 => String::new(),
            more => format!("; {more} more rules of the file also repeat others in this way"),
        };
        let message = say(
            "{} is the same as line {}, with another percent-encoding{}",
            &[&quote(rule.written()), line.to_string().as_bytes(), more.as_bytes()],
        );
        (message, "You can remove it, unless you keep it for simple parsers.")
    });
}

/// Whether the rule can match a request. The others have findings of their own.
fn is_path(rule: &Rule) -> bool {
    matches!(rule.pattern.first(), Some(b'/' | b'*'))
        && !rule.pattern.iter().any(|byte| matches!(byte, 0..=0x20 | 0x7F))
}

/// A rule with the literal at its start.
#[derive(Clone, Copy, Debug)]
struct Entry<'r> {
    rule: &'r Rule,
    /// The literal before the first wildcard or `$`.
    head: &'r [u8],
    reach: Reach,
}

/// The rest of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reach {
    /// Nothing that matters: the rule matches everything that starts with the head.
    Prefix,
    /// Further text.
    Part,
}

impl Entry<'_> {
    fn rank(&self) -> usize {
        self.rule.pattern.len()
    }
}

fn entry(rule: &Rule) -> Entry<'_> {
    let pattern = &*rule.pattern;
    let (text, is_anchored) = match pattern {
        [text @ .., b'$'] => (text, !text.ends_with(b"*")),
        _ => (pattern, false),
    };
    let star = memchr::memchr(b'*', text).unwrap_or(text.len());
    let (head, tail) = text.split_at(star);
    let is_open = !is_anchored && tail.iter().all(|byte| *byte == b'*');
    Entry { rule, head, reach: if is_open { Reach::Prefix } else { Reach::Part } }
}

fn sorted<'r>(rules: &[&'r Rule]) -> Vec<Entry<'r>> {
    let mut entries: Vec<Entry<'r>> = rules.iter().map(|rule| entry(rule)).collect();
    entries.sort_by_key(|entry| (entry.head, entry.rule.line));
    entries
}

/// The rules of each directive by rank.
#[derive(Debug)]
struct Rivals<'r> {
    dialect: Dialect,
    allows: Vec<(usize, Entry<'r>)>,
    disallows: Vec<(usize, Entry<'r>)>,
}

impl<'r> Rivals<'r> {
    fn new(rules: &[&'r Rule], dialect: Dialect) -> Rivals<'r> {
        let mut rivals = Rivals { dialect, allows: Vec::new(), disallows: Vec::new() };
        for rule in rules {
            let entry = entry(rule);
            match rule.directive {
                Directive::Allow => &mut rivals.allows,
                Directive::Disallow => &mut rivals.disallows,
            }
            .push((entry.rank(), entry));
            if let Some(index) = pattern::of_directory_index(rule, dialect) {
                let head = &entry.head[..entry.head.len().min(index.len() - 1)];
                rivals.allows.push((index.len(), Entry { head, ..entry }));
            }
        }
        rivals.allows.sort_by_key(|(rank, _)| *rank);
        rivals.disallows.sort_by_key(|(rank, _)| *rank);
        rivals
    }

    /// Whether a rule of the other directive may match the same paths as `covered` and rank between
    /// it and `cover`. Also true if the check would take too long.
    fn may_part(&self, covered: &Entry<'_>, cover: &Entry<'_>) -> bool {
        let opposite = match covered.rule.directive {
            Directive::Allow => &self.disallows,
            Directive::Disallow => &self.allows,
        };
        let from = opposite.partition_point(|(rank, _)| *rank < cover.rank());
        let to = opposite.partition_point(|(rank, _)| *rank <= covered.rank());
        let between = &opposite[from..to.max(from)];
        between.len() > LOOKED_AT_MAX
            || between.iter().any(|(_, rival)| {
                rival.head.starts_with(covered.head) || covered.head.starts_with(rival.head)
            })
    }
}

/// Findings on each Disallow rule whose pattern is also allowed. Returns their lines.
fn diagnose_same_pattern(rules: &[&Rule], diagnostics: &mut Diagnostics) -> HashSet<u32> {
    let allows = rules.iter().filter(|rule| rule.directive == Directive::Allow);
    let allows: HashMap<&[u8], u32> = allows.map(|rule| (&*rule.pattern, rule.line)).collect();
    let mut reported = HashSet::new();
    for rule in rules.iter().filter(|rule| rule.directive == Directive::Disallow) {
        if let Some(line) = allows.get(&*rule.pattern) {
            diagnostics.add(rule.line, Code::OverriddenRule, || {
                overridden(rule, *line, "is also an Allow")
            });
            reported.insert(rule.line);
        }
    }
    reported
}

fn diagnose_covered(
    entries: &[Entry<'_>],
    rivals: &Rivals<'_>,
    company: Company,
    reported: &HashSet<u32>,
    diagnostics: &mut Diagnostics,
) {
    let mut stack: Vec<Entry<'_>> = Vec::new();
    for same in entries.chunk_by(|one, other| one.head == other.head) {
        while stack.last().is_some_and(|top| !same[0].head.starts_with(top.head)) {
            stack.pop();
        }
        stack.extend(same.iter().filter(|entry| entry.reach == Reach::Prefix));
        for entry in same.iter().filter(|entry| !reported.contains(&entry.rule.line)) {
            diagnose_entry(entry, &stack, rivals, company, diagnostics);
        }
    }
}

fn diagnose_entry(
    entry: &Entry<'_>,
    stack: &[Entry<'_>],
    rivals: &Rivals<'_>,
    company: Company,
    diagnostics: &mut Diagnostics,
) {
    let rule = entry.rule;
    if pattern::of_directory_index(rule, rivals.dialect).is_some() {
        return;
    }
    let covers =
        || stack.iter().rev().take(LOOKED_AT_MAX).filter(|cover| cover.rule.line != rule.line);
    let wins = |cover: &&Entry<'_>| {
        let is_tie_won = cover.rank() == entry.rank() && cover.rule.directive == Directive::Allow;
        cover.rule.directive != rule.directive && (cover.rank() > entry.rank() || is_tie_won)
    };
    if let Some(winner) = covers().find(wins) {
        let line = winner.rule.line;
        diagnostics.add(rule.line, Code::OverriddenRule, || {
            overridden(rule, line, "is overridden by the longer rule")
        });
        return;
    }
    // Of two rules that cover each other, the first one may stay.
    let may_stay =
        |cover: &&Entry<'_>| cover.head.len() < entry.head.len() || cover.rule.line < rule.line;
    let same_kind = |cover: &&Entry<'_>| cover.rule.directive == rule.directive;
    let Some(cover) = covers().filter(same_kind).find(may_stay) else { return };
    let is_certain = cover.rank() > entry.rank()
        || (company == Company::Alone && !rivals.may_part(entry, cover));
    if is_certain {
        diagnostics.add(rule.line, Code::RedundantRule, || {
            let covering = quote(cover.rule.written());
            let line = cover.rule.line.to_string();
            let message = say(
                "{} is covered by {} on line {}",
                &[&quote(rule.written()), &covering, line.as_bytes()],
            );
            (message, "You can remove it, unless you keep it for readers.")
        });
    }
}

fn overridden(rule: &Rule, line: u32, how: &str) -> (Vec<u8>, &'static str) {
    let message = say(
        "{} has no effect: it {} on line {}",
        &[&quote(rule.written()), how.as_bytes(), line.to_string().as_bytes()],
    );
    let advice = match rule.directive {
        Directive::Disallow => "Remove one of the two: currently the paths are allowed.",
        Directive::Allow => "Remove one of the two: currently the paths are disallowed.",
    };
    (message, advice)
}

fn diagnose_allow_only(rules: &[&Rule], diagnostics: &mut Diagnostics) {
    let is_whole = |rule: &&Rule| matches!(&*rule.pattern, b"/" | b"*" | b"/*");
    if rules.iter().any(|rule| rule.directive == Directive::Disallow || is_whole(rule)) {
        return;
    }
    let Some(first) = rules.first() else { return };
    diagnostics.add(first.line, Code::AllowOnly, || {
        let message = "the group disallows nothing, so the crawlers it names may fetch everything";
        let advice = "To allow only these paths, add 'Disallow: /'.";
        (message, advice)
    });
}
