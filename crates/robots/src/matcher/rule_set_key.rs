//! The key by which rule sets share a compiled policy.

use crate::robots::model::{Directive, Rule};
use crate::url::path::Dialect;

/// The content of a rule set: directives and patterns in order, and the dialect, but no lines.
/// Equal keys give equal decisions for every path.
///
/// It is the content itself and not a digest, so that no file can collide with another one. Rule
/// sets are small (median of real ones: 150 bytes).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RuleSetKey {
    dialect: Dialect,
    content: Box<[u8]>,
}

impl RuleSetKey {
    /// The key of `rules`, those that bind a crawler.
    pub fn new(rules: &[&Rule], dialect: Dialect) -> RuleSetKey {
        let bytes = rules.iter().map(|rule| rule.pattern.len() + 9).sum();
        let mut content = Vec::with_capacity(bytes);
        for rule in rules {
            content.push(match rule.directive {
                Directive::Allow => b'+',
                Directive::Disallow => b'-',
            });
            content.extend(rule.pattern.len().to_le_bytes());
            content.extend_from_slice(&rule.pattern);
        }
        RuleSetKey { dialect, content: content.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_nothing_else_counts() {
        let key = |rules: &[(Directive, &str)], line: u32| {
            let rule = |(directive, text): &(Directive, &str)| {
                Rule::new(*directive, text.as_bytes().to_vec(), line)
            };
            let rules: Vec<Rule> = rules.iter().map(rule).collect();
            RuleSetKey::new(&rules.iter().collect::<Vec<_>>(), Dialect::Google)
        };
        use Directive::{Allow, Disallow};
        let one = key(&[(Allow, "/a"), (Disallow, "/b%c3")], 1);
        assert_eq!(one, key(&[(Allow, "/a"), (Disallow, "/b%C3")], 2));
        assert_ne!(one, key(&[(Disallow, "/b%C3"), (Allow, "/a")], 1));
        assert_ne!(one, key(&[(Disallow, "/a"), (Disallow, "/b%C3")], 1));
        assert_ne!(key(&[(Allow, "/a"), (Allow, "")], 1), key(&[(Allow, ""), (Allow, "/a")], 1));
        assert_ne!(key(&[], 1), key(&[(Allow, "")], 1));
        // What separates rules may be part of a pattern.
        assert_ne!(key(&[(Allow, "/a-/b")], 1), key(&[(Allow, "/a"), (Disallow, "/b")], 1));
        assert_ne!(RuleSetKey::new(&[], Dialect::Google), RuleSetKey::new(&[], Dialect::Rfc9309));
    }
}
