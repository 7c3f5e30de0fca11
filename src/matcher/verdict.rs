//! Allowed or not, and what said so.

/// A verdict on one path.
///
/// ```
/// use botaudit::matcher::verdict::{Decision, Verdict};
/// // The second of two rules, which stand on lines 4 and 7, forbids the path.
/// let decision = Decision { allowed: false, rule: Some(1) };
/// assert_eq!(decision.verdict(&[4, 7]), Verdict { allowed: false, by: Some(7) });
/// assert_eq!(Decision::NO_RULE.verdict(&[4, 7]), Verdict::NO_RULE);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Verdict {
    /// Whether the path may be requested.
    pub allowed: bool,
    /// The deciding line, 1-based; `None` where no rule matched, which allows.
    pub by: Option<u32>,
}

impl Verdict {
    /// What holds where no rule matches.
    pub const NO_RULE: Verdict = Verdict { allowed: true, by: None };
}

/// A verdict that names the rule by its place in the rule list instead of its
/// line, so that files which differ in lines only can share it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Whether the path may be requested.
    pub allowed: bool,
    /// 0-based place of the deciding rule; `None` where no rule matched.
    pub rule: Option<u32>,
}

impl Decision {
    /// What holds where no rule matches.
    pub const NO_RULE: Decision = Decision { allowed: true, rule: None };

    /// The same with the line of its rule, where `lines` has those of the rule list.
    #[inline]
    pub fn verdict(self, lines: &[u32]) -> Verdict {
        self.with_line(|rule| lines.get(rule).copied())
    }

    /// The same with the line that `line_of` finds for its rule.
    #[inline]
    pub(super) fn with_line(self, line_of: impl FnOnce(usize) -> Option<u32>) -> Verdict {
        let line = |rule: u32| line_of(usize::try_from(rule).ok()?);
        Verdict { allowed: self.allowed, by: self.rule.and_then(line) }
    }
}
