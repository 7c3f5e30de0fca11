//! Any bytes are the reply of a name server: its records have the form that was asked for.

#![no_main]

use std::net::{Ipv4Addr, Ipv6Addr};

use botaudit::net::dns::{Question, RecordKind, plain_name, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let id = data.first_chunk().map_or(0, |id| u16::from_be_bytes(*id));
    for kind in RecordKind::ALL {
        let question = Question { name: "a.example".to_owned(), kind };
        for record in read(data, &question, id).unwrap_or_default() {
            assert!(match kind {
                RecordKind::Ptr => plain_name(&record) == record || record.ends_with('.'),
                RecordKind::A => record.parse::<Ipv4Addr>().is_ok(),
                RecordKind::Aaaa => record.parse::<Ipv6Addr>().is_ok(),
            });
        }
    }
});
