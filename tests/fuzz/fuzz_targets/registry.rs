//! Any bytes are a registry of crawlers: without a mistake it can be used.

#![no_main]

use botaudit::crawlers::own_list::check;
use botaudit::crawlers::registry::Registry;
use botaudit_fuzz::file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = file("crawlers.csv", data);
    let is_right = check(&path).is_ok_and(|checked| checked.errors.is_empty());
    assert_eq!(Registry::with_file(&path).is_ok(), is_right);
});
