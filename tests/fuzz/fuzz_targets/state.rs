//! Any bytes are the state of a nightly job: it is read or refused.

#![no_main]

use botaudit::nightly::state::State;
use botaudit::time::Day;
use botaudit_fuzz::file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(mut state) = State::open(&file("state.sqlite", data)) else { return };
    let site = "shop";
    let day = Day::parse("2026-03-02").expect("it is a day");
    for due in state.due(site).unwrap_or_default() {
        let _ = state.day(site, due);
    }
    let _ = state.day(site, day);
    let _ = (state.inputs(site), state.input_of_file(site, b"x"), state.crawlers());
    let _ = (state.actor_days(), state.ruled_days());
    let _ = state.tidy(site, day);
});
