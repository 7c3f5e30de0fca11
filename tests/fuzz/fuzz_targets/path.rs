//! Any bytes are a request target, and some are an origin: each has one canonical form.

#![no_main]

use std::borrow::Cow;

use botaudit::url::path::Dialect;
use botaudit::url::origin::{Origin, canonical_host};
use botaudit::url::path::{decode_unreserved, of_url, prepare};
use botaudit::url::path::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for dialect in [Dialect::Google, Dialect::Rfc9309] {
        check_path(data, dialect);
    }
    check_url(data);
    check_target(data);
    check_origin(data);
    // Most inputs are not URLs; all of them may be a host.
    check_origin(&[b"http://", data].concat());
});

fn check_path(target: &[u8], dialect: Dialect) {
    let mut scratch = b"left over".to_vec();
    let path = prepare(target, dialect, &mut scratch);
    let prepared = path.as_bytes();
    let before_fragment = target.split(|byte| *byte == b'#').next().unwrap_or_default();
    assert_eq!(prepared, prepare_slowly(before_fragment, dialect));
    assert!(prepared.iter().all(|byte| matches!(byte, 0x21..=0x7E) && *byte != b'#'));
    assert_eq!(path.is_robots_txt(), before_fragment == b"/robots.txt");
    let is_borrowed = prepared.as_ptr() == target.as_ptr();
    assert_eq!(is_borrowed, prepared == before_fragment, "what is as it should be stays in place");
    let mut scratch = Vec::new();
    let again = prepare(prepared, dialect, &mut scratch);
    // Decoding may create a new encoding after a `%` that encodes nothing.
    if dialect == Dialect::Google || every_percent_encodes(before_fragment) {
        assert_eq!(again.as_bytes(), prepared, "preparing is done once");
        assert_eq!(
            decode_unreserved(prepared) == prepared,
            dialect == Dialect::Rfc9309 || !holds_unreserved(prepared)
        );
    }
}

/// The same, directly from the specification.
fn prepare_slowly(target: &[u8], dialect: Dialect) -> Vec<u8> {
    let mut prepared = Vec::new();
    if !matches!(target.first(), Some(byte) if *byte != b'?') {
        prepared.push(b'/');
    }
    let mut at = 0;
    while at < target.len() {
        match encoded(&target[at..]) {
            Some(value) if dialect == Dialect::Rfc9309 && is_unreserved(value) => {
                prepared.push(value);
                at += 3;
            }
            Some(_) => {
                prepared.extend(target[at..at + 3].to_ascii_uppercase());
                at += 3;
            }
            None => {
                match target[at] {
                    byte @ 0x21..=0x7E => prepared.push(byte),
                    byte => prepared.extend(format!("%{byte:02X}").bytes()),
                }
                at += 1;
            }
        }
    }
    prepared
}

fn encoded(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"%")?.get(..2)?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u8::from_str_radix(digits, 16).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn every_percent_encodes(text: &[u8]) -> bool {
    (0..text.len()).all(|at| text[at] != b'%' || encoded(&text[at..]).is_some())
}

fn holds_unreserved(text: &[u8]) -> bool {
    (0..text.len()).any(|at| encoded(&text[at..]).is_some_and(is_unreserved))
}

fn check_url(url: &[u8]) {
    let path = of_url(url);
    assert!(path.starts_with(b"/") && !path[1..].contains(&b'#'));
    let is_in_url = path.len() == 1
        || [&path[..], &path[1..]].iter().any(|part| url.windows(part.len()).any(|w| w == *part));
    assert!(is_in_url, "nothing is added but a slash");
    assert!(matches!(path, Cow::Owned(_)) || path[..] == *b"/" || url.contains(&b'/'));
    // A path is its own path, unless it looks like a network-path reference.
    if !path.starts_with(b"//") {
        assert_eq!(of_url(&path), path);
    }
}

fn check_target(target: &[u8]) {
    assert_eq!(Target::of(b"CONNECT", target), Target::NoPath);
    match Target::of(b"GET", target) {
        Target::Path(path) => assert!(path == target && path.starts_with(b"/")),
        Target::Absolute { scheme, authority, path } => {
            assert_eq!([scheme, b"://", authority, path].concat(), target);
            assert!(!authority.iter().any(|byte| b"/?#".contains(byte)));
            assert_eq!(Origin::from_authority(scheme, authority), Origin::parse(target));
        }
        Target::NoPath => assert_eq!(Origin::parse(target), None),
    }
}

fn check_origin(url: &[u8]) {
    let Some(origin) = Origin::parse(url) else { return };
    let text = origin.as_str().as_bytes();
    assert_eq!(Origin::parse(text).as_ref(), Some(&origin), "one form for each place");
    assert_eq!(Origin::parse(&[text, b"/x:1@y"].concat()).as_ref(), Some(&origin));
    let (scheme, host, port) = (origin.scheme(), origin.host(), origin.port());
    assert_eq!(Origin::new(scheme.as_bytes(), host.as_bytes(), port).as_ref(), Some(&origin));
    assert_eq!(canonical_host(host.as_bytes()).as_deref(), Some(host));
    let rest = origin.host_and_port();
    assert_eq!(Origin::from_authority(scheme.as_bytes(), rest.as_bytes()).as_ref(), Some(&origin));
    assert_eq!(origin.to_string(), format!("{scheme}://{rest}"));
    assert!(origin.as_str().is_ascii() && !text.iter().any(u8::is_ascii_uppercase));
}
