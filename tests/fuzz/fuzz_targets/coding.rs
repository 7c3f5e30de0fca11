//! Any bytes are a body with content codings: its size is bounded, and how it arrives never shows.

#![no_main]

use std::io::BufReader;

use botaudit::archive::import::coding::{BodyExtent, decode, unchunk};
use botaudit::net::coding::ContentCoding;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] = ["gzip", "deflate", "br", "zstd", "br, deflate"];

fuzz_target!(|data: &[u8]| {
    let [kind, limit, data @ ..] = data else { return };
    let name = NAMES[usize::from(*kind) % NAMES.len()].as_bytes();
    let limit = usize::from(*limit) << 8;
    for extent in [BodyExtent::Whole, BodyExtent::Cut] {
        let joined = unchunk(data.to_vec(), b"chunked", extent).unwrap_or_default();
        assert!(joined.len() <= data.len());
        let decoded = decode(data.to_vec(), name, extent, limit).unwrap_or_default();
        assert!(decoded.len() <= limit);
    }
    let Some(coding) = ContentCoding::named(name) else { return };
    let decoded = |buffer_bytes: usize| {
        let mut body = Vec::new();
        let reader = BufReader::with_capacity(buffer_bytes, data);
        (coding.decode(reader, limit as u64, &mut body).is_ok(), body)
    };
    let (single, all) = (decoded(1), decoded(1 << 16));
    // How much comes before damage depends on how far a decoder is ahead.
    let is_at_limit = single.1.len().max(all.1.len()) == limit;
    assert!(single.0 == all.0 || is_at_limit, "the size of reads shows");
    assert!(single.1 == all.1 || !(single.0 && all.0), "the size of reads shows");
});
