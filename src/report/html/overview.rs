//! The head of the page: what it is about, the one sentence, the key figures, the warnings.

use std::collections::BTreeSet;

use crate::audit::sums::Span;

use super::super::format::{counted, grouped, percent};
use super::super::page_model::{PageModel, is_itself};
use super::markup::{code, cut, escape, listed, minute, strong, strongly_counted};

/// The title of the document, as text.
pub fn title(model: &PageModel) -> String {
    let days = days(model).map_or_else(String::new, |days| format!(", {days}"));
    format!("Crawlers and robots.txt: {}{days}", place(model))
}

/// The heading and what was looked at, as HTML.
pub fn header(model: &PageModel) -> String {
    let period = model.period.map_or_else(String::new, |Span { first, last }| {
        let (first, last) = (first.to_string(), last.to_string());
        format!(
            "<time datetime=\"{0}\">{1}</time> to <time datetime=\"{2}\">{3}</time> UTC · ",
            escape(&first),
            escape(&minute(&first)),
            escape(&last),
            escape(&minute(&last))
        )
    });
    format!(
        "<p class=\"kind\">Crawlers and robots.txt{}</p><h1>{}</h1>\n<p class=\"period\">{period}{} of {}{}</p>",
        days(model).map_or_else(String::new, |days| format!(" · {}", escape(&cut(&days)))),
        escape(&cut(&heading(model))),
        counted(model.run.lines.lines, "line"),
        counted(model.run.inputs.len() as u64, "log file"),
        match model.run.reports.len() as u64 {
            0 => String::new(),
            reports => format!(", in {}", counted(reports, "report")),
        }
    )
}

/// The day, or the first and the last.
fn days(model: &PageModel) -> Option<String> {
    let (first, last) = (model.days.keys().next()?, model.days.keys().next_back()?);
    Some(if first == last { first.to_string() } else { format!("{first} to {last}") })
}

/// The first section, as HTML.
pub fn overview(model: &PageModel) -> String {
    let mut html = format!("<p class=\"headline\">{}</p>\n", headline(model));
    html += &spoofed(model);
    html += &figures(model);
    html += &remarks(model);
    html
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

fn headline(model: &PageModel) -> String {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    if model.origins == 0 {
        return match model.run.lines.lines {
            0 => "The logs are empty.".to_owned(),
            _ => "The logs hold no request of a known crawler.".to_owned(),
        };
    }
    if judged == 0 {
        return format!(
            "None of the {} of known crawlers could be judged.",
            strongly_counted(sums.requests, "request")
        );
    }
    if sums.violations == 0 {
        return format!(
            "No known crawler broke a rule: all {} that could be judged were allowed.",
            strongly_counted(judged, "request")
        );
    }
    let who: BTreeSet<&str> = model
        .offenders()
        .into_iter()
        .filter(|((_, identity), _)| is_itself(*identity))
        .map(|((name, _), _)| name.as_str())
        .collect();
    format!(
        "{} made {} that robots.txt disallowed: {} of the {} that could be judged. {}",
        strongly_counted(who.len() as u64, "crawler"),
        strongly_counted(sums.violations, "request"),
        percent(sums.violations, judged),
        grouped(judged),
        worst(model)
    )
}

/// CrawlerKey broke most, in a sentence.
fn worst(model: &PageModel) -> String {
    let offenders = model.offenders();
    let named = offenders.iter().filter(|((_, identity), _)| is_itself(*identity)).take(3);
    let named: Vec<String> = named
        .map(|((name, _), crawler)| {
            format!("{} ({})", escape(&cut(name)), grouped(crawler.sums.violations))
        })
        .collect();
    match named.len() {
        0 => String::new(),
        1 => format!("It was {}.", named[0]),
        _ => format!("Most were made by {}.", listed(&named)),
    }
}

fn spoofed(model: &PageModel) -> String {
    let spoofed = model.sums_of(crate::crawlers::identity::Identity::Spoofed);
    if spoofed.requests == 0 {
        return String::new();
    }
    format!(
        "<p>Another {} only used a crawler’s name, as their addresses show; they are told apart and \
         never held against the crawler.</p>\n",
        strongly_counted(spoofed.requests, "request")
    )
}

/// Key figures, each with what it means.
fn figures(model: &PageModel) -> String {
    let sums = model.not_spoofed();
    let judged = sums.allowed + sums.violations;
    let mut knowledge = 0;
    for ((_, identity), crawler) in &model.crawlers {
        if is_itself(*identity) {
            knowledge += crawler.prior_fetches.own;
        }
    }
    let tiles = [
        (
            "Violations",
            grouped(sums.violations),
            share(sums.violations, judged, "of those judged", "nothing was judged"),
        ),
        (
            "By crawlers that had read the rules",
            grouped(knowledge),
            share(knowledge, sums.violations, "of the violations", "there are no violations"),
        ),
        (
            "Rules broken",
            grouped(model.rules_broken as u64),
            counted(model.origins as u64, "origin") + " asked",
        ),
        (
            "Requests of known crawlers",
            grouped(sums.requests),
            share(sums.requests, model.run.lines.lines, "of all lines", "there are no lines"),
        ),
        (
            "Not judged",
            grouped(sums.requests - judged.min(sums.requests)),
            share(
                sums.requests - judged.min(sums.requests),
                sums.requests,
                "of these requests",
                "there are no requests",
            ),
        ),
    ];
    let tiles = tiles.map(|(name, number, note)| {
        format!("<div><dt>{name}</dt><dd><b>{number}</b><span>{note}</span></dd></div>")
    });
    format!("<dl class=\"tiles\">{}</dl>\n", tiles.concat())
}

/// `24.5 % of those judged`, or else that there are none.
fn share(part: u64, whole: u64, of: &str, none: &str) -> String {
    if whole == 0 { none.to_owned() } else { format!("{} {of}", percent(part, whole)) }
}

fn remarks(model: &PageModel) -> String {
    let mut html = String::new();
    if !model.run.complete {
        let why = model.run.inputs.iter().filter_map(|input| {
            let damage = input.damage.as_ref()?;
            Some(format!("<li>{}: {}</li>", code(&input.name), escape(&cut(damage))))
        });
        html += &format!(
            "<div class=\"remark bad\"><h3>Some input was missing or damaged</h3><ul>{}</ul></div>\n",
            why.collect::<String>()
        );
    }
    let items = |all: &[String]| -> String {
        all.iter()
            .map(|text| format!("<li>{}</li>", with_flags(&super::super::escape::shown(text))))
            .collect()
    };
    if !model.run.warnings.is_empty() {
        html += &format!(
            "<div class=\"remark bad\"><h3>Warnings</h3><ul>{}</ul></div>\n",
            items(&model.run.warnings)
        );
    }
    if !model.run.notes.is_empty() {
        html += &format!(
            "<div class=\"remark\"><h3>To know when reading this</h3><ul>{}</ul></div>\n",
            items(&model.run.notes)
        );
    }
    let lines = &model.run.lines;
    html + &format!(
        "<p class=\"fine\">Of {} lines {} are requests of known crawlers, {} of anybody else, {} could \
         not be read and {} were passed over.</p>\n",
        strong(lines.lines),
        grouped(lines.crawler),
        grouped(lines.other),
        grouped(lines.rejected),
        grouped(lines.skipped)
    )
}

/// `text` as HTML; the names of flags in it are not broken at the end of a line.
fn with_flags(text: &str) -> String {
    let word = |word: &str| match word.starts_with("--") {
        true => format!("<span class=\"flag\">{}</span>", escape(word)),
        false => escape(word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
