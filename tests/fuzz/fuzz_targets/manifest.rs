//! Any bytes are a manifest of an archive: what is found in it is in the archive.

#![no_main]

use botaudit::archive::import::manifest::import_manifest;
use botaudit_fuzz::{file, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    file("one.txt", b"User-agent: *\nDisallow: /\n");
    let path = file("manifest.csv", data);
    import(|import| import_manifest(&path, import));
});
