//! Tests of histories in shorthand: the rulings in force and the copies at each time.

use super::*;

/// Reads `2d`, `2d+1` (a second later), `3h`, `-1h`, `5`.
fn seconds(text: &str) -> i64 {
    let (text, more) = match text.rsplit_once('+') {
        Some((text, more)) => (text, more.parse().unwrap()),
        None => (text, 0),
    };
    let (number, unit) = match text.strip_suffix('d') {
        Some(days) => (days, DAY_SECONDS),
        None => text.strip_suffix('h').map_or((text, 1), |hours| (hours, 3600)),
    };
    number.parse::<i64>().unwrap() * unit + more
}

fn time(text: &str) -> UtcTime {
    UtcTime::from_unix_seconds(seconds(text)).unwrap()
}

/// `0 200A; 1h 503; 2h 200B max 60`: snapshots with their outcomes.
fn sightings(text: &str) -> Vec<Sighting> {
    let sighting = |text: &str| {
        let (text, max_age) = match text.split_once(" max ") {
            Some((text, max_age)) => (text, Some(seconds(max_age).unsigned_abs())),
            None => (text, None),
        };
        let (at, outcome) = text.split_once(' ').unwrap();
        let name = outcome.strip_prefix("200").and_then(|name| name.bytes().next());
        let version = name.map(|name| Version(u32::from(name)));
        let outcome = outcome.trim_end_matches(|c: char| c.is_ascii_uppercase());
        let outcome = SnapshotOutcome::parse(outcome).unwrap();
        Sighting { fetched_at: time(at), outcome, max_age_seconds: max_age, version }
    };
    text.split("; ").filter(|text| !text.is_empty()).map(sighting).collect()
}

fn word(ruling: Ruling) -> String {
    match ruling {
        Ruling::Rules(Version(name)) => char::from_u32(name).unwrap().to_string(),
        Ruling::AllowAll(AllowAll::NoFile) => "no file".to_owned(),
        Ruling::AllowAll(AllowAll::Redirects) => "redirects".to_owned(),
        Ruling::AllowAll(AllowAll::UnreachableWithoutCopy) => "no copy".to_owned(),
        Ruling::Unreachable => "unreachable".to_owned(),
    }
}

/// `expected` is the ruling in force, the index of its snapshot, and the other rulings that
/// crawlers may have.
#[track_caller]
fn check(history: &str, at: &str, expected: &str) {
    let sightings = sightings(history);
    let timeline = Timeline::new(&sightings);
    let time = time(at);
    let in_force = timeline.at(time, BeforeFirst::Unknown);
    let said = in_force.map_or("unknown".to_owned(), |in_force| {
        let age = time.unix_seconds() - sightings[in_force.decided_by].fetched_at.unix_seconds();
        assert_eq!(in_force.age_seconds, Some(age));
        let held = timeline.held(&in_force, time).map(|ruling| format!(", held {}", word(ruling)));
        let held: String = held.collect();
        format!("{} by {}{held}", word(in_force.ruling), in_force.decided_by)
    });
    assert_eq!(said, expected, "{history} at {at}");
}

#[test]
fn each_outcome_is_a_ruling_or_none() {
    for (outcome, expected) in [
        ("200A", "A by 0"),
        ("204", "unknown"),
        ("301", "redirects by 0"),
        ("302", "redirects by 0"),
        ("304", "unknown"),
        ("308", "redirects by 0"),
        ("400", "no file by 0"),
        ("401", "no file by 0"),
        ("403", "no file by 0"),
        ("404", "no file by 0"),
        ("410", "no file by 0"),
        ("428", "no file by 0"),
        ("429", "unreachable by 0"),
        ("430", "no file by 0"),
        ("451", "no file by 0"),
        ("499", "no file by 0"),
        ("500", "unreachable by 0"),
        ("503", "unreachable by 0"),
        ("599", "unreachable by 0"),
        ("100", "unreachable by 0"),
        ("600", "unreachable by 0"),
        ("999", "unreachable by 0"),
        ("dns", "unreachable by 0"),
        ("connect", "unreachable by 0"),
        ("tls", "unreachable by 0"),
        ("timeout", "unreachable by 0"),
        ("interrupted", "unreachable by 0"),
        ("invalid-response", "unreachable by 0"),
        ("network", "unreachable by 0"),
        ("unfollowed", "unknown"),
    ] {
        check(&format!("0 {outcome}"), "1h", expected);
    }
}

#[test]
fn the_newest_snapshot_counts_however_old() {
    let history = "0 200A; 10d 200B; 20d 404; 30d 200A";
    check(history, "-1", "unknown");
    check(history, "0", "A by 0");
    check(history, "10d+-1", "A by 0");
    check(history, "10d", "B by 1, held A");
    check(history, "19d", "B by 1");
    check(history, "25d", "no file by 2");
    check(history, "9000d", "A by 3");
    check("", "1h", "unknown");
}

#[test]
fn what_says_nothing_leaves_the_ruling_as_it_was() {
    check("0 200A; 1h unfollowed; 2h 304", "3h", "A by 2");
    check("0 404; 1h 304", "3h", "no file by 1");
    check("0 unfollowed; 1h 304; 2h 200A", "3h", "A by 2");
    check("0 200A; 1h 503; 2h 304", "3h", "A by 2, held A");
    check("0 503; 1h 304", "3h", "unreachable by 0");
    check("0 200A; 1h 200B; 1h 200C", "1h", "C by 2, held B, held A");
}

#[test]
fn failures_close_an_origin_until_the_last_copy_counts_again() {
    let history = "0 200A; 10d 503; 20d timeout; 39d 429";
    check(history, "10d", "unreachable by 1, held A");
    check(history, "25d", "unreachable by 2");
    check(history, "40d", "unreachable by 3");
    check(history, "40d+1", "A by 0");
    check(history, "9000d", "A by 0");
    // One failure and no word since is a run, too.
    check("0 200A; 10d 503", "40d", "unreachable by 1");
    check("0 200A; 10d 503", "40d+1", "A by 0");
}

#[test]
fn without_a_copy_everything_is_allowed_in_the_end() {
    check("0 503", "30d", "unreachable by 0");
    check("0 503", "30d+1", "no copy by 0");
    check("0 503; 31d timeout", "31d", "no copy by 1");
    check("0 404; 1d 503", "31d+1", "no file by 0");
    check("0 unfollowed; 1d 503", "31d+1", "no copy by 1");
}

#[test]
fn any_answer_breaks_a_run_of_failures() {
    check("0 200A; 1d 503; 20d 200A; 21d 503", "50d", "unreachable by 3");
    check("0 200A; 1d 503; 20d 404; 21d 503", "52d", "no file by 2");
    check("0 200A; 1d 503; 20d 304; 21d 503", "50d", "unreachable by 3");
    check("0 200A; 1d 503; 20d unfollowed; 21d 503", "31d+1", "A by 0");
    // Past the 30 days a failure more changes nothing.
    check("0 200A; 1d 503; 40d 503", "40d", "A by 0");
}

#[test]
fn copies_are_held_for_their_lifetime() {
    let history = "0 200A; 10d 200B";
    check(history, "11d", "B by 1, held A");
    check(history, "11d+1", "B by 1");
    let history = "0 200A max 60; 10d 200B";
    check(history, "10d+60", "B by 1, held A");
    check(history, "10d+61", "B by 1");
    let history = "0 200A max 0; 10d 200B";
    check(history, "10d", "B by 1, held A");
    check(history, "10d+1", "B by 1");
    for max in ["7d", "8d", "9000000d"] {
        let history = format!("0 200A max {max}; 10d 200B");
        check(&history, "17d", "B by 1, held A");
        check(&history, "17d+1", "B by 1");
    }
}

#[test]
fn each_ruling_has_its_own_lifetime() {
    let history = "0 200A max 7d; 10d 404; 11d 200B; 12d 200C max 60";
    check(history, "12d", "C by 3, held B, held no file, held A");
    check(history, "12d+1", "C by 3, held B, held A");
    check(history, "13d+1", "C by 3, held A");
    check(history, "17d+1", "C by 3");
    // The longest lifetime of equal snapshots counts, from when each was superseded.
    check("0 200A max 3d; 10d 200A max 60; 11d 200B", "13d", "B by 2, held A");
    check("0 200A max 3d; 10d 200A max 60; 11d 200B", "13d+1", "B by 2");
    check("0 200A; 1d 200B; 2d 200A", "2d", "A by 2, held B, held A");
}

#[test]
fn nobody_holds_a_failure_but_what_it_became_in_the_end() {
    check("0 503; 1d 200A", "1d", "A by 1");
    check("20000d 503; 20001d 200A", "20001d", "A by 1");
    check("0 200A; 1d 503; 2d 200B", "2d", "B by 2, held A");
    check("0 200A; 1d 503; 2d 200B", "3d", "B by 2, held A");
    check("0 200A; 1d 503; 2d 200B", "3d+1", "B by 2");
    // Nobody could replace the copy while robots.txt was unreachable.
    check("0 200A; 1d 503; 10d 200B", "11d", "B by 2, held A");
    check("0 200A; 1d 503; 10d 200B", "11d+1", "B by 2");
    check("0 200A max 7d; 1d 503; 2d 429; 10d 200B; 11d 200C", "17d", "C by 4, held A");
    check("0 503; 31d 200A", "32d", "A by 1, held no copy");
    check("0 503; 31d 200A", "32d+1", "A by 1");
    check("0 200A; 1d 503; 40d 200B", "41d", "B by 2, held A");
    check("0 503; 30d 200A", "30d", "A by 1");
}

#[test]
fn the_first_ruling_may_count_before_it_was_seen() {
    let timeline = Timeline::new(&sightings("0 unfollowed; 10d 200A"));
    assert_eq!(timeline.at(time("9d"), BeforeFirst::Unknown), None);
    let in_force = timeline.at(time("9d"), BeforeFirst::AsFirst).unwrap();
    assert_eq!((word(in_force.ruling).as_str(), in_force.decided_by), ("A", 1));
    assert_eq!(in_force.age_seconds, Some(-DAY_SECONDS));
    assert_eq!(timeline.held(&in_force, time("9d")).count(), 0);
    assert_eq!(Timeline::new(&[]).at(time("0"), BeforeFirst::AsFirst), None);
}

/// A fetch that fails today says nothing about requests of yesterday.
#[test]
fn a_failure_does_not_count_before_it_was_seen() {
    for failure in ["503", "429", "network", "dns", "timeout"] {
        let check = |after: &str, expected: Option<(&str, usize)>| {
            let timeline = Timeline::new(&sightings(&format!("10d {failure}{after}")));
            let at = |at: &str| timeline.at(time(at), BeforeFirst::AsFirst);
            let found = at("9d").map(|of| (word(of.ruling), of.decided_by));
            let expected = expected.map(|(ruling, by)| (ruling.to_owned(), by));
            assert_eq!(found, expected, "{failure}{after}");
            assert_eq!(at("10d").unwrap().ruling, Ruling::Unreachable);
            if let Some(in_force) = at("9d") {
                assert!(in_force.age_seconds < Some(0) && in_force.unreachable_since.is_none());
                assert_eq!(timeline.held(&in_force, time("9d")).count(), 0);
            }
        };
        check("", None);
        check("; 11d 503", None);
        check("; 11d 200A", Some(("A", 1)));
        check("; 11d 429; 12d 404; 13d 200A", Some(("no file", 2)));
        // After more than 30 days of failures, everything is allowed, but not before the first one.
        check("; 50d 503", None);
        check("; 50d 200A", Some(("A", 1)));
    }
}

#[test]
fn a_single_file_counts_always_and_has_no_age() {
    let timeline = Timeline::always(Version(7));
    for at in ["-9000d", "0", "9000d"] {
        let in_force = timeline.at(time(at), BeforeFirst::Unknown).unwrap();
        assert_eq!((in_force.ruling, in_force.age_seconds), (Ruling::Rules(Version(7)), None));
        assert_eq!(timeline.held(&in_force, time(at)).count(), 0);
    }
}
