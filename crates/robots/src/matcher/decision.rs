//! Allowed or not, and which rule decides.

/// The decision of one robots.txt for one path.
///
/// ```
/// use botaudit_robots::matcher::decision::{Decision, IndexedDecision};
/// // The second of two rules, which stand on lines 4 and 7, disallows the path.
/// let indexed = IndexedDecision::new(1, false);
/// assert_eq!(indexed.with_lines(&[4, 7]), Decision { allowed: false, line: Some(7) });
/// assert_eq!(IndexedDecision::NO_RULE.with_lines(&[4, 7]), Decision::NO_RULE);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Whether the path may be requested.
    pub allowed: bool,
    /// The deciding line, from 1; `None` if no rule matched, which allows.
    pub line: Option<u32>,
}

impl Decision {
    /// The decision if no rule matches.
    pub const NO_RULE: Decision = Decision { allowed: true, line: None };
}

/// A decision with the index of its rule instead of the line, so that files which differ only in
/// lines can share it. It takes four bytes, because a table holds one for each pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IndexedDecision(u32);

impl IndexedDecision {
    /// The decision if no rule matches.
    pub const NO_RULE: IndexedDecision = IndexedDecision(u32::MAX);

    /// The decision of the rule with the index `rule`, from 0.
    pub fn new(rule: usize, allowed: bool) -> IndexedDecision {
        let rule = u32::try_from(rule).ok().filter(|rule| *rule < u32::MAX >> 1);
        let rule = rule.expect("500 KiB hold far fewer rules");
        IndexedDecision(rule << 1 | u32::from(allowed))
    }

    /// Whether the path may be requested.
    #[inline]
    pub fn allowed(self) -> bool {
        self.0 & 1 == 1
    }

    /// The index of the deciding rule, from 0; `None` if no rule matched.
    #[inline]
    pub fn rule(self) -> Option<usize> {
        (self != IndexedDecision::NO_RULE).then_some((self.0 >> 1) as usize)
    }

    /// The decision with the line of its rule; `lines` has those of the rule list.
    #[inline]
    pub fn with_lines(self, lines: &[u32]) -> Decision {
        self.with_line(|rule| lines.get(rule).copied())
    }

    /// The decision with the line that `line_of` returns for its rule.
    #[inline]
    pub(super) fn with_line(self, line_of: impl FnOnce(usize) -> Option<u32>) -> Decision {
        Decision { allowed: self.allowed(), line: self.rule().and_then(line_of) }
    }

    /// A number for sorting by rule, in the order of the list.
    pub(super) fn to_bits(self) -> u32 {
        self.0
    }
}
