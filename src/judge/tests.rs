//! Verdicts by files of a directory, and the data that they share.

use super::*;
use crate::url::path::prepare;

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
        let decision =
            judge.decide(&robots, crawler, prepare(path, Dialect::Google, &mut Vec::new()));
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
            let decision =
                judge.decide(&robots, crawler, prepare(b"/a", Dialect::Google, &mut Vec::new()));
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
        judge.decide(&robots, crawler, prepare(b"/a", Dialect::Google, &mut Vec::new()));
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
