use super::*;

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
        let found = ranges.answer(id, address, Timestamp::now().into());
        assert_eq!(found, *expected, "{crawler} {address}");
        assert_eq!(ranges.contain(id, address), found == RangeAnswer::Contains);
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
        let found = ranges.answer(id, address.parse().unwrap(), at);
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
