//! Any bytes, after a first byte with the length of the header, are the content of a tally: what is
//! read is written as it was, and can be reported or is refused.

#![no_main]

use std::path::Path;

use botaudit::audit::model::ReportModel;
use botaudit::audit::tally::Tally;
use botaudit::audit::tally::merge::continued;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((length, data)) = data.split_first_chunk() else { return };
    let header_bytes = usize::from(u16::from_le_bytes(*length)).min(data.len());
    let (header, counts) = data.split_at(header_bytes);
    let frames = [header, counts].map(|part| zstd::bulk::compress(part, 1).expect("it has room"));
    let frames = frames.concat();
    let head = format!("botaudit tally 2 {:032x}\n", xxhash_rust::xxh3::xxh3_128(&frames));
    let path = Path::new("x");
    let Ok(tally) = Tally::from_bytes(&[head.as_bytes(), &frames].concat(), path) else { return };
    let bytes = tally.to_bytes();
    let again = Tally::from_bytes(&bytes, path).expect("it was just written");
    assert!(again.to_bytes() == bytes);
    let _ = continued(again.clone(), again, Default::default());
    let _ = ReportModel::new(tally);
});
