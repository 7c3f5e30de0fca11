//! Any text is a condition of --where or --fail-on: what is accepted can be evaluated, and a part of
//! its negation is its opposite.

#![no_main]

use std::sync::LazyLock;

use botaudit::crawlers::registry::Registry;
use botaudit::report::tables::{all_schemas, crawlers::SUMMARY};
use botaudit::report::condition::expression::Condition;
use botaudit::report::threshold::Threshold;
use libfuzzer_sys::fuzz_target;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::builtin);

fuzz_target!(|data: &[u8]| {
    let text = &*String::from_utf8_lossy(data);
    let is_threshold = Threshold::parse(text, &REGISTRY).is_ok();
    assert!(!is_threshold || Condition::parse(text, &SUMMARY.schema).is_ok());
    for table in all_schemas() {
        let Ok(condition) = Condition::parse(text, table) else { continue };
        let opposite = Condition::parse(&format!("not ({text})"), table);
        for cell in ["", "0", "1.5", "x", "2026-03-01T00:00:10Z"] {
            let cells = vec![cell.to_owned(); table.columns.len()];
            let is_met = condition.is_met(&cells);
            // The keyword `where` cannot stand in parentheses, and depth has a limit.
            assert!(
                opposite.as_ref().is_ok_and(|not| not.is_met(&cells) != is_met)
                    || opposite.is_err()
            );
        }
    }
});
