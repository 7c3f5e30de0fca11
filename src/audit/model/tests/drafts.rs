//! Models of tallies with the effects of a draft.

use crate::audit::tally::header::{DraftScope, DraftSummary};
use crate::measures::draft_effect::{ChangeKey, WhatIfChange};
use crate::measures::what_if::{ChangeTally, WhatIfTally};

use super::*;

/// A tally of these rows, which were compared with a draft for `scope`.
fn compared_by(scope: DraftScope, rows: Vec<(OriginKey, Actor, CrawlerTally)>) -> World {
    let mut world = world(rows);
    let (source, digest) = ("draft.txt".to_owned(), Digest::of(ROBOTS));
    world.header.draft = Some(DraftSummary { source, digest, scope });
    world
}

/// A draft for all requests that rules decided.
#[test]
fn a_draft_was_compared_with_all_requests_that_rules_decided() {
    let of_sums = |sums: Sums, origin_key: OriginKey, judged, unchanged, newly| {
        let mut tally = row(sums);
        let target = Box::from(&b"/a"[..]);
        let file = FileId::from_index(0);
        let example = Example { time: at(0), file, line: 1, target, snapshot: None };
        let key = |(change, _): &(WhatIfChange, u64)| ChangeKey {
            change: *change,
            draft_line: Some(4),
            present: Some(RuleRef { robots: RobotsId(0), line: 4 }),
        };
        let changes: Vec<(WhatIfChange, u64)> = newly;
        let tally_of = |requests| ChangeTally {
            requests,
            span: Span { first: at(0), last: at(9) },
            example: example.clone(),
        };
        let changes = changes.iter().map(|change| (key(change), tally_of(change.1))).collect();
        tally.simulated = Some(Box::new(WhatIfTally { judged, unchanged, ambiguous: 0, changes }));
        compared_by(DraftScope::Everything, vec![(origin_key, GPTBOT, tally)])
    };
    let compared = |origin_key, judged, unchanged, newly| {
        of_sums(allowed(9), origin_key, judged, unchanged, newly)
    };
    use WhatIfChange::{NewlyAllowed, NewlyDisallowed};
    let named = || origin("a.example");
    compared(named(), 9, 5, vec![(NewlyDisallowed, 4)]).model().unwrap();
    compared(named(), 9, 0, vec![(NewlyDisallowed, 9)]).model().unwrap();
    compared(OriginKey::Others, 9, 9, vec![]).model().unwrap();
    compared(OriginKey::Others, 8, 8, vec![]).model().unwrap();
    for (origin_key, judged, unchanged, newly) in [
        (named(), 8, 4, vec![(NewlyDisallowed, 4)]),
        (named(), 8, 8, vec![]),
        (named(), 10, 10, vec![]),
        (OriginKey::Others, 10, 10, vec![]),
        (named(), 9, 6, vec![(NewlyDisallowed, 4)]),
        (named(), 9, 8, vec![(NewlyAllowed, 1)]),
        (named(), 9, 0, vec![(NewlyDisallowed, 10)]),
    ] {
        let what = format!("{origin_key} {judged} {unchanged} {newly:?}");
        assert!(compared(origin_key, judged, unchanged, newly).was_damaged(), "{what}");
    }
    // What a grace period excuses is disallowed, and a draft can allow all of it.
    let sums = Sums { requests: 9, allowed: 6, grace: 3, ..Sums::default() };
    of_sums(sums, named(), 9, 6, vec![(NewlyAllowed, 3)]).model().unwrap();
    assert!(of_sums(sums, named(), 9, 5, vec![(NewlyAllowed, 4)]).was_damaged());
    assert!(of_sums(sums, named(), 6, 6, vec![]).was_damaged());
}

/// A draft says not for which of them it is.
#[test]
fn a_draft_of_one_origin_is_refused_for_logs_of_several() {
    let failure = |origins: usize| {
        let compared = |number: usize| {
            let mut tally = row(allowed(9));
            let changes = Default::default();
            tally.simulated =
                Some(Box::new(WhatIfTally { judged: 9, unchanged: 9, ambiguous: 0, changes }));
            (origin(&format!("{number}.example")), GPTBOT, tally)
        };
        let rows = (1..=origins).map(compared).collect();
        compared_by(DraftScope::OnlyOrigin, rows).model().err().map(|err| err.to_string())
    };
    assert_eq!(failure(1), None);
    let two = failure(2).unwrap();
    let named = "2 origins with their own robots.txt (https://1.example, https://2.example);";
    assert!(two.contains(named), "{two}");
    assert!(two.ends_with("--what-if-for https://1.example"), "{two}");
    assert!(failure(5).unwrap().contains("https://5.example);"));
    assert!(failure(7).unwrap().contains("https://5.example and 2 more);"));
}

#[test]
fn a_draft_without_anything_to_compare_is_warned_of() {
    let warning = |scope, is_compared| {
        let mut tally = row(allowed(9));
        let changes = Default::default();
        let compared = WhatIfTally { judged: 9, unchanged: 9, ambiguous: 0, changes };
        let compared = if is_compared { compared } else { WhatIfTally::default() };
        tally.simulated = Some(Box::new(compared));
        let world = compared_by(scope, vec![(origin("a.example"), GPTBOT, tally)]);
        let warnings = world.model().unwrap().warnings;
        warnings.into_iter().filter(|of| of.starts_with("--what-if")).collect::<Vec<_>>()
    };
    let nothing = "the rules in force decided no request of a known crawler";
    for scope in [DraftScope::Everything, DraftScope::OnlyOrigin] {
        assert_eq!(warning(scope.clone(), true), [""; 0]);
        let expected = format!("--what-if: {nothing}, so there is nothing to compare");
        assert_eq!(warning(scope, false), [expected]);
    }
    let of = |host| DraftScope::Origins(vec![origin(host)]);
    assert_eq!(warning(of("a.example"), true), [""; 0]);
    let expected = format!("--what-if-for https://b.example: {nothing} there");
    assert_eq!(warning(of("b.example"), true), [expected]);
}
