//! Limits of hosts and times, in any order and parts.

use super::*;
use crate::crawlers::products::ProductId;
use crate::measures::crawler_tally::Times;
use crate::measures::time_buckets::TimeBuckets;
use crate::merge::sum;
use crate::url::origin::Origin;

const ACTOR: Actor = (CrawlerId(0), Identity::Unverified);

fn stranger(number: usize) -> (OriginKey, OriginRank) {
    let host = format!("https://{number}.example");
    let origin_key = OriginKey::Origin(Origin::parse(host.as_bytes()).unwrap());
    let rank = OriginRank::new(&origin_key, true);
    (origin_key, rank)
}

fn rows(limits: RowLimits) -> Rows {
    Rows::new(limits, (0..3).collect())
}

fn finished(rows: Rows) -> Vec<(String, u64)> {
    let of = |of: &OriginRows| {
        let requests = of.rows.iter().map(|(_, tally)| tally.before_first);
        (of.origin_key.to_string(), sum(requests))
    };
    rows.finish().origins.iter().map(of).collect()
}

/// In any order, however split, with hosts that were given up before.
#[test]
fn of_too_many_hosts_those_with_the_smallest_hashes_stay() {
    let limits = RowLimits { strangers_max: 8, ..RowLimits::default() };
    let (named, _) = stranger(1_000);
    let mut plain: Vec<(OriginKey, OriginRank)> = (0..40).map(stranger).collect();
    plain.sort_by_key(|(origin_key, rank)| (*rank, origin_key.clone()));
    let mut expected: Vec<(OriginKey, u64)> =
        plain[..8].iter().map(|(origin_key, _)| (origin_key.clone(), 2)).collect();
    expected.extend([(named.clone(), 1), (OriginKey::Others, 2 * 32)]);
    expected.sort();
    let expected: Vec<(String, u64)> =
        expected.iter().map(|(origin_key, requests)| (origin_key.to_string(), *requests)).collect();
    for parts in [1, 2, 3] {
        let mut tables: Vec<Rows> = (0..parts).map(|_| rows(limits)).collect();
        let others = (0..80).map(|at| stranger(at * 7 % 40));
        for (at, (origin_key, rank)) in
            [(named.clone(), OriginRank::Named)].into_iter().chain(others).enumerate()
        {
            let table = &mut tables[at % parts];
            let origin = table.origin(&origin_key, rank);
            table.row(origin, ACTOR).before_first += 1;
            let visit =
                table.visits(origin).entry(ProductId::of_referer(b"https://chatgpt.com/").unwrap());
            visit.requests += 1;
            assert!(table.strangers <= 8 + 8 / 4);
        }
        let mut sum = tables.remove(0);
        tables.into_iter().for_each(|table| sum.absorb(table));
        let visits =
            |of: &OriginRows| crate::merge::sum(of.visits.values().map(|visit| visit.requests));
        let all: Vec<(String, u64)> = sum
            .clone()
            .finish()
            .origins
            .iter()
            .map(|of| (of.origin_key.to_string(), visits(of)))
            .collect();
        assert_eq!(finished(sum), expected, "{parts}");
        assert_eq!(all, expected, "{parts}");
    }
}

#[test]
fn as_many_hosts_as_fit_are_kept_and_others_only_with_what_they_have() {
    let limits = RowLimits { strangers_max: 8, ..RowLimits::default() };
    let mut table = rows(limits);
    for number in 0..8 {
        let (origin_key, rank) = stranger(number);
        table.origin(&origin_key, rank);
    }
    let found = finished(table.clone());
    assert!(found.len() == 8 && found.iter().all(|(origin, _)| origin != "(others)"));
    table.visits(OriginId::OTHERS).entry(ProductId::of_referer(b"https://chatgpt.com/").unwrap());
    assert_eq!(finished(table).len(), 9, "visits alone are something");
}

/// Each crawler breaks a rule in ten minutes of its own.
#[test]
fn times_are_kept_for_the_first_rows_with_room_for_some_more_until_they_are_counted() {
    let limits = RowLimits { time_buckets_max: 20, ..RowLimits::default() };
    let minutes = |from: i64| (from..from + 10).map(|minute| (minute, 1)).collect();
    let mut table = rows(limits);
    for crawler in [2, 1, 0] {
        let (origin_key, _) = stranger(0);
        let origin = table.origin(&origin_key, OriginRank::Named);
        let row = table.row(origin, (CrawlerId(crawler), Identity::Unverified));
        row.robots_fetches.read_200 = TimeBuckets::of(minutes(0));
        // As many as there are: each request adds two at most.
        table.bound_times(5);
        assert!(table.time_buckets_at_most <= 20 + 20 / 4);
        let is_given_up = table.rows.iter().any(|row| row.tally.times == Times::GivenUp);
        assert_eq!(is_given_up, crawler == 0, "{crawler}");
    }
    let FinishedRows { origins, times_end } = table.finish();
    let kept: Vec<(u16, Times)> =
        origins[0].rows.iter().map(|((crawler, _), tally)| (crawler.0, tally.times)).collect();
    assert_eq!(kept, [(2, Times::GivenUp), (1, Times::Kept), (0, Times::Kept)]);
    assert_eq!(times_end.unwrap().crawler, CrawlerId(2));
}
