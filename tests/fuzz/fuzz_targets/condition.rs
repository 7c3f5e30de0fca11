//! Any text is a condition of --where or --fail-on: what is accepted can be evaluated, and a part of
//! its negation is its opposite.

#![no_main]

use std::sync::LazyLock;

use botaudit::crawlers::registry::Registry;
use botaudit::report::condition::expression::Condition;
use botaudit::report::tables::{all_schemas, crawlers::SUMMARY};
use botaudit::report::threshold::Threshold;
use botaudit::{Cell, UtcTime};
use libfuzzer_sys::fuzz_target;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::builtin);

fuzz_target!(|data: &[u8]| {
    let text = &*String::from_utf8_lossy(data);
    let is_threshold = Threshold::parse(text, &REGISTRY).is_ok();
    assert!(!is_threshold || Condition::parse(text, &SUMMARY.schema).is_ok());
    for table in all_schemas() {
        let Ok(condition) = Condition::parse(text, table) else { continue };
        let opposite = Condition::parse(&format!("not ({text})"), table);
        let cells = [
            Cell::Empty,
            Cell::Count(0),
            Cell::Decimal { value: 1.5, decimals: 1 },
            Cell::Text("x".to_owned()),
            UtcTime::from_unix_seconds(1_772_323_210).map_or(Cell::Empty, Cell::Time),
        ];
        for cell in cells {
            let cells = vec![cell; table.columns.len()];
            let is_met = condition.is_met(&cells);
            // The keyword `where` cannot stand in parentheses, and depth has a limit.
            assert!(
                opposite.as_ref().is_ok_and(|not| not.is_met(&cells) != is_met)
                    || opposite.is_err()
            );
        }
    }
});
