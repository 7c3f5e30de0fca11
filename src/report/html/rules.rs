//! The most broken rules, shown with the surrounding lines of their robots.txt.

use maud::{Markup, html};

use crate::audit::crawler_row::Broken;
use crate::digest::Digest;
use crate::judge::robots::DecidingRule;
use crate::numbers::{counted, grouped, percent};
use crate::report::page_model::totals::{RuleTotals, rule_text};
use crate::report::page_model::{PageModel, text};
use crate::report::robots_rules::NearLine;
use crate::table::escape::visible;

use super::crawlers::{answers, by_network, by_origin};
use super::markup::{code, listed, minute, named};
use super::table::HtmlTable;

/// Rules that are shown without a click.
const CARDS_OPEN: usize = 3;

/// Lines shown above and below a rule, besides the User-agent lines of its group.
const LINES_AROUND: u32 = 5;

/// The most User-agent lines shown of a group.
const TOKENS_SHOWN: usize = 6;

/// The most crawlers and origins that are named.
const NAMES_SHOWN: usize = 4;

/// The section; `None` if no rule was broken.
pub(crate) fn rules(model: &PageModel<'_>) -> Option<Markup> {
    if model.rules.rows.is_empty() {
        return None;
    }
    let (first, others) = model.rules.rows.split_at(model.rules.rows.len().min(CARDS_OPEN));
    Some(html! {
        p {
            (counted(model.rules.total, "rule"))
            @if model.rules.total == 1 { " was" } @else { " were" }
            " broken (without spoofed requests), most often those below. Comments of robots.txt are left out."
        } "\n"
        (cards(model, first))
        @if !others.is_empty() {
            details { summary { "The next " (counted(others.len() as u64, "rule")) } (cards(model, others)) } "\n"
        }
        (table(model))
        (by_origin(model))
        (by_network(model))
        (answers(model))
    })
}

fn cards(model: &PageModel<'_>, rules: &[RuleTotals<'_>]) -> Markup {
    html! { ul class="cards" { "\n" @for rule in rules { (rule_html(model, rule)) } } "\n" }
}

fn rule_html(model: &PageModel<'_>, totals: &RuleTotals<'_>) -> Markup {
    let RuleTotals { rule, requests, statuses, signed, continued_over, example, .. } = totals;
    html! {
        li data-crawlers=[crawlers_for_filters(model, totals)] data-origins=[origins_for_filters(totals)] {
            h3 {
                (code(&rule_text(rule.directive, &rule.pattern))) " "
                span class="count" { (counted(*requests, "request")) }
            } "\n"
            (excerpt(model, rule))
            dl class="about" {
                dt { "Broken by" } dd { (offenders(model, totals)) }
                dt { "At" } dd { (origins(totals)) }
                @if let Some(line) = continued_over {
                    dt { "Group" }
                    dd { "continues after another field on line " (line) ", which does not end it" }
                }
                dt { "Served" }
                dd { (percent(statuses.status_2xx, *requests)) " of these requests got a 2xx" }
                @if *signed > 0 {
                    dt { "Signed" }
                    dd { (grouped(*signed)) " of these requests, by a key of their agent" }
                }
                dt { "First request" }
                dd {
                    (code(&visible(&example.target))) " on " (minute(&example.time.to_string()))
                    " UTC, line " (grouped(example.line)) " of "
                    (code(&text(model.audit.input_name(example.file))))
                }
                dt { "In" } dd { (source(model, &rule.digest)) }
            }
        } "\n"
    }
}

/// The most names by which a card is found; one with more is always shown.
const NAMES_FOR_FILTERS: usize = 50;

/// The names of all crawlers that broke a rule, one on each line.
fn crawlers_for_filters(model: &PageModel<'_>, totals: &RuleTotals<'_>) -> Option<String> {
    let names = totals.by.keys().map(|(crawler, _)| model.name(*crawler));
    (totals.by.len() <= NAMES_FOR_FILTERS).then(|| names.collect::<Vec<_>>().join("\n"))
}

/// The same of the origins.
fn origins_for_filters(totals: &RuleTotals<'_>) -> Option<String> {
    let names = totals.origins.iter().map(|origin| text(origin));
    (totals.origins.len() <= NAMES_FOR_FILTERS).then(|| names.collect::<Vec<_>>().join("\n"))
}

/// The crawlers that broke a rule most often.
fn offenders(model: &PageModel<'_>, totals: &RuleTotals<'_>) -> Markup {
    let mut by: Vec<_> = totals.by.iter().collect();
    by.sort_by_key(|(_, requests)| std::cmp::Reverse(**requests));
    let more = by.len().saturating_sub(NAMES_SHOWN);
    let first = by.into_iter().take(NAMES_SHOWN);
    let first = first.map(|((crawler, _), requests)| named(&model.name(*crawler), *requests));
    let mut named: Vec<Markup> = first.collect();
    if more > 0 {
        named.push(html! { (more) " more" });
    }
    listed(&named)
}

/// The origins at which a rule was broken.
fn origins(totals: &RuleTotals<'_>) -> Markup {
    let more = totals.origins.len().saturating_sub(NAMES_SHOWN);
    html! {
        @for (at, origin) in totals.origins.iter().take(NAMES_SHOWN).enumerate() {
            @if at > 0 { ", " }
            (code(&text(origin)))
        }
        @if more > 0 { " and " (more) " more" }
    }
}

/// The name of the robots.txt with that digest, and the beginning of the digest.
fn source(model: &PageModel<'_>, digest: &Digest) -> Markup {
    let digest_text = digest.to_string();
    let short = code(digest_text.get(..19).unwrap_or(&digest_text));
    let of_it = model.audit.robots.iter().find(|(_, robots)| robots.version.digest == *digest);
    html! {
        @match of_it {
            Some((source, _)) => { (code(source)) " (" (short) "…)" }
            None => { (short) "…" }
        }
    }
}

/// The lines around the rule, with the rule marked. Gaps are shown as gaps.
fn excerpt(model: &PageModel<'_>, rule: &DecidingRule) -> Markup {
    let marked = NearLine { field: rule.directive, value: &rule.pattern, requests: None };
    let near = model.robots_lines.get(&rule.digest).map_or(&[][..], Vec::as_slice);
    let mut lines = group_of(rule.line, near);
    if !lines.iter().any(|(line, _)| *line == rule.line) {
        lines.push((rule.line, marked));
    }
    let before = std::iter::once(None).chain(lines.iter().map(|(line, _)| Some(*line)));
    html! {
        table class="robots" {
            caption class="unseen" { "Lines of robots.txt" }
            tbody { "\n"
                @for ((line, shown), before) in lines.iter().zip(before) {
                    @if before.is_some_and(|before| before + 1 < *line) {
                        tr class="gap" aria-hidden="true" { td {} td { "⋮" } } "\n"
                    }
                    @let text = code(rule_text(shown.field, shown.value));
                    @let is_marked = *line == rule.line;
                    tr class=[is_marked.then_some("broken")] {
                        th scope="row" { (line) }
                        td { @if is_marked { mark { (text) } } @else { (text) } }
                    } "\n"
                }
            }
        } "\n"
    }
}

/// The User-agent lines above `line`, and the rules around it.
fn group_of<'a>(line: u32, near: &[(u32, NearLine<'a>)]) -> Vec<(u32, NearLine<'a>)> {
    let is_token = |(_, shown): &(u32, NearLine<'_>)| shown.field == "user-agent";
    let at = near.partition_point(|(shown, _)| *shown < line);
    let Some(last_token) = near[..at].iter().rposition(is_token) else {
        return near.iter().filter(|(shown, _)| *shown == line).copied().collect();
    };
    let is_rule = |shown: &(u32, NearLine<'_>)| !is_token(shown);
    let first_token = near[..last_token].iter().rposition(is_rule).map_or(0, |at| at + 1);
    let tokens = &near[first_token..=last_token];
    let tokens = tokens[tokens.len().saturating_sub(TOKENS_SHOWN)..].iter();
    let rules = near[last_token + 1..].iter().take_while(|shown| is_rule(shown));
    let around = rules.filter(|(shown, _)| shown.abs_diff(line) <= LINES_AROUND);
    tokens.chain(around).copied().collect()
}

fn table(model: &PageModel<'_>) -> Markup {
    let (caption, rows) = ("Broken rules by crawler", model.violations.clone());
    HtmlTable::cut("by-rule", caption, "violations.csv", rows)
        .code("Rule", |(_, _, Broken { rule, .. })| rule_text(rule.directive, &rule.pattern))
        .number("Line", |(_, _, broken)| u64::from(broken.rule.line))
        .text("Group", |(_, _, broken)| visible(&broken.rule.group))
        .actor(model, |(_, actor, _)| *actor)
        .number("Requests", |(_, _, broken)| broken.tally.requests)
        .number("Signed", |(_, _, broken)| broken.tally.signed)
        .code("Origin", |(origin, _, _)| text(origin))
        .time("First seen, UTC", |(_, _, broken)| Some(broken.tally.span.first))
        .code("Example", |(_, _, broken)| visible(&broken.tally.example.target))
        .code("In the logs", |(_, _, broken)| {
            let example = &broken.tally.example;
            format!("{}:{}", text(model.audit.input_name(example.file)), example.line)
        })
        .folded()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_with_its_own_group() {
        let line = |line, field| (line, NearLine { field, value: b"", requests: None });
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
        let lines: Vec<u32> = group_of(6, &near).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 5, 6, 7]);
        assert!(group_of(6, &[]).is_empty());
    }
}
