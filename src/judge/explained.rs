//! All steps to one verdict, for explanations.
//!
//! The decision is that of [`Judge::decide`]. The matching rules are found separately, by trying
//! every rule that binds.

use std::{borrow::Cow, sync::Arc};

use crate::matcher::select::{self, Selection};
use crate::matcher::{decision::Decision, glob::shape, pattern, reference};
use crate::mutex::lock;
use crate::robots::model::{Group, ProductToken, Rule, StarGroups};
use crate::url::path::{Dialect, PathQuery};

use super::robots::{BoundRules, Robots};
use super::{Judge, profile::Asker};

/// Which groups bind a crawler, and how they were found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Bound<'a> {
    /// The product tokens that were looked for, in order, up to the first that a group names.
    pub tried: Vec<&'a str>,
    /// The group that binds the crawler.
    pub by: BoundBy<'a>,
    /// Which of the tokens are names in its own user agent: the first ones.
    pub own: usize,
    /// Tokens whose groups [may as well bind it](super::candidates).
    pub equally_good: Vec<&'a str>,
    /// The User-agent lines that bind it, in the order of the file.
    pub user_agent_lines: Vec<&'a ProductToken>,
    /// How many groups merge.
    pub groups: usize,
    /// Their rules, in the order of the file.
    pub rules: Vec<&'a Rule>,
    /// Lines of other fields over which these groups continue: see [`Group::continued_over`].
    pub continued_over: Vec<u32>,
    /// The number of groups in the file.
    pub groups_in_file: usize,
    /// The number of rules in `*` groups that do not bind this crawler.
    pub star_rules_passed_over: usize,
}

/// What binds a crawler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BoundBy<'a> {
    /// Groups with this product token of the crawler.
    Token(&'a str),
    /// The `*` groups.
    Star,
    /// Nothing. The crawler would have followed `*` had there been such a group.
    Nothing,
    /// Nothing. The crawler obeys only groups that name it.
    NothingButItsName,
}

/// The decision of the groups with one name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct GroupDecision {
    /// Their first User-agent, as written.
    pub written: Box<[u8]>,
    /// Its line.
    pub line: u32,
    /// Whether they allow the path.
    pub allowed: bool,
    /// The line of the deciding rule.
    pub rule_line: Option<u32>,
}

/// A rule that matches a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Match<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The pattern that the path was compared with.
    pub pattern: Cow<'a, [u8]>,
    /// Whether that is the rule's own pattern.
    pub pattern_form: PatternForm,
}

/// Which pattern of a rule matched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PatternForm {
    /// The rule's own.
    AsWritten,
    /// The directory of an Allow rule for an index page, as Google reads it.
    AsDirectory,
}

impl BoundBy<'_> {
    /// The product token, or `*`.
    fn token(&self) -> Option<&[u8]> {
        match self {
            BoundBy::Token(name) => Some(name.as_bytes()),
            BoundBy::Star => Some(b"*"),
            BoundBy::Nothing | BoundBy::NothingButItsName => None,
        }
    }

    fn is_named_by(self, token: &ProductToken) -> bool {
        match self {
            BoundBy::Token(name) => token.names(name.as_bytes()),
            BoundBy::Star => token.is_star(),
            BoundBy::Nothing | BoundBy::NothingButItsName => false,
        }
    }
}

impl Match<'_> {
    /// The length of the pattern in bytes; the longest one decides.
    pub(crate) fn length(&self) -> usize {
        self.pattern.len()
    }
}

impl Judge {
    /// The groups of `robots` that bind `asker`.
    pub(crate) fn bound<'a>(&'a self, robots: &'a Robots, asker: Asker<'a>) -> Bound<'a> {
        let profile = self.profiles.get(asker.crawler);
        let (own, of_row) = match asker.names.is_empty() {
            true => profile.product_tokens.split_at(profile.own),
            false => (asker.names, &profile.product_tokens[profile.own..]),
        };
        let tokens: Vec<&str> = own.iter().chain(of_row).map(String::as_str).collect();
        let selection = select::select(&robots.text, &tokens, profile.star);
        let (by, tried) = match (selection.bound_by, profile.star) {
            (select::GroupChoice::Token(index), _) => {
                (BoundBy::Token(tokens[index]), tokens[..=index].to_vec())
            }
            (select::GroupChoice::Star, _) => (BoundBy::Star, tokens.clone()),
            (select::GroupChoice::Nothing, StarGroups::Honoured) => {
                (BoundBy::Nothing, tokens.clone())
            }
            (select::GroupChoice::Nothing, StarGroups::Ignored) => {
                (BoundBy::NothingButItsName, tokens.clone())
            }
        };
        let all: Vec<&str> = tokens.iter().chain(&profile.shared).copied().collect();
        let best = self.with_profile(robots, asker, |profile| {
            let has = |name: &str| robots.by_name.has(&robots.text, name.as_bytes());
            let others = profile.equally_good(has).into_iter().skip(1).flatten();
            let place = |name: &str| all.iter().copied().find(|token| *token == name);
            others.filter_map(place).collect()
        });
        Bound {
            tried,
            by,
            own: own.len(),
            equally_good: best,
            user_agent_lines: user_agent_lines(&selection, by),
            continued_over: by.token().map_or_else(Vec::new, |token| {
                let groups = selection.groups.iter();
                groups.filter_map(|group| group.continued_over(token)).collect()
            }),
            groups: selection.groups.len(),
            groups_in_file: robots.text.groups.len(),
            rules: selection.rules(),
            star_rules_passed_over: star_rules(robots, by),
        }
    }

    /// The decision of each group that may bind `asker`, in the dialect of the judge.
    pub(crate) fn decisions(
        &self,
        robots: &Robots,
        asker: Asker<'_>,
        path: PathQuery<'_>,
    ) -> Vec<GroupDecision> {
        let of_selection = |selection: Selection<'_>| {
            let token = selection.groups.first()?.product_tokens.first()?;
            let rules = selection.rules();
            let decision = reference::decide(&rules, self.dialect, path.as_bytes());
            let Decision { allowed, line } = selection.decision(decision);
            let written = token.written.as_ref().into();
            Some(GroupDecision { written, line: token.line, allowed, rule_line: line })
        };
        self.with_profile(robots, asker, |profile| {
            profile.selections(&robots.text).into_iter().filter_map(of_selection).collect()
        })
    }

    /// [`Judge::decide`] in any dialect; `path` must be prepared in it.
    pub(super) fn decide_in(
        &self,
        dialect: Dialect,
        robots: &Robots,
        asker: Asker<'_>,
        path: PathQuery<'_>,
    ) -> Option<Decision> {
        if dialect == self.dialect {
            return self.decide(robots, asker, path);
        }
        let decisions = self.with_profile(robots, asker, |profile| {
            let rules = profile.selections(&robots.text).into_iter().map(|selection| {
                let first_line = |group: &&Group| group.product_tokens[0].line;
                let groups: Box<[u32]> = selection.groups.iter().map(first_line).collect();
                let mut bindings = lock(&self.other_bindings);
                let bind = || Arc::new(self.compile(&selection, dialect));
                Arc::clone(bindings.entry((robots.id, groups)).or_insert_with(bind))
            });
            let decide = |rules: Arc<BoundRules>| {
                rules.policy.decide(path.as_bytes()).with_lines(&rules.lines)
            };
            rules.map(decide).collect::<Vec<Decision>>()
        });
        let first = *decisions.first()?;
        decisions.iter().all(|other| other.allowed == first.allowed).then_some(first)
    }
}

/// The `rules` that match `path`, in deciding order: the longest first, Allow before Disallow, then
/// the order of the file.
pub(crate) fn matches<'a>(
    rules: &[&'a Rule],
    dialect: Dialect,
    path: PathQuery<'_>,
) -> Vec<Match<'a>> {
    let path = path.as_bytes();
    let mut found: Vec<Match<'a>> =
        rules.iter().filter_map(|rule| matching(rule, dialect, path)).collect();
    found.sort_by_key(|found| (std::cmp::Reverse(found.length()), found.rule.directive));
    found
}

fn matching<'a>(rule: &'a Rule, dialect: Dialect, path: &[u8]) -> Option<Match<'a>> {
    let written = pattern::prepare(rule, dialect);
    if shape(&written, dialect).is_match(path) {
        return Some(Match { rule, pattern: written, pattern_form: PatternForm::AsWritten });
    }
    let directory = pattern::of_directory_index(rule, dialect)?;
    let is_match = shape(&directory, dialect).is_match(path);
    let pattern = Cow::Owned(directory);
    is_match.then_some(Match { rule, pattern, pattern_form: PatternForm::AsDirectory })
}

fn user_agent_lines<'a>(selection: &Selection<'a>, by: BoundBy<'_>) -> Vec<&'a ProductToken> {
    let tokens = selection.groups.iter().flat_map(|group| &group.product_tokens);
    tokens.filter(|token| by.is_named_by(token)).collect()
}

/// Rules of `*` groups that do not bind this crawler.
fn star_rules(robots: &Robots, by: BoundBy<'_>) -> usize {
    let is_passed_over = |group: &&Group| {
        group.product_tokens.iter().any(ProductToken::is_star)
            && !group.product_tokens.iter().any(|token| by.is_named_by(token))
    };
    robots.text.groups.iter().filter(is_passed_over).map(|group| group.rules.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse;
    use crate::url::path::prepare;

    const RULES: [&str; 14] = [
        "Disallow: /",
        "Allow: /a",
        "Disallow: /a",
        "Allow: /a*",
        "Disallow: /*b$",
        "Allow: *",
        "Disallow:",
        "Allow:",
        "Allow: /a/index.html",
        "Disallow: /%61",
        "Disallow: /a%2Ab",
        "Disallow: /a$",
        "Allow: /a/$",
        "Disallow: /a/",
    ];

    /// Every pair and triple of rules: the first match must be the deciding rule of the reference
    /// matcher.
    #[test]
    fn the_first_match_is_the_one_that_decides() {
        let paths = ["/", "/a", "/a/", "/a*b", "/a%2Ab", "/%61b", "/ab", "/b", "/a/index.html"];
        let texts = RULES.iter().flat_map(|a| RULES.iter().map(move |b| [*a, *b]));
        let texts = texts.flat_map(|[a, b]| RULES.map(|c| format!("User-agent: *\n{a}\n{b}\n{c}")));
        for text in texts {
            let (robots, _) = parse(text.as_bytes());
            let rules: Vec<&Rule> = robots.groups[0].rules.iter().collect();
            for (path, dialect) in
                paths.iter().flat_map(|path| [(path, Dialect::Google), (path, Dialect::Rfc9309)])
            {
                let mut scratch = Vec::new();
                let path = prepare(path.as_bytes(), dialect, &mut scratch);
                let found = matches(&rules, dialect, path);
                let expected = reference::decide(&rules, dialect, path.as_bytes());
                let line = expected.rule().map(|rule| rules[rule].line);
                assert_eq!(found.first().map(|found| found.rule.line), line, "{text} {path:?}");
                for rule in &rules {
                    let length = reference::matched_length(rule, dialect, path.as_bytes());
                    let listed = found.iter().find(|found| found.rule.line == rule.line);
                    assert_eq!(listed.map(Match::length), length, "{text} {path:?}");
                }
            }
        }
    }
}
