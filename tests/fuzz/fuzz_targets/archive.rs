//! Any bytes are an archive: all of it is read within limits, or it is refused.

#![no_main]

use botaudit::archive::reader::Archive;
use botaudit::archive::versions::stretches;
use botaudit::archive::writer::KEPT_BYTES_MAX;
use botaudit_fuzz::file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(archive) = Archive::open(&file("robots.db", data)) else { return };
    let mut last = String::new();
    let _ = archive.each_origin(|summary| {
        let text = summary.origin.as_str();
        assert!(*last < *text && summary.snapshots > 0, "each origin comes once");
        last = text.to_owned();
        let entries = archive.history(&summary.origin)?;
        assert!(entries.len() <= data.len());
        for key in entries.iter().filter_map(|entry| entry.body) {
            assert!(archive.body(key)?.len() <= KEPT_BYTES_MAX);
        }
        let _ = (archive.newest(&summary.origin, None)?, stretches(&archive, &entries)?);
        Ok(())
    });
});
