//! Texts for the parts of an explanation: verdicts, reasons, path changes, mistakes.

use crate::crawlers::crawler::{Crawler, Obligation, StatedPolicy};
use crate::judge::{explained::GroupDecision, timeline::AllowAll, verdict::Verdict};
use crate::table::escape::visible;
use crate::url::origin::Origin;

use super::reason::{DecisionReason, PathChange};
use super::{DialectVerdict, Undecided, checked_crawler::CrawlerKind};

/// The most characters shown of one pattern or value. A line of a robots.txt can have 16 KiB.
const SHOWN_CHARS_MAX: usize = 120;

/// `allowed` or `disallowed`; `undecided` if several groups may decide.
pub(crate) fn verdict(found: &DialectVerdict<'_>) -> &'static str {
    match (found.verdict, found.is_allowed()) {
        (Verdict::Ambiguous, _) => "undecided",
        (_, true) => "allowed",
        (_, false) => "disallowed",
    }
}

/// The crawler in a few words.
pub(crate) fn name(kind: CrawlerKind<'_>) -> String {
    match kind {
        CrawlerKind::Crawler(crawler) | CrawlerKind::FoundCrawler(crawler, _) => {
            visible(crawler.name.as_bytes())
        }
        CrawlerKind::Automated(..) => "an unknown crawler".to_owned(),
        CrawlerKind::Unknown(..) => "the user agent of no known crawler".to_owned(),
        CrawlerKind::Token(token) => shown(token.as_bytes()),
    }
}

/// Whether the rules bind `crawler`, and the source of that statement.
pub(crate) fn binding_words(crawler: &Crawler) -> String {
    let bound = match crawler.stated_policy() {
        StatedPolicy::Follows => "its operator says that it follows robots.txt",
        StatedPolicy::Partly => {
            "its operator says that it follows robots.txt in some circumstances"
        }
        _ => "its operator is not known to have a policy, but the rules apply to it",
    };
    let not_bound = match crawler.obligation() {
        Obligation::Bound => return format!("bound: {bound}"),
        Obligation::UserTriggered => "a person triggers each of its requests",
        Obligation::Declined => "its operator says that it does not follow robots.txt",
        Obligation::ReportedNotFollowing => "it is reported not to follow robots.txt",
    };
    format!("NOT BOUND: {not_bound}; the verdict below is that of the rules")
}

/// A change to a path: a name, and the reason.
pub(crate) fn change(change: PathChange) -> (&'static str, &'static str) {
    use PathChange::*;
    match change {
        FragmentCut => ("fragment-cut", "the part after # was removed: crawlers do not send it"),
        SlashAdded => ("slash-added", "the URL has no path, so its path is /"),
        Encoded => (
            "encoded",
            "spaces, controls and non-ASCII bytes were percent-encoded, as requests are compared",
        ),
        UpperCased => ("upper-cased", "percent-encodings were written in upper case, as rules are"),
        Decoded => (
            "decoded",
            "percent-encoded letters, digits and - . _ ~ were decoded, as RFC 9309 asks",
        ),
    }
}

/// The reason for a decision: a name, and a sentence without a full stop.
pub(crate) fn reason(found: &DialectVerdict<'_>) -> (&'static str, String) {
    use DecisionReason::*;
    let line = |index: usize| found.matches[index].rule.line;
    let length = |index: usize| found.matches[index].length();
    let (word, sentence) = match found.reason {
        RobotsTxtItself => ("robots-txt-itself", "/robots.txt itself may always be requested"),
        AllAllowed(AllowAll::NoFile) => {
            ("no-file", "there is no robots.txt, so everything is allowed")
        }
        AllAllowed(AllowAll::Redirects) => {
            ("redirects-nowhere", "too many redirects, so everything is allowed")
        }
        AllAllowed(AllowAll::UnreachableWithoutCopy) => (
            "unreachable-without-copy",
            "robots.txt could not be fetched for more than 30 days, and there is no older copy, \
             so everything is allowed",
        ),
        Unreachable => {
            ("unreachable", "robots.txt could not be fetched, so everything is disallowed for now")
        }
        AmbiguousGroup => {
            ("ambiguous-group", "several groups may bind it, and they decide differently")
        }
        NoGroup => ("no-group", "no group binds it, so everything is allowed"),
        NoRules => ("no-rules", "its group has no rules, so everything is allowed"),
        NoMatch => ("no-match", "no rule matches"),
        EmptyDisallow => (
            "empty-disallow",
            "a Disallow without a path forbids nothing, and no rule with a path matches",
        ),
        OnlyMatch => ("only-match", "it is the only rule that matches"),
        LongestOfAgreeing => {
            ("longest-of-agreeing", "all matching rules agree; this is the longest")
        }
        LongerThan(index) => {
            let (ours, theirs) = (length(0), length(index));
            let line = line(index);
            let beats = format!("length {ours} beats length {theirs} of line {line}");
            return ("longer", format!("the longest rule decides: {beats}"));
        }
        AllowWinsTie(index) => {
            let line = line(index);
            let tie = format!("it is as long as line {line}, and at equal length Allow wins");
            return ("allow-wins-tie", tie);
        }
        FirstOfLongest(index) => {
            let first = format!("it is as long as line {}, and comes first", line(index));
            return ("first-of-longest", format!("all matching rules agree; {first}"));
        }
    };
    (word, sentence.to_owned())
}

/// Why a URL could not be decided, and what to do about it.
pub(crate) fn undecided_words(undecided: &Undecided) -> String {
    match undecided {
        Undecided::NoUrl => "not a URL or path; write https://example.com/page, or /page with \
                             --origin"
            .to_owned(),
        Undecided::TooLong(most) => format!("longer than {most} bytes, so it is not a URL"),
        Undecided::NoHost => "its host or port is not valid".to_owned(),
        Undecided::NoOrigin => "only a path, but each site has its own robots.txt; add --origin \
                                https://example.com"
            .to_owned(),
        Undecided::UnknownOrigin(origin) => format!(
            "no robots.txt of {origin}; add it to the --robots directory as {}",
            file_name(origin)
        ),
        Undecided::NotInArchive(origin) => {
            format!(
                "the archive has no snapshot of {origin}; add one with botaudit robots fetch \
                     or import"
            )
        }
        Undecided::UnknownThen(origin, at) => {
            format!("the archive has no snapshot of {origin} at or before {at}")
        }
        Undecided::Unreadable(why) => visible(why.as_bytes()),
        Undecided::AmbiguousGroup(groups) => format!(
            "ambiguous-group: several groups may bind it, and they decide differently: {}",
            groups.iter().map(group_decision).collect::<Vec<_>>().join("; ")
        ),
    }
}

fn group_decision(group: &GroupDecision) -> String {
    let verb = if group.allowed { "allows" } else { "disallows" };
    let by = group.rule_line.map_or(String::new(), |line| format!(" by line {line}"));
    format!("'{}' on line {} {verb} it{by}", shown(&group.written), group.line)
}

fn file_name(origin: &Origin) -> String {
    match origin.port() {
        None => format!("{}.txt", origin.host()),
        Some(port) => format!("{}_{}_{port}.txt", origin.scheme(), origin.host()),
    }
}

/// Foreign bytes, escaped and cut.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = visible(bytes);
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => text,
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], bytes.len()),
    }
}

/// The usual spelling of a field name.
pub(crate) fn field_name(field: &str) -> String {
    let (first, rest) = field.split_at(1);
    first.to_ascii_uppercase() + rest
}
