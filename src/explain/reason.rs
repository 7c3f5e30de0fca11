//! The reason for a decision, and the changes to the path before rules are compared with it.

use crate::judge::explained::{Bound, BoundBy, Match};
use crate::judge::timeline::{AllowAll, Ruling};
use crate::robots::model::Directive;
use crate::url::path::{Dialect, encoded, is_unreserved};

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
    /// Several groups may bind the crawler, and they decide differently.
    AmbiguousGroup,
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

/// A change that preparing a path made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PathChange {
    /// `#` and the text after it were removed: no crawler sends them.
    FragmentCut,
    /// `/` was added in front: the URL ended after its host, or its query began there.
    SlashAdded,
    /// Spaces, control characters or bytes from 0x80 on were percent-encoded.
    Encoded,
    /// `%xx` was changed to upper case.
    UpperCased,
    /// `%XX` of an unreserved character was decoded, as in RFC 9309.
    Decoded,
}

/// The changes of preparing `target` for `dialect`, each kind once.
pub(crate) fn changes(target: &[u8], dialect: Dialect) -> Vec<PathChange> {
    let end = memchr::memchr(b'#', target);
    let text = &target[..end.unwrap_or(target.len())];
    // The two digits of each encoding, and its byte.
    let triplet = |at: usize| encoded(&text[at..]).map(|value| (&text[at + 1..at + 3], value));
    let triplets = || memchr::memchr_iter(b'%', text).filter_map(triplet);
    let is_decoded = |value: u8| dialect == Dialect::Rfc9309 && is_unreserved(value);
    let is_raw = |byte: &u8| matches!(byte, 0x00..=0x20 | 0x7F..=0xFF);
    let is_lower = |(digits, value): (&[u8], u8)| {
        digits.iter().any(u8::is_ascii_lowercase) && !is_decoded(value)
    };
    let found = [
        (end.is_some(), PathChange::FragmentCut),
        (text.first() != Some(&b'/'), PathChange::SlashAdded),
        (text.iter().any(is_raw), PathChange::Encoded),
        (triplets().any(is_lower), PathChange::UpperCased),
        (triplets().any(|(_, value)| is_decoded(value)), PathChange::Decoded),
    ];
    found.into_iter().filter(|(is_so, _)| *is_so).map(|(_, change)| change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::path::prepare;
    use PathChange::*;

    #[track_caller]
    fn check(target: &str, google: &[PathChange], rfc9309: &[PathChange]) {
        for (dialect, expected) in [(Dialect::Google, google), (Dialect::Rfc9309, rfc9309)] {
            assert_eq!(changes(target.as_bytes(), dialect), expected, "{target}");
            let mut scratch = Vec::new();
            let prepared = prepare(target.as_bytes(), dialect, &mut scratch);
            assert_eq!(prepared.as_bytes() == target.as_bytes(), expected.is_empty(), "{target}");
        }
    }

    #[test]
    fn each_change_is_named() {
        check("/a/../b//c?d=%2F&e=%zz%", &[], &[]);
        check("/a#b ツ%2f", &[FragmentCut], &[FragmentCut]);
        check("", &[SlashAdded], &[SlashAdded]);
        check("?a", &[SlashAdded], &[SlashAdded]);
        check("#a", &[FragmentCut, SlashAdded], &[FragmentCut, SlashAdded]);
        check("/ツ", &[Encoded], &[Encoded]);
        check("/a b\x01", &[Encoded], &[Encoded]);
        check("/%2f", &[UpperCased], &[UpperCased]);
        check("/%7e", &[UpperCased], &[Decoded]);
        check("/%41%2f", &[UpperCased], &[UpperCased, Decoded]);
        check("/%41", &[], &[Decoded]);
    }
}
