//! Models of tallies that are written by hand: which of them are damaged, and what they warn of.

mod drafts;

use std::sync::Arc;

use crate::audit::tally::Tally;
use crate::audit::tally::counts::{Counts, OriginRows};
use crate::audit::tally::header::{Header, InputSummary, RobotsVersion};
use crate::audit::tally::identity_sources::{RangeListSummary, RangeSources};
use crate::audit::{hours::HourSums, input_tally::InputTally, origin_key::OriginKey};
use crate::digest::Digest;
use crate::error::Result;
use crate::judge::verdict::{RuleRef, Verdict};
use crate::judge::{robots::RobotsId, usage::StatedPreference};
use crate::measures::crawler_tally::{CrawlerTally, Times};
use crate::measures::sums::{Compliance, Span, Statuses, Sums};
use crate::measures::violations::ViolationTally;
use crate::measures::{answer_tally::AnswerTally, delay_kept::DelayTally, example::Example};
use crate::measures::{robots_fetches::FetchTally, time_buckets::TimeBuckets};
use crate::robots::usage::{UsageCategory, UsagePreference, UsageSignal};
use crate::robots::{RobotsBody, parse::parse_body};
use crate::time::{Hour, UtcTime};

use super::*;

const ROBOTS: &[u8] = b"User-agent: *\nCrawl-delay: 5\nContent-Usage: train-ai=n\nDisallow: /a\n";

const FIRST: i64 = 20_000 * 86_400;

fn at(seconds: i64) -> UtcTime {
    UtcTime::from_unix_seconds(FIRST + seconds).unwrap()
}

fn origin(host: &str) -> OriginKey {
    OriginKey::Origin(format!("https://{host}").parse().unwrap())
}

/// One row for each, of GPTBot or of the crawler of that number.
struct World {
    header: Header,
    rows: Vec<(OriginKey, Actor, CrawlerTally)>,
}

/// `requests` within nine seconds.
fn row(requests: Sums) -> CrawlerTally {
    let day = Day::parse("2024-10-04").unwrap();
    CrawlerTally {
        days: [(day, requests)].into_iter().collect(),
        span: Some(Span { first: at(0), last: at(9) }),
        ..CrawlerTally::default()
    }
}

fn allowed(requests: u64) -> Sums {
    Sums { requests, allowed: requests, ..Sums::default() }
}

fn unknown(requests: u64) -> Sums {
    Sums { requests, unknown: requests, ..Sums::default() }
}

const GPTBOT: Actor = (CrawlerId(0), Identity::Unverified);

/// GPTBot and bingbot, at nine origins or less.
fn world(rows: Vec<(OriginKey, Actor, CrawlerTally)>) -> World {
    let registry = Registry::builtin();
    let crawler = |name| registry.crawler(registry.find(name).unwrap()).clone();
    let version = RobotsVersion {
        digest: Digest::of(ROBOTS),
        size_bytes: ROBOTS.len() as u64,
        parsed_bytes: ROBOTS.len() as u64,
        foreign: None,
        body: Some(RobotsBody::new(Arc::new(parse_body(ROBOTS)))),
        product_tokens: Vec::new(),
    };
    let header = Header {
        crawlers: ["GPTBot", "bingbot"].map(crawler).into(),
        robots: vec![version],
        ..Header::of_inputs(vec![InputSummary::of_whole("access.log", 1)])
    };
    World { header, rows }
}

impl World {
    fn model(self) -> Result<ReportModel> {
        ReportModel::new(self.tally())
    }

    fn tally(self) -> Tally {
        let World { header, rows } = self;
        let mut counts = Counts::default();
        let mut input = InputTally::default();
        for (origin_key, actor, tally) in rows {
            let sums = tally.total();
            let hour = Hour { day: Day::parse("2024-10-04").unwrap(), hour: 0 };
            input.crawler += sums.requests;
            for (verdict, requests) in [
                (Verdict::Allowed(None), sums.allowed),
                (Verdict::Violation(RuleRef { robots: RobotsId(0), line: 4 }), sums.violations),
                (Verdict::Unknown, sums.requests - sums.allowed - sums.violations),
            ] {
                let mut power = Hours::default();
                power.add(hour, actor, HourSums::of(verdict, 1, 0));
                for bit in 0..u64::BITS {
                    if requests >> bit & 1 == 1 {
                        counts.hours.absorb(power.clone());
                    }
                    power.absorb(power.clone());
                }
            }
            let (is_stranger, visits, browsers) = (false, Default::default(), Default::default());
            counts.origins.push(OriginRows {
                origin_key,
                is_stranger,
                rows: vec![(actor, tally)],
                visits,
                browsers,
            });
        }
        counts.inputs.push(input);
        Tally { header, counts }
    }

    #[track_caller]
    fn was_damaged(self) -> bool {
        self.model().is_err_and(|err| err.is_inconsistent())
    }
}

/// The file may come from a stranger.
#[test]
fn rows_that_cannot_be_are_noticed() {
    type Damage = fn(&mut CrawlerTally);
    let stated = StatedPreference {
        robots: RobotsId(0),
        line: 3,
        signal: UsageSignal::ContentUsage,
        category: UsageCategory::TrainAi,
        preference: UsagePreference::Reserved,
    };
    let whole = || {
        let sums = Sums { requests: 9, allowed: 4, not_bound: 3, unknown: 2, ..Sums::default() };
        let mut tally = row(sums);
        let mut usage = AnswerTally::default();
        (0..7).for_each(|second| usage.count(at(second), 200, 1));
        tally.usage = [(stated, usage)].into_iter().collect();
        let mut pace = DelayTally::default();
        (0..9).for_each(|second| pace.count(at(second)));
        pace.gaps = Compliance { requests: 9, kept: 9 };
        tally.paces = [(RobotsId(0), pace)].into_iter().collect();
        tally.of_other_time = 9;
        tally
    };
    let damages: [(&str, Damage); 8] = [
        ("more usage than requests that can be", |tally| {
            let usage = tally.usage.values_mut().next().unwrap();
            usage.count(at(9), 200, 1);
        }),
        ("usage at no time of the row", |tally| {
            tally.usage.values_mut().for_each(|usage| usage.span = Some(Span::at(UtcTime::EPOCH)));
        }),
        ("more gaps that kept than gaps", |tally| {
            tally.paces.values_mut().for_each(|pace| pace.gaps.requests = 8);
        }),
        ("more gaps than requests", |tally| {
            tally.paces.values_mut().for_each(|pace| pace.gaps.requests = 10);
        }),
        ("more delayed than requests", |tally| {
            tally.paces.values_mut().for_each(|pace| pace.requests = 10);
        }),
        ("more of another time than requests", |tally| tally.of_other_time = 10),
        ("a violation of no rule", |tally| {
            tally.days.values_mut().for_each(|sums| {
                sums.violations = 1;
                sums.unknown = 1;
            });
        }),
        ("requests without a verdict", |tally| {
            tally.days.values_mut().for_each(|sums| sums.not_bound = 2);
        }),
    ];
    let world_of = |tally| world(vec![(origin("a.example"), GPTBOT, tally)]);
    world_of(whole()).model().unwrap();
    for (what, damage) in damages {
        let mut tally = whole();
        damage(&mut tally);
        assert!(world_of(tally).was_damaged(), "{what}");
    }
    let verified = (CrawlerId(0), Identity::Verified);
    assert!(world(vec![(origin("a.example"), verified, whole())]).was_damaged());
}

#[test]
fn each_line_of_a_crawler_is_a_request() {
    for (more_lines, expected) in [(0, false), (1, true)] {
        let mut tally = world(vec![(origin("a.example"), GPTBOT, row(allowed(9)))]).tally();
        tally.counts.inputs[0].crawler += more_lines;
        let model = ReportModel::new(tally);
        assert_eq!(model.is_err_and(|err| err.is_inconsistent()), expected);
    }
}

/// Delays do not concern requests for robots.txt, nor those without a path.
#[test]
fn only_requests_for_pages_are_delayed() {
    for (delayed, expected) in [(6, false), (7, true)] {
        let sums = Sums { requests: 9, allowed: 6, no_path: 3, ..Sums::default() };
        let mut tally = row(sums);
        let pace = DelayTally { requests: delayed, ..DelayTally::default() };
        tally.paces = [(RobotsId(0), pace)].into_iter().collect();
        assert_eq!(world(vec![(origin("a.example"), GPTBOT, tally)]).was_damaged(), expected);
    }
}

/// Those of `(others)` are never kept.
#[test]
fn times_that_were_given_up_are_warned_of_where_they_could_have_been_kept() {
    let warnings = |origin_key| {
        let tally = CrawlerTally { times: Times::GivenUp, ..row(allowed(9)) };
        world(vec![(origin_key, GPTBOT, tally)]).model().unwrap().warnings
    };
    let is_named = |warnings: &[String]| warnings.iter().any(|of| of.contains("request times"));
    assert!(is_named(&warnings(origin("a.example"))));
    assert!(!is_named(&warnings(OriginKey::Others)));
}

#[test]
fn requests_of_another_time_than_all_lists_are_noted_with_the_lists() {
    let note = |of_other_time, created: i64| {
        let tally = CrawlerTally { of_other_time, ..row(allowed(9)) };
        let mut world = world(vec![(origin("a.example"), GPTBOT, tally)]);
        let list = RangeListSummary {
            file: Some("gptbot.json".to_owned()),
            created: Some(at(created)),
            ..RangeListSummary::default()
        };
        let url = "https://openai.com/gptbot.json".to_owned();
        world.header.identities.ranges = Some(RangeSources {
            lists: [(url.clone(), list)].into(),
            of_crawlers: [("GPTBot".to_owned(), vec![url])].into(),
            unused: Vec::new(),
        });
        world.model().unwrap().notes
    };
    assert_eq!(note(0, 0), [""; 0]);
    let far = note(3, 400 * 86_400);
    assert!(
        far.len() == 1 && far[0].starts_with("unverified, not spoofed: 3 requests of GPTBot, ")
    );
    assert!(far[0].contains(" (gptbot.json is of 2025-11-08); "), "{far:?}");
    // A list that contradicts the last request but not the first is of another time, too.
    let days = crate::crawlers::identity::CONTRADICTING_DAYS;
    let edge = days * 86_400;
    assert!(note(3, edge + 5)[0].contains("gptbot.json"));
    assert!(!note(3, 0)[0].contains("gptbot.json"), "others are");
}

/// What most of the requests lack; origins whose requests were judged are not named.
#[test]
fn what_was_not_judged_is_explained_by_what_lacks() {
    let why = |change: fn(&mut World)| {
        let mut world = world(vec![
            (origin("a.example"), GPTBOT, row(unknown(5))),
            (
                origin("b.example"),
                (CrawlerId(1), Identity::Unverified),
                row(Sums { requests: 2, not_bound: 2, ..Sums::default() }),
            ),
            (origin("c.example"), (CrawlerId(0), Identity::Spoofed), row(unknown(7))),
        ]);
        change(&mut world);
        let model = world.model().unwrap();
        model.coverage.failure().unwrap_or_default().to_owned()
    };
    let found = why(|_| {});
    assert!(found.contains("no robots.txt of the hosts in the logs: https://a.example (5 requests, file a.example.txt); "), "{found}");
    let unnamed = |world: &mut World| world.rows[0].0 = OriginKey::Unnamed;
    let found = why(unnamed);
    assert!(found.contains("the log names no host; add --origin"), "{found}");
    let found = why(|world| {
        world.rows[0].0 = OriginKey::Unnamed;
        world.header.days = [Day::parse("2024-10-04").unwrap()].into();
    });
    assert!(found.contains("the log names no host; add origin = "), "{found}");
    let found = why(|world| {
        world.header.rulings.is_unknown_before_first = true;
        let histories = &mut world.header.rulings.histories;
        histories.insert("https://a.example".to_owned(), Default::default());
    });
    assert!(found.contains("robots.txt could not be fetched: https://a.example"), "{found}");
}

#[test]
fn hosts_without_a_robots_txt_are_named_unless_they_are_rare() {
    let warnings = |missing, change: fn(&mut World)| {
        let mut world = world(vec![
            (origin("a.example"), GPTBOT, row(allowed(990))),
            (origin("b.example"), GPTBOT, row(unknown(missing))),
            (origin("c.example"), GPTBOT, row(unknown(1))),
        ]);
        let histories = &mut world.header.rulings.histories;
        histories.insert("https://c.example".to_owned(), Default::default());
        change(&mut world);
        let warnings = world.model().unwrap().warnings;
        warnings.into_iter().filter(|of| of.contains("no robots.txt of")).collect::<Vec<_>>()
    };
    let expected = "no robots.txt of the hosts in the logs: https://b.example (9 requests, file \
                    b.example.txt); for your own hosts, add files with these names to the \
                    directory, or use --fetch --robots robots.db";
    assert_eq!(warnings(9, |_| {}), [expected]);
    assert_eq!(warnings(8, |_| {}), [""; 0], "less than one in a hundred");
    assert_eq!(warnings(9, |world| world.header.rulings.is_single_file = true), [""; 0]);
    assert_eq!(
        warnings(9, |world| {
            world.header.rulings.failures.insert("b.example".to_owned(), "no".to_owned());
        }),
        [""; 0]
    );
    // The tally may come from a stranger.
    assert_eq!(warnings(1 << 60, |_| {}).len(), 1);
}

#[test]
fn requests_before_the_first_snapshot_are_told_apart_by_what_became_of_them() {
    let warnings = |is_unknown: bool, sums: Sums, before_first| {
        let tally = CrawlerTally { before_first, ..row(sums) };
        let mut world = world(vec![(origin("a.example"), GPTBOT, tally)]);
        world.header.rulings.is_unknown_before_first = is_unknown;
        let warnings = world.model().unwrap().warnings;
        let of = |of: String| Some(of.split_once("of their robots.txt: ")?.1.to_owned());
        warnings.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    let judged =
        "they were judged by that snapshot; --unknown-before-first-snapshot counts them as unknown";
    let failed = "they were counted as unknown, because only failed fetches of it were known";
    let sums = Sums { requests: 9, allowed: 6, unknown: 3, ..Sums::default() };
    assert_eq!(warnings(false, sums, 0), [""; 0]);
    assert_eq!(warnings(false, sums, 5), [format!("2; {judged}"), format!("3; {failed}")]);
    assert_eq!(warnings(true, sums, 3), ["3; they were counted as unknown"]);
    // A single request counts, too.
    assert_eq!(warnings(false, allowed(9), 1), [format!("1; {judged}")]);
    let one_failed = Sums { requests: 9, allowed: 8, unknown: 1, ..Sums::default() };
    assert_eq!(warnings(false, one_failed, 1), [format!("1; {failed}")]);
}

#[test]
fn one_request_without_a_host_is_enough_for_a_warning() {
    let warnings = |origin_key, is_single_file| {
        let rows = vec![
            (origin_key, GPTBOT, row(allowed(1))),
            (origin("a.example"), (CrawlerId(1), Identity::Unverified), row(allowed(9))),
        ];
        let mut world = world(rows);
        world.header.rulings.is_single_file = is_single_file;
        let warnings = world.model().unwrap().warnings;
        warnings.into_iter().filter(|of| of.contains("host")).collect::<Vec<_>>()
    };
    let of = |is_single_file| warnings(OriginKey::Unnamed, is_single_file).remove(0);
    assert!(of(true).starts_with("requests without a host: 1; their origin is '-'"));
    assert!(of(false).starts_with("requests without a host: 1; no robots.txt applies to them"));
    assert_eq!(warnings(origin("b.example"), true).len(), 1, "one file for two hosts");
    let others = warnings(OriginKey::Others, true).remove(0);
    assert!(others.starts_with("these logs name more than "), "{others}");
}

#[test]
fn an_origin_of_the_other_scheme_is_warned_of_if_the_logs_have_it() {
    let warnings = |hosts: &[&str]| {
        let row = |host: &&str| {
            let origin_key = OriginKey::Origin(host.parse().unwrap());
            (origin_key, GPTBOT, row(allowed(2)))
        };
        let mut world = world(hosts.iter().map(row).collect());
        world.header.options =
            ReportedOptions::of(&serde_json::json!({ "origin": "https://a.example" }));
        let warnings = world.model().unwrap().warnings;
        warnings.into_iter().filter(|of| of.starts_with("--origin")).collect::<Vec<_>>()
    };
    let (https, http) = ("https://a.example", "http://a.example");
    assert_eq!(warnings(&[https]), [""; 0]);
    assert_eq!(warnings(&[http, https]), [""; 0]);
    assert_eq!(warnings(&["https://b.example"]), [""; 0]);
    let expected = format!(
        "--origin {https}: the logs have no requests for it, but 2 requests for {http}; use --origin {http}"
    );
    assert_eq!(warnings(&[http]), [expected]);
}

/// An empty log has no format.
#[test]
fn only_lines_have_a_format() {
    for (lines_tried, expected) in [(0, false), (1, true)] {
        let mut world = world(vec![(origin("a.example"), GPTBOT, row(allowed(1)))]);
        world.header.inputs[0].lines_tried = lines_tried;
        let warnings = world.model().unwrap().warnings;
        assert_eq!(warnings.iter().any(|of| of.contains("format not recognised")), expected);
    }
}

/// Minutes and hours of a foreign tally may be any numbers.
#[test]
fn times_that_cannot_be_do_no_harm() {
    let sums = Sums { requests: 2, allowed: 1, violations: 1, ..Sums::default() };
    let mut tally = row(sums);
    let ends = || TimeBuckets::of(vec![(i64::MIN, 1), (i64::MAX, 1)]);
    let pace = DelayTally { requests: 2, hours: ends(), ..DelayTally::default() };
    tally.paces = [(RobotsId(0), pace)].into_iter().collect();
    tally.robots_fetches.read_200 = TimeBuckets::of(vec![(i64::MIN, 1)]);
    let target = Box::from(&b"/a"[..]);
    let example =
        Example { time: at(0), file: FileId::from_index(0), line: 1, target, snapshot: None };
    let span = Span { first: at(0), last: at(9) };
    let violation = ViolationTally {
        requests: 1,
        statuses: Statuses::default(),
        bytes: 0,
        span,
        minutes: TimeBuckets::of(vec![(i64::MAX, 1)]),
        example,
        signed: 0,
    };
    let rule = RuleRef { robots: RobotsId(0), line: 4 };
    tally.violations = [(rule, Box::new(violation))].into_iter().collect();
    let of = |tally| world(vec![(origin("a.example"), GPTBOT, tally)]);
    assert!(of(tally.clone()).was_damaged(), "a fetch without a request");
    tally.robots_fetches = FetchTally::default();
    let model = of(tally).model().unwrap();
    assert_eq!(model.total().violations, 1);
}
