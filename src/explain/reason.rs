//! The reason for a decision.

use crate::judge::explained::{Bound, BoundBy, Match};
use crate::judge::timeline::{AllowAll, Ruling};
use crate::robots::model::Directive;

/// Why a path is allowed or not. Indexes refer to the list of matches, from 0; the deciding rule
/// has the index 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DecisionReason {
    /// `/robots.txt` may always be requested, whatever the rules.
    RobotsTxtItself,
    /// Everything is allowed: there is no robots.txt, or none that counts.
    AllAllowed(AllowAll),
    /// The whole site is disallowed for now, because robots.txt was answered with 429 or 5xx, or
    /// not at all.
    Unreachable,
    /// No group binds the crawler.
    NoGroup,
    /// The groups that bind it have no rules.
    NoRules,
    /// They have rules, but none matches.
    NoMatch,
    /// Only a Disallow rule without a path matches, which forbids nothing.
    EmptyDisallow,
    /// One rule matches.
    OnlyMatch,
    /// Its pattern is longer than that of any opposite rule; the index is that of the longest of
    /// those.
    LongerThan(usize),
    /// As long as a Disallow rule, the first of which has this index; Allow wins.
    AllowWinsTie(usize),
    /// All matching rules agree; this is the longest.
    LongestOfAgreeing,
    /// All matching rules agree; this is the first of the longest, before the one with this index.
    FirstOfLongest(usize),
}

/// Why the first of `matches` decides with the groups `bound`.
pub(crate) fn reason(bound: &Bound<'_>, matches: &[Match<'_>]) -> DecisionReason {
    let Some((first, others)) = matches.split_first() else {
        return match bound.by {
            BoundBy::Nothing | BoundBy::NothingButItsName => DecisionReason::NoGroup,
            BoundBy::Token(_) | BoundBy::Star if bound.rules.is_empty() => DecisionReason::NoRules,
            BoundBy::Token(_) | BoundBy::Star => DecisionReason::NoMatch,
        };
    };
    if first.rule.directive == Directive::Disallow && first.length() == 0 {
        return DecisionReason::EmptyDisallow;
    }
    let opponent = others.iter().position(|other| is_opponent(first, other));
    match (opponent, others.first()) {
        (_, None) => DecisionReason::OnlyMatch,
        (Some(at), _) if others[at].length() == first.length() => {
            DecisionReason::AllowWinsTie(at + 1)
        }
        (Some(at), _) => DecisionReason::LongerThan(at + 1),
        (None, Some(next)) if next.length() == first.length() => DecisionReason::FirstOfLongest(1),
        (None, Some(_)) => DecisionReason::LongestOfAgreeing,
    }
}

/// Why a path is allowed or not without rules in force.
pub(crate) fn without_rules(ruling: Option<Ruling>) -> DecisionReason {
    match ruling {
        Some(Ruling::AllowAll(why)) => DecisionReason::AllAllowed(why),
        Some(Ruling::Unreachable) => DecisionReason::Unreachable,
        Some(Ruling::Rules(_)) | None => DecisionReason::RobotsTxtItself,
    }
}

/// Whether the rules contradict each other. Rules without a path match everything and forbid
/// nothing.
fn is_opponent(first: &Match<'_>, other: &Match<'_>) -> bool {
    other.length() > 0 && other.rule.directive != first.rule.directive
}
