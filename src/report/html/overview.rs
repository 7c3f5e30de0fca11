//! The head of the page: what it is about, the one sentence, the key figures, the warnings.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::audit::sums::Span;
use crate::crawlers::identity::Identity;
use crate::time::UtcTime;

use super::super::escape::shown;
use super::super::format::{counted, grouped, percent};
use super::super::page_model::{PageModel, is_itself};
use super::markup::{code, cut, listed, minute, strong, strongly_counted};

/// The title of the document, as text.
pub fn title(model: &PageModel) -> String {
    let days = days(model).map_or_else(String::new, |days| format!(", {days}"));
    format!("Crawlers and robots.txt: {}{days}", place(model))
}

/// The heading and what was looked at.
pub fn header(model: &PageModel) -> Markup {
    html! {
        p class="kind" {
            "Crawlers and robots.txt" @if let Some(days) = days(model) { " · " (cut(&days)) }
        }
        h1 { (cut(&heading(model))) } "\n"
        p class="period" {
            @if let Some(Span { first, last }) = model.period {
                (time(first)) " to " (time(last)) " UTC · "
            }
            (counted(model.run.lines.lines, "line")) " of "
            (counted(model.run.inputs.len() as u64, "log file"))
            @if !model.run.reports.is_empty() {
                ", in " (counted(model.run.reports.len() as u64, "report"))
            }
        }
    }
}

fn time(time: UtcTime) -> Markup {
    let time = time.to_string();
    html! { time datetime=(time) { (minute(&time)) } }
}

/// The day, or the first and the last.
fn days(model: &PageModel) -> Option<String> {
    let (first, last) = (model.days.keys().next()?, model.days.keys().next_back()?);
    Some(if first == last { first.to_string() } else { format!("{first} to {last}") })
}

/// The first section.
pub fn overview(model: &PageModel) -> Markup {
    html! {
        p class="headline" { (headline(model)) } "\n"
        (spoofed(model))
        (figures(model))
        (remarks(model))
    }
}

fn place(model: &PageModel) -> String {
    match &model.only_origin {
        Some(origin) => origin.clone(),
        None if model.origins == 0 => "no known crawler".to_owned(),
        None => counted(model.origins as u64, "origin"),
    }
}

fn heading(model: &PageModel) -> String {
    if model.origins == 0 { "No known crawler came".to_owned() } else { place(model) }
}

fn headline(model: &PageModel) -> Markup {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    if model.origins == 0 {
        return match model.run.lines.lines {
            0 => html! { "The logs are empty." },
            _ => html! { "The logs hold no request of a known crawler." },
        };
    }
    if judged == 0 {
        let requests = strongly_counted(sums.requests, "request");
        return html! { "None of the " (requests) " of known crawlers could be judged." };
    }
    if sums.violations == 0 {
        let requests = strongly_counted(judged, "request");
        return html! {
            "No known crawler broke a rule: all " (requests) " that could be judged were allowed."
        };
    }
    let who: BTreeSet<&str> = model
        .offenders()
        .into_iter()
        .filter(|((_, identity), _)| is_itself(*identity))
        .map(|((name, _), _)| name.as_str())
        .collect();
    html! {
        (strongly_counted(who.len() as u64, "crawler")) " made "
        (strongly_counted(sums.violations, "request")) " that robots.txt disallowed: "
        (percent(sums.violations, judged)) " of the " (grouped(judged)) " that could be judged. "
        (worst(model))
    }
}

/// Who broke most, in a sentence.
fn worst(model: &PageModel) -> Markup {
    let offenders = model.offenders();
    let named = offenders.iter().filter(|((_, identity), _)| is_itself(*identity)).take(3);
    let named: Vec<Markup> = named
        .map(|((name, _), crawler)| {
            html! { (cut(name)) " (" (grouped(crawler.sums.violations)) ")" }
        })
        .collect();
    html! {
        @match &named[..] {
            [] => {}
            [one] => { "It was " (one) "." }
            several => { "Most were made by " (listed(several)) "." }
        }
    }
}

fn spoofed(model: &PageModel) -> Markup {
    let spoofed = model.sums_of(Identity::Spoofed);
    html! {
        @if spoofed.requests > 0 {
            p {
                "Another " (strongly_counted(spoofed.requests, "request"))
                " only used a crawler’s name, as their addresses show; they are told apart and never \
                 held against the crawler."
            } "\n"
        }
    }
}

/// Key figures, each with what it means.
fn figures(model: &PageModel) -> Markup {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    let not_judged = sums.requests - judged.min(sums.requests);
    let own = model.crawlers.iter().filter(|((_, identity), _)| is_itself(*identity));
    let after_own_fetch: u64 = own.map(|(_, crawler)| crawler.prior_fetches.own).sum();
    let tiles = [
        (
            "Violations",
            sums.violations,
            share(sums.violations, judged, "of those judged", "nothing was judged"),
        ),
        (
            "By crawlers that had fetched the rules",
            after_own_fetch,
            share(after_own_fetch, sums.violations, "of the violations", "there are no violations"),
        ),
        (
            "Rules broken",
            model.rules_broken as u64,
            counted(model.origins as u64, "origin") + " asked",
        ),
        (
            "Requests of known crawlers",
            sums.requests,
            share(sums.requests, model.run.lines.lines, "of all lines", "there are no lines"),
        ),
        (
            "Not judged",
            not_judged,
            share(not_judged, sums.requests, "of these requests", "there are no requests"),
        ),
    ];
    html! {
        dl class="tiles" {
            @for (name, number, note) in tiles {
                div { dt { (name) } dd { b { (grouped(number)) } span { (note) } } }
            }
        } "\n"
    }
}

/// `24.5 % of those judged`, or else that there are none.
fn share(part: u64, whole: u64, of: &str, none: &str) -> String {
    if whole == 0 { none.to_owned() } else { format!("{} {of}", percent(part, whole)) }
}

fn remarks(model: &PageModel) -> Markup {
    let run = &model.run;
    let damages = run.inputs.iter().filter_map(|input| Some((&input.name, input.damage.as_ref()?)));
    html! {
        @if !run.complete {
            div class="remark bad" {
                h3 { "Some input was missing or damaged" }
                ul { @for (name, damage) in damages { li { (code(name)) ": " (cut(damage)) } } }
            } "\n"
        }
        @if !run.warnings.is_empty() {
            div class="remark bad" { h3 { "Warnings" } (list(&run.warnings)) } "\n"
        }
        @if !run.notes.is_empty() {
            div class="remark" { h3 { "To know when reading this" } (list(&run.notes)) } "\n"
        }
        p class="fine" {
            "Of " (strong(run.lines.lines)) " lines " (grouped(run.lines.crawler))
            " are requests of known crawlers, " (grouped(run.lines.other))
            " of anybody else, " (grouped(run.lines.rejected))
            " could not be read and " (grouped(run.lines.skipped)) " were passed over."
        } "\n"
    }
}

fn list(texts: &[String]) -> Markup {
    html! { ul { @for text in texts { li { (with_flags(&shown(text))) } } } }
}

/// `text`; the names of flags in it are not broken at the end of a line.
fn with_flags(text: &str) -> Markup {
    html! {
        @for (at, word) in text.split(' ').enumerate() {
            @if at > 0 { " " }
            @if word.starts_with("--") { span class="flag" { (word) } } @else { (word) }
        }
    }
}
