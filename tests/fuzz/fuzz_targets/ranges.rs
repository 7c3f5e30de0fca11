//! Any bytes are a list of address ranges, or the manifest of such lists.

#![no_main]

use std::path::Path;

use botaudit::crawlers::manifest;
use botaudit::crawlers::networks::{Network, Networks};
use botaudit::crawlers::range_list::{Filter, RangeList};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for filter in [None, Filter::of_format("json where service=CLOUDFRONT")] {
        let list = RangeList::read(data, filter);
        assert_eq!(list.faults > 0, list.first_fault.is_some());
        assert!(list.faults > 0 || !list.networks.is_empty());
        let networks = Networks::new(list.networks.iter().copied());
        for network in list.networks {
            let (first, last) = match network {
                Network::V4(first, last) => {
                    (std::net::Ipv4Addr::from(first).into(), std::net::Ipv4Addr::from(last).into())
                }
                Network::V6(first, last) => {
                    (std::net::Ipv6Addr::from(first).into(), std::net::Ipv6Addr::from(last).into())
                }
            };
            assert!(networks.contains(first) && networks.contains(last));
            assert_eq!(Network::between(first, last), Ok(network));
        }
    }
    if let Ok(entries) = manifest::read(Path::new("x"), data) {
        let again = manifest::read(Path::new("x"), manifest::write(&entries).as_bytes());
        assert_eq!(again.ok(), Some(entries));
    }
});
