use super::*;
use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::random::Random;

use jiff::Timestamp;
use std::fs;

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(directory.path().join(name), text).unwrap());
    directory
}

fn answers(files: &[(&str, &str)], cases: &[(&str, &str, RangeAnswer)]) -> Ranges {
    let registry = Registry::builtin();
    let directory = directory(files);
    let ranges = Ranges::open(directory.path(), &registry).unwrap();
    for (crawler, address, expected) in cases {
        let id = registry.find(crawler).unwrap();
        let address = address.parse().unwrap();
        // The files were written just now.
        let now = Timestamp::now().into();
        let found = ranges.answer(id, address, now).0;
        assert_eq!(found, *expected, "{crawler} {address}");
        assert_eq!(ranges.contain(id, address, now), found == RangeAnswer::Contains);
    }
    ranges
}

const COMMON: &str = "developers.google.com_static_crawling_ipranges_common-crawlers.json";

#[test]
fn names_are_derived_from_urls() {
    for (url, expected) in [
        ("https://www.bing.com/toolbox/bingbot.json", "bing.com_toolbox_bingbot.json"),
        ("https://developers.google.com/static/crawling/ipranges/common-crawlers.json", COMMON),
        ("https://www.cloudflare.com/ips-v4/", "cloudflare.com_ips-v4"),
        ("https://x.example/a.php?format=json&b=%2F", "x.example_a.php_format_json_b__2F"),
        ("http://../../etc/passwd", "_.._etc_passwd"),
    ] {
        assert_eq!(file_name(url), expected);
        assert!(!file_name(url).contains('/'));
    }
    // No two lists of the registry share a file.
    let registry = Registry::builtin();
    let urls: BTreeSet<_> =
        registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls).collect();
    let names: BTreeSet<_> = urls.iter().map(|url| file_name(url)).collect();
    assert_eq!(names.len(), urls.len());
}

#[test]
fn the_lists_of_a_crawler_decide() {
    use RangeAnswer::*;
    let google = r#"{"prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}"#;
    let special = r#"{"prefixes": [{"ipv4Prefix": "72.14.199.0/24"}]}"#;
    answers(
        &[(COMMON, google), ("special-crawlers.json", special), ("gptbot.json", "20.171.206.7")],
        &[
            ("Googlebot", "66.249.64.1", Contains),
            ("Googlebot-Image", "::ffff:66.249.64.1", Contains),
            ("Googlebot", "66.249.65.1", Contradicts),
            // Google's, but not this crawler's.
            ("Googlebot", "72.14.199.1", Contradicts),
            ("AdsBot-Google", "72.14.199.1", Contains),
            ("AdsBot-Google", "66.249.64.1", Contradicts),
            ("FeedFetcher-Google", "66.249.64.1", NoAnswer),
            ("GPTBot", "20.171.206.7", Contains),
            ("GPTBot", "2001:db8::1", Contradicts),
            // It may stand for 256 addresses, and one of them is in the list.
            ("GPTBot", "20.171.206.0", NoAnswer),
            ("GPTBot", "20.171.207.0", Contradicts),
            ("Bytespider", "66.249.64.1", NoAnswer),
        ],
    );
}

#[test]
fn a_list_contradicts_at_its_own_time() {
    use RangeAnswer::*;
    let dated = |day: &str| {
        format!(r#"{{"creationTime": "{day}T12:00:00", "prefixes": [{{"ip": "192.0.2.7"}}]}}"#)
    };
    // Fetched much later than it was made.
    let manifest = r#"{"schema_version": 1, "lists": [
        {"url": "https://openai.com/gptbot.json", "file": "gptbot.json",
            "fetched_at_utc": "2026-06-01T10:00:00Z", "size_bytes": 83},
        {"url": "https://openai.com/searchbot.json", "file": "searchbot.json",
            "fetched_at_utc": "2026-03-01T10:00:00Z", "size_bytes": 9}]}"#;
    let ranges = answers(
        &[
            ("gptbot.json", &format!("{:83}", dated("2026-03-01"))),
            ("searchbot.json", "192.0.2.7"),
            // Two lists of one crawler, 20 days apart.
            ("ipv4", &dated("2026-03-01")),
            ("ipv6", &dated("2026-03-21")),
            (MANIFEST, manifest),
        ],
        &[],
    );
    let registry = Registry::builtin();
    for (crawler, address, time, expected) in [
        ("GPTBot", "192.0.2.8", "2026-02-15T11:59:59Z", LacksAtOtherTime),
        ("GPTBot", "192.0.2.8", "2026-02-15T12:00:00Z", Contradicts),
        ("GPTBot", "192.0.2.8", "2026-03-15T12:00:00Z", Contradicts),
        ("GPTBot", "192.0.2.8", "2026-03-15T12:00:01Z", LacksAtOtherTime),
        ("GPTBot", "192.0.2.8", "2026-06-01T10:00:00Z", LacksAtOtherTime),
        ("GPTBot", "192.0.2.7", "2026-06-01T10:00:00Z", Contains),
        ("OAI-SearchBot", "192.0.2.8", "2026-03-15T10:00:00Z", Contradicts),
        ("OAI-SearchBot", "192.0.2.8", "2026-03-15T10:00:01Z", LacksAtOtherTime),
        ("Pingdom", "192.0.2.8", "2026-03-07T11:59:59Z", LacksAtOtherTime),
        ("Pingdom", "192.0.2.8", "2026-03-07T12:00:00Z", Contradicts),
        ("Pingdom", "192.0.2.8", "2026-03-15T12:00:01Z", LacksAtOtherTime),
    ] {
        let id = registry.find(crawler).unwrap();
        let at = time.parse::<Timestamp>().unwrap().into();
        let found = ranges.answer(id, address.parse().unwrap(), at).0;
        assert_eq!(found, expected, "{crawler} {address} {time}");
    }
}

#[test]
fn former_names_of_lists_are_known() {
    use RangeAnswer::*;
    let cases = [("Googlebot", "192.0.2.7", Contains), ("Googlebot", "192.0.2.8", Contradicts)];
    for name in [
        "googlebot.json",
        "developers.google.com_static_search_apis_ipranges_googlebot.json",
        "developers.google.com_search_apis_ipranges_googlebot.json",
    ] {
        let ranges = answers(&[(name, "192.0.2.7")], &cases);
        assert!(ranges.unused().is_empty());
    }
    let manifest = r#"{"schema_version": 1, "lists": [{
        "url": "https://developers.google.com/static/search/apis/ipranges/googlebot.json",
        "file": "a", "fetched_at_utc": "2026-03-01T10:00:00Z", "size_bytes": 9}]}"#;
    answers(&[("a", "192.0.2.7"), (MANIFEST, manifest)], &cases[..1]);
    // The list of now comes first.
    answers(&[("googlebot.json", "192.0.2.9"), (COMMON, "192.0.2.7")], &cases);
    answers(
        &[("perplexity.ai_perplexitybot.json", "192.0.2.7")],
        &[("PerplexityBot", "192.0.2.7", Contains)],
    );
}

#[test]
fn what_is_not_whole_contradicts_nobody() {
    use RangeAnswer::*;
    let ranges = answers(
        &[
            ("ipv4", "192.0.2.1"),
            ("gptbot.json", "192.0.2.1\nx\ny"),
            ("bingbot.json", "{"),
            ("geofeed", "<p>"),
        ],
        &[
            // The other list of Pingdom, of IPv6, is missing.
            ("Pingdom", "192.0.2.1", Contains),
            ("Pingdom", "192.0.2.2", NoAnswer),
            ("GPTBot", "192.0.2.1", Contains),
            ("GPTBot", "192.0.2.2", NoAnswer),
            ("bingbot", "192.0.2.1", NoAnswer),
            ("FacebookBot", "192.0.2.1", NoAnswer),
        ],
    );
    let registry = Registry::builtin();
    let faults = |name: &str| {
        let lists = ranges.lists_of(registry.find(name).unwrap());
        lists.map(|list| list.fault.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(faults("GPTBot"), ["line 2: 'x': not an address or network (and 1 more)"]);
    assert_eq!(faults("Pingdom"), ["", "not in the directory"]);
}

#[test]
fn the_manifest_names_files_and_dates() {
    let manifest = |size: usize| {
        format!(
            r#"{{"schema_version": 1, "lists": [{{"url": "https://openai.com/gptbot.json", "file": "a",
                "fetched_at_utc": "2026-03-01T10:00:00Z", "size_bytes": {size}}}]}}"#
        )
    };
    let list =
        r#"{"creationTime": "2026-02-01T00:00:00", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#;
    let registry = Registry::builtin();
    let gptbot = registry.find("GPTBot").unwrap();
    let ranges = answers(&[("a", list), (MANIFEST, &manifest(list.len())), ("b", "")], &[]);
    let found = ranges.lists_of(gptbot).next().unwrap();
    assert_eq!(found.created.unwrap().to_string(), "2026-02-01T00:00:00Z");
    assert_eq!(found.fetched_at.unwrap().to_string(), "2026-03-01T10:00:00Z");
    assert_eq!((found.fault.as_deref(), ranges.unused()), (None, &["b".to_owned()][..]));

    let ranges = answers(&[("a", list), (MANIFEST, &manifest(1000))], &[]);
    let fault = ranges.lists_of(gptbot).next().unwrap().fault.clone().unwrap();
    assert!(fault.ends_with("bytes, but manifest.json says 1000; download it again"), "{fault}");
}

#[test]
fn a_directory_without_lists_is_an_error() {
    let registry = Registry::builtin();
    let open = |path: &Path| Ranges::open(path, &registry).unwrap_err().to_string();
    assert!(open(Path::new("/nonexistent")).starts_with("cannot list --ip-ranges /nonexistent: "));
    let directory = directory(&[("x.json", "{}")]);
    assert!(open(directory.path()).contains("is openai.com_gptbot.json or gptbot.json"));
}

/// The directory with the versions of GPTBot's list: the addresses that each has, and its days.
fn with_history(versions: &[(&str, &[i64])]) -> (Registry, tempfile::TempDir) {
    let registry = Registry::builtin();
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("history")).unwrap();
    let at = |day: &i64| UtcTime::from_unix_seconds(day * 86_400).unwrap();
    let mut entries = Vec::new();
    for (index, (networks, days)) in versions.iter().enumerate() {
        let text = networks.replace(' ', "\n");
        let file = format!("v{index}");
        fs::write(directory.path().join("history").join(&file), &text).unwrap();
        entries.push(ManifestEntry {
            url: "https://openai.com/gptbot.json".to_owned(),
            file,
            fetched_at: at(&0),
            size_bytes: text.len() as u64,
            seen: days.iter().map(at).collect(),
            crawlers: Vec::new(),
        });
    }
    let manifest = directory.path().join("history").join(MANIFEST);
    fs::write(manifest, crate::crawlers::manifest::write(&entries)).unwrap();
    (registry, directory)
}

#[test]
fn lists_decide_at_their_time() {
    use RangeAnswer::*;
    let (registry, directory) = with_history(&[
        ("192.0.2.1 192.0.2.9", &[100]),
        ("192.0.2.2 192.0.2.9", &[110]),
        ("192.0.2.3 192.0.2.9", &[160, 180]),
    ]);
    let ranges = Ranges::open(directory.path(), &registry).unwrap();
    let gptbot = registry.find("GPTBot").unwrap();
    let check = |last: u8, seconds: i64, expected: RangeAnswer| {
        let time = UtcTime::from_unix_seconds(seconds).unwrap();
        let found = ranges.answer(gptbot, [192, 0, 2, last].into(), time).0;
        assert_eq!(found, expected, "192.0.2.{last} {}", seconds as f64 / 86_400.0);
    };
    let day = |day: i64| day * 86_400;
    for at in [0, 86, 100, 105, 110, 140, 160, 175, 200, 400] {
        check(9, day(at), Contains);
    }
    // Before the first list, and until the second one: it may have changed at any time.
    check(1, day(0), Contains);
    check(1, day(110) - 1, Contains);
    check(2, day(100) - 1, Contradicts);
    check(2, day(100) + 1, Contains);
    check(2, day(160) - 1, Contains);
    // In the second of a version, those before and after it count.
    check(1, day(110), Contains);
    check(2, day(160), Contains);
    check(1, day(110) + 1, LacksAtOtherTime);
    check(2, day(160) + 1, Contradicts);
    // Neither of two lists has it, and both are near; or one of them is not.
    check(4, day(105), Contradicts);
    check(4, day(110), LacksAtOtherTime);
    check(4, day(124), LacksAtOtherTime);
    check(1, day(124), LacksAtOtherTime);
    check(3, day(110) - 1, Contradicts);
    check(3, day(110), Contains);
    check(3, day(110) + 1, Contains);
    // One list only, as before the first and after the last.
    check(4, day(86), Contradicts);
    check(4, day(86) - 1, LacksAtOtherTime);
    check(4, day(194), Contradicts);
    check(4, day(194) + 1, LacksAtOtherTime);
    // The same list, seen twice: it did not change in between.
    check(4, day(170), Contradicts);
    assert!(ranges.unused().is_empty());
    let list = ranges.lists_of(gptbot).next().unwrap();
    assert_eq!(list.file.as_deref(), Some("history/v2"));
    assert_eq!(list.versions.as_ref().unwrap().count, 3);
    assert_eq!(ranges.networks_of(gptbot).count(), 2, "the newest");
}

/// The list in the directory itself is one more version, and damaged versions decide nothing at their
/// time.
#[test]
fn damaged_versions_contradict_nobody() {
    use RangeAnswer::*;
    let (registry, directory) =
        with_history(&[("192.0.2.1", &[100]), ("192.0.2.2 x", &[110]), ("192.0.2.3", &[120])]);
    fs::remove_file(directory.path().join("history/v2")).unwrap();
    let newest = r#"{"creationTime": "1970-05-11", "prefixes": ["192.0.2.4"]}"#;
    fs::write(directory.path().join("gptbot.json"), newest).unwrap();
    let ranges = Ranges::open(directory.path(), &registry).unwrap();
    let gptbot = registry.find("GPTBot").unwrap();
    let check = |last: u8, day: i64, expected: RangeAnswer| {
        let time = UtcTime::from_unix_seconds(day * 86_400).unwrap();
        let found = ranges.answer(gptbot, [192, 0, 2, last].into(), time).0;
        assert_eq!(found, expected, "{last} {day}");
    };
    for (last, day, expected) in [
        (9, 99, Contradicts),
        (9, 100, NoAnswer),
        (9, 101, NoAnswer),
        (2, 101, Contains),
        (9, 110, NoAnswer),
        (9, 125, NoAnswer),
        (4, 125, Contains),
        (9, 130, NoAnswer),
        (9, 131, Contradicts),
        (9, 144, Contradicts),
        (9, 145, LacksAtOtherTime),
    ] {
        check(last, day, expected);
    }
    let versions = ranges.lists_of(gptbot).next().unwrap().versions.clone().unwrap();
    assert_eq!((versions.count, versions.faulty), (4, 2));
    assert!(versions.first_fault.unwrap().starts_with("history/v"));
    // A manifest of somebody else is an error, not another answer.
    fs::write(directory.path().join("history").join(MANIFEST), "[").unwrap();
    assert!(Ranges::open(directory.path(), &registry).is_err());
}

/// 48 versions, as a mirror has of Googlebot's list since 2023, and requests at any time.
#[test]
fn every_verdict_is_that_of_reading_the_versions_of_the_time() {
    let mut random = Random::new();
    let mut random = |bound: u32| random.below(bound as usize) as u32;
    // Each version differs a little from the one before.
    let mut networks: Vec<u32> = (0..300).collect();
    let (mut day, mut versions) = (20, Vec::new());
    for _ in 0..48 {
        let changed = random(8);
        for _ in 0..changed {
            let at = random(300) as usize;
            networks[at] = random(600);
        }
        let text = |of: &u32| match of % 3 {
            0 => format!("10.{}.{}.0/27", 100 + of / 256, of % 256).replacen("10.", "66.", 1),
            1 => format!("66.102.{}.{}", of / 256, of % 256),
            _ => format!("2001:4860:{of:x}::/64"),
        };
        versions.push((day, networks.iter().map(text).collect::<Vec<_>>().join(" ")));
        day += 1 + i64::from(random(60));
    }
    let days: Vec<[i64; 1]> = versions.iter().map(|&(day, _)| [day]).collect();
    let of_history: Vec<(&str, &[i64])> =
        versions.iter().zip(&days).map(|((_, text), day)| (text.as_str(), &day[..])).collect();
    let (registry, directory) = with_history(&of_history);
    let ranges = Ranges::open(directory.path(), &registry).unwrap();
    let gptbot = registry.find("GPTBot").unwrap();
    let parsed: Vec<(i64, Networks)> = versions
        .iter()
        .map(|(day, text)| {
            let all = text.split(' ').map(|text| Network::parse(text.as_bytes()).unwrap());
            (day * 86_400, Networks::new(all))
        })
        .collect();
    let mut counts = [0_u32; 3];
    for _ in 0..100_000 {
        let of = random(600);
        let address: IpAddr = match random(3) {
            0 => [66, (100 + of / 256) as u8, (of % 256) as u8, 1 + random(40) as u8].into(),
            1 => [66, 102, (of / 256) as u8, (of % 256) as u8].into(),
            _ => format!("2001:4860:{of:x}::7").parse().unwrap(),
        };
        let time = i64::from(random(86_400 * (day as u32 + 30)));
        let before = parsed.iter().rev().find(|(at, _)| *at <= time);
        let after = parsed.iter().find(|(at, _)| *at >= time);
        let mut both = before.into_iter().chain(after);
        let masked = Network::possibly_masked(address);
        let expected = if both.clone().any(|(_, networks)| networks.contains(address)) {
            RangeAnswer::Contains
        } else if !masked.is_single() && parsed.iter().any(|(_, all)| all.overlaps(masked)) {
            RangeAnswer::NoAnswer
        } else if both.all(|(at, _)| (time - at).abs() <= 14 * 86_400)
            || before.zip(after).is_some_and(|(before, after)| {
                before.1 == after.1
                    && (time - before.0 <= 14 * 86_400 || after.0 - time <= 14 * 86_400)
            })
        {
            RangeAnswer::Contradicts
        } else {
            RangeAnswer::LacksAtOtherTime
        };
        let at = |time| ranges.answer(gptbot, address, UtcTime::from_unix_seconds(time).unwrap());
        let (found, period, is_newest) = at(time);
        assert_eq!(found, expected, "{address} {time}");
        let has_it = parsed.last().is_some_and(|(_, networks)| networks.contains(address));
        assert_eq!(is_newest, found == RangeAnswer::Contains && has_it, "{address} {time}");
        // The same at both ends of the period that the answer is for.
        assert!(period.contains(time), "{address} {time}");
        for end in [period.from.max(0), period.until.min(86_400 * 10_000) - 1] {
            assert_eq!(at(end).0, expected, "{address} {time} {end}");
        }
        match found {
            RangeAnswer::Contains => counts[0] += 1,
            RangeAnswer::Contradicts => counts[1] += 1,
            RangeAnswer::LacksAtOtherTime => counts[2] += 1,
            RangeAnswer::NoAnswer => {}
        }
    }
    assert!(counts.iter().all(|&count| count > 5000), "{counts:?}");
}
