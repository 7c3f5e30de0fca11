//! Any bytes are a directory of keys: each key is written and read again as itself, and no key signed these bytes.

#![no_main]

use botaudit::signatures::keys::read_keys;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for key in read_keys(data).map(|(keys, _)| keys).unwrap_or_default() {
        let directory = format!("{{\"keys\":[{}]}}", key.jwk());
        let (again, others) = read_keys(directory.as_bytes()).expect("a key has a directory");
        assert_eq!((again.len(), others), (1, 0), "{directory}");
        assert_eq!(again[0].thumbprint, key.thumbprint);
        assert_eq!((again[0].pem(), again[0].algorithm()), (key.pem(), key.algorithm()));
        let signature = data.get(..64).unwrap_or(data);
        assert!(!key.verifies(b"base", signature));
        key.other_form(signature);
        key.may_be_used(0);
    }
});
