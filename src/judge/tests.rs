//! Verdicts by files of a directory, and the data that they share.

use crate::archive::snapshot::{Failure, Fetch, SnapshotOutcome};
use crate::archive::{memory::MemorySnapshot, reader::Archive, writer::NewSnapshot};
use crate::digest::Digest;
use crate::error::Error;
use crate::time::UtcTime;
use crate::url::path::prepare;

use super::verdict::{JudgedAt, Verdict};
use super::*;
use super::{loaded::FAILURES_MAX, origin_history::OriginHistory, timeline::BeforeFirst};

/// A directory of `(name, text)` files, and its judge.
#[track_caller]
fn check(files: &[(&str, &str)], crawler: &str, url: &str, expected: Option<(bool, Option<u32>)>) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let registry = Registry::builtin();
    let judge = Judge::new(Store::open(dir.path()).unwrap(), &registry, Dialect::Google).unwrap();
    let origin = Origin::parse(url.as_bytes()).unwrap();
    let path = &url.as_bytes()[origin.as_str().len()..];
    let verdict = judge.site(&origin, HostSource::Foreign).map(|robots| {
        let crawler = registry.find(crawler).unwrap();
        let decision = judge
            .decide(&robots, crawler, prepare(path, Dialect::Google, &mut Vec::new()))
            .unwrap();
        (decision.allowed, decision.line)
    });
    assert_eq!(verdict, expected, "{crawler} {url}");
}

#[test]
fn each_origin_is_judged_by_its_own_file() {
    let a = "User-agent: *\nDisallow: /a\n";
    let files = [("a.example", a), ("b.example", "User-agent: GPTBot\n\nDisallow: /\n")];
    check(&files, "GPTBot", "https://a.example/a/b", Some((false, Some(2))));
    check(&files, "GPTBot", "https://b.example/a/b", Some((false, Some(3))));
    check(&files, "bingbot", "https://b.example/a/b", Some((true, None)));
    check(&files, "bingbot", "https://c.example/a/b", None);
}

#[test]
fn crawlers_that_ignore_the_star_follow_their_own_group_only() {
    let files = [("a.example", "User-agent: *\nDisallow: /\n")];
    check(&files, "AdsBot-Google", "https://a.example/", Some((true, None)));
    check(&files, "Googlebot-Image", "https://a.example/", Some((false, Some(2))));
    let files = [("a.example", "User-agent: googlebot\nDisallow: /\n")];
    check(&files, "Googlebot-Image", "https://a.example/", Some((false, Some(2))));
}

#[test]
fn equal_rules_are_compiled_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.example"), "User-agent: *\nDisallow: /a\n").unwrap();
    std::fs::write(dir.path().join("b.example"), "# b\nUser-agent: *\nDisallow: /a\n").unwrap();
    let registry = Registry::builtin();
    let judge = Judge::new(Store::open(dir.path()).unwrap(), &registry, Dialect::Google).unwrap();
    for (host, line) in [("http://a.example", 2), ("http://b.example", 3)] {
        let robots = judge.site(&Origin::parse(host.as_bytes()).unwrap(), HostSource::Own).unwrap();
        for crawler in ["GPTBot", "bingbot"] {
            let crawler = registry.find(crawler).unwrap();
            let decision = judge
                .decide(&robots, crawler, prepare(b"/a", Dialect::Google, &mut Vec::new()))
                .unwrap();
            assert_eq!(decision.line, Some(line));
        }
    }
    assert_eq!(judge.policies.lock().unwrap().len(), 1);
}

/// One robots.txt may hold 64,000 rules, and a registry hundreds of crawlers.
#[test]
fn crawlers_that_the_same_groups_bind_share_their_rules() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    let text = "User-agent: *\nUser-agent: gptbot\nDisallow: /a\n\
                User-agent: ccbot\nDisallow: /a\nUser-agent: gptbot\nDisallow: /b\n";
    std::fs::write(&path, text).unwrap();
    let registry = Registry::builtin();
    let judge = Judge::new(Store::open(&path).unwrap(), &registry, Dialect::Google).unwrap();
    let robots = judge.unnamed().unwrap();
    for (crawler, _) in registry.iter() {
        judge.decide(&robots, crawler, prepare(b"/a", Dialect::Google, &mut Vec::new())).unwrap();
    }
    // Those of *, gptbot and ccbot, and those that ignore *.
    assert_eq!(robots.shared.lock().unwrap().len(), 4);
    let group = |crawler: &str, line: u32| {
        let rule = robots.deciding_rule(line, registry.find(crawler).unwrap());
        String::from_utf8(rule.group.into()).unwrap()
    };
    assert_eq!(group("bingbot", 3), "*");
    assert_eq!(group("GPTBot", 3), "GPTBot");
    assert_eq!(group("GPTBot", 7), "GPTBot");
    assert_eq!(group("CCBot", 5), "CCBot");
}

#[test]
fn a_single_file_governs_no_foreign_host() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    std::fs::write(&path, "User-agent: *\nDisallow: /\n").unwrap();
    let judge =
        Judge::new(Store::open(&path).unwrap(), &Registry::builtin(), Dialect::Google).unwrap();
    let origin = Origin::parse(b"http://example.com").unwrap();
    assert!(judge.site(&origin, HostSource::Own).is_some());
    assert!(judge.site(&origin, HostSource::Foreign).is_none());
    assert!(judge.unnamed().is_some());
}

/// Hours, outcomes and bodies; the grace period of the second one ends after `max_age`.
const HISTORY: [(i64, SnapshotOutcome, &str); 4] = [
    (10, SnapshotOutcome::Status(200), "User-agent: *\nDisallow: /x\n"),
    (20, SnapshotOutcome::Status(200), "User-agent: *\n\nDisallow: /\n"),
    (30, SnapshotOutcome::Failure(Failure::Timeout), ""),
    (40, SnapshotOutcome::Status(404), "User-agent: *\nDisallow: /\n"),
];

#[test]
fn snapshots_in_memory_judge_as_those_of_an_archive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    let origin = Origin::parse(b"https://a.example").unwrap();
    let mut writer = Archive::writer(&path).unwrap();
    let mut memory = MemoryArchive::default();
    for (hour, outcome, body) in HISTORY.into_iter().rev() {
        let fetched_at = UtcTime::from_unix_seconds(hour * 3600).unwrap();
        let max_age_seconds = Some(7200);
        let fetch = Fetch { fetched_at, outcome, max_age_seconds, chain: Vec::new() };
        let (source, text) = ("test".to_owned(), body.as_bytes().to_vec().into());
        writer.push(NewSnapshot { origin: origin.clone(), fetch, source, body: text }).unwrap();
        let body = body.into();
        let snapshot = MemorySnapshot { fetched_at, outcome, max_age_seconds, body };
        assert!(memory.add(origin.clone(), snapshot.clone()));
        assert!(memory.add(origin.clone(), snapshot.clone()), "an equal one of the same second");
        let other = MemorySnapshot { outcome: SnapshotOutcome::Status(500), ..snapshot };
        assert!(!memory.add(origin.clone(), other), "another one of the same second");
    }
    writer.flush().unwrap();
    let crawlers = || vec![CrawlerProfile::of_token("a".to_owned())];
    let archived = Judge::open_many(&path, crawlers(), Dialect::Google, 1 << 20).unwrap();
    let nothing = Store::Memory(MemoryArchive::default());
    let mut judge = Judge::of_many(nothing, crawlers(), Dialect::Google, 1 << 20).unwrap();
    let history = |judge: &Judge| judge.read_history(&origin, HostSource::Own).unwrap();
    assert!(history(&judge).is_none() && !judge.is_named(&origin));
    judge.set_store(Store::Memory(memory)).unwrap();
    assert!(judge.is_named(&origin));
    let (left, right) = (history(&archived), history(&judge));
    let hours = (0..50).filter_map(|hour| UtcTime::from_unix_seconds(hour * 3600));
    let times = hours.map(|time| JudgedAt::Time(time, BeforeFirst::Unknown));
    let mut seen = Vec::new();
    for at in times.chain([JudgedAt::Newest]) {
        for path in [&b"/x"[..], b"/y"] {
            let mut scratch = Vec::new();
            let path = prepare(path, Dialect::Google, &mut scratch);
            let verdict = |judge: &Judge, known: &Option<OriginHistory>| {
                judge.verdict(known.as_ref(), AD_HOC, Some(path), at).verdict
            };
            let found = verdict(&judge, &right);
            // Versions are numbered in the order in which they are read, which is the same here.
            assert_eq!(found, verdict(&archived, &left), "{at:?} {path:?}");
            seen.push(std::mem::discriminant(&found));
        }
    }
    seen.dedup();
    assert!(seen.len() > 5, "{seen:?}");
    judge.set_store(Store::Memory(MemoryArchive::default())).unwrap();
    assert!(history(&judge).is_none());
}

/// A judge of millions of origins may meet as many files that are damaged, or no robots.txt.
#[test]
fn a_thousand_failures_and_foreign_files_are_kept() {
    let judge = |bytes_max: Option<usize>| {
        let nothing = Store::Memory(MemoryArchive::default());
        let crawlers = vec![CrawlerProfile::of_token("a".to_owned())];
        let judge = Judge::of_many(nothing, crawlers, Dialect::Google, 0).unwrap();
        Judge { memory: bytes_max.map(MemoryBudget::of).unwrap_or_default(), ..judge }
    };
    for (bytes_max, expected) in [(Some(usize::MAX), FAILURES_MAX), (None, FAILURES_MAX + 1)] {
        let judge = judge(bytes_max);
        for number in 0..=FAILURES_MAX {
            assert!(judge.remember(number.to_string(), Err(Error::usage("damaged"))).is_none());
        }
        assert_eq!(judge.failures().len(), expected);
    }
    let judge = judge(None);
    let page = judge.version_of(Digest::of(b""), b"<!doctype html><html></html>");
    assert!(page.foreign.is_some());
    let mut loaded = judge.loaded.lock().unwrap();
    (0..=FAILURES_MAX).for_each(|number| loaded.note(&number.to_string(), &page));
    assert_eq!(loaded.foreign.len(), FAILURES_MAX);
}

#[test]
fn files_past_the_memory_limit_are_forgotten() {
    let nothing = Store::Memory(MemoryArchive::default());
    let crawlers = vec![CrawlerProfile::of_token("a".to_owned())];
    let judge = Judge::of_many(nothing, crawlers, Dialect::Google, 200 << 10).unwrap();
    for (number, expected) in [(1, 0), (2, 1)] {
        let body = format!("User-agent: a\nDisallow: /{number}{}\n", "x".repeat(120 << 10));
        judge.version_of(Digest::of(body.as_bytes()), body.as_bytes());
        judge.keep(0);
        assert_eq!(judge.memory.times_forgotten(), expected, "{number}");
    }
}

/// A file with groups for names that are not in the registry.
const NAMES: &str = "User-agent: *\nDisallow: /star\n\n\
    User-agent: Photo-Agent/2\nUser-agent: archive.example\nDisallow: /photo\n\n\
    User-agent: photo-agent\nDisallow: /more\n";

/// The lines of the deciding rules on `/star`, `/photo` and `/more`.
fn lines_for(name: &[u8]) -> [Option<u32>; 3] {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), NAMES).unwrap();
    let registry = Registry::builtin();
    let store = Store::open(file.path()).unwrap();
    let judge = Judge::new(store, &registry, Dialect::Google).unwrap();
    let origin = Origin::parse(b"https://a.example").unwrap();
    let known = judge.known(&origin, HostSource::Own);
    ["/star", "/photo", "/more"].map(|path| {
        let mut scratch = Vec::new();
        let path = Some(prepare(path.as_bytes(), judge.dialect(), &mut scratch));
        let who = (name, registry.generic());
        let at = JudgedAt::Newest;
        let dated = judge.verdict_by_name(known.as_deref(), who, path, at);
        match dated.verdict {
            Verdict::Violation(rule) => Some(rule.line),
            Verdict::Allowed(None) => None,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn the_groups_of_a_name_come_before_those_for_all() {
    for name in ["Photo-Agent", "PHOTO-AGENT"] {
        assert_eq!(lines_for(name.as_bytes()), [None, Some(6), Some(9)], "{name}");
    }
    assert_eq!(lines_for(b"archive.example"), [None, Some(6), None]);
    let too_long = [b'a'; 65];
    for name in [&b"PhotoAgent"[..], b"photo-agent2", b"", b"*", &too_long] {
        assert_eq!(lines_for(name), [Some(2), None, None], "{name:?}");
    }
}

/// A day is never judged by a file that replaced the noted one between the note and the judge.
#[test]
fn a_file_that_changed_after_it_was_seen_is_judged_as_it_was_seen() {
    let dir = tempfile::tempdir().unwrap();
    let (file, kept) = (dir.path().join("robots.txt"), dir.path().join("kept.db"));
    let (old, new) = ("User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n");
    let origin = Origin::parse(b"https://a.example").unwrap();
    std::fs::write(&file, old).unwrap();
    let store = || Store::open(&file).unwrap();
    let now = UtcTime::from_unix_seconds(2_000_000_000).unwrap();
    KeptFiles::see(&store(), Some(&origin), &kept, now, None).unwrap();
    let judged_by = || {
        let kept = KeptFiles::open(&store(), Some(&origin), &kept).unwrap();
        let judge = Judge::new(store(), &Registry::builtin(), Dialect::Google).unwrap();
        let judge = judge.with_kept_files(kept);
        judge.known(&origin, HostSource::Own).unwrap().last_version().unwrap().digest
    };
    assert_eq!(judged_by(), Digest::of(old.as_bytes()));
    std::fs::write(&file, new).unwrap();
    assert_eq!(judged_by(), Digest::of(old.as_bytes()));
    KeptFiles::see(&store(), Some(&origin), &kept, now, None).unwrap();
    assert_eq!(judged_by(), Digest::of(new.as_bytes()));
}
