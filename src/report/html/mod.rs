//! `report.html`: one file that tells what a report's tables say.
//!
//! Drawn from [`PageModel`] alone. It needs nothing from elsewhere, reads without
//! the script, and everything that strangers wrote is text.

mod chart;
mod crawlers;
mod delay;
mod fetches;
mod heat;
mod hours;
mod markup;
mod method;
mod overview;
mod rules;
mod shell;
mod table;
mod timeline;
mod unjudged;
mod unknown;
mod what_if;

use memchr::memmem;

use super::page_model::PageModel;

use shell::{GENERATOR, Section, document};

/// The name of the page in the report directory.
pub const PAGE: &str = "report.html";

/// Whether a file that begins with `head` is such a page.
pub fn is_page(head: &[u8]) -> bool {
    head.starts_with(b"<!DOCTYPE html>") && memmem::find(head, GENERATOR.as_bytes()).is_some()
}

/// The page. Equal models give equal bytes.
pub fn page(model: &PageModel) -> String {
    let mut sections = vec![
        ("overview", "Overview", "At a glance", overview::overview(model)),
        ("crawlers", "Crawlers", "Violations by crawler", crawlers::violations(model)),
        ("timeline", "Timeline", "By day and hour", timeline::timeline(model)),
        ("rules", "Rules", "The rules most broken", rules::rules(model)),
        ("answers", "Answers", "How violators were answered", crawlers::answers(model)),
        ("fetches", "Fetches", "Who fetched robots.txt", fetches::fetches(model)),
        ("delay", "Crawl-delay", "Crawl-delay", delay::delay(model)),
        ("unknown", "Unknown", "Unknown crawlers", unknown::unknown(model)),
        ("unjudged", "Not judged", "What could not be judged", unjudged::unjudged(model)),
        ("method", "Method", "How the numbers were made", method::method(model)),
    ];
    if let Some(body) = what_if::what_if(model) {
        sections.insert(1, ("what-if", "What if", "What the draft would change", body));
    }
    let section = |(id, short, title, body)| Section { id, short, title, body };
    let sections: Vec<Section> = sections.into_iter().map(section).collect();
    document(&overview::title(model), &overview::header(model), &sections)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::super::page_model::crawler::CrawlerTotals;
    use super::super::page_model::rows::{
        ChangeRow, ChangeRule, DelayRow, RejectRow, SummaryRow, UnknownCrawlerRow, ViolationRow,
    };
    use super::super::page_model::rule::{RobotsLine, RuleExample, RuleTotals};
    use super::super::page_model::run::{
        InputDetails, LineTotals, MergedReport, RobotsDetails, RunDetails, WhatIfTotals,
    };
    use super::super::page_model::what_if::Changes;
    use super::super::page_model::{CrawlerKey, Heaviest};
    use super::*;
    use crate::audit::simulate::Change;
    use crate::audit::sums::Sums;
    use crate::crawlers::identity::Identity;

    /// Markup that ends elements and attributes, if it is one.
    fn hostile(name: &str) -> String {
        format!("</script><{name} a=\"b\" c='d'>&lt;")
    }

    fn shown(name: &str) -> String {
        format!("&lt;/script&gt;&lt;{name} a=&quot;b&quot; c='d'&gt;&amp;lt;")
    }

    fn heaviest<T>(row: T) -> Heaviest<T> {
        Heaviest { rows: vec![row], total: 1 }
    }

    fn crawler(name: &str, identity: Identity) -> (CrawlerKey, CrawlerTotals) {
        let totals = CrawlerTotals {
            operator: hostile("operator"),
            purpose: hostile("purpose"),
            stated_policy: hostile("policy"),
            not_bound_reason: hostile("reason"),
            sums: Sums { requests: 9, violations: 3, not_bound: 2, ..Sums::default() },
            ..CrawlerTotals::default()
        };
        ((hostile(name), identity), totals)
    }

    fn run() -> RunDetails {
        let robots = || RobotsDetails {
            source: hostile("robots"),
            digest: hostile("digest"),
            ..RobotsDetails::default()
        };
        RunDetails {
            reports: vec![MergedReport {
                report: hostile("report"),
                first_day: Some(hostile("first-day")),
                last_day: Some(hostile("last-day")),
                ..MergedReport::default()
            }],
            options: BTreeMap::from([
                (hostile("option"), Value::from(hostile("value"))),
                ("timezone".to_owned(), Value::from(hostile("zone"))),
            ]),
            inputs: vec![InputDetails {
                name: hostile("input"),
                format: Some(hostile("format")),
                damage: Some(hostile("damage")),
                ..InputDetails::default()
            }],
            robots: vec![robots()],
            lines: LineTotals {
                skipped_by_reason: BTreeMap::from([(hostile("skip"), 1)]),
                ..LineTotals::default()
            },
            what_if: Some(WhatIfTotals { draft: robots(), ..WhatIfTotals::default() }),
            warnings: vec![hostile("warning")],
            notes: vec![hostile("note"), format!("--{}", hostile("flag"))],
            files: vec![hostile("file")],
            ..RunDetails::default()
        }
    }

    fn rule() -> RuleTotals {
        RuleTotals {
            directive: hostile("directive"),
            pattern: hostile("pattern"),
            by: BTreeMap::from([((hostile("breaker"), Identity::Verified), 1)]),
            origins: BTreeSet::from([hostile("rule-origin")]),
            example: Some(RuleExample {
                time: None,
                file: hostile("rule-file"),
                line: 1,
                target: hostile("rule-target"),
            }),
            ..RuleTotals::default()
        }
    }

    fn violation() -> ViolationRow {
        ViolationRow {
            origin: hostile("violation-origin"),
            crawler: hostile("violation-crawler"),
            identity: Identity::Verified,
            rule_line: 2,
            directive: hostile("violation-directive"),
            pattern: hostile("violation-pattern"),
            group: hostile("violation-group"),
            requests: 1,
            first_seen: None,
            example_target: hostile("violation-target"),
            example_file: hostile("violation-file"),
            example_line: 1,
        }
    }

    fn summary() -> SummaryRow {
        SummaryRow {
            origin: hostile("summary-origin"),
            crawler: hostile("summary-crawler"),
            operator: String::new(),
            stated_policy: String::new(),
            identity: Identity::Verified,
            sums: Sums { requests: 1, violations: 1, ..Sums::default() },
            not_bound_reason: String::new(),
            seen: None,
        }
    }

    fn delay() -> DelayRow {
        DelayRow {
            origin: hostile("delay-origin"),
            crawler: hostile("delay-crawler"),
            identity: Identity::Verified,
            delay: hostile("delay"),
            honours_delay: hostile("honours"),
            requests: 1,
            over_hourly: None,
            hours_over: None,
            over_daily: None,
            busiest_hour: None,
            busiest_hour_requests: None,
        }
    }

    fn changes() -> Changes {
        let rule =
            |name: &str| ChangeRule { directive: "allow".to_owned(), pattern: hostile(name) };
        let row = ChangeRow {
            origin: hostile("change-origin"),
            crawler: hostile("change-crawler"),
            identity: Identity::Verified,
            change: Change::NewlyAllowed,
            requests: 1,
            draft_line: None,
            draft: Some(rule("draft")),
            present: Some(rule("present")),
            example_target: hostile("change-target"),
        };
        let requests = BTreeMap::from([((Change::NewlyAllowed, hostile("changed")), 1)]);
        Changes { heaviest: heaviest(row), requests }
    }

    fn model() -> PageModel {
        let line = RobotsLine { line: 7, field: hostile("field"), value: hostile("value-near") };
        let token = RobotsLine { line: 6, field: "user-agent".to_owned(), value: hostile("token") };
        PageModel {
            run: run(),
            crawlers: BTreeMap::from([
                crawler("verified-crawler", Identity::Verified),
                crawler("spoofed-crawler", Identity::Spoofed),
            ]),
            origins: 2,
            only_origin: Some(hostile("only-origin")),
            rules: vec![((hostile("version"), 8), rule())],
            robots_lines: BTreeMap::from([(hostile("version"), vec![token, line])]),
            summary: heaviest(summary()),
            violations: heaviest(violation()),
            delays: heaviest(delay()),
            unknown_crawlers: heaviest(UnknownCrawlerRow {
                user_agent: hostile("user-agent"),
                token: hostile("name"),
                requests: 1,
                star_disallowed: 0,
                star_allowed: 1,
                robots_txt_requests: 0,
                seen: None,
            }),
            rejects: heaviest(RejectRow {
                file: hostile("reject-file"),
                reason: hostile("reject-reason"),
                lines: 1,
                example_line: 1,
                example: hostile("reject"),
            }),
            changes: changes(),
            days: BTreeMap::from([(
                crate::time::Day::parse("2026-01-31").unwrap(),
                BTreeMap::new(),
            )]),
            ..PageModel::default()
        }
    }

    #[test]
    fn hostile_text_shows_as_text_wherever_it_stands() {
        let page = page(&model());
        let names = "operator purpose policy reason robots digest report first-day last-day option \
                     value zone input format damage skip warning note file directive pattern breaker \
                     rule-origin rule-file rule-target violation-origin violation-crawler \
                     violation-pattern violation-directive violation-group violation-target \
                     violation-file summary-origin summary-crawler delay-origin delay-crawler delay \
                     honours change-origin change-crawler draft present change-target changed \
                     verified-crawler spoofed-crawler only-origin user-agent name reject-file \
                     reject-reason reject field value-near token";
        for name in names.split_whitespace() {
            assert!(!page.contains(&format!("<{name} ")), "{name} is an element");
            assert!(page.contains(&shown(name)), "{name} is not shown: {page}");
        }
        assert!(page.contains("<span class=\"flag\">--&lt;/script&gt;&lt;flag</span>"), "{page}");
        assert_eq!(page.matches("</script>").count(), 1);
    }
}
