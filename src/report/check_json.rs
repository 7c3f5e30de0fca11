//! One URL's verdict and each step to it, as one JSON object on one line.
//!
//! Field names and words are a promise. Strangers' bytes are text in the form
//! of `cell`: what is not plainly visible is `\xHH`. Lines count from 1.
//!
//! | field | what |
//! |---|---|
//! | `url` | as given |
//! | `verdict` | `allowed`, `disallowed` (what the rules say, bound or not) or `undecided` |
//! | `bound` | whether the rules bind the crawler: a disallowed request of one that is not bound breaks none |
//! | `line` | the deciding line, or null |
//! | `reason`, `reason_text` | why: a word, and a sentence |
//! | `dialect` | in which the rules were read |
//! | `origin` | scheme, host and port, or null where a path was given alone |
//! | `robots` | `source`, `digest`, `size_bytes`, `parsed_bytes` of the file, or null |
//! | `in_force` | of an archive: `at_utc`, `snapshot_fetched_utc`, `outcome`, `snapshot_age_seconds`, `unreachable_since_utc`, and `grace`: disallowed, but an earlier robots.txt that crawlers may still hold allows it; or null |
//! | `crawler` | `asked_by` (`name`, `user-agent`, `token`), `asked` (what was given), `name`, `operator`, `purpose`, `binding`, `stated_policy`, `known` (`yes`, `no`, `looks-automated`) |
//! | `group` | `tokens_tried`, `bound_by` (a product token, `*` or null), `user_agent_lines`, `groups` and `rules` (how many), `star_rules_passed_over`; or null |
//! | `path`, `path_changes` | as compared with the rules, and what was done to the given one |
//! | `matches` | the rules that match, the deciding one first, at most 1,000: `line`, `directive`, `pattern` (as written), `compared_as`, `length` in bytes |
//! | `matches_total` | how many there are |
//! | `other_dialect` | `dialect`, `differs`, `verdict`, `line`, `reason`, `reason_text`, `path` |
//! | `undecided` | null, or why nothing could be decided; all other fields but `url`, `verdict` and `crawler` are then null |

use serde::Serialize;

use crate::crawlers::crawler::Obligation;
use crate::explain::asker::Who;
use crate::explain::change::Change;
use crate::explain::in_force::InForce;
use crate::explain::reason::Reason;
use crate::explain::{DialectVerdict, Explanation, File, Undecided};
use crate::judge::explained::{Bound, BoundBy, Match};
use crate::judge::timeline::AllowAll;
use crate::robots::model::{Directive, ProductToken};

use super::check_words::{dialect_name, undecided_words, verdict, why};
use super::escape::visible;

/// Rules, and User-agent lines, in one object; a robots.txt may have tens of thousands.
const LISTED_MAX: usize = 1_000;

#[derive(Serialize)]
struct AnswerJson {
    url: String,
    verdict: &'static str,
    bound: Option<bool>,
    line: Option<u32>,
    reason: Option<&'static str>,
    reason_text: Option<String>,
    dialect: Option<&'static str>,
    origin: Option<String>,
    robots: Option<RobotsJson>,
    in_force: Option<InForceJson>,
    crawler: CrawlerJson,
    group: Option<GroupJson>,
    path: Option<String>,
    path_changes: Option<Vec<&'static str>>,
    matches: Option<Vec<MatchJson>>,
    matches_total: Option<usize>,
    other_dialect: Option<OtherJson>,
    undecided: Option<String>,
}

#[derive(Serialize)]
struct RobotsJson {
    source: String,
    digest: String,
    size_bytes: usize,
    parsed_bytes: usize,
}

#[derive(Serialize)]
struct InForceJson {
    at_utc: String,
    snapshot_fetched_utc: String,
    outcome: String,
    snapshot_age_seconds: Option<i64>,
    unreachable_since_utc: Option<String>,
    grace: bool,
}

#[derive(Serialize)]
struct CrawlerJson {
    asked_by: &'static str,
    asked: String,
    known: &'static str,
    name: Option<String>,
    operator: Option<String>,
    purpose: Option<String>,
    binding: &'static str,
    stated_policy: Option<&'static str>,
}

#[derive(Serialize)]
struct GroupJson {
    tokens_tried: Vec<String>,
    bound_by: Option<String>,
    user_agent_lines: Vec<UserAgentLineJson>,
    groups: usize,
    rules: usize,
    star_rules_passed_over: usize,
}

#[derive(Serialize)]
struct UserAgentLineJson {
    line: u32,
    value: String,
}

#[derive(Serialize)]
struct MatchJson {
    line: u32,
    directive: &'static str,
    pattern: String,
    compared_as: String,
    length: usize,
}

#[derive(Serialize)]
struct OtherJson {
    dialect: &'static str,
    differs: bool,
    verdict: &'static str,
    line: Option<u32>,
    reason: &'static str,
    reason_text: String,
    path: String,
}

/// The object, and a line feed.
pub fn json(explanation: &Explanation<'_>, who: Who<'_>) -> String {
    let (located, asked) = (explanation.located, &explanation.asked);
    line(&AnswerJson {
        url: visible(located.given),
        verdict: verdict(asked.is_allowed()),
        bound: Some(who.binding() == Obligation::Bound),
        line: asked.line(),
        reason: Some(reason(asked.reason)),
        reason_text: Some(why(asked)),
        dialect: Some(dialect_name(asked.dialect)),
        origin: located.origin.as_ref().map(ToString::to_string),
        robots: located.file.as_ref().map(robots),
        in_force: located.in_force.as_ref().map(|found| in_force(found, explanation.is_grace())),
        crawler: crawler(who),
        group: explanation.bound.as_ref().map(group),
        path: Some(visible(&asked.path)),
        path_changes: Some(asked.changes.iter().map(|one| change(*one)).collect()),
        matches: Some(asked.matches.iter().take(LISTED_MAX).map(matched).collect()),
        matches_total: Some(asked.matches.len()),
        other_dialect: Some(other(explanation.is_dialect_decisive(), &explanation.other)),
        undecided: None,
    })
}

/// The object where nothing could be decided, and a line feed.
pub fn undecided_json(given: &[u8], undecided: &Undecided, who: Who<'_>) -> String {
    line(&AnswerJson {
        url: visible(given),
        verdict: "undecided",
        bound: None,
        line: None,
        reason: None,
        reason_text: None,
        dialect: None,
        origin: None,
        robots: None,
        in_force: None,
        crawler: crawler(who),
        group: None,
        path: None,
        path_changes: None,
        matches: None,
        matches_total: None,
        other_dialect: None,
        undecided: Some(undecided_words(undecided)),
    })
}

fn line(answer: &AnswerJson) -> String {
    let mut line = serde_json::to_string(answer).expect("strings and numbers are JSON");
    line.push('\n');
    line
}

fn in_force(found: &InForce, grace: bool) -> InForceJson {
    InForceJson {
        at_utc: found.at.to_string(),
        snapshot_fetched_utc: found.seen.fetched_at.to_string(),
        outcome: found.seen.outcome.to_string(),
        snapshot_age_seconds: found.standing.age_seconds,
        unreachable_since_utc: found.standing.unreachable_since.map(|time| time.to_string()),
        grace,
    }
}

fn robots(file: &File) -> RobotsJson {
    RobotsJson {
        source: visible(file.source.as_bytes()),
        digest: file.robots.digest.to_string(),
        size_bytes: file.robots.size_bytes,
        parsed_bytes: file.robots.parsed_bytes,
    }
}

fn crawler(who: Who<'_>) -> CrawlerJson {
    let (asked_by, asked, known) = match who {
        Who::Crawler(crawler) => ("name", crawler.name.as_bytes(), "yes"),
        Who::FoundCrawler(_, user_agent) => ("user-agent", user_agent, "yes"),
        Who::Automated(user_agent) => ("user-agent", user_agent, "looks-automated"),
        Who::Unknown(user_agent) => ("user-agent", user_agent, "no"),
        Who::Token(token) => ("token", token.as_bytes(), "no"),
    };
    let row = who.crawler();
    CrawlerJson {
        asked_by,
        asked: visible(asked),
        known,
        name: row.map(|row| visible(row.name.as_bytes())),
        operator: row.map(|row| visible(row.operator.as_bytes())),
        purpose: row.map(|row| visible(row.purpose.as_bytes())),
        binding: who.binding().as_str(),
        stated_policy: row.map(|row| row.stated_policy().as_str()),
    }
}

fn group(bound: &Bound<'_>) -> GroupJson {
    let user_agent_line = |token: &&ProductToken| UserAgentLineJson {
        line: token.line,
        value: visible(&token.written),
    };
    let lines = bound.user_agent_lines.iter().take(LISTED_MAX);
    GroupJson {
        tokens_tried: bound.tried.iter().map(|token| visible(token.as_bytes())).collect(),
        bound_by: match bound.by {
            BoundBy::Token(token) => Some(visible(token.as_bytes())),
            BoundBy::Star => Some("*".to_owned()),
            BoundBy::Nothing | BoundBy::NothingButItsName => None,
        },
        user_agent_lines: lines.map(user_agent_line).collect(),
        groups: bound.groups,
        rules: bound.rules.len(),
        star_rules_passed_over: bound.star_rules_passed_over,
    }
}

fn matched(found: &Match<'_>) -> MatchJson {
    MatchJson {
        line: found.rule.line,
        directive: match found.rule.directive {
            Directive::Allow => "allow",
            Directive::Disallow => "disallow",
        },
        pattern: visible(found.rule.written()),
        compared_as: visible(&found.pattern),
        length: found.length(),
    }
}

fn other(differs: bool, other: &DialectVerdict<'_>) -> OtherJson {
    OtherJson {
        dialect: dialect_name(other.dialect),
        differs,
        verdict: verdict(other.is_allowed()),
        line: other.line(),
        reason: reason(other.reason),
        reason_text: why(other),
        path: visible(&other.path),
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::RobotsTxtItself => "robots-txt-itself",
        Reason::AllAllowed(AllowAll::NoFile) => "no-file",
        Reason::AllAllowed(AllowAll::Redirects) => "redirects-nowhere",
        Reason::AllAllowed(AllowAll::UnreachableWithoutCopy) => "unreachable-without-copy",
        Reason::Unreachable => "unreachable",
        Reason::NoGroup => "no-group",
        Reason::NoRules => "no-rules",
        Reason::NoMatch => "no-match",
        Reason::EmptyDisallow => "empty-disallow",
        Reason::OnlyMatch => "only-match",
        Reason::LongerThan(_) => "longer",
        Reason::AllowWinsTie(_) => "allow-wins-tie",
        Reason::LongestOfAgreeing => "longest-of-agreeing",
        Reason::FirstOfLongest(_) => "first-of-longest",
    }
}

fn change(change: Change) -> &'static str {
    match change {
        Change::FragmentCut => "fragment-cut",
        Change::SlashAdded => "slash-added",
        Change::Encoded => "encoded",
        Change::UpperCased => "upper-cased",
        Change::Decoded => "decoded",
    }
}
