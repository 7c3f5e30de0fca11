//! The kind of restriction that a robots.txt puts on a crawler.

use serde::{Deserialize, Serialize};

use crate::matcher::pattern::{End, prepare};
use crate::matcher::{glob::shape, select::GroupChoice};
use crate::named_enum::named_enum;
use crate::robots::model::{Directive, Rule};
use crate::url::dialect::Dialect;

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
    pub fn new(kind: RestrictionKind, bound_by: GroupChoice) -> Restriction {
        Restriction { kind, is_specific: matches!(bound_by, GroupChoice::Token(_)) }
    }
}

impl RestrictionKind {
    /// The kind of `rules`; `None` if no path can be disallowed.
    pub fn of(rules: &[&Rule], dialect: Dialect) -> Option<RestrictionKind> {
        // The longest pattern that matches all paths, and the longest that may match any.
        let lengths = |directive: Directive| {
            let rules = rules.iter().filter(|rule| rule.directive == directive);
            rules.fold((0, 0), |(of_all, of_some), rule| {
                let pattern = prepare(rule, dialect);
                let shape = shape(&pattern, dialect);
                let matches_all = shape.end == End::Open && shape.is_match(b"/");
                match pattern.first() {
                    Some(b'/' | b'*') if matches_all => (of_all.max(pattern.len()), of_some),
                    Some(b'/' | b'*') => (of_all, of_some.max(pattern.len())),
                    _ => (of_all, of_some),
                }
            })
        };
        let (disallows_all, disallows_some) = lengths(Directive::Disallow);
        let (allows_all, allows_some) = lengths(Directive::Allow);
        if disallows_all > allows_all {
            // Of rules of one length, Allow decides.
            match allows_some >= disallows_all {
                true => Some(RestrictionKind::AllowList),
                false => Some(RestrictionKind::DisallowAll),
            }
        } else if disallows_some > allows_all {
            Some(RestrictionKind::Disallow)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::{reference, select::Star, select::select};
    use crate::robots::parse::parse_body;
    use crate::url::path::prepare;

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
                let selection = select(&robots, &["a"], Star::Honoured);
                let kind = RestrictionKind::of(&selection.rules(), dialect);
                let is_allowed = |path: &str| {
                    let mut scratch = Vec::new();
                    let path = prepare(path.as_bytes(), dialect, &mut scratch);
                    reference::decide(&selection.rules(), dialect, path.as_bytes()).allowed()
                };
                let paths = ["/", "/a", "/ab", "/abc", "/abcd", "/b/", "/b"];
                let allowed = paths.iter().filter(|path| is_allowed(path)).count();
                // Longer rules may cancel the Allow rules of a list, and all Disallow rules.
                let holds = match kind {
                    None => allowed == paths.len(),
                    Some(RestrictionKind::Disallow) => is_allowed("/b"),
                    Some(RestrictionKind::AllowList) => !is_allowed("/b"),
                    Some(RestrictionKind::DisallowAll) => allowed == 0,
                };
                assert!(holds, "{text} {dialect:?} {kind:?}");
                kinds.insert(kind);
            }
        }
        assert_eq!(kinds.len(), 4);
    }
}
