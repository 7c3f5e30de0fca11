//! Any text is a configuration: each mistake has a line of it.

#![no_main]

use botaudit::config::file::parse;
use botaudit::nightly::plan::refused;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = &*String::from_utf8_lossy(data);
    let lines = text.split('\n').count() as u64;
    let (config, errors) = parse(text);
    for error in &errors {
        assert!((1..=lines).contains(&error.line), "{error:?}");
    }
    for site in &config.sites {
        let faults = site.audit.check().into_iter().chain(refused(site));
        for fault in faults {
            assert!((1..=lines).contains(&site.error(&fault).line), "{fault:?}");
        }
        let _ = site.audit.clone().with_defaults().window();
    }
    assert!(!errors.is_empty() || !config.sites.is_empty(), "a configuration has sites");
});
