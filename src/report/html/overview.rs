//! The top of the page: subject, summary sentence, key figures, warnings.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::audit::sums::Span;
use crate::crawlers::{crawler::CrawlerId, identity::Identity};
use crate::time::UtcTime;

use super::super::escape::shown;
use super::super::page_model::{PageModel, is_itself, text};
use super::markup::{code, cut, listed, minute, named, strong, strongly_counted};
use crate::numbers::{counted, grouped, percent};

/// The title of the document, as text.
pub fn title(model: &PageModel<'_>) -> String {
    let days = days(model).map_or_else(String::new, |days| format!(", {days}"));
    format!("Crawlers and robots.txt: {}{days}", origin_label(model))
}

/// The heading and the inputs.
pub fn header(model: &PageModel<'_>) -> Markup {
    html! {
        p class="kind" {
            "Crawlers and robots.txt" @if let Some(days) = days(model) { " · " (cut(&days)) }
        }
        h1 { (cut(&heading(model))) } "\n"
        p class="period" {
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

/// The day, or the first and the last day.
fn days(model: &PageModel<'_>) -> Option<String> {
    let (first, last) = (model.days.keys().next()?, model.days.keys().next_back()?);
    Some(if first == last { first.to_string() } else { format!("{first} to {last}") })
}

/// The first section.
pub fn overview(model: &PageModel<'_>) -> Markup {
    html! {
        p class="headline" { (headline(model)) } "\n"
        (spoofed(model))
        @if model.audit.nothing_judged.is_none() { (figures(model)) }
        (remarks(model))
    }
}

fn origin_label(model: &PageModel<'_>) -> String {
    match &model.origins[..] {
        [] => "no known crawler".to_owned(),
        [origin] => text(origin),
        origins => counted(origins.len() as u64, "origin"),
    }
}

fn heading(model: &PageModel<'_>) -> String {
    if model.origins.is_empty() { "No known crawler".to_owned() } else { origin_label(model) }
}

fn headline(model: &PageModel<'_>) -> Markup {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    let own = model.own_offenders();
    let who: BTreeSet<CrawlerId> = own.iter().map(|((crawler, _), _)| *crawler).collect();
    html! {
        @if let Some(why) = &model.audit.nothing_judged {
            (sentence(why))
        } @else if model.origins.is_empty() {
            @if model.lines.lines == 0 { "The logs are empty." }
            @else { "The logs contain no request of a known crawler." }
        } @else if model.crawlers.is_empty() {
            "The logs contain requests of known tools, and none of a known crawler."
        } @else if judged == 0 {
            "None of the " (strongly_counted(sums.requests, "request"))
            " of known crawlers could be judged."
        } @else if sums.violations == 0 {
            "No known crawler broke a rule: all " (strongly_counted(judged, "request"))
            " that could be judged were allowed."
        } @else {
            (strongly_counted(who.len() as u64, "crawler")) " made "
            (strongly_counted(sums.violations, "request")) " that robots.txt disallowed: "
            (percent(sums.violations, judged)) " of the " (grouped(judged)) " that could be judged. "
            (worst(model))
        }
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}.", first.to_ascii_uppercase())
}

/// Who broke most, in a sentence.
fn worst(model: &PageModel<'_>) -> Markup {
    let worst = model.own_offenders().into_iter().take(3);
    let named =
        worst.map(|((crawler, _), totals)| named(&model.name(crawler), totals.sums.violations));
    let named: Vec<Markup> = named.collect();
    html! {
        @match &named[..] {
            [] => {}
            [one] => { "It was " (one) "." }
            several => { "Most were made by " (listed(several)) "." }
        }
    }
}

fn spoofed(model: &PageModel<'_>) -> Markup {
    let spoofed = model.sums_of(Identity::Spoofed);
    html! {
        @if spoofed.requests > 0 {
            p {
                "Another " (strongly_counted(spoofed.requests, "request"))
                " only claimed to come from a crawler, as their addresses show; they are counted \
                 separately and not as requests of the crawler."
            } "\n"
        }
    }
}

/// Key figures, each with its meaning.
fn figures(model: &PageModel<'_>) -> Markup {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    let not_judged = sums.requests - judged.min(sums.requests);
    let tools: u64 = model.tools.values().map(|totals| totals.sums.requests).sum();
    let own = model.crawlers.iter().filter(|((_, identity), _)| is_itself(*identity));
    let after_own_fetch: u64 = own.map(|(_, totals)| totals.prior_fetches.prior_fetch_own).sum();
    html! {
        dl class="tiles" {
            (tile("Violations", sums.violations, judged, "of those judged", "nothing was judged"))
            (tile("By crawlers that had fetched the rules", after_own_fetch, sums.violations, "of the violations", "there are no violations"))
            (figure("Rules broken", model.rules.total, &(counted(model.origins.len() as u64, "origin") + " requested")))
            (tile("Requests of known crawlers", sums.requests, model.lines.lines, "of all lines", "there are no lines"))
            (tile("Requests of known tools", tools, model.lines.lines, "of all lines", "there are no lines"))
            (tile("Not judged", not_judged, sums.requests, "of these requests", "there are no requests"))
        } "\n"
    }
}

fn figure(name: &str, number: u64, note: &str) -> Markup {
    html! { div { dt { (name) } dd { b { (grouped(number)) } span { (note) } } } }
}

/// A figure with its share of `whole`, such as `24.5 % of those judged`, or the text `none`.
fn tile(name: &str, number: u64, whole: u64, of: &str, none: &str) -> Markup {
    match whole {
        0 => figure(name, number, none),
        whole => figure(name, number, &format!("{} {of}", percent(number, whole))),
    }
}

fn remarks(model: &PageModel<'_>) -> Markup {
    let PageModel { audit, lines, .. } = model;
    let damages = audit
        .inputs
        .iter()
        .filter_map(|input| Some((&input.summary.name, input.summary.damage.as_ref()?)));
    // The headline says that nothing was judged.
    let is_other = |warning: &&String| Some(*warning) != audit.nothing_judged.as_ref();
    let warnings: Vec<String> = audit.warnings.iter().filter(is_other).cloned().collect();
    html! {
        @if !audit.is_complete() {
            div class="remark bad" {
                h3 { "Missing or damaged input" }
                ul { @for (name, damage) in damages { li { (code(name)) ": " (cut(damage)) } } }
            } "\n"
        }
        @if !warnings.is_empty() {
            div class="remark bad" { h3 { "Warnings" } (list(&warnings)) } "\n"
        }
        @if !audit.notes.is_empty() {
            div class="remark" { h3 { "Notes" } (list(&audit.notes)) } "\n"
        }
        p class="fine" {
            (strong(lines.lines)) " lines: " (grouped(lines.crawler))
            " requests of known crawlers and tools, " (grouped(lines.other))
            " other requests, " (grouped(lines.rejected))
            " rejected and " (grouped(lines.skipped)) " skipped."
        } "\n"
    }
}

fn list(texts: &[String]) -> Markup {
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
