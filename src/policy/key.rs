//! What two rule sets must have in common to share a compiled policy.

use crate::robots::model::{Directive, Rule};
use crate::url::dialect::Dialect;

/// The content of a rule set: directives and patterns in order, and the
/// dialect, but no lines. Equal keys give equal decisions on every path.
///
/// The content itself and not a digest, so that no file can be made to
/// collide with another's; rule sets are small (median of real ones: 150 bytes).
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
