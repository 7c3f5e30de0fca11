//! The top of the page: the result in words and numbers, requests by day, all crawlers, and what a site
//! owner can do.

use maud::{Markup, html};

use crate::audit::{conduct::Conduct, coverage::Coverage};
use crate::measures::sums::Span;
use crate::numbers::{counted, grouped, percent};
use crate::report::came_and_went::came_and_went;
use crate::report::page_model::{PageModel, REPORT, action::Action, judged_sums, of_judged};
use crate::report::treatment::findings;
use crate::table::escape::shown;
use crate::time::UtcTime;

use super::markup::{code, cut, listed, minute, named, strong, strongly_counted};
use super::{crawlers, periods};

/// The most crawlers that are named as ignoring robots.txt.
const IGNORING_SHOWN: usize = 3;

/// The heading and the inputs.
pub(crate) fn header(model: &PageModel<'_>) -> Markup {
    html! {
        p class="kind" { "Crawlers and robots.txt" }
        h1 { (cut(&model.title())) } "\n"
        p class="fine" {
            @if let Some(Span { first, last }) = model.period {
                (time(first)) " to " (time(last)) " UTC · "
            }
            (counted(model.lines.lines, "line")) " of "
            (counted(model.audit.inputs.len() as u64, "log file"))
        }
    }
}

fn time(time: UtcTime) -> Markup {
    let time = time.to_string();
    html! { time datetime=(time) { (minute(&time)) } }
}

/// The first section.
pub(crate) fn overview(model: &PageModel<'_>) -> Markup {
    html! {
        p class="headline" { (headline(model)) } "\n"
        (damages(model))
        (to_notes(model))
        @for said in findings(model) { p { (sentence(&said)) } "\n" }
        @if let Some(said) = came_and_went(model) { p { (sentence(&said)) } "\n" }
        div class="top" {
            @if has_figures(model) { (figures(model)) }
            (periods::days(model))
        } "\n"
        (crawlers::all(model))
    }
}

/// Whether there is something to count violations of.
fn has_figures(model: &PageModel<'_>) -> bool {
    !matches!(model.audit.coverage, Coverage::Nothing(_) | Coverage::NoneBound)
}

fn headline(model: &PageModel<'_>) -> Markup {
    let sums = model.not_spoofed();
    let (violations, rated) = of_judged(&sums);
    match &model.audit.coverage {
        Coverage::Nothing(why) => html! { (sentence(why)) },
        Coverage::NoRequest => no_request(model),
        Coverage::NoneBound => html! {
            "None of the " (strongly_counted(sums.requests, "request"))
            " of known crawlers is one that robots.txt can bind."
        },
        Coverage::TooLittle { judged, .. } | Coverage::Enough { judged } => html! {
            @if violations == 0 {
                "No known crawler broke a rule: all " (strongly_counted(*judged, "request"))
                " that could be judged were allowed" (in_grace(sums.grace)) "."
            } @else {
                (who_ignores(model))
                (strongly_counted(model.offending_crawlers(), "crawler")) " made "
                (strongly_counted(violations, "request")) " that robots.txt disallowed: "
                (percent(violations, rated)) " of the " (grouped(rated)) " that could be judged"
                (worst(model)) "."
            }
        },
    }
}

/// The crawlers that ignore robots.txt, as a sentence; nothing without any.
fn who_ignores(model: &PageModel<'_>) -> Markup {
    let ignoring = model.with_conduct(Conduct::Ignores);
    let first = ignoring.iter().take(IGNORING_SHOWN);
    let mut names: Vec<Markup> = first.map(|(id, _)| html! { b { (model.name(*id)) } }).collect();
    if let Some(more @ 1..) = ignoring.len().checked_sub(IGNORING_SHOWN) {
        names.push(html! { (more) " more" });
    }
    html! {
        @if !names.is_empty() {
            (listed(&names)) @if names.len() == 1 { " ignores" } @else { " ignore" } " robots.txt. "
        }
    }
}

fn no_request(model: &PageModel<'_>) -> Markup {
    html! {
        @if model.lines.lines == 0 { "The logs are empty." }
        @else if model.origins.is_empty() { "The logs contain no request of a known crawler." }
        @else if model.crawlers.is_empty() {
            "The logs contain requests of known tools, and none of a known crawler."
        } @else {
            "The logs contain no request of a known crawler, only spoofed ones."
        }
    }
}

fn in_grace(requests: u64) -> String {
    match requests {
        0 => String::new(),
        some => format!(" or in a grace period ({})", grouped(some)),
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}.", first.to_ascii_uppercase())
}

/// Who broke most, as the end of a sentence.
fn worst(model: &PageModel<'_>) -> Markup {
    let worst = model.own_offenders().into_iter().take(3);
    let named =
        worst.map(|((crawler, _), totals)| named(&model.name(crawler), totals.sums.violations));
    let named: Vec<Markup> = named.collect();
    html! { @if named.len() > 1 { ", most by " } @else { ", all by " } (listed(&named)) }
}

/// Key figures, each with its meaning.
fn figures(model: &PageModel<'_>) -> Markup {
    let all = judged_sums(&model.identities);
    let (sums, judged) = (all.own, all.judged);
    let crawlers = counted(model.own_crawlers(), "crawler");
    let ignoring = model.with_conduct(Conduct::Ignores).len() as u64;
    html! {
        dl class="tiles" {
            (tile("Violations", sums.violations, judged, "of the judged requests"))
            (figure("Crawlers that ignore robots.txt", ignoring, &format!("of {crawlers}")))
            (tile("Requests of crawlers", sums.requests, model.lines.lines, "of all lines"))
            (tile("Not judged", all.not_judged(), sums.requests, "of these requests"))
        } "\n"
    }
}

fn figure(name: &str, number: u64, note: &str) -> Markup {
    html! { div { dt { (name) } dd { b { (grouped(number)) } span { (note) } } } }
}

/// A figure with its share of `whole`, such as `24.5 % of the judged requests`.
fn tile(name: &str, number: u64, whole: u64, of: &str) -> Markup {
    let share = if whole == 0 { "none" } else { &percent(number, whole) };
    figure(name, number, &format!("{share} {of}"))
}

fn damages(model: &PageModel<'_>) -> Markup {
    let inputs = model.audit.inputs.iter();
    let damages =
        inputs.filter_map(|input| Some((&input.summary.name, input.summary.damage.as_ref()?)));
    html! {
        @if !model.audit.is_complete() {
            div class="remark bad" {
                h3 { "Missing or damaged input" }
                ul {
                    @for (name, damage) in damages { li { (code(name)) ": " (cut(damage)) } }
                    @if let Some(unread) = &model.audit.unread { li { (cut(&unread.message)) } }
                }
            } "\n"
        }
    }
}

/// Warnings without the one that the headline is.
fn warnings<'a>(model: &PageModel<'a>) -> Vec<&'a String> {
    let is_other = |warning: &&String| Some(warning.as_str()) != model.audit.coverage.nothing();
    model.audit.warnings.iter().filter(is_other).collect()
}

/// A link to the warnings and notes.
fn to_notes(model: &PageModel<'_>) -> Markup {
    let of = |count: usize, what: &str| (count > 0).then(|| counted(count as u64, what));
    let counts = [of(warnings(model).len(), "warning"), of(model.audit.notes.len(), "note")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    html! {
        @if !counts.is_empty() {
            p class="fine" {
                "Before you use these numbers, read " a href="#notes" { (listed(&counts)) } "."
            } "\n"
        }
    }
}

/// Warnings, notes and the lines by kind.
pub(crate) fn notes(model: &PageModel<'_>) -> Markup {
    let (warnings, lines) = (warnings(model), &model.lines);
    html! {
        @if !warnings.is_empty() {
            div class="remark bad" { h3 { "Warnings" } (list(&warnings)) } "\n"
        }
        @if !model.audit.notes.is_empty() {
            div class="remark" { h3 { "Notes" } (list(&model.audit.notes.iter().collect::<Vec<_>>())) } "\n"
        }
        p class="fine" {
            (strong(lines.lines)) " lines: " (grouped(lines.crawler))
            " requests of known crawlers and tools, " (grouped(lines.other))
            " other requests, " (grouped(lines.rejected))
            " rejected and " (grouped(lines.skipped)) " skipped."
        } "\n"
    }
}

fn list(texts: &[&String]) -> Markup {
    html! { ul { @for text in texts { li { (with_flags(&shown(text))) } } } }
}

/// `text`; flag names in it do not wrap.
fn with_flags(text: &str) -> Markup {
    html! {
        @for (at, word) in text.split(' ').enumerate() {
            @if at > 0 { " " }
            @if word.starts_with("--") { span class="flag" { (word) } } @else { (word) }
        }
    }
}

/// What a site owner can do about the findings; `None` if there is nothing to do.
pub(crate) fn actions(model: &PageModel<'_>) -> Option<Markup> {
    let actions = model.actions();
    (!actions.is_empty()).then(|| {
        html! {
            ul class="cards" {
                @for Action { finding, advice, lines } in &actions {
                    li {
                        h3 { (cut(finding)) }
                        p { (advice) }
                        pre tabindex="0" { @for line in lines { code { (line) } "\n" } }
                    } "\n"
                }
            } "\n"
            p class="fine" {
                @if model.report == REPORT { "REPORT is the directory of this page. Other paths" } @else { "Paths" }
                " are relative to the directory in which the audit ran."
            } "\n"
        }
    })
}
