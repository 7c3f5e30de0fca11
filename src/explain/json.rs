//! The verdict on one URL and each step to it, as one JSON object on one line.
//!
//! Field names and words are a promise. Foreign bytes are escaped as `\xHH` where they are not
//! visible text. Line numbers start at 1.
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
//! | `robots` | `source`, `digest`, `size_bytes`, `parsed_bytes`, `licenses` (URLs) of the file, or null |
//! | `in_force` | of an archive: `at_utc`, `snapshot_fetched_utc`, `outcome`, `snapshot_age_seconds`, `unreachable_since_utc`, and `grace`: disallowed, but an earlier robots.txt that crawlers may still hold allows it; or null |
//! | `crawler` | `asked_by` (`name`, `user-agent`, `token`), `asked` (what was given), `name`, `operator`, `purpose`, `binding`, `stated_policy`, `known` (`yes`, `no`, `looks-automated`) |
//! | `group` | `tokens_tried`, `own_tokens` (how many of these are names in the given user agent), `equally_good` (tokens whose groups may as well bind it, and decide the same), `bound_by` (a product token, `*` or null), `user_agent_lines`, `groups` and `rules` (how many), `continued_over_lines` (other fields between the User-agent lines of a group), `star_rules_passed_over`; or null |
//! | `path`, `path_changes` | as compared with the rules, and what was done to the given one |
//! | `matches` | the rules that match, the deciding one first, at most 1,000: `line`, `directive`, `pattern` (as written), `compared_as`, `length` in bytes |
//! | `matches_total` | how many there are |
//! | `other_dialect` | `dialect`, `differs`, `verdict`, `line`, `reason`, `reason_text`, `path` |
//! | `usage` | the preferences about use that apply to the crawler's purpose, as in `usage.csv`: `signal`, `category`, `preference`, `line` |
//! | `undecided` | null, or why nothing could be decided; all other fields but `url`, `verdict` and `crawler` are then null |

use serde_json::{Map, Value, json};

use crate::crawlers::crawler::Obligation;
use crate::judge::explained::{Bound, BoundBy, Match};
use crate::judge::usage::StatedPreference;
use crate::robots::model::ProductToken;
use crate::table::escape::visible;

use super::words::{change, reason, undecided_words, verdict};
use super::{DialectVerdict, Explanation, File, InForce, Undecided, checked_crawler::CrawlerKind};

/// The most rules and User-agent lines in one object. A robots.txt may have tens of thousands.
const LISTED_MAX: usize = 1_000;

/// The fields of the object, in order.
#[rustfmt::skip]
const FIELDS: [&str; 19] = [
    "url", "verdict", "bound", "line", "reason", "reason_text", "dialect", "origin", "robots", "in_force", "crawler",
    "group", "path", "path_changes", "matches", "matches_total", "other_dialect", "usage", "undecided",
];

/// The object with a line feed.
pub(crate) fn json(explanation: &Explanation<'_>, kind: CrawlerKind<'_>) -> String {
    let (located, asked) = (explanation.located, &explanation.asked);
    let (reason, reason_text) = reason(asked);
    let changes: Vec<&str> = asked.changes.iter().map(|one| change(*one).0).collect();
    let matches: Vec<Value> = asked.matches.iter().take(LISTED_MAX).map(matched).collect();
    line(&json!({
        "url": visible(located.given),
        "verdict": verdict(asked),
        "bound": kind.obligation() == Obligation::Bound,
        "line": asked.line(),
        "reason": reason,
        "reason_text": reason_text,
        "dialect": asked.dialect.as_str(),
        "origin": located.origin.as_ref().map(ToString::to_string),
        "robots": located.file.as_ref().map(robots),
        "in_force": located.in_force.as_ref().map(|found| in_force(found, explanation.is_grace())),
        "crawler": crawler(kind),
        "group": explanation.bound.as_ref().map(group),
        "path": visible(&asked.path),
        "path_changes": changes,
        "matches": matches,
        "matches_total": asked.matches.len(),
        "other_dialect": other(explanation.is_dialect_decisive(), &explanation.other),
        "usage": explanation.usage.iter().map(stated).collect::<Vec<_>>(),
        "undecided": null,
    }))
}

fn stated(stated: &StatedPreference) -> Value {
    json!({
        "signal": stated.signal.as_str(),
        "category": stated.category.as_str(),
        "preference": stated.preference.as_str(),
        "line": stated.line,
    })
}

/// The object for a URL that could not be decided, with a line feed.
pub(crate) fn undecided_json(given: &[u8], undecided: &Undecided, kind: CrawlerKind<'_>) -> String {
    let mut fields: Map<String, Value> =
        FIELDS.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    fields["url"] = visible(given).into();
    fields["verdict"] = "undecided".into();
    fields["crawler"] = crawler(kind);
    fields["undecided"] = undecided_words(undecided).into();
    line(&Value::Object(fields))
}

fn line(answer: &Value) -> String {
    format!("{answer}\n")
}

fn in_force(found: &InForce, grace: bool) -> Value {
    json!({
        "at_utc": found.at.to_string(),
        "snapshot_fetched_utc": found.snapshot.fetched_at.to_string(),
        "outcome": found.snapshot.outcome.to_string(),
        "snapshot_age_seconds": found.ruling_in_force.age_seconds,
        "unreachable_since_utc": found.ruling_in_force.unreachable_since.map(|time| time.to_string()),
        "grace": grace,
    })
}

fn robots(file: &File) -> Value {
    let licenses = file.robots.text.licenses.iter().map(|license| visible(&license.url));
    json!({
        "source": visible(file.source.as_bytes()),
        "digest": file.robots.digest.to_string(),
        "size_bytes": file.robots.size_bytes,
        "parsed_bytes": file.robots.parsed_bytes,
        "licenses": licenses.collect::<Vec<_>>(),
    })
}

fn crawler(kind: CrawlerKind<'_>) -> Value {
    let (asked_by, asked, known) = match kind {
        CrawlerKind::Crawler(crawler) => ("name", crawler.name.as_bytes(), "yes"),
        CrawlerKind::FoundCrawler(_, user_agent) => ("user-agent", user_agent, "yes"),
        CrawlerKind::Automated(user_agent) => ("user-agent", user_agent, "looks-automated"),
        CrawlerKind::Unknown(user_agent) => ("user-agent", user_agent, "no"),
        CrawlerKind::Token(token) => ("token", token.as_bytes(), "no"),
    };
    let row = kind.crawler();
    json!({
        "asked_by": asked_by,
        "asked": visible(asked),
        "known": known,
        "name": row.map(|row| visible(row.name.as_bytes())),
        "operator": row.map(|row| visible(row.operator.as_bytes())),
        "purpose": row.map(|row| visible(row.purpose.as_bytes())),
        "binding": kind.obligation().as_str(),
        "stated_policy": row.map(|row| row.stated_policy().as_str()),
    })
}

fn group(bound: &Bound<'_>) -> Value {
    let line = |token: &&ProductToken| {
        json!({
            "line": token.line,
            "value": visible(&token.written),
        })
    };
    let lines: Vec<Value> = bound.user_agent_lines.iter().take(LISTED_MAX).map(line).collect();
    let equally_good = bound.equally_good.iter().map(|token| visible(token.as_bytes()));
    let tried = bound.tried.iter().map(|token| visible(token.as_bytes()));
    json!({
        "tokens_tried": tried.collect::<Vec<_>>(),
        "own_tokens": bound.own.min(bound.tried.len()),
        "equally_good": equally_good.collect::<Vec<_>>(),
        "bound_by": match bound.by {
            BoundBy::Token(token) => Some(visible(token.as_bytes())),
            BoundBy::Star => Some("*".to_owned()),
            BoundBy::Nothing | BoundBy::NothingButItsName => None,
        },
        "user_agent_lines": lines,
        "groups": bound.groups,
        "rules": bound.rules.len(),
        "continued_over_lines": bound.continued_over.iter().take(LISTED_MAX).collect::<Vec<_>>(),
        "star_rules_passed_over": bound.star_rules_passed_over,
    })
}

fn matched(found: &Match<'_>) -> Value {
    json!({
        "line": found.rule.line,
        "directive": found.rule.directive.as_str(),
        "pattern": visible(found.rule.written()),
        "compared_as": visible(&found.pattern),
        "length": found.length(),
    })
}

fn other(differs: bool, other: &DialectVerdict<'_>) -> Value {
    let (reason, reason_text) = reason(other);
    json!({
        "dialect": other.dialect.as_str(),
        "differs": differs,
        "verdict": verdict(other),
        "line": other.line(),
        "reason": reason,
        "reason_text": reason_text,
        "path": visible(&other.path),
    })
}
