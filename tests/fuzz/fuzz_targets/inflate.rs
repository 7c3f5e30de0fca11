//! Any bytes follow the magic number of a compression: how an undamaged file is read never shows.

#![no_main]

use botaudit::input::open::Opened;
use libfuzzer_sys::fuzz_target;

const MAGIC: [&[u8]; 5] = [b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\0"];

/// The most bytes that are read: a few bytes may stand for gigabytes.
const BYTES_MAX: usize = 1 << 18;

fuzz_target!(|data: &[u8]| {
    let [kind, step, data @ ..] = data else { return };
    let content = [MAGIC[usize::from(*kind) % MAGIC.len()], data].concat();
    let whole = read(&content, BYTES_MAX);
    assert!(whole.0.len() <= BYTES_MAX);
    assert!(whole.1.is_none_or(|offset| offset <= content.len() as u64));
    let again = read(&content, usize::from(*step) + 1);
    // How much comes before damage depends on how far a decoder is ahead.
    let is_same = again.0 == whole.0 || again.1.is_some();
    assert!(is_same && (whole.0.starts_with(&again.0) || again.0.starts_with(&whole.0)));
    assert!(
        again.1.is_some() == whole.1.is_some() || again.0.len().max(whole.0.len()) == BYTES_MAX
    );
});

/// The bytes, and the offset of damage.
fn read(content: &[u8], step: usize) -> (Vec<u8>, Option<u64>) {
    let reader = Box::new(std::io::Cursor::new(content.to_vec()));
    let mut opened = Opened::new(reader, None, &Default::default());
    let (mut bytes, mut out) = (Vec::new(), vec![0; step]);
    while bytes.len() < BYTES_MAX {
        let wanted = step.min(BYTES_MAX - bytes.len());
        match opened.read(&mut out[..wanted]) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&out[..count]),
            Err(damage) => return (bytes, Some(damage.offset_bytes)),
        }
    }
    (bytes, None)
}
