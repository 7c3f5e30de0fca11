//! `Cache-Control: max-age` (RFC 9111 sections 1.2.2 and 5.2).

/// The cap of all ages in seconds: 2^31, as the standard requires.
const SECONDS_MAX: u64 = 1 << 31;

/// The first numeric `max-age` in the values of `Cache-Control`, in seconds. Other directives are
/// ignored.
pub(crate) fn max_age_seconds<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<u64> {
    let mut directives = values.flat_map(|value| value.split(|&byte| byte == b','));
    directives.find_map(|directive| {
        let equals = memchr::memchr(b'=', directive)?;
        let (name, age) = (directive[..equals].trim_ascii(), directive[equals + 1..].trim_ascii());
        let digits = age.strip_prefix(b"\"").and_then(|age| age.strip_suffix(b"\""));
        let digits = digits.unwrap_or(age);
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !name.eq_ignore_ascii_case(b"max-age") || !is_number {
            return None;
        }
        let seconds = std::str::from_utf8(digits).ok()?.parse().unwrap_or(SECONDS_MAX);
        Some(seconds.min(SECONDS_MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_max_age() {
        let check = |values: &[&str], expected: Option<u64>| {
            let found = max_age_seconds(values.iter().map(|value| value.as_bytes()));
            assert_eq!(found, expected, "{values:?}");
        };
        check(&[], None);
        check(&["max-age=60"], Some(60));
        check(&["public, MAX-AGE = 3600 , must-revalidate"], Some(3600));
        check(&["max-age=\"7\""], Some(7));
        check(&["no-cache", "max-age=0"], Some(0));
        check(&["s-maxage=5"], None);
        check(&["max-age=5, max-age=9"], Some(5));
        check(&["max-age"], None);
        check(&["max-age=", "max-age=-1", "max-age=1.5"], None);
        check(&["max-age=99999999999999999999999"], Some(1 << 31));
        check(&["max-age=2147483649"], Some(1 << 31));
        check(&["max-age=, Max-Age = \"5\", max-age=6"], Some(5));
    }
}
