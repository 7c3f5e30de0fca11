//! The head of the page: what it is about, the one sentence, the key figures, the warnings.

use std::collections::BTreeSet;

use super::super::facts::{Facts, is_itself};
use super::super::format::{counted, grouped, percent};
use super::markup::{code, cut, escape, listed, minute, strong, strongly_counted};

/// The title of the document, as text.
pub fn title(facts: &Facts) -> String {
    let days = days(facts).map_or_else(String::new, |days| format!(", {days}"));
    format!("Crawlers and robots.txt: {}{days}", place(facts))
}

/// The heading and what was looked at, as HTML.
pub fn header(facts: &Facts) -> String {
    let (first, last) = &facts.period;
    let period = if first.is_empty() {
        String::new()
    } else {
        format!(
            "<time datetime=\"{0}\">{1}</time> to <time datetime=\"{2}\">{3}</time> UTC · ",
            escape(first),
            escape(&minute(first)),
            escape(last),
            escape(&minute(last))
        )
    };
    format!(
        "<p class=\"kind\">Crawlers and robots.txt{}</p><h1>{}</h1>\n<p class=\"period\">{period}{} of {}{}</p>",
        days(facts).map_or_else(String::new, |days| format!(" · {}", escape(&cut(&days)))),
        escape(&cut(&heading(facts))),
        counted(facts.run.lines.lines, "line"),
        counted(facts.run.inputs.len() as u64, "log file"),
        match facts.run.reports.len() as u64 {
            0 => String::new(),
            reports => format!(", in {}", counted(reports, "report")),
        }
    )
}

/// The day, or the first and the last.
fn days(facts: &Facts) -> Option<String> {
    let (first, last) = (facts.days.keys().next()?, facts.days.keys().next_back()?);
    Some(if first == last { first.clone() } else { format!("{first} to {last}") })
}

/// The first section, as HTML.
pub fn overview(facts: &Facts) -> String {
    let mut html = format!("<p class=\"headline\">{}</p>\n", headline(facts));
    html += &spoofed(facts);
    html += &figures(facts);
    html += &remarks(facts);
    html
}

fn place(facts: &Facts) -> String {
    match &facts.only_origin {
        Some(origin) => origin.clone(),
        None if facts.origins == 0 => "no known crawler".to_owned(),
        None => counted(facts.origins as u64, "origin"),
    }
}

fn heading(facts: &Facts) -> String {
    if facts.origins == 0 { "No known crawler came".to_owned() } else { place(facts) }
}

fn headline(facts: &Facts) -> String {
    let sums = facts.not_spoofed();
    let judged = sums.allowed + sums.violations;
    if facts.origins == 0 {
        return match facts.run.lines.lines {
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
    let who: BTreeSet<&str> = facts
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
        worst(facts)
    )
}

/// Who broke most, in a sentence.
fn worst(facts: &Facts) -> String {
    let offenders = facts.offenders();
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

fn spoofed(facts: &Facts) -> String {
    let spoofed = facts.of(crate::crawlers::identity::Identity::Spoofed);
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
fn figures(facts: &Facts) -> String {
    let sums = facts.not_spoofed();
    let judged = sums.allowed + sums.violations;
    let mut knowledge = 0;
    for ((_, identity), crawler) in &facts.crawlers {
        if is_itself(*identity) {
            knowledge += crawler.knowledge.read_by_itself;
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
            grouped(facts.rules_broken as u64),
            counted(facts.origins as u64, "origin") + " asked",
        ),
        (
            "Requests of known crawlers",
            grouped(sums.requests),
            share(sums.requests, facts.run.lines.lines, "of all lines", "there are no lines"),
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

fn remarks(facts: &Facts) -> String {
    let mut html = String::new();
    if !facts.run.complete {
        let why = facts.run.inputs.iter().filter_map(|input| {
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
    if !facts.run.warnings.is_empty() {
        html += &format!(
            "<div class=\"remark bad\"><h3>Warnings</h3><ul>{}</ul></div>\n",
            items(&facts.run.warnings)
        );
    }
    if !facts.run.notes.is_empty() {
        html += &format!(
            "<div class=\"remark\"><h3>To know when reading this</h3><ul>{}</ul></div>\n",
            items(&facts.run.notes)
        );
    }
    let lines = &facts.run.lines;
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
