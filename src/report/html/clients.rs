//! All lines of the logs, by the class of their client.

use maud::{Markup, html};

use crate::audit::client_rows::{BY_SIGNATURE, ClientClass, ClientKey, clients};
use crate::measures::clients::Sampled;
use crate::merge::sum;
use crate::numbers::{counted, grouped, percent};
use crate::report::page_model::{PageModel, text};
use crate::statistics::wilson_interval;

use super::chart::{LegendEntry, bar, legend};
use super::table::{HtmlTable, Kind};

/// The parts of the bar, and the classes in each.
const PARTS: [(LegendEntry, &[ClientClass]); 5] = [
    (
        ("allowed", "known crawlers"),
        &[
            ClientClass::VerifiedCrawler,
            ClientClass::SignedCrawler,
            ClientClass::UnverifiedCrawler,
            ClientClass::CrawlerNotOnList,
        ],
    ),
    (("fetch", "tools"), &[ClientClass::Tool]),
    (
        ("violation", "clients without a known name, and spoofed crawlers"),
        &[
            ClientClass::SpoofedCrawler,
            ClientClass::Automated,
            ClientClass::Disguised,
            ClientClass::NoUserAgent,
        ],
    ),
    (("unjudged", "browsers"), &[ClientClass::Browser]),
    (("change", "other lines"), &[ClientClass::Rejected, ClientClass::Skipped]),
];

/// The section; `None` without lines.
pub(crate) fn clients_of_lines(model: &PageModel<'_>) -> Option<Markup> {
    let of_classes = clients(model.audit);
    let lines = sum(of_classes.values().map(|sampled| sampled.requests));
    if lines == 0 {
        return None;
    }
    let of = |classes: &[ClientClass]| {
        let chosen = of_classes.iter().filter(|((class, ..), _)| classes.contains(class));
        sum(chosen.map(|(_, sampled)| *sampled))
    };
    let automated = of(&[ClientClass::Automated]);
    let browsers = of(&[ClientClass::Browser]);
    let parts = PARTS.map(|(entry, _)| entry);
    let rows: Vec<(ClientKey<'_>, Sampled)> = of_classes.into_iter().collect();
    let numbers = PARTS.map(|(_, classes)| {
        let chosen = rows.iter().filter(|((class, ..), _)| classes.contains(class));
        sum(chosen.map(|(_, sampled)| sampled.requests))
    });
    let table = HtmlTable::new("by-client", "Lines by client", "clients.csv", rows)
        .text("Client", |(key, _)| words(*key))
        .number("Lines", |(_, sampled)| sampled.requests)
        .share("Of all", |(_, sampled)| (sampled.requests, lines))
        .known("Disallowed paths", |((class, ..), sampled)| {
            (class.is_request() && !class.is_sampled()).then(|| sampled.judged.paths().1)
        })
        .column("Share of disallowed paths", Kind::Number, |(key, sampled)| {
            text(&share(*key, sampled))
        });
    Some(html! {
        (bar(&parts, numbers, lines))
        (legend(&parts))
        @if automated.requests > 0 {
            p {
                "Automated clients without a name in the registry: "
                (counted(automated.requests, "request")) ", "
                (grouped(automated.judged.paths().1)) " for paths that robots.txt disallows."
            } "\n"
        }
        @if let Some((low, high)) = interval(&browsers).filter(|(low, _)| *low > 0.0) {
            p {
                "Clients that do not know the rules request some disallowed paths, too: browsers in "
                (percent_of(low)) " to " (percent_of(high)) " of their requests, estimated from a sample of "
                (grouped(browsers.judged.paths().0)) "."
            } "\n"
        }
        (table.main())
    })
}

/// The interval of the share of disallowed paths in a sample.
fn interval(sampled: &Sampled) -> Option<(f64, f64)> {
    let (paths, disallowed) = sampled.judged.paths();
    wilson_interval(disallowed, paths)
}

fn share((class, ..): ClientKey<'_>, sampled: &Sampled) -> String {
    let (paths, disallowed) = sampled.judged.paths();
    match interval(sampled) {
        None => "–".to_owned(),
        Some((low, high)) if class.is_sampled() => {
            format!("{} to {}", percent_of(low), percent_of(high))
        }
        Some(_) => percent(disallowed, paths),
    }
}

fn percent_of(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A class as words, with the operator of a disguised client.
fn words((class, operator, proof): ClientKey<'_>) -> String {
    match class {
        ClientClass::VerifiedCrawler => "known crawlers, verified".to_owned(),
        ClientClass::SignedCrawler => "known crawlers, verified by their signature".to_owned(),
        ClientClass::UnverifiedCrawler => "known crawlers, unverified".to_owned(),
        ClientClass::CrawlerNotOnList => "known crawlers, not on the operator's list".to_owned(),
        ClientClass::SpoofedCrawler => "spoofed crawlers".to_owned(),
        ClientClass::Tool => "tools".to_owned(),
        ClientClass::Automated => "other automated clients".to_owned(),
        ClientClass::Disguised if proof == BY_SIGNATURE => {
            format!("browsers' user agents in requests that {operator} signed")
        }
        ClientClass::Disguised => {
            format!("browsers' user agents from addresses of crawlers of {operator}")
        }
        ClientClass::NoUserAgent => "no user agent".to_owned(),
        ClientClass::Browser => "browsers and apps".to_owned(),
        ClientClass::Rejected => "lines that could not be read".to_owned(),
        ClientClass::Skipped => "other lines, such as comments".to_owned(),
    }
}
