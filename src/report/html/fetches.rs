//! What robots.txt and operators say besides rules: who fetched robots.txt, who kept a Crawl-delay,
//! statements about use, and promises.

use maud::{Markup, html};

use crate::audit::promises::{PromiseRow, PromiseState, PromisedValue, promises};
use crate::audit::{crawler_row::Delayed, quotes::UsageRow};
use crate::crawlers::identity::Actor;
use crate::measures::delay_kept::Excess;
use crate::numbers::counted;
use crate::report::page_model::totals::{CrawlerTotals, Heaviest};
use crate::report::page_model::{PageModel, ROWS_MAX, is_itself, text};
use crate::robots::usage::UsagePreference;
use crate::table::{csv::not_bound_reason, escape::visible};
use crate::time::Zone;

use super::markup::{Badge, strongly_counted};
use super::table::{HtmlTable, Kind};

/// The table with all rows.
const FILE: &str = "robots-fetches.csv";

/// The most crawlers named that read robots.txt on earlier days.
const READ_BEFORE_MAX: usize = 5;

/// The section; `None` without crawlers that robots.txt binds.
pub(crate) fn fetches(model: &PageModel<'_>) -> Option<Markup> {
    let is_bound = |(crawler, identity): Actor| {
        is_itself(identity) && not_bound_reason(model.crawler(crawler)).is_empty()
    };
    let all = model.crawlers.iter().map(|(actor, totals)| (*actor, totals));
    let mut all: Vec<(Actor, &CrawlerTotals)> = all.filter(|(actor, _)| is_bound(*actor)).collect();
    all.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.sums.violations));
    let (fetched, never): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, totals)| totals.fetches.successful > 0);
    let read_before = read_before(model, fetched.iter().chain(&never));
    (!fetched.is_empty() || !never.is_empty()).then(|| {
        html! {
            p {
                (strongly_counted(fetched.len() as u64, "crawler"))
                " that robots.txt binds fetched it in these logs, "
                (strongly_counted(never.len() as u64, "crawler"))
                " did not. A log shows no fetches from before its first line."
                @if !read_before.is_empty() { " " (read_before) }
            } "\n"
            (before_violations(model))
            (fetchers(model, fetched))
            (never_fetched(model, never))
        }
    })
}

/// Who read robots.txt on earlier days, as far as nightly remembers them; empty if nobody did.
fn read_before<'a>(
    model: &PageModel<'_>,
    rows: impl Iterator<Item = &'a (Actor, &'a CrawlerTotals)>,
) -> String {
    let read = rows.filter_map(|(actor, totals)| {
        let last = Zone::UTC.day_of(totals.fetches.earlier?.last);
        let name = text(&model.crawler(actor.0).name);
        Some(format!("{name} ({}) read it on {last}", actor.1.as_str()))
    });
    let read: Vec<String> = read.collect();
    let more = read.len().saturating_sub(READ_BEFORE_MAX);
    let shown = read[..read.len() - more].join(", ");
    match (read.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("On earlier days: {shown}."),
        (false, more) => format!("On earlier days: {shown} and {more} more."),
    }
}

fn before_violations(model: &PageModel<'_>) -> Markup {
    let own = model.own_offenders();
    let numbers = |(_, totals): &(Actor, &CrawlerTotals)| {
        let known = &totals.prior_fetches;
        let fetched = [known.prior_fetch_own, known.prior_fetch_operator];
        [fetched[0], fetched[1], known.prior_fetch_none, known.prior_fetch_unknown]
    };
    let titles = ["Fetched by itself", "By its operator", "Not in these logs", "Unknown"];
    let caption = "Violations by earlier fetches of robots.txt";
    HtmlTable::new("by-prior-fetch", caption, FILE, own)
        .actor(model, |(actor, _)| *actor)
        .numbers(titles, numbers)
        .folded()
}

fn fetchers(model: &PageModel<'_>, rows: Vec<(Actor, &CrawlerTotals)>) -> Markup {
    HtmlTable::new("fetchers", "Crawlers that fetched robots.txt", FILE, rows)
        .actor(model, |(actor, _)| *actor)
        .number("Successful fetches", |(_, totals)| totals.fetches.successful)
        .number("Origins fetched", |(_, totals)| totals.fetches.origins_fetched)
        .number("Origins requested", |(_, totals)| totals.fetches.origins)
        .time("First successful fetch, UTC", |(_, totals)| Some(totals.fetches.span?.first))
        .time("Last successful fetch, UTC", |(_, totals)| Some(totals.fetches.span?.last))
        .number("Requests before", |(_, totals)| totals.fetches.before_first)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .folded()
}

fn never_fetched(model: &PageModel<'_>, rows: Vec<(Actor, &CrawlerTotals)>) -> Markup {
    let caption = "Crawlers without a fetch of robots.txt in these logs";
    HtmlTable::new("never-fetched", caption, FILE, rows)
        .actor(model, |(actor, _)| *actor)
        .number("Failed fetches", |(_, totals)| totals.fetches.requests)
        .number("Other requests", |(_, totals)| totals.fetches.other_requests)
        .number("Origins requested", |(_, totals)| totals.fetches.origins)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .folded()
}

/// Which crawlers had a Crawl-delay, and which kept it; `None` if no Crawl-delay applies.
pub(crate) fn delay(model: &PageModel<'_>) -> Option<Markup> {
    let over = |excess: Option<Excess>| excess.map(|excess| excess.requests_over);
    let hourly = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.hourly);
    let daily = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.daily);
    let busiest = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.busiest);
    let of_crawlers =
        model.audit.delays().filter(|(_, (crawler, _), _)| !model.audit.is_tool(*crawler));
    let rows = Heaviest::of(of_crawlers, ROWS_MAX, |(_, _, delayed)| {
        over(hourly(delayed)).unwrap_or_default()
    });
    if rows.rows.is_empty() {
        return None;
    }
    let (caption, file) = ("Requests beyond what a delay allows", "crawl-delay.csv");
    let table = HtmlTable::cut("by-delay", caption, file, rows)
        .actor(model, |(_, actor, _)| *actor)
        .code("Origin", |(origin, _, _)| text(origin))
        .code("Delay", |(_, _, delayed)| visible(&delayed.asked.written))
        .text("Documented to honour it", |(_, (crawler, _), _)| {
            model.crawler(*crawler).crawl_delay.as_str().to_owned()
        })
        .number("Requests", |(_, _, delayed)| delayed.requests)
        .known("Too many, by hours", |(_, _, delayed)| over(hourly(delayed)))
        .known("Hours", |(_, _, delayed)| hourly(delayed).map(|hourly| hourly.periods_over))
        .known("Too many, by days", |(_, _, delayed)| over(daily(delayed)))
        .time("Busiest hour, UTC", |(_, _, delayed)| busiest(delayed)?.start)
        .known("Requests in it", |(_, _, delayed)| busiest(delayed).map(|hour| hour.requests));
    Some(html! {
        p {
            "Crawl-delay is not part of the standard, so a request that comes too early is not a violation. Only \
             certain cases are counted: requests above the number that the delay allows in an hour, or in a day."
        } "\n"
        (table.folded())
    })
}

/// What crawlers fetched of paths about whose use robots.txt states a preference; `None` without
/// such requests.
pub(crate) fn usage(model: &PageModel<'_>) -> Option<Markup> {
    let rows = || model.audit.usage().filter(|(_, actor, _)| model.audit.is_own_crawler(*actor));
    rows().next()?;
    let is_reserved = |usage: &UsageRow| usage.stated.preference == UsagePreference::Reserved;
    let reserved = rows().filter(|(_, _, usage)| is_reserved(usage)).count() as u64;
    let rows = Heaviest::of(rows(), ROWS_MAX, |(_, _, usage)| usage.tally.requests);
    let table = HtmlTable::cut("by-usage", "Requests by preference", "usage.csv", rows)
        .actor(model, |(_, actor, _)| *actor)
        .text("Statement", |(_, _, usage)| usage.stated.signal.as_str().to_owned())
        .text("Use", |(_, _, usage)| usage.stated.category.as_str().to_owned())
        .text("Preference", |(_, _, usage)| usage.stated.preference.as_str().to_owned())
        .number("Line", |(_, _, usage)| u64::from(usage.stated.line))
        .number("Requests", |(_, _, usage)| usage.tally.requests)
        .seen(|(_, _, usage)| usage.tally.span)
        .code("Origin", |(origin, _, _)| text(origin));
    Some(html! {
        p {
            "A robots.txt can state how the content of a path may be used. This table counts allowed requests for \
             paths with such a statement about the purpose of the crawler. A log shows requests, not what happened \
             with the content, so none of these requests is a violation."
        } "\n"
        p { (counted(reserved, "row")) " fetched under reservation." } "\n"
        (table.folded())
    })
}

/// Which promises of operators their crawlers kept; `None` if no promise was tested.
pub(crate) fn promises_kept(model: &PageModel<'_>) -> Option<Markup> {
    let mut rows = promises(model.audit);
    rows.retain(|row| model.audit.is_own_crawler(row.actor));
    let all = rows.len();
    rows.retain(|row| row.state != PromiseState::NotTested);
    let untested = (all - rows.len()) as u64;
    let broken = rows.iter().filter(|row| row.state == PromiseState::Broken).count() as u64;
    if rows.is_empty() {
        return None;
    }
    // Broken ones first; of each state, those with the highest numbers.
    let rows = Heaviest::of(rows.into_iter(), ROWS_MAX, |row| {
        let is_broken = u64::from(row.state == PromiseState::Broken);
        (is_broken << 63) | (row.observed.tested >> 1)
    });
    let table = HtmlTable::cut("by-promise", "Promises that were tested", "promises.csv", rows)
        .actor(model, |row| row.actor)
        .text("Promise", promised)
        .column("State", Kind::Text, |row| match row.state {
            PromiseState::Broken => Badge("violation", "broken"),
            _ => Badge("allowed", "kept"),
        })
        .number("Tested", |row| row.observed.tested)
        .number("Kept", |row| row.observed.kept)
        .share("Share", |row| (row.observed.kept, row.observed.tested))
        .code("Origin", |row| text(row.origin));
    Some(html! {
        p {
            "What operators promise of their crawlers, beside what the crawlers did in these logs. A promise counts as \
             broken only if the numbers leave no other explanation. "
            (counted(broken, "promise")) " broken, " (counted(untested, "promise")) " not tested; the table of all has \
             the reasons."
        } "\n"
        (table.folded())
    })
}

/// The promise in words.
fn promised(row: &PromiseRow<'_>) -> String {
    let promise = row.promise.as_str();
    match row.value {
        PromisedValue::Hours(hours) => format!("{promise}: {}", counted(hours.into(), "hour")),
        PromisedValue::RequestsPerHour(requests) => {
            format!("{promise}: {} per hour", counted(requests.into(), "request"))
        }
        PromisedValue::Yes | PromisedValue::Partly | PromisedValue::Words => promise.to_owned(),
    }
}
