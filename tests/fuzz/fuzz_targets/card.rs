//! Any bytes are a Signature Agent Card: one without a mistake is a row of a list that can be used.

#![no_main]

use std::path::Path;

use botaudit::crawlers::card::members::CardOptions;
use botaudit::crawlers::card::read_card;
use botaudit::crawlers::own_list::OwnList;
use botaudit::crawlers::registry::Registry;
use botaudit_fuzz::file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let has_hidden = |text: &str| text.chars().any(char::is_control);
    let options = CardOptions { name: None, operator: None, url: None, has_hidden };
    let Ok(row) = read_card(Path::new("card.json"), data, options) else { return };
    let mut list = OwnList::new(Path::new("crawlers.csv"));
    if list.put(&row).is_ok() {
        let path = file("card.csv", list.text().as_bytes());
        let registry = Registry::with_file(&path).expect("a list with a card can be used");
        assert!(registry.find(&row.name).is_some());
    }
});
