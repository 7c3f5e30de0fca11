//! The kind of restriction that a robots.txt puts on a crawler.

use std::cmp::Reverse;

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

use crate::matcher::pattern::{End, prepare};
use crate::matcher::{decision::IndexedDecision, glob::shape, select::GroupChoice};
use crate::robots::model::{Directive, Rule};
use crate::url::path::{self, Dialect};

/// The rules with one directive that are tried at least. A hostile file may have tens of thousands
/// that cancel each other.
const RULES_TRIED_MIN: usize = 8;

/// All are tried if there are few rules: this many pairs of a tried rule and any rule.
const PAIRS_MAX: usize = 1 << 16;

/// Paths with this beginning restrict nothing: /robots.txt may always be requested.
pub(super) const ROBOTS_TXT: &[u8] = b"/robots.txt";

named_enum! {
    /// What rules leave to a crawler besides /robots.txt.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RestrictionKind {
        /// Most paths: some are disallowed.
        Disallow = "disallow",
        /// Some paths: all are disallowed, except those that Allow rules match.
        AllowList = "allow-list",
        /// Nothing.
        DisallowAll = "disallow-all",
    }
}

/// The restriction of a crawler by the groups that bind it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Restriction {
    /// Its kind.
    pub kind: RestrictionKind,
    /// Whether the groups name the crawler; otherwise they are those of `*`.
    pub is_specific: bool,
}

impl Restriction {
    /// The restriction by rules of this kind that bind a crawler by `bound_by`.
    pub(crate) fn new(kind: RestrictionKind, bound_by: GroupChoice) -> Restriction {
        Restriction { kind, is_specific: matches!(bound_by, GroupChoice::Token(_)) }
    }
}

impl RestrictionKind {
    /// The kind of `rules`; `None` if no path is disallowed.
    ///
    /// A rule counts if it decides about a path that it matches: a longer rule may cancel it. Paths
    /// that begin with `/robots.txt` do not count, so `Allow: /robots.txt` opens nothing. `decide` gives
    /// the decision of `rules` on a path.
    pub(crate) fn of(
        rules: &[&Rule],
        dialect: Dialect,
        decide: impl Fn(&[u8]) -> IndexedDecision,
    ) -> Option<RestrictionKind> {
        // The longest pattern that matches all paths.
        let longest_of_all = |directive: Directive| {
            let lengths = rules.iter().filter(|rule| rule.directive == directive).map(|rule| {
                let pattern = prepare(rule, dialect);
                let shape = shape(&pattern, dialect);
                let matches_all = shape.end == End::Open && shape.is_match(b"/");
                if matches_all && may_match(&pattern) { pattern.len() } else { 0 }
            });
            lengths.max().unwrap_or(0)
        };
        // Of rules of one length, Allow decides.
        let is_closed = longest_of_all(Directive::Disallow) > longest_of_all(Directive::Allow);
        match is_closed {
            true if decides_somewhere(rules, Directive::Allow, dialect, &decide) => {
                Some(RestrictionKind::AllowList)
            }
            true => Some(RestrictionKind::DisallowAll),
            false if decides_somewhere(rules, Directive::Disallow, dialect, &decide) => {
                Some(RestrictionKind::Disallow)
            }
            false => None,
        }
    }
}

/// Whether a rule with this directive decides about some path. Tries the longest ones, which others
/// are least likely to cancel, each with a few paths that it matches.
fn decides_somewhere(
    rules: &[&Rule],
    directive: Directive,
    dialect: Dialect,
    decide: impl Fn(&[u8]) -> IndexedDecision,
) -> bool {
    let of_directive = rules.iter().filter(|rule| rule.directive == directive);
    let patterns = of_directive.map(|rule| prepare(rule, dialect));
    let mut patterns: Vec<_> = patterns.filter(|pattern| may_match(pattern)).collect();
    patterns.sort_by_key(|pattern| Reverse(pattern.len()));
    let tried = RULES_TRIED_MIN.max(PAIRS_MAX / rules.len().max(1));
    let mut scratch = Vec::new();
    patterns.iter().take(tried).flat_map(|pattern| paths_of(pattern)).any(|path| {
        // As it is requested: no path has a space, so a rule with one decides nothing.
        let path = path::prepare(&path, dialect, &mut scratch).as_bytes();
        let decided = if decide(path).allowed() { Directive::Allow } else { Directive::Disallow };
        !path.starts_with(ROBOTS_TXT) && decided == directive
    })
}

/// Whether there are paths that `pattern` matches: they begin with a slash.
fn may_match(pattern: &[u8]) -> bool {
    matches!(pattern.first(), Some(b'/' | b'*'))
}

/// A few paths that `pattern` matches, with its wildcards empty and filled, and with more text.
pub(super) fn paths_of(pattern: &[u8]) -> Vec<Vec<u8>> {
    let (text, is_anchored) = match pattern {
        [text @ .., b'$'] => (text, true),
        _ => (pattern, false),
    };
    let filled = |wildcard: &[u8]| {
        let bytes = text.iter().flat_map(|byte| match byte {
            b'*' => wildcard.to_vec(),
            byte => vec![*byte],
        });
        let path: Vec<u8> = bytes.collect();
        if path.starts_with(b"/") { path } else { [b"/", &*path].concat() }
    };
    let mut paths = vec![filled(b""), filled(b"~")];
    if !is_anchored {
        paths.extend(paths.clone().into_iter().map(|path| [&*path, b"~"].concat()));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::{compiled::CompiledPolicy, limits::Limits, reference, select::select};
    use crate::robots::model::{ParsedRobotsTxt, StarGroups};
    use crate::robots::parse::parse_body;
    use crate::url::path::prepare;

    /// The kind, by the reference matcher and by the compiled one.
    #[track_caller]
    fn kind_of(rules: &[&Rule], dialect: Dialect) -> Option<RestrictionKind> {
        let kind =
            RestrictionKind::of(rules, dialect, |path| reference::decide(rules, dialect, path));
        let policy = CompiledPolicy::new(rules, dialect, &Limits::default());
        assert_eq!(RestrictionKind::of(rules, dialect, |path| policy.decide(path)), kind);
        kind
    }

    const PATTERNS: [&str; 12] =
        ["/", "/*", "*", "/*$", "*/", "/a", "/a*", "/a$", "/$", "", "x", "/abc*"];

    /// All rule sets of up to three rules, against decisions about some paths.
    #[test]
    fn kinds_agree_with_decisions() {
        let mut kinds = std::collections::BTreeSet::new();
        let rules: Vec<String> = PATTERNS
            .iter()
            .flat_map(|pattern| ["Allow", "Disallow"].map(|word| format!("{word}: {pattern}\n")))
            .collect();
        for at in 0..rules.len().pow(3) {
            let len = rules.len();
            let text =
                [at / len / len, at / len % len, at % len].map(|rule| &*rules[rule]).concat();
            let robots = parse_body(format!("User-agent: *\n{text}").as_bytes());
            for dialect in [Dialect::Google, Dialect::Rfc9309] {
                let selection = select(&robots, &["a"], StarGroups::Honoured);
                let kind = kind_of(&selection.rules(), dialect);
                let is_allowed = |path: &str| {
                    let mut scratch = Vec::new();
                    let path = prepare(path.as_bytes(), dialect, &mut scratch);
                    reference::decide(&selection.rules(), dialect, path.as_bytes()).allowed()
                };
                let paths = ["/", "/a", "/ab", "/abc", "/abcd", "/b/", "/b"];
                let allowed = paths.iter().filter(|path| is_allowed(path)).count();
                let is_part = (1..paths.len()).contains(&allowed);
                let holds = match kind {
                    None => allowed == paths.len(),
                    Some(RestrictionKind::Disallow) => is_part && is_allowed("/b"),
                    Some(RestrictionKind::AllowList) => is_part && !is_allowed("/b"),
                    Some(RestrictionKind::DisallowAll) => allowed == 0,
                };
                assert!(holds, "{text} {dialect:?} {kind:?}");
                kinds.insert(kind);
            }
        }
        assert_eq!(kinds.len(), 4);
    }

    #[track_caller]
    fn check(rules: &str, expected: Option<RestrictionKind>) {
        let robots =
            parse_body(format!("User-agent: *\n{}", rules.replace(" | ", "\n")).as_bytes());
        let selection = select(&robots, &["a"], StarGroups::Honoured);
        for dialect in [Dialect::Google, Dialect::Rfc9309] {
            assert_eq!(kind_of(&selection.rules(), dialect), expected, "{rules}");
        }
    }

    #[test]
    fn rules_that_open_or_close_nothing_do_not_count() {
        use RestrictionKind::{AllowList, Disallow, DisallowAll};
        check("Disallow: / | Allow: /robots.txt", Some(DisallowAll));
        check("Disallow: / | Allow: /robots.txt$", Some(DisallowAll));
        check("Disallow: / | Allow: /robots", Some(AllowList));
        check("Disallow: / | Allow: /*.txt", Some(AllowList));
        check("Disallow: /robots.txt", None);
        // The pattern with two wildcards is the longest one, and matches all paths.
        check("Disallow: /*$ | Allow: /a", Some(DisallowAll));
        check("Disallow: /*$ | Allow: /ab", Some(AllowList));
        check("Disallow: /$ | Allow: /a", Some(Disallow));
        check("Disallow: / | Allow: /a | Disallow: /a*", Some(DisallowAll));
        check("Disallow: / | Allow: /a | Disallow: /a$", Some(AllowList));
        check("Disallow: /a | Allow: /a", None);
        check("Disallow: /ab | Allow: /*", Some(Disallow));
        check("Disallow: /a | Allow: /*", None);
        check("Disallow: /a | Allow: /**", None);
        check("Disallow: * | Allow: /*/b*c", Some(AllowList));
        check("Disallow: a", None);
        check("Disallow: /a /b", None);
        check("Disallow: / | Allow: /a b", Some(DisallowAll));
        check("Disallow: / | Allow: /a%20b", Some(AllowList));
        check("Disallow: / | Allow: a", Some(DisallowAll));
    }

    /// All paths of up to four bytes after the slash; `z` is in no pattern.
    fn short_paths() -> Vec<Vec<u8>> {
        let mut paths = vec![b"/".to_vec()];
        let mut from = 0;
        for _ in 0..4 {
            let until = paths.len();
            for at in from..until {
                let longer = b"/abz$".map(|byte| [&*paths[at], &[byte]].concat());
                paths.extend(longer);
            }
            from = until;
        }
        paths
    }

    /// Random rules, against decisions about all short paths. A judge that tries them all needs none
    /// of the shortcuts.
    #[test]
    fn kinds_are_those_of_a_slow_judge() {
        const PARTS: [&str; 7] = ["/", "/", "a", "b", "*", "*", "$"];
        let mut random = crate::random::Random::new();
        let paths = short_paths();
        let mut kinds = std::collections::BTreeMap::new();
        for _ in 0..300 {
            let mut text = "User-agent: *\n".to_owned();
            for _ in 0..=random.below(12) {
                let pattern: String =
                    (0..=random.below(3)).map(|_| PARTS[random.below(PARTS.len())]).collect();
                let slash = if random.below(4) > 0 { "/" } else { "" };
                let directive = ["Allow", "Disallow"][random.below(2)];
                text += &match random.below(10) {
                    0 => format!("{directive}: /robots.txt{pattern}\n"),
                    _ => format!("{directive}: {slash}{pattern}\n"),
                };
            }
            let robots = parse_body(text.as_bytes());
            let selection = select(&robots, &["a"], StarGroups::Honoured);
            let rules = selection.rules();
            let is_allowed =
                |path: &[u8]| reference::decide(&rules, Dialect::Google, path).allowed();
            let some = |is: bool| paths.iter().any(|path| is_allowed(path) == is);
            let expected = match is_allowed(b"/z") {
                true => some(false).then_some(RestrictionKind::Disallow),
                false if some(true) => Some(RestrictionKind::AllowList),
                false => Some(RestrictionKind::DisallowAll),
            };
            assert_eq!(kind_of(&rules, Dialect::Google), expected, "{text}");
            *kinds.entry(expected).or_insert(0) += 1;
        }
        assert!(kinds.len() == 4 && kinds.values().all(|count| *count > 5), "{kinds:?}");
    }

    /// The shortest of many rules may be the only one that decides.
    #[test]
    fn rules_that_are_cancelled_hide_no_others() {
        let rules: String = (0..100).map(|n| format!("Allow: /{n}\nDisallow: /{n}*\n")).collect();
        let robots_with = |more: &str| {
            parse_body(format!("User-agent: *\nDisallow: /\n{rules}{more}").as_bytes())
        };
        let of = |robots: &ParsedRobotsTxt| {
            kind_of(&select(robots, &["a"], StarGroups::Honoured).rules(), Dialect::Google)
        };
        assert_eq!(of(&robots_with("")), Some(RestrictionKind::DisallowAll));
        assert_eq!(of(&robots_with("Allow: /a\n")), Some(RestrictionKind::AllowList));
    }

    /// Thousands of cancelled rules hide others; the time is limited all the same.
    #[test]
    fn many_rules_that_cancel_each_other_take_little_time() {
        let rules: String = (0..5_000).map(|n| format!("Allow: /{n}\nDisallow: /{n}*\n")).collect();
        let robots = parse_body(format!("User-agent: *\nDisallow: /\n{rules}").as_bytes());
        let selection = select(&robots, &["a"], StarGroups::Honoured);
        let kind = kind_of(&selection.rules(), Dialect::Google);
        assert_eq!(kind, Some(RestrictionKind::DisallowAll));
    }
}
