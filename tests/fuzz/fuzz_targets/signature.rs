//! Any bytes are a field of a signed request: what is read from it is written and read again as itself.

#![no_main]

use botaudit::signatures::fields::{Dictionary, read_item};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some(dictionary) = Dictionary::read(data) {
        let members = dictionary.iter().map(|(key, member)| format!("{key}={}", member.to_text()));
        let text = members.collect::<Vec<_>>().join(", ");
        assert_eq!(Dictionary::read(text.as_bytes()).as_ref(), Some(&dictionary), "{text}");
    }
    if let Some(item) = read_item(data) {
        let text = item.to_text();
        assert_eq!(read_item(text.as_bytes()).as_ref(), Some(&item), "{text}");
    }
});
