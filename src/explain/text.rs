//! The verdict on one URL and each step to it, as text.

use std::fmt::Write;

use crate::crawlers::crawler::{Crawler, Obligation, Visibility};
use crate::judge::explained::{Bound, BoundBy, Match, PatternForm};
use crate::judge::{messages::age_text, timeline::Ruling, usage::StatedPreference};
use crate::numbers::counted;
use crate::table::escape::visible;

use super::checked_crawler::{CheckedCrawler, CrawlerKind};
use super::reason::DecisionReason;
use super::words::{
    binding_words, change, field_name, name, reason, shown, undecided_words, verdict,
};
use super::{DialectVerdict, Explanation, File, InForce, Located, Undecided};

/// The most rules and User-agent lines that are shown; the others are counted.
const SHOWN_MAX: usize = 20;

const AUTOMATED: &str = "unknown, but it looks automated";
const UNKNOWN: &str = "unknown, and it does not look automated";

/// The verdict on one line, with the URL.
pub(crate) fn verdict_line(explanation: &Explanation<'_>, kind: CrawlerKind<'_>) -> String {
    let verdict = verdict(&explanation.asked);
    let line = explanation.asked.line().map_or("-".to_owned(), |line| format!("line {line}"));
    let binding = if kind.obligation() == Obligation::Bound { "" } else { "  (not bound)" };
    format!("{verdict:<10}  {line:<10}  {}{binding}\n", visible(explanation.located.given))
}

/// One line for a URL that could not be decided.
pub(crate) fn undecided_line(given: &[u8], undecided: &Undecided) -> String {
    format!("{:<10}  {:<10}  {}: {}\n", "undecided", "-", shown(given), undecided_words(undecided))
}

/// The reason why nothing could be decided, shown below the URL.
pub(crate) fn undecided_text(given: &[u8], undecided: &Undecided) -> String {
    format!("{}\nundecided: {}\n", shown(given), undecided_words(undecided))
}

/// The verdict and each step to it.
pub(crate) fn text(explanation: &Explanation<'_>, checked: &CheckedCrawler<'_>) -> String {
    let kind = checked.kind;
    let mut rows = Rows(format!("{}\n", visible(explanation.located.given)));
    rows.0.push_str(&headline(&explanation.asked, kind));
    rows.0.push_str("\n\n");
    site(explanation.located, &mut rows);
    crawler(kind, checked.first_name(), &mut rows);
    if let Some(bound) = &explanation.bound {
        group(bound, &mut rows);
    }
    path(explanation.located, &explanation.asked, &mut rows);
    if explanation.asked.reason != DecisionReason::RobotsTxtItself {
        rules(explanation.bound.as_ref(), &explanation.asked, &mut rows);
    }
    // If no rule decided, the headline already gives the reason.
    if explanation.asked.line().is_some() {
        rows.add("why", &reason(&explanation.asked).1);
    }
    if explanation.is_grace() {
        let held = "crawlers may still use an earlier robots.txt that allows it: not a violation \
                    yet";
        rows.add("grace", held);
    }
    other_dialect(explanation, &mut rows);
    for (at, stated) in explanation.usage.iter().enumerate() {
        let StatedPreference { line, signal, category, preference, .. } = stated;
        let (signal, category) = (signal.as_str(), category.as_str());
        let text = format!("{category} is {} by line {line} ({signal})", preference.as_str());
        rows.add(if at == 0 { "use" } else { "" }, &text);
    }
    rows.0
}

/// Labelled, aligned lines.
struct Rows(String);

impl Rows {
    fn add(&mut self, label: &str, text: &str) {
        writeln!(self.0, "  {label:<10}  {text}").expect("writing to a string cannot fail");
    }
}

fn headline(asked: &DialectVerdict<'_>, kind: CrawlerKind<'_>) -> String {
    let (verdict, binding) = match (asked.is_allowed(), kind.obligation()) {
        (true, Obligation::Bound) => ("allowed", ""),
        (false, Obligation::Bound) => ("DISALLOWED", ""),
        (true, _) => ("allowed", "\n(but robots.txt does not bind it)"),
        (false, _) => {
            ("would be DISALLOWED", "\nbut robots.txt does not bind it, so no rule is broken")
        }
    };
    let by = match asked.matches.first() {
        Some(found) => format!(" by line {}: {}", found.rule.line, rule(found)),
        None => format!(": {}", reason(asked).1),
    };
    format!("{verdict} for {}{by}{binding}", name(kind))
}

fn site(located: &Located<'_>, rows: &mut Rows) {
    let none = "-  (only a path, and a robots.txt file)";
    rows.add("origin", located.origin.as_ref().map_or(none, |origin| origin.as_str()));
    if let Some(in_force) = &located.in_force {
        in_force_rows(in_force, rows);
    }
    match (&located.file, &located.in_force) {
        (Some(file), _) => file_rows(file, rows),
        (None, Some(_)) => rows.add("robots.txt", "none is in force"),
        (None, None) => rows.add("robots.txt", "none, and none is needed"),
    }
}

fn in_force_rows(in_force: &InForce, rows: &mut Rows) {
    let InForce { at, ruling_in_force, snapshot, .. } = in_force;
    rows.add("at", &at.to_string());
    let age = age_text(ruling_in_force.age_seconds.unwrap_or_default());
    let snapshot = format!("{}, fetched {}  ({age})", snapshot.outcome, snapshot.fetched_at);
    rows.add("snapshot", &snapshot);
    if let Some(since) = ruling_in_force.unreachable_since {
        let what = match ruling_in_force.ruling {
            Ruling::Unreachable => "after 30 days the last copy is in force again",
            _ => "for more than 30 days, so the last copy is in force again, if there is one",
        };
        rows.add("", &format!("no robots.txt could be fetched since {since}: {what}"));
    }
}

fn file_rows(file: &File, rows: &mut Rows) {
    let robots = &file.robots;
    let size = if robots.size_bytes > robots.parsed_bytes {
        format!("{} bytes, of which the first {} count", robots.size_bytes, robots.parsed_bytes)
    } else {
        counted(robots.size_bytes as u64, "byte")
    };
    rows.add("robots.txt", &format!("{}  ({size})", visible(file.source.as_bytes())));
    rows.add("", &robots.digest.to_string());
    for license in robots.text.licenses.iter().take(SHOWN_MAX) {
        let url = visible(&license.url);
        rows.add("license", &format!("{url}  (line {})", license.line));
    }
}

fn crawler(kind: CrawlerKind<'_>, first_name: Option<&str>, rows: &mut Rows) {
    let user_agent = |user_agent| Some(format!("user agent: {}", shown(user_agent)));
    let (words, detail) = match kind {
        CrawlerKind::Crawler(crawler) => (description(crawler), None),
        CrawlerKind::FoundCrawler(crawler, found_by) => {
            (description(crawler), user_agent(found_by))
        }
        CrawlerKind::Automated(header) => {
            let words = match first_name {
                Some(token) => format!("{AUTOMATED}: bound by the groups for {token}, else by *"),
                None => format!("{AUTOMATED}: bound by *"),
            };
            (words, user_agent(header))
        }
        CrawlerKind::Unknown(header) => {
            let words = match first_name {
                Some(token) => {
                    format!("{UNKNOWN}: the groups for {token} would bind it, else *")
                }
                None => format!("{UNKNOWN}: * would bind it"),
            };
            (words, user_agent(header))
        }
        CrawlerKind::Token(token) => {
            let name = shown(token.as_bytes());
            let words = format!(
                "any crawler with the product token '{name}', assumed to be bound and to follow *"
            );
            (words, None)
        }
    };
    rows.add("crawler", &words);
    if let Some(detail) = detail {
        rows.add("", &detail);
    }
    if let Some(crawler) = kind.crawler() {
        rows.add("", &binding_words(crawler));
        if crawler.visibility == Visibility::NoUserAgent {
            rows.add("", "sends no user agent of its own, so logs cannot show it");
        }
    }
}

fn description(crawler: &Crawler) -> String {
    let operator = match crawler.known_operator() {
        None => "of an unknown operator".to_owned(),
        Some(operator) => format!("of {}", visible(operator.as_bytes())),
    };
    let name = visible(crawler.name.as_bytes());
    format!("{name}, {operator} ({})", visible(crawler.purpose.as_bytes()))
}

fn group(bound: &Bound<'_>, rows: &mut Rows) {
    let source = |at: usize| if at < bound.own { " (in its user agent)" } else { "" };
    for (at, token) in bound.tried.iter().enumerate() {
        if bound.by != BoundBy::Token(token) {
            let token = shown(token.as_bytes());
            rows.add("token", &format!("{token}{}: named by no group", source(at)));
        }
    }
    let (lines, content) = (lines_words(bound), contents(bound));
    let group = match bound.by {
        BoundBy::Token(token) => {
            let token = shown(token.as_bytes());
            let source = source(bound.tried.len() - 1);
            rows.add("token", &format!("{token}{source}: named on {lines}"));
            format!("{token}: {content}")
        }
        BoundBy::Star => format!("* on {lines}: {content}"),
        BoundBy::Nothing if bound.groups_in_file == 0 => "none: the file has no groups".to_owned(),
        BoundBy::Nothing => "none, and there is no group for *".to_owned(),
        BoundBy::NothingButItsName => {
            "none: it follows only groups that name it, never *".to_owned()
        }
    };
    rows.add("group", &group);
    for token in &bound.equally_good {
        let text = format!("the group for {token} may as well bind it, and decides the same");
        rows.add("", &text);
    }
    if let Some(line) = bound.continued_over.first() {
        let text = format!(
            "the field on line {line} does not end the group, so the rules after the next \
             User-agent line apply, too"
        );
        rows.add("", &text);
    }
    match bound.star_rules_passed_over {
        0 => {}
        1 => rows.add("", "the rule for * does not apply to it"),
        rules => rows.add("", &format!("the {rules} rules for * do not apply to it")),
    }
}

fn contents(bound: &Bound<'_>) -> String {
    let rules = match bound.rules.len() {
        0 => "no rules".to_owned(),
        rules => counted(rules as u64, "rule"),
    };
    match bound.groups {
        1 => rules,
        groups => format!("{rules}, of {groups} groups merged"),
    }
}

/// `line 3`, `lines 3 and 9`; with the value if it differs from the name.
fn lines_words(bound: &Bound<'_>) -> String {
    let lines = &bound.user_agent_lines;
    let name: &[u8] = match bound.by {
        BoundBy::Token(token) => token.as_bytes(),
        BoundBy::Star | BoundBy::Nothing | BoundBy::NothingButItsName => b"*",
    };
    let shown_lines = lines.iter().take(SHOWN_MAX).map(|token| {
        let is_name = token.written.eq_ignore_ascii_case(name);
        let value = if is_name { String::new() } else { format!(" ({})", shown(&token.written)) };
        format!("{}{value}", token.line)
    });
    let mut words: Vec<String> = shown_lines.collect();
    if lines.len() > SHOWN_MAX {
        words.push(format!("{} more", lines.len() - SHOWN_MAX));
    }
    match words.as_slice() {
        [one] => format!("line {one}"),
        [before @ .., last] => format!("lines {} and {last}", before.join(", ")),
        [] => "no line".to_owned(),
    }
}

fn path(located: &Located<'_>, asked: &DialectVerdict<'_>, rows: &mut Rows) {
    rows.add("path", &visible(&asked.path));
    for done in &asked.changes {
        rows.add("", change(*done).1);
    }
    if located.given.starts_with(b"//") {
        rows.add("", "read as a path, as servers log it; a URL would begin with https://");
    }
}

fn rules(bound: Option<&Bound<'_>>, asked: &DialectVerdict<'_>, rows: &mut Rows) {
    let total = bound.map_or(0, |bound| bound.rules.len());
    if total == 0 {
        return;
    }
    let matches = &asked.matches;
    let (found, order) = match matches.len() {
        0 => ("none".to_owned(), ""),
        1 => ("1".to_owned(), ":"),
        found => (found.to_string(), ", the strongest first:"),
    };
    rows.add("matches", &format!("{found} of {}{order}", counted(total as u64, "rule")));
    let shown_matches = &matches[..matches.len().min(SHOWN_MAX)];
    let line_width = width(shown_matches.iter().map(|found| found.rule.line as usize));
    let length_width = width(shown_matches.iter().map(Match::length));
    for (index, found) in shown_matches.iter().enumerate() {
        let mark = if index == 0 { '>' } else { ' ' };
        let line = format!("line {:<line_width$}", found.rule.line);
        let length = format!("length {:<length_width$}", found.length());
        rows.add("", &format!("{mark} {line}  {length}  {}{}", rule(found), compared(found)));
    }
    if matches.len() > SHOWN_MAX {
        rows.add("", &format!("  and {} more", matches.len() - SHOWN_MAX));
    }
}

fn width(numbers: impl Iterator<Item = usize>) -> usize {
    numbers.max().map_or(1, |most| most.to_string().len())
}

/// The rule as written in its line.
fn rule(found: &Match<'_>) -> String {
    let word = field_name(found.rule.directive.as_str());
    format!("{word}: {}", shown(found.rule.written())).trim_end().to_owned()
}

/// The pattern that was compared, if it differs from the written one.
fn compared(found: &Match<'_>) -> String {
    match found.pattern_form {
        PatternForm::AsDirectory => {
            format!("  (read as {}: an index page is its directory)", shown(&found.pattern))
        }
        PatternForm::AsWritten if *found.pattern != *found.rule.written() => {
            format!("  (compared as {})", shown(&found.pattern))
        }
        PatternForm::AsWritten => String::new(),
    }
}

fn other_dialect(explanation: &Explanation<'_>, rows: &mut Rows) {
    let other = &explanation.other;
    let label = other.dialect.as_str();
    if !explanation.is_dialect_decisive() {
        return rows.add(label, "same verdict");
    }
    let verdict = match verdict(other) {
        "disallowed" => "DISALLOWED",
        word => word,
    };
    match other.matches.first() {
        Some(found) => {
            let by = format!("line {}: {}{}", found.rule.line, rule(found), compared(found));
            rows.add(label, &format!("would be {verdict} by {by}"));
            rows.add("", &reason(other).1);
        }
        None => rows.add(label, &format!("would be {verdict}: {}", reason(other).1)),
    }
    if other.path != explanation.asked.path {
        rows.add("", &format!("it compares the path as {}", visible(&other.path)));
    }
}
