//! Whether the values of a line look like themselves: lines can have another layout whose columns are as many.

use memchr::memchr;

use super::field::RawField;
use super::host::is_address_list;
use super::record::Record;
use super::reject::Reject;

/// Whether a line that was read has the values of a request. A server logs what is no HTTP as a request without a user
/// agent.
pub(super) fn is_plausible(read: Result<Record<'_>, Reject>, has_user_agent: bool) -> bool {
    match read {
        Ok(record) => record.status == 0 || (100..600).contains(&record.status),
        Err(reason) => reason == Reject::BadRequest && !has_user_agent,
    }
}

/// Whether it is neither unset nor a number or an address.
pub(crate) fn may_be_user_agent(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphabetic) && !is_address_list(text)
        || text.iter().any(|byte| !byte.is_ascii())
}

/// Whether it begins with a name and a version, as `curl/8.5.0` does.
pub(super) fn has_version(text: &[u8]) -> bool {
    let Some(slash) = memchr(b'/', text) else { return false };
    let (name, version) = (&text[..slash], &text[slash + 1..]);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b" ._-".contains(byte);
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(is_of_name)
        && name != b"HTTP"
        && version.first().is_some_and(u8::is_ascii_digit)
}

/// The quoted fields of the text after the user agent.
pub(super) fn quoted(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (field, rest) = RawField::take_quoted(&text[memchr(b'"', text)?..])?;
        text = rest;
        Some(field.raw)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agents_look_like_themselves() {
        for text in ["curl/8.5.0", "Mozilla/5.0 (X11)", "Sogou web spider/4.0", "a-b_c.d/1"] {
            assert!(has_version(text.as_bytes()) && may_be_user_agent(text.as_bytes()), "{text}");
        }
        for text in ["Wget", "\u{e9}", "a=b", "https://a.example/1"] {
            assert!(!has_version(text.as_bytes()) && may_be_user_agent(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "404", "0.005", "192.0.2.1", "2001:db8::1, 192.0.2.1", "unknown"] {
            assert_eq!(may_be_user_agent(text.as_bytes()), text == "unknown", "{text}");
            assert!(!has_version(text.as_bytes()), "{text}");
        }
        assert!(!has_version(b"HTTP/1.1") && !has_version(b"/1") && !has_version(b"x/"));
    }
}
