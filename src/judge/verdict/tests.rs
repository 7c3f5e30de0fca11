//! Every verdict, for every binding, in both dialects, and at each time of a history.

use crate::archive::snapshot::{Failure, Fetch, SnapshotOutcome as Outcome};
use crate::archive::{Store, reader::Archive, writer::NewSnapshot};
use crate::crawlers::registry::Registry;
use crate::judge::HostSource;
use crate::url::{origin::Origin, path::prepare};

use super::*;

const HOUR: i64 = 3600;
const DIALECTS: [Dialect; 2] = [Dialect::Google, Dialect::Rfc9309];
const OPEN: &str = "User-agent: *\nDisallow: /closed\n";
const CLOSED: &str = "User-agent: *\nAllow: /open\nDisallow: /\n";
const DECODED: &str = "User-agent: *\nDisallow: /%7Eu\n";
const NAMED: &str = "User-agent: AdsBot-Google\nDisallow: /ads\nUser-agent: *\nDisallow: /\n";

impl RuleRef {
    /// Any version.
    pub(crate) fn on_line(line: u32) -> RuleRef {
        RuleRef { robots: RobotsId(0), line }
    }
}

type Snapshots<'a> = &'a [(i64, Outcome, &'a str)];

fn time(hours: i64) -> UtcTime {
    UtcTime::from_unix_seconds(hours * HOUR).unwrap()
}

fn archive(dir: &tempfile::TempDir, snapshots: Snapshots<'_>) -> Store {
    let path = dir.path().join("archive");
    let mut writer = Archive::writer(&path).unwrap();
    for (hours, outcome, body) in snapshots {
        let (fetched_at, outcome) = (time(*hours), *outcome);
        let fetch = Fetch { fetched_at, outcome, max_age_seconds: None, chain: Vec::new() };
        let body = body.as_bytes().to_vec().into();
        let (origin, source) = (origin(), "test".to_owned());
        writer.push(NewSnapshot { origin, fetch, source, body }).unwrap();
    }
    writer.flush().unwrap();
    Store::open(&path).unwrap()
}

fn origin() -> Origin {
    Origin::parse(b"https://a.example").unwrap()
}

/// The crawlers and their obligations.
const BOUND: &str = "GPTBot";
const IGNORES_STAR: &str = "AdsBot-Google";
const UNBOUND: [(&str, Obligation); 2] =
    [("ChatGPT-User", Obligation::UserTriggered), ("iaskspider", Obligation::ReportedNotFollowing)];

/// A verdict in words: its name, and the line of its rule.
fn words(verdict: Verdict) -> String {
    let by = |word: &str, rule: RuleRef| format!("{word} {}", rule.line);
    match verdict {
        Verdict::NoPath => "no path".to_owned(),
        Verdict::RobotsTxt => "robots.txt".to_owned(),
        Verdict::Unknown => "unknown".to_owned(),
        Verdict::Ambiguous => "ambiguous".to_owned(),
        Verdict::Unreachable => "unreachable".to_owned(),
        Verdict::Allowed(None) => "allowed".to_owned(),
        Verdict::Allowed(Some(rule)) => by("allowed", rule),
        Verdict::AllowedIgnoringStar(rule) => by("ignoring star", rule),
        Verdict::Grace(rule) => by("grace", rule),
        Verdict::Violation(rule) => by("violation", rule),
        Verdict::NotBound(None) => "not bound".to_owned(),
        Verdict::NotBound(Some(rule)) => by("not bound", rule),
    }
}

/// The verdict on `target` (`*`: none) at hour `hours` by `snapshots`; without snapshots, the
/// origin is unknown.
fn found(make: Make, dialect: Dialect, snapshots: Snapshots<'_>, ask: (&str, &str, i64)) -> String {
    let (crawler, target, hours) = ask;
    let at = JudgedAt::Time(time(hours), BeforeFirst::Unknown);
    let dir = tempfile::tempdir().unwrap();
    let registry = Registry::builtin();
    let judge = make(archive(&dir, snapshots), &registry, dialect).unwrap();
    let known = judge.known(&origin(), HostSource::Own);
    assert_eq!(known.is_some(), !snapshots.is_empty());
    let mut scratch = Vec::new();
    let path = (target != "*").then(|| prepare(target.as_bytes(), dialect, &mut scratch));
    let crawler = registry.find(crawler).unwrap();
    let found = judge.verdict(known.as_deref(), crawler, path, at);
    let other = judge.verdict_in(dialect, known.as_deref(), crawler.into(), path, at);
    assert_eq!(found.verdict, other.verdict);
    words(found.verdict)
}

type Make = fn(Store, &Registry, Dialect) -> crate::error::Result<Judge>;

const OK: Outcome = Outcome::Status(200);
const GONE: Outcome = Outcome::Status(404);
const TIMEOUT: Outcome = Outcome::Failure(Failure::Timeout);

/// History, target and hour; then the verdicts for a bound crawler, for one that ignores `*`, for
/// one that is not bound, and for all of them if the rules bind everyone.
const ROWS: &[(Snapshots<'_>, &str, i64, [&str; 4])] = &[
    // Verdicts without a robots.txt.
    (&[], "*", 0, ["no path"; 4]),
    (&[(0, OK, CLOSED)], "*", 1, ["no path"; 4]),
    (&[], "/robots.txt", 0, ["robots.txt"; 4]),
    (&[(0, OK, CLOSED)], "/robots.txt#x", 1, ["robots.txt"; 4]),
    (&[(0, OK, CLOSED)], "/robots.txt", -1, ["robots.txt"; 4]),
    (&[(0, TIMEOUT, "")], "/robots.txt", 1, ["robots.txt"; 4]),
    (
        &[(0, OK, CLOSED)],
        "/robots.txt/",
        1,
        ["violation 3", "ignoring star 3", "not bound 3", "violation 3"],
    ),
    (
        &[(0, OK, CLOSED)],
        "/robots.txt?x",
        1,
        ["violation 3", "ignoring star 3", "not bound 3", "violation 3"],
    ),
    // The origin, or the time, is unknown.
    (&[], "/x", 0, ["unknown", "unknown", "not bound", "unknown"]),
    (&[(0, OK, CLOSED)], "/x", -1, ["unknown", "unknown", "not bound", "unknown"]),
    // No rules are in force.
    (&[(0, TIMEOUT, "")], "/x", 1, ["unreachable", "unreachable", "not bound", "unreachable"]),
    (
        &[(0, Outcome::Status(429), "")],
        "/x",
        1,
        ["unreachable", "unreachable", "not bound", "unreachable"],
    ),
    (&[(0, GONE, "")], "/x", 1, ["allowed", "allowed", "not bound", "allowed"]),
    // Rules are.
    (&[(0, OK, OPEN)], "/x", 1, ["allowed", "allowed", "not bound", "allowed"]),
    (
        &[(0, OK, OPEN)],
        "/closed",
        1,
        ["violation 2", "ignoring star 2", "not bound 2", "violation 2"],
    ),
    (&[(0, OK, CLOSED)], "/open", 1, ["allowed 2", "allowed", "not bound", "allowed 2"]),
    (&[(0, OK, NAMED)], "/x", 1, ["violation 4", "allowed", "not bound 4", "allowed"]),
    // An earlier ruling may still be in use; then ignoring `*` makes no difference.
    (&[(0, OK, OPEN), (9, OK, CLOSED)], "/x", 10, ["grace 3", "allowed", "not bound", "grace 3"]),
    (&[(0, GONE, ""), (9, OK, CLOSED)], "/x", 33, ["grace 3", "allowed", "not bound", "grace 3"]),
    (
        &[(0, OK, OPEN), (9, OK, CLOSED)],
        "/x",
        34,
        ["violation 3", "ignoring star 3", "not bound 3", "violation 3"],
    ),
    (
        &[(0, OK, OPEN), (9, OK, CLOSED)],
        "/closed",
        10,
        ["violation 3", "ignoring star 3", "not bound 3", "violation 3"],
    ),
];

#[test]
fn each_row_for_each_binding_in_each_dialect() {
    let registry = Registry::builtin();
    for (name, obligation) in UNBOUND {
        assert_eq!(
            registry.crawler(registry.find(name).unwrap()).obligation(),
            obligation,
            "{name}"
        );
    }
    for (snapshots, target, hours, [bound, ignores, unbound, everyone]) in ROWS {
        let check = |make: Make, crawler: &str, expected: &str| {
            for dialect in DIALECTS {
                let said = found(make, dialect, snapshots, (crawler, target, *hours));
                assert_eq!(said, expected, "{crawler} {target} {hours} {snapshots:?} {dialect:?}");
            }
        };
        check(Judge::new, BOUND, bound);
        check(Judge::new, IGNORES_STAR, ignores);
        // Clients that only look automated are bound by `*`.
        check(Judge::new, "Generic bot", bound);
        check(Judge::of_rules_alone, IGNORES_STAR, ignores);
        for (crawler, _) in UNBOUND {
            check(Judge::new, crawler, unbound);
            check(Judge::of_rules_alone, crawler, bound);
            check(Judge::of_everyone, crawler, bound);
        }
        check(Judge::of_everyone, IGNORES_STAR, everyone);
    }
}

/// The rule in a verdict must not count as a violation for a crawler that is not bound.
#[test]
fn each_verdict_of_each_binding() {
    let rule = RuleRef::on_line(7);
    let (kept, spared) = (true, false);
    let verdicts = [
        (Verdict::NoPath, kept, None),
        (Verdict::RobotsTxt, kept, None),
        (Verdict::Unknown, spared, None),
        (Verdict::Unreachable, spared, None),
        (Verdict::Allowed(None), spared, None),
        (Verdict::Allowed(Some(rule)), spared, None),
        (Verdict::AllowedIgnoringStar(rule), spared, None),
        (Verdict::Grace(rule), spared, None),
        (Verdict::Violation(rule), spared, Some(rule)),
    ];
    for (verdict, is_kept, disallowing) in verdicts {
        assert_eq!(verdict.of_obligation(Obligation::Bound), verdict);
        let expected = if is_kept { verdict } else { Verdict::NotBound(disallowing) };
        for obligation in
            [Obligation::UserTriggered, Obligation::Declined, Obligation::ReportedNotFollowing]
        {
            assert_eq!(verdict.of_obligation(obligation), expected, "{verdict:?} {obligation:?}");
        }
    }
}

#[test]
fn the_dialect_decides_what_matches() {
    let check = |dialect, target, expected| {
        let said = found(Judge::new, dialect, &[(0, OK, DECODED)], (BOUND, target, 1));
        assert_eq!(said, expected, "{target} {dialect:?}");
    };
    check(Dialect::Google, "/~u", "allowed");
    check(Dialect::Rfc9309, "/~u", "violation 2");
    check(Dialect::Google, "/%7eu", "violation 2");
    check(Dialect::Rfc9309, "/%7eu", "violation 2");
}

#[test]
fn each_verdict_has_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = [
        (0, OK, OPEN),
        (100, OK, CLOSED),
        (200, TIMEOUT, ""),
        (300, OK, CLOSED),
        (400, GONE, ""),
        (500, OK, CLOSED),
    ];
    let registry = Registry::builtin();
    let judge = Judge::new(archive(&dir, &snapshots), &registry, Dialect::Google).unwrap();
    let known = judge.read_history(&origin(), HostSource::Foreign).unwrap().unwrap();
    let crawler = registry.find(BOUND).unwrap();
    let mut scratch = Vec::new();
    let mut dated = |path: &str, at| {
        let path = prepare(path.as_bytes(), Dialect::Google, &mut scratch);
        judge.verdict(Some(&known), crawler, Some(path), at)
    };
    let mut check = |path: &str, hours, expected: &str, snapshot: Option<i64>| {
        let found = dated(path, JudgedAt::Time(time(hours), BeforeFirst::Unknown));
        assert_eq!(words(found.verdict), expected, "{hours}");
        assert_eq!(found.snapshot, snapshot.map(time), "{hours}");
        let has_rules = ["allowed", "violation", "grace"].iter().any(|w| expected.starts_with(w));
        assert_eq!(found.robots.is_some(), has_rules && hours != 400, "{hours}");
        assert_eq!((found.is_before_first, found.is_by_logs), (hours < 0, false), "{hours}");
    };
    check("/x", -1, "unknown", None);
    check("/x", 99, "allowed", Some(0));
    check("/x", 124, "grace 3", Some(100));
    check("/x", 125, "violation 3", Some(100));
    check("/closed", 110, "violation 3", Some(100));
    check("/x", 200, "unreachable", Some(200));
    check("/x", 300, "violation 3", Some(300));
    check("/x", 400, "allowed", Some(400));
    check("/x", 524, "grace 3", Some(500));
    check("/x", 525, "violation 3", Some(500));
    check("/open", 525, "allowed 2", Some(500));
    // By the newest snapshot, without older copies.
    assert_eq!(words(dated("/x", JudgedAt::Newest).verdict), "violation 3");
    // A time before the first snapshot is judged by the first.
    let first = dated("/closed", JudgedAt::Time(time(-1), BeforeFirst::AsFirst));
    assert_eq!(words(first.verdict), "violation 2");
    assert!(first.is_before_first && first.snapshot == Some(time(0)));
}

/// Googlebot-News shares the user agent of Googlebot: an earlier copy that one of them allows makes no certain violation,
/// and no certain grace.
#[test]
fn an_earlier_copy_may_be_ambiguous_too() {
    const NEWS_ONLY: &str =
        "User-agent: Googlebot\nDisallow: /\nUser-agent: Googlebot-News\nAllow: /\n";
    let after = |first: (i64, Outcome, &str), hours| {
        let snapshots = [first, (100, OK, CLOSED)];
        found(Judge::new, Dialect::Google, &snapshots, ("Googlebot", "/x", hours))
    };
    assert_eq!(after((0, OK, NEWS_ONLY), 99), "ambiguous");
    assert_eq!(after((0, OK, NEWS_ONLY), 110), "ambiguous");
    assert_eq!(after((0, OK, NEWS_ONLY), 125), "violation 3");
    assert_eq!(after((0, OK, OPEN), 110), "grace 3");
}

#[test]
fn verdicts_from_logs_are_marked() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.example"), OPEN).unwrap();
    let (store, registry) = (Store::open(dir.path()).unwrap(), Registry::builtin());
    let mut judge = Judge::new(store, &registry, Dialect::Google).unwrap();
    judge.add_outages([(Some(origin()), vec![7])].into());
    let known = judge.known(&origin(), HostSource::Own).unwrap();
    let crawler = registry.find(BOUND).unwrap();
    let mut scratch = Vec::new();
    let path = prepare(b"/closed", Dialect::Google, &mut scratch);
    let dated = |hours| {
        let at = JudgedAt::Time(time(hours), BeforeFirst::Unknown);
        let found = judge.verdict(Some(&known), crawler, Some(path), at);
        (words(found.verdict), found.is_by_logs)
    };
    assert_eq!(dated(7), ("unreachable".to_owned(), true));
    assert_eq!(dated(8), ("violation 2".to_owned(), false));
}

#[test]
fn a_verdict_is_small() {
    assert!(size_of::<Verdict>() <= 16 && size_of::<DatedVerdict<'_>>() <= 48);
}
