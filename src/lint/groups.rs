//! Groups: merged ones, empty ones, and fields that depend on their group.

use std::collections::{HashMap, HashSet};

use crate::crawlers::crawler::CrawlDelaySupport;
use crate::robots::lines::{self, Content, FieldKind, lines};
use crate::robots::model::{Directive, Group, ParsedRobotsTxt, ProductToken, Rule};

use super::diagnostic::{Diagnostics, few, quote, quoting, say};
use super::{catalogue::Code, known_tokens::KnownTokens};

/// Two User-agent lines with the same identity mean the same crawlers.
pub(super) fn identity(token: &ProductToken) -> Vec<u8> {
    if token.is_star() {
        return b"*".to_vec();
    }
    let end = memchr::memchr(b'/', &token.written).unwrap_or(token.written.len());
    lines::strip(&token.written[..end]).to_ascii_lowercase()
}

/// Findings on the groups of `robots`, which was parsed from `text`.
pub(super) fn diagnose(
    text: &[u8],
    robots: &ParsedRobotsTxt,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) {
    diagnose_no_group(text, robots, diagnostics);
    diagnose_merged(robots, diagnostics);
    diagnose_empty(robots, diagnostics);
    diagnose_crawl_delay(text, robots, names, diagnostics);
    for group in &robots.groups {
        diagnose_empty_disallow(group, diagnostics);
    }
}

/// Rules and statements about use before the first group have findings of their own.
fn diagnose_no_group(text: &[u8], robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let others = [Code::RuleBeforeGroup, Code::UsageOutsideGroup];
    let is_said = others.iter().any(|code| diagnostics.count(*code) > 0);
    if !robots.groups.is_empty() || is_said {
        return;
    }
    let is_unused = |line: &_| matches!(lines::read(line), Content::Field(field) if field.kind == FieldKind::Unused);
    if let Some(line) = lines(text).find(is_unused) {
        diagnostics.add(line.number, Code::NoGroup, || {
            let message = "the file has no User-agent line, so it binds no crawler";
            let advice = "If everything may be requested, write 'User-agent: *' and 'Disallow:'.";
            (message, advice)
        });
    }
}

fn diagnose_merged(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<Vec<u8>, (usize, u32, Reported)> = HashMap::new();
    for (at, group) in robots.groups.iter().enumerate() {
        for token in group.product_tokens.iter().filter(|token| !token.written.is_empty()) {
            let (group, line, reported) =
                first.entry(identity(token)).or_insert((at, token.line, Reported::No));
            if *group != at && *reported == Reported::No {
                *reported = Reported::Yes;
                let line = *line;
                diagnostics.add(token.line, Code::MergedGroups, || {
                    let line = line.to_string();
                    let message = say(
                        "{} is also named on line {}; its groups are merged",
                        &[&quote(&token.written), line.as_bytes()],
                    );
                    let advice = "Put all rules for one crawler together: this helps people and \
                                  simple parsers.";
                    (message, advice)
                });
            }
        }
    }
}

/// Whether a finding was added.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reported {
    Yes,
    No,
}

/// Only the last group can be empty, because the others take the rules that follow.
fn diagnose_empty(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let Some((last, others)) = robots.groups.split_last() else { return };
    let is_star = |group: &&Group| group.product_tokens.iter().any(ProductToken::is_star);
    let disallows = |group: &Group| {
        group
            .rules
            .iter()
            .any(|rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty())
    };
    let is_bound_by_star = !is_star(&last) && others.iter().filter(is_star).any(disallows);
    if !last.rules.is_empty() || !is_bound_by_star {
        return;
    }
    let named = others.iter().flat_map(|group| &group.product_tokens).map(identity);
    let named: HashSet<Vec<u8>> = named.collect();
    let mut freed = last.product_tokens.iter().filter(|token| !named.contains(&identity(token)));
    if let Some(token) = freed.next() {
        diagnostics.add(token.line, Code::EmptyGroup, || {
            let message = quoting(
                "no rules follow for {}, so it may fetch everything, even if * may not",
                &token.written,
            );
            let advice = "Repeat the rules that should bind it, or remove the line. To allow \
                          everything, write 'Disallow:' below it.";
            (message, advice)
        });
    }
}

fn diagnose_empty_disallow(group: &Group, diagnostics: &mut Diagnostics) {
    let is_empty = |rule: &&Rule| rule.pattern.is_empty();
    let forbids = |rule: &Rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty();
    let empty =
        group.rules.iter().filter(is_empty).find(|rule| rule.directive == Directive::Disallow);
    if let Some(rule) = empty.filter(|_| group.rules.iter().any(forbids)) {
        diagnostics.add(rule.line, Code::EmptyDisallow, || {
            let message = "an empty Disallow has no effect beside other rules";
            (message, "Remove it, or add the missing path.")
        });
    }
}

/// The crawlers of a group that read its Crawl-delay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Readers {
    /// All that it names.
    All,
    /// None, as documented.
    None,
    /// Some, or it is not known.
    Some,
}

fn diagnose_crawl_delay(
    text: &[u8],
    robots: &ParsedRobotsTxt,
    names: &KnownTokens<'_>,
    diagnostics: &mut Diagnostics,
) {
    let mut reported = Reported::No;
    let readers: Vec<Readers> = robots.groups.iter().map(|group| readers(group, names)).collect();
    let is_read = |line: &_| {
        matches!(lines::read(line), Content::Field(field)
        if field.kind == FieldKind::Unused && field.key.eq_ignore_ascii_case(b"crawl-delay"))
    };
    for line in lines(text).filter(is_read) {
        let starts_by = |group: &Group| {
            group.product_tokens.first().is_some_and(|token| token.line < line.number)
        };
        let group = robots.groups.partition_point(starts_by).checked_sub(1);
        match group.map_or(Readers::Some, |group| readers[group]) {
            Readers::All => {}
            Readers::None => diagnostics.add(line.number, Code::CrawlDelayIgnored, || {
                let group = group.map_or(&[][..], |group| &robots.groups[group].product_tokens);
                let named: Vec<&[u8]> = group.iter().map(|token| &*token.written).collect();
                let verb = if named.len() == 1 { "is" } else { "are" };
                let message = say(
                    "{} {} documented not to read Crawl-delay",
                    &[&few(&named), verb.as_bytes()],
                );
                let advice = "Remove it. Some operators let you set a rate in their own tools.";
                (message, advice)
            }),
            Readers::Some if reported == Reported::No => {
                reported = Reported::Yes;
                diagnostics.add(line.number, Code::CrawlDelay, || crawl_delay(names));
            }
            Readers::Some => {}
        }
    }
}

fn crawl_delay(names: &KnownTokens<'_>) -> (&'static str, Vec<u8>) {
    let honour = names.that_honour_crawl_delay();
    let message = "only some crawlers read Crawl-delay; Google's do not";
    let honour: Vec<&[u8]> = honour.into_iter().map(str::as_bytes).collect();
    (message, say("It is documented for {}.", &[&few(&honour)]))
}

fn readers(group: &Group, names: &KnownTokens<'_>) -> Readers {
    let delays = group.product_tokens.iter().map(|token| {
        let token = identity(token);
        match names.principal(&token).map(|crawler| crawler.crawl_delay) {
            Some(CrawlDelaySupport::Partly) => CrawlDelaySupport::Honoured,
            of => of.unwrap_or(CrawlDelaySupport::Unknown),
        }
    });
    let delays: Vec<CrawlDelaySupport> = delays.collect();
    match delays.first() {
        Some(first) if delays.iter().any(|delay| delay != first) => Readers::Some,
        Some(CrawlDelaySupport::Honoured | CrawlDelaySupport::Partly) => Readers::All,
        Some(CrawlDelaySupport::Ignored) => Readers::None,
        Some(CrawlDelaySupport::Unknown) | None => Readers::Some,
    }
}
