//! Allowed or not, and which rule decides.

/// What the rules of one robots.txt say of one path.
///
/// ```
/// use botaudit::matcher::decision::{Decision, IndexedDecision};
/// // The second of two rules, which stand on lines 4 and 7, disallows the path.
/// let indexed = IndexedDecision::new(1, false);
/// assert_eq!(indexed.with_lines(&[4, 7]), Decision { allowed: false, line: Some(7) });
/// assert_eq!(IndexedDecision::NO_RULE.with_lines(&[4, 7]), Decision::NO_RULE);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Whether the path may be requested.
    pub allowed: bool,
    /// The deciding line, 1-based; `None` where no rule matched, which allows.
    pub line: Option<u32>,
}

impl Decision {
    /// What holds where no rule matches.
    pub const NO_RULE: Decision = Decision { allowed: true, line: None };
}

/// A decision that names the rule by its place in the rule list instead of its line, so that files
/// which differ in lines only can share it. In four bytes: a table holds one for each pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IndexedDecision(u32);

impl IndexedDecision {
    /// What holds where no rule matches.
    pub const NO_RULE: IndexedDecision = IndexedDecision(u32::MAX);

    /// By the rule at `rule`, from 0.
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

    /// 0-based place of the deciding rule; `None` where no rule matched.
    #[inline]
    pub fn rule(self) -> Option<usize> {
        (self != IndexedDecision::NO_RULE).then_some((self.0 >> 1) as usize)
    }

    /// The same with the line of its rule, where `lines` has those of the rule list.
    #[inline]
    pub fn with_lines(self, lines: &[u32]) -> Decision {
        self.with_line(|rule| lines.get(rule).copied())
    }

    /// The same with the line that `line_of` finds for its rule.
    #[inline]
    pub(super) fn with_line(self, line_of: impl FnOnce(usize) -> Option<u32>) -> Decision {
        Decision { allowed: self.allowed(), line: self.rule().and_then(line_of) }
    }

    /// For sorting: by rule, in the order of the list.
    pub(super) fn to_bits(self) -> u32 {
        self.0
    }
}
