use super::*;

fn at(seconds: i64) -> UtcTime {
    UtcTime::from_unix_seconds(seconds).unwrap()
}

fn change() -> RuleChangeTally {
    RuleChangeTally {
        counted_from: at(0),
        until: None,
        is_partial: false,
        fetched: None,
        disallows: true,
        allows: false,
        all_before: 0,
        all: None,
        last: None,
        disallowed: None,
        allowed: None,
    }
}

fn tally(changes: &[(i64, i64, RuleChangeTally)]) -> ReactionTally {
    let entry = |(after, before, tally): &(i64, i64, RuleChangeTally)| {
        (ChangeTimes { after: at(*after), before: at(*before) }, tally.clone())
    };
    ReactionTally { changes: changes.iter().map(entry).collect() }
}

/// A nightly archive grows: older tallies do not know the latest changes.
#[test]
fn a_change_that_a_tally_did_not_know_is_marked_in_any_order() {
    let all = [
        tally(&[]),
        tally(&[(1, 2, change())]),
        tally(&[(1, 2, change()), (3, 4, change())]),
        tally(&[(3, 4, change())]),
    ];
    let merged = |order: &[usize]| {
        let mut sum: Option<ReactionTally> = None;
        order.iter().for_each(|&at| sum.absorb(Some(all[at].clone())));
        let changes = sum.unwrap_or_default().changes;
        changes.iter().map(|(times, tally)| (times.after, tally.is_partial)).collect::<Vec<_>>()
    };
    assert_eq!(merged(&[2]), [(at(1), false), (at(3), false)]);
    for order in [[1, 2], [2, 1]] {
        assert_eq!(merged(&order), [(at(1), false), (at(3), true)]);
    }
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 3], [3, 2, 1], [2, 3, 0]] {
        assert_eq!(merged(&order), [(at(1), true), (at(3), true)]);
    }
}

#[test]
fn only_the_first_lines_are_kept() {
    let of = |lines: std::ops::Range<u32>| {
        let mut tally = TouchedTally { lines: lines.collect(), ..TouchedTally::default() };
        tally.bound_lines();
        tally
    };
    for (left, right) in [(0..9, 9..17), (9..17, 0..9), (0..17, 3..5), (1..1, 0..17)] {
        let mut left = of(left);
        left.absorb(of(right));
        assert_eq!((left.lines.clone(), left.has_more_lines), ((0..16).collect(), true));
    }
    assert!(!of(0..16).has_more_lines);
}

/// The file may come from a stranger.
#[test]
fn sums_that_cannot_be_are_noticed() {
    type Damage = fn(&mut RuleChangeTally, &mut TouchedTally);
    let damages: [Damage; 6] = [
        |_, touched| touched.since.minutes.add(0, u64::MAX),
        |_, touched| touched.since.requests = 9,
        |_, touched| touched.after_promise = 4,
        |_, touched| touched.first = None,
        |_, touched| touched.last = None,
        |change, _| change.all.get_or_insert_default().minutes.add(i64::MAX, 9),
    ];
    let sum = || {
        let touched = TouchedTally {
            since: RequestsSince { requests: 3, ..RequestsSince::default() },
            first: Some(at(5)),
            last: Some(at(6)),
            ..TouchedTally::default()
        };
        (RuleChangeTally { all: Some(Box::new(touched.since.clone())), ..change() }, touched)
    };
    let holds = |(change, touched): (RuleChangeTally, TouchedTally)| {
        tally(&[(1, 2, RuleChangeTally { disallowed: Some(Box::new(touched)), ..change })]).holds()
    };
    assert!(holds(sum()));
    let (change, touched) = sum();
    for (before, expected) in [(0, true), (1, true), (2, false), (u64::MAX, false)] {
        let within = |change, touched| {
            let change = RuleChangeTally { disallowed: Some(Box::new(touched)), ..change };
            tally(&[(1, 2, change)]).is_within(4)
        };
        let all_before = RuleChangeTally { all_before: before, ..change.clone() };
        assert_eq!(within(all_before, touched.clone()), expected, "{before}");
        for touched in [
            TouchedTally { before, ..touched.clone() },
            TouchedTally { uncertain: before, ..touched.clone() },
        ] {
            assert_eq!(within(change.clone(), touched), expected, "{before}");
        }
    }
    for (index, damage) in damages.iter().enumerate() {
        let (mut change, mut touched) = sum();
        damage(&mut change, &mut touched);
        assert!(!holds((change, touched)), "{index}");
    }
}

#[test]
fn what_one_part_knows_of_the_paths_stays() {
    let mut sum = RuleChangeTally { disallows: false, allows: true, ..change() };
    sum.absorb(RuleChangeTally { disallows: true, allows: false, ..change() });
    assert!(sum.disallows && sum.allows);
}

#[test]
fn requests_are_split_at_the_minute_of_the_fetch_as_long_as_it_is_known() {
    let mut since = RequestsSince::default();
    [5, 3, 5, 7].into_iter().for_each(|minute| since.add(minute, None));
    assert_eq!(since.split_at(None), Some((4, 0)));
    assert_eq!(since.split_at(Some(5)), Some((1, 3)));
    since.add(9, Some(7));
    since.settle(Some(7));
    assert_eq!((since.requests, since.minutes.total()), (5, 3));

    let max = MINUTES_MAX as i64;
    let mut long = RequestsSince::default();
    for minute in 0..2 * max {
        long.add(minute, None);
        assert!(long.minutes.len_at_most() <= MINUTES_MAX + MINUTES_MAX / 4);
    }
    long.settle(None);
    assert_eq!((long.minutes.len(), long.minutes_end), (MINUTES_MAX, Some(max)));
    assert_eq!(long.split_at(Some(max)), Some((max as u64, max as u64)));
    assert_eq!(long.split_at(Some(max + 1)), None);
    long.settle(Some(max));
    assert_eq!(long.minutes_end, None, "the fetch is earlier");
    assert_eq!(long.split_at(Some(max)), Some((max as u64, max as u64)));
}
