//! The rules most broken, shown among the lines of their robots.txt.

use maud::{Markup, html};

use super::super::format::{counted, grouped, percent};
use super::super::page_model::PageModel;
use super::super::page_model::rule::{RobotsLine, RuleTotals};
use super::markup::{code, cut, listed, minute};
use super::table::{Cell, Kind, Table};

/// Lines that are shown above a rule and below it, besides the User-agent lines of its group.
const LINES_AROUND: u64 = 5;

/// User-agent lines that are shown of a group.
const TOKENS_SHOWN: usize = 6;

/// Crawlers and origins that are named.
const NAMES_SHOWN: usize = 4;

const COLUMNS: &[(&str, Kind)] = &[
    ("Rule", Kind::Text),
    ("Line", Kind::Number),
    ("Group", Kind::Text),
    ("Crawler", Kind::Text),
    ("Identity", Kind::Text),
    ("Requests", Kind::Number),
    ("Origin", Kind::Text),
    ("First seen, UTC", Kind::Number),
    ("Example", Kind::Text),
    ("In the logs", Kind::Text),
];

/// The section.
pub fn rules(model: &PageModel) -> Markup {
    if model.violations.rows.is_empty() {
        return html! { p { "No rule was broken." } "\n" };
    }
    html! {
        p {
            (counted(model.rules_broken as u64, "rule"))
            @if model.rules_broken == 1 { " was" } @else { " were" }
            " broken by crawlers that are not spoofed; here "
            @match model.rules.len() as u64 {
                1 => { "it is" }
                shown => { "are the " (grouped(shown)) " broken most" }
            }
            ", with the lines around it as they stand in robots.txt (comments left out)."
        } "\n"
        ol class="rules" { "\n"
            @for ((digest, line), rule) in &model.rules {
                (rule_html(model, digest, *line, rule))
            }
        } "\n"
        (table(model))
    }
}

fn rule_html(model: &PageModel, digest: &str, line: u64, rule: &RuleTotals) -> Markup {
    let near = model.robots_lines.get(digest).map_or(&[][..], Vec::as_slice);
    html! {
        li {
            h3 {
                (code(&format!("{}: {}", field_name(&rule.directive), rule.pattern))) " "
                span class="count" { (counted(rule.requests, "request")) }
            } "\n"
            (excerpt(line, rule, near))
            dl class="about" {
                dt { "Broken by" } dd { (offenders(rule)) }
                dt { "At" } dd { (origins(rule)) }
                dt { "Served" }
                dd { (percent(rule.statuses.status_2xx, rule.requests)) " of these requests got a 2xx" }
                @if let Some(example) = &rule.example {
                    dt { "First request" }
                    dd {
                        (code(&example.target)) " on "
                        (example.time.map_or_else(String::new, |time| minute(&time.to_string())))
                        " UTC, line " (grouped(example.line)) " of " (code(&example.file))
                    }
                }
                dt { "In" } dd { (source(model, digest)) }
            }
        } "\n"
    }
}

/// Who broke `rule` most.
fn offenders(rule: &RuleTotals) -> Markup {
    let mut by: Vec<_> = rule.by.iter().collect();
    by.sort_by_key(|(_, requests)| std::cmp::Reverse(**requests));
    let more = by.len().saturating_sub(NAMES_SHOWN);
    let named = by.into_iter().take(NAMES_SHOWN);
    let mut named: Vec<Markup> = named
        .map(|((name, _), requests)| html! { (cut(name)) " (" (grouped(*requests)) ")" })
        .collect();
    if more > 0 {
        named.push(html! { (more) " more" });
    }
    listed(&named)
}

/// Where `rule` was broken.
fn origins(rule: &RuleTotals) -> Markup {
    let more = rule.origins.len().saturating_sub(NAMES_SHOWN);
    html! {
        @for (at, origin) in rule.origins.iter().take(NAMES_SHOWN).enumerate() {
            @if at > 0 { ", " }
            (code(origin))
        }
        @if more > 0 { " and " (more) " more" }
    }
}

/// The name of the robots.txt of that digest, and the digest's beginning.
fn source(model: &PageModel, digest: &str) -> Markup {
    let short = code(digest.get(..19).unwrap_or(digest));
    html! {
        @match model.run.robots.iter().find(|robots| robots.digest == digest) {
            Some(robots) => { (code(&robots.source)) " (" (short) "…)" }
            None => { (short) "…" }
        }
    }
}

/// The lines around the rule, with the rule marked. Gaps of lines that say something else or
/// nothing are shown as such.
fn excerpt(line: u64, rule: &RuleTotals, near: &[RobotsLine]) -> Markup {
    let marked = RobotsLine { line, field: rule.directive.clone(), value: rule.pattern.clone() };
    let mut lines: Vec<&RobotsLine> = group_of(line, near);
    if !lines.iter().any(|shown| shown.line == line) {
        lines.push(&marked);
    }
    let before = std::iter::once(None).chain(lines.iter().map(|shown| Some(shown.line)));
    html! {
        table class="robots" {
            caption class="unseen" { "Lines of robots.txt" }
            tbody { "\n"
                @for (shown, before) in lines.iter().zip(before) {
                    @if before.is_some_and(|before| before + 1 < shown.line) {
                        tr class="gap" aria-hidden="true" { td {} td { "⋮" } } "\n"
                    }
                    @let text = code(&format!("{}: {}", field_name(&shown.field), shown.value));
                    @let is_marked = shown.line == line;
                    tr class=[is_marked.then_some("broken")] {
                        th scope="row" { (shown.line) }
                        td { @if is_marked { mark { (text) } } @else { (text) } }
                    } "\n"
                }
            }
        } "\n"
    }
}

/// The User-agent lines above `line`, and the rules around it.
fn group_of(line: u64, near: &[RobotsLine]) -> Vec<&RobotsLine> {
    let is_token = |shown: &&RobotsLine| shown.field == "user-agent";
    let at = near.partition_point(|shown| shown.line < line);
    let last_token = near[..at].iter().rposition(|shown| is_token(&shown));
    let Some(last_token) = last_token else {
        return near.iter().filter(|shown| shown.line == line).collect();
    };
    let is_rule_before = |shown: &RobotsLine| !is_token(&shown);
    let first_token = near[..last_token].iter().rposition(is_rule_before).map_or(0, |at| at + 1);
    let tokens = &near[first_token..=last_token];
    let tokens = tokens[tokens.len().saturating_sub(TOKENS_SHOWN)..].iter();
    let rules = near[last_token + 1..].iter().take_while(|shown| !is_token(shown));
    let around = rules.filter(|shown| shown.line.abs_diff(line) <= LINES_AROUND);
    tokens.chain(around).collect()
}

/// As it is usually written.
fn field_name(field: &str) -> &str {
    match field {
        "user-agent" => "User-agent",
        "allow" => "Allow",
        "disallow" => "Disallow",
        other => other,
    }
}

fn table(model: &PageModel) -> Markup {
    let rows = model.violations.rows.iter().map(|row| {
        let identity = row.identity.as_str();
        let rule = format!("{}: {}", field_name(&row.directive), row.pattern);
        let place = format!("{}:{}", row.example_file, row.example_line);
        vec![
            Cell::Code(rule),
            Cell::Number(row.rule_line),
            Cell::Text(row.group.clone()),
            Cell::Text(row.crawler.clone()),
            Cell::Badge(identity, identity),
            Cell::Number(row.requests),
            Cell::Code(row.origin.clone()),
            Cell::Time(row.first_seen),
            Cell::Code(row.example_target.clone()),
            Cell::Code(place),
        ]
    });
    let (rows, total) = (rows.collect(), model.violations.total);
    let caption = "Every rule that was broken, by whom";
    html! { (Table { id: "by-rule", caption, columns: COLUMNS, rows, total, file: "violations.csv" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_with_its_own_group() {
        let line = |line: u64, field: &str| RobotsLine {
            line,
            field: field.to_owned(),
            value: String::new(),
        };
        let near = [
            line(1, "user-agent"),
            line(2, "disallow"),
            line(4, "user-agent"),
            line(5, "user-agent"),
            line(6, "disallow"),
            line(7, "allow"),
            line(30, "disallow"),
            line(40, "user-agent"),
        ];
        let lines: Vec<u64> = group_of(6, &near).iter().map(|line| line.line).collect();
        assert_eq!(lines, [4, 5, 6, 7]);
        assert!(group_of(6, &[]).is_empty());
    }
}
