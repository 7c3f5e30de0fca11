//! What a first pass found, written, read and merged.

use super::*;

/// The file may come from a stranger.
#[test]
fn addresses_are_those_of_known_crawlers_in_one_form() {
    let is_accepted = |crawler: u16, address: &str| {
        let (crawler, address) = (CrawlerId(crawler), address.parse().unwrap());
        let kept = vec![AddressEntry { crawler, address, requests: 1 }];
        Addresses { kept, requests_of_others: None }.into_bounded(7).is_some()
    };
    assert!(is_accepted(6, "192.0.2.1") && is_accepted(0, "2001:db8::1"));
    assert!(!is_accepted(7, "192.0.2.1"), "no crawler has this number");
    assert!(!is_accepted(6, "::ffff:192.0.2.1"), "this is 192.0.2.1");
}

#[test]
fn what_did_not_fit_is_kept_as_a_number() {
    let addresses = Addresses { kept: Vec::new(), requests_of_others: Some(9) };
    let (_, others) = addresses.into_bounded(1).unwrap().into_parts();
    assert_eq!(others, Some(9));
    let origins = |has_others| {
        let asked = Asked { named: BTreeSet::new(), strangers: BTreeSet::new(), has_others };
        asked.into_origins().unwrap().strangers.into_parts().1.is_some()
    };
    assert!(origins(true) && !origins(false));
}

#[test]
fn only_addresses_of_sites_were_asked_for() {
    let site = || OriginKey::Origin("https://a.example".parse().unwrap());
    let asked = |named: Vec<OriginKey>, strangers: Vec<OriginKey>| {
        let [named, strangers] = [named, strangers].map(BTreeSet::from_iter);
        let origins = Asked { named, strangers, has_others: false }.into_origins()?;
        let (strangers, _) = origins.strangers.into_parts();
        Some((origins.named.len(), strangers.count()))
    };
    assert_eq!(asked(vec![site()], Vec::new()), Some((1, 0)));
    assert_eq!(asked(Vec::new(), vec![site()]), Some((0, 1)));
    for other in [OriginKey::Invalid, OriginKey::Others, OriginKey::Unnamed] {
        assert_eq!(asked(vec![other.clone()], Vec::new()), None, "{other:?}");
        assert_eq!(asked(Vec::new(), vec![other.clone()]), None, "{other:?}");
    }
}

/// Hash maps have no order, and equal runs give equal files.
#[test]
fn addresses_are_in_order() {
    let mut collected = Collected::default();
    let mut addresses = Bounded::new(CANDIDATES_MAX);
    for last in (0..100_u8).rev() {
        let address = std::net::IpAddr::from([192, 0, 2, last]);
        addresses.add(&DnsCandidate { crawler: CrawlerId(u16::from(last % 3)), address }, 1);
    }
    collected.addresses = Some(addresses);
    let kept = Body::of(collected).addresses.unwrap().kept;
    assert_eq!(kept.len(), 100);
    assert!(kept.is_sorted());
}

const CRAWLERS: usize = 7;

fn origin(host: &str) -> OriginKey {
    OriginKey::Origin(crate::url::origin::Origin::parse(host.as_bytes()).unwrap())
}

fn collected(addresses: impl Iterator<Item = u8>) -> Collected {
    let address = |last| AddressEntry {
        crawler: CrawlerId(u16::from(last) % CRAWLERS as u16),
        address: [192, 0, 2, last].into(),
        requests: u64::from(last),
    };
    let addresses =
        Addresses { kept: addresses.map(address).collect(), requests_of_others: Some(5) };
    let origins = Asked {
        named: [origin("https://named.example")].into(),
        strangers: [origin("https://stranger.example")].into(),
        has_others: true,
    };
    let body = Body { addresses: Some(addresses), answers: None, origins: Some(origins) };
    body.into_collected(CRAWLERS).unwrap()
}

fn header(input: &str, options: serde_json::Value) -> CollectedHeader {
    let serde_json::Value::Object(options) = options else { unreachable!("options are named") };
    let inputs = [input.to_owned()].into();
    CollectedHeader::new(ReportedOptions(options), &Registry::builtin(), inputs, None)
}

#[test]
fn what_is_written_is_read_again() {
    let header = header("access.log", serde_json::json!({}));
    let bytes = CollectedFile { header, collected: collected(1..9) }.to_bytes();
    let memory = MemoryLimit::new(1 << 20);
    let read = CollectedFile::from_bytes(&bytes, Path::new("a"), &memory).unwrap();
    assert!(read.to_bytes() == bytes);
}

/// Equal addresses of many files take the memory of one.
#[test]
fn more_files_are_merged_than_the_memory_has_room_for() {
    let dir = tempfile::tempdir().unwrap();
    let write = |number: u8, options, addresses| {
        let path = dir.path().join(format!("{number}.collected"));
        let header = header(&format!("{number}.log"), options);
        let bytes = CollectedFile { header, collected: collected(addresses) }.to_bytes();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let paths: Vec<PathBuf> =
        (0..20).map(|number| write(number, serde_json::json!({}), 0..=250)).collect();
    let one = MemoryLimit::new(1 << 30);
    let bytes = packed::read_file(READ, &paths[0], &one).unwrap();
    CollectedFile::from_bytes(&bytes, &paths[0], &one).unwrap();
    let sum = merge_collected(&paths, 6 * one.taken()).unwrap();
    assert_eq!(sum.header.inputs.len(), 20);
    let addresses = Body::of(sum.collected).addresses.unwrap();
    assert_eq!(addresses.kept.len(), 251);
    assert!(addresses.kept.iter().all(|entry| {
        let IpAddr::V4(address) = entry.address else { return false };
        entry.requests == 20 * u64::from(address.octets()[3])
    }));
    assert!(merge_collected(&paths, one.taken()).is_err(), "two never fit");
}

#[test]
fn of_two_directories_the_same_is_named_in_any_order_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["b", "a"].map(|lists| {
        let header = header(lists, serde_json::json!({ "ip_ranges": lists }));
        let path = dir.path().join(lists);
        let file = CollectedFile { header, collected: Collected::default() };
        std::fs::write(&path, file.to_bytes()).unwrap();
        path
    });
    let backwards = [paths[1].clone(), paths[0].clone()];
    for paths in [paths, backwards] {
        let sum = merge_collected(&paths, 1 << 20).unwrap();
        assert_eq!(sum.header.options.get("ip_ranges"), "a");
    }
}
