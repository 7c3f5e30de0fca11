use super::*;
use crate::archive::Store;
use crate::crawlers::registry::Registry;
use crate::url::path::Dialect;

fn judge(names: &[&str]) -> Judge {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::write(dir.path().join(name), "User-agent: *\nDisallow: /\n").unwrap();
    }
    let store = match names {
        ["robots.txt"] => Store::open(&dir.path().join("robots.txt")),
        _ => Store::open(dir.path()),
    };
    Judge::new(store.unwrap(), &Registry::builtin(), Dialect::Google).unwrap()
}

fn naming(origin: &str) -> OriginOptions {
    OriginOptions { origin: Origin::parse(origin.as_bytes()), ..OriginOptions::default() }
}

#[track_caller]
fn check(sites: &mut Sites<'_>, host_port: &str, expected: &str) {
    let (host, port) = host_port
        .split_once(':')
        .map_or((host_port, None), |(host, port)| (host, port.parse().ok()));
    let site = sites.own(Some(host.as_bytes()), port, None);
    assert_eq!(sites.get(site).origin_key.to_string(), expected, "{host_port}");
}

#[test]
fn the_scheme_follows_from_the_port_or_the_named_origin() {
    let judge = judge(&["https_api.example.com_8443.txt", "example.com"]);
    let naming = naming("https://example.org");
    let sites = &mut Sites::new(&judge, &naming);
    check(sites, "example.com:443", "https://example.com");
    check(sites, "Example.COM.:80", "http://example.com");
    check(sites, "api.example.com:8443", "https://api.example.com:8443");
    check(sites, "api.example.com:8080", "http://api.example.com:8080");
    check(sites, "example.org", "https://example.org");
    check(sites, "example.net", "http://example.net");
    check(sites, "a b:80", "(invalid)");
}

#[test]
fn a_single_file_governs_our_hosts_but_no_host_that_only_a_target_names() {
    let judge = judge(&["robots.txt"]);
    let mut naming = naming("https://example.com");
    naming.aliases.add("old.example.com=www.example.com").unwrap();
    let sites = &mut Sites::new(&judge, &naming);
    let own = sites.own(Some(b"www.example.com"), Some(443), None);
    assert!(sites.get(own).known(&judge).is_some());
    let is_known = |sites: &mut Sites<'_>, scheme: &str, authority: &str, own| {
        let site = sites.absolute(scheme.as_bytes(), authority.as_bytes(), own);
        sites.get(site).known(&judge).is_some()
    };
    assert!(is_known(sites, "http", "www.example.com:80", own));
    assert!(is_known(sites, "https", "example.com", own));
    assert!(!is_known(sites, "http", "proxy.test", own));
    let site = sites.absolute(b"http", b"old.example.com", own);
    let site = sites.get(site);
    assert!(
        site.known(&judge).is_some() && site.origin_key.to_string() == "http://www.example.com"
    );
    let unnamed = sites.own(None, None, None);
    assert_eq!(sites.get(unnamed).origin_key.to_string(), "https://example.com");
    assert!(!is_known(sites, "http", "proxy.test", unnamed));
}

#[test]
fn a_single_file_is_for_one_port() {
    let judge = judge(&["robots.txt"]);
    #[track_caller]
    fn check(judge: &Judge, naming: &OriginOptions, known: &[&str], unknown: &[&str]) {
        let mut sites = Sites::new(judge, naming);
        for (origins, expected) in [(known, true), (unknown, false)] {
            for origin in origins {
                let origin = Origin::parse(origin.as_bytes()).unwrap();
                let (host, port) = (origin.host().as_bytes(), origin.port());
                let scheme = match origin.scheme() {
                    "http" => Some(Scheme::Http),
                    "https" => Some(Scheme::Https),
                    _ => None,
                };
                let own = sites.own(Some(host), port, scheme);
                assert_eq!(sites.get(own).known(judge).is_some(), expected, "{origin}");
                // As an absolute-form target.
                let authority = origin.host_and_port().as_bytes();
                let of_target = sites.absolute(origin.scheme().as_bytes(), authority, own);
                assert_eq!(sites.get(of_target).known(judge).is_some(), expected, "{origin}");
            }
        }
    }
    let of_any_port = ["http://a.example:81", "https://a.example:8443"];
    let default = ["http://a.example", "https://a.example", "https://www.a.example"];
    let nothing = OriginOptions::default();
    check(&judge, &nothing, &default, &of_any_port);
    let mut named = naming("https://a.example");
    check(&judge, &named, &default, &of_any_port);
    named.aliases.add("http://a.example:81=http://a.example").unwrap();
    check(&judge, &named, &of_any_port[..1], &of_any_port[1..]);
    let other = naming("https://a.example:8443");
    let both = ["https://a.example:8443", "http://www.a.example:8443"];
    check(&judge, &other, &both, &[&default[..], &of_any_port[..1]].concat());
    let mut sites = Sites::new(&judge, &other);
    let without_port = sites.own(Some(b"a.example"), None, None);
    assert_eq!(sites.get(without_port).origin_key.to_string(), "https://a.example:8443");
}

#[test]
fn what_the_log_says_wins_over_origin_and_that_over_the_name_of_the_file() {
    let judge = judge(&["robots.txt"]);
    let captured = Captured { host: "file.example".into(), scheme: None, port: Some(8443) };
    let nothing = OriginOptions::default();
    let mut sites = Sites::new(&judge, &nothing);
    let origin_key = |sites: &mut Sites<'_>, host: Option<&str>, port, scheme| {
        let site = sites.own(host.map(str::as_bytes), port, scheme);
        sites.get(site).origin_key.to_string()
    };
    assert_eq!(origin_key(&mut sites, None, None, None), "-");
    sites.turn_to(Some(&captured));
    assert_eq!(origin_key(&mut sites, None, None, None), "http://file.example:8443");
    let https = Some(Scheme::Https);
    assert_eq!(origin_key(&mut sites, None, Some(443), https), "https://file.example:8443");
    assert_eq!(origin_key(&mut sites, Some("log.example"), None, https), "https://log.example");
    assert_eq!(origin_key(&mut sites, Some("log.example"), Some(80), https), "https://log.example");
    let (port, http) = (Some(8443), Some(Scheme::Http));
    assert_eq!(origin_key(&mut sites, Some("log.example"), port, http), "http://log.example:8443");
    sites.turn_to(None);
    assert_eq!(origin_key(&mut sites, None, None, None), "-");
    let named = naming("https://example.com");
    let mut sites = Sites::new(&judge, &named);
    sites.turn_to(Some(&captured));
    assert_eq!(origin_key(&mut sites, None, None, None), "https://example.com");
    assert_eq!(origin_key(&mut sites, Some("log.example"), None, None), "http://log.example");
}

#[test]
fn between_two_chunks_all_hosts_are_forgotten_if_they_are_too_many() {
    let judge = judge(&["robots.txt"]);
    let naming = naming("https://example.com");
    let mut sites = Sites::new(&judge, &naming);
    let default = sites.own(None, None, None);
    let foreign = |sites: &mut Sites<'_>| sites.absolute(b"http", b"proxy.test", default);
    foreign(&mut sites);
    for host in 0..REMEMBERED_MAX - 2 {
        sites.own(Some(format!("{host}.test").as_bytes()), None, None);
    }
    let check = |sites: &mut Sites<'_>, expected: (usize, u64)| {
        sites.turn_to(None);
        assert_eq!((sites.sites.len(), sites.generation), expected);
    };
    check(&mut sites, (REMEMBERED_MAX, 0));
    sites.own(Some(b"last.example"), None, None);
    check(&mut sites, (1, 1));
    for host in ["0.test", "last.example"] {
        let site = sites.own(Some(host.as_bytes()), None, None);
        assert_eq!(sites.get(site).origin_key.host(), Some(host));
    }
    let site = foreign(&mut sites);
    assert_eq!(sites.get(site).origin_key.to_string(), "http://proxy.test");
    let default = sites.own(None, None, None);
    assert_eq!(sites.get(default).origin_key.to_string(), "https://example.com");
}

#[test]
fn a_host_is_looked_up_once_unless_it_is_too_long() {
    let judge = judge(&["robots.txt"]);
    let naming = OriginOptions::default();
    let mut sites = Sites::new(&judge, &naming);
    let (own, target) = (b"a.example".as_slice(), b"b.example".as_slice());
    for host in [own, target] {
        let site = sites.named(host, None, None);
        assert_eq!(sites.named(host, None, None), site);
        let foreign = sites.absolute(b"http", host, site);
        assert_eq!(sites.absolute(b"http", host, site), foreign);
    }
    // With two bytes for the port.
    for (length, is_known) in [(REMEMBERED_BYTES_MAX - 2, true), (REMEMBERED_BYTES_MAX - 1, false)]
    {
        let long = "a".repeat(length);
        let site = sites.named(long.as_bytes(), None, None);
        assert_eq!(sites.named(long.as_bytes(), None, None) == site, is_known, "{length}");
    }
    for (length, is_kept) in [(REMEMBERED_BYTES_MAX, true), (REMEMBERED_BYTES_MAX + 1, false)] {
        let long = "b".repeat(length);
        sites.own(Some(long.as_bytes()), None, None);
        let kept = sites.recent.iter().any(|recent| recent.host == long.as_bytes());
        assert_eq!(kept, is_kept, "{length}");
    }
    check(&mut sites, "", "(invalid)");
}

#[test]
fn a_named_origin_wins_over_the_file_of_the_other_scheme() {
    let judge = judge(&["https_example.com_8443.txt"]);
    let (none, named) = (OriginOptions::default(), naming("http://example.com:8443"));
    check(&mut Sites::new(&judge, &none), "example.com:8443", "https://example.com:8443");
    check(&mut Sites::new(&judge, &named), "example.com:8443", "http://example.com:8443");
}

/// What machines collected of a log without hosts is of the origin that the user names.
#[test]
fn a_log_without_hosts_is_of_the_named_origin() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("example.com"), "User-agent: *\nDisallow: /\n").unwrap();
    let store = Store::open(dir.path()).unwrap();
    let judge = Judge::new(store, &Registry::builtin(), Dialect::Google).unwrap();
    for (host, expected) in [("https://example.com", true), ("https://b.example", false)] {
        let naming = naming(host);
        let site = Sites::new(&judge, &naming).of_origin_key(&OriginKey::Unnamed);
        assert_eq!(*site.origin_key, OriginKey::Unnamed);
        assert_eq!(site.known(&judge).is_some(), expected, "{host}");
    }
}
