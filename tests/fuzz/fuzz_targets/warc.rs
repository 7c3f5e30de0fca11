//! Any bytes are a WARC file: what is found in it is in the archive.

#![no_main]

use botaudit::archive::import::warc::{finish, import_warc};
use botaudit::archive::import::warc_memory::WarcMemory;
use botaudit_fuzz::{file, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = file("x.warc", data);
    import(|import| {
        let mut memory = WarcMemory::default();
        import_warc(&path, &mut memory, import)?;
        finish(&mut memory, import)
    });
});
