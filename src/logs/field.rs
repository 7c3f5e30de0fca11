//! Fields with or without quotes.

use memchr::{memchr, memchr2};

use crate::logs::escape::Escaping;

/// The distance that [`find_near`] searches first, in words of eight bytes.
const NEAR_WORDS: usize = 4;

/// `memchr`, but faster for a byte near the start: starting a memchr search costs more than
/// checking a few words.
#[inline(always)]
pub(crate) fn find_near(byte: u8, bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    // The lowest zero byte is the first match.
    let find_in = |chunk: &[u8; 8]| {
        let differs = u64::from_le_bytes(*chunk) ^ (LOW * u64::from(byte));
        let zeros = differs.wrapping_sub(LOW) & !differs & (LOW << 7);
        (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
    };
    let mut rest = bytes;
    for word in 0..NEAR_WORDS {
        let Some((first, others)) = rest.split_first_chunk() else {
            return match bytes.last_chunk() {
                // The remaining bytes are searched together with some bytes before them.
                Some(last) => find_in(last).map(|at| bytes.len() - 8 + at),
                None => rest.iter().position(|found| *found == byte),
            };
        };
        if let Some(at) = find_in(first) {
            return Some(word * 8 + at);
        }
        rest = others;
    }
    memchr(byte, rest).map(|at| bytes.len() - rest.len() + at)
}

/// The text before the first space, if it is not empty, and the text after the space.
#[inline]
pub(crate) fn split_token(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match memchr(b' ', bytes) {
        Some(space @ 1..) => Some((&bytes[..space], &bytes[space + 1..])),
        _ => None,
    }
}

/// A field as written in the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RawField<'a> {
    /// Without its quotes.
    pub raw: &'a [u8],
    /// The escapes of the field; `None` also if there is nothing to undo.
    pub escaping: Escaping,
}

impl<'a> RawField<'a> {
    /// A field without escapes.
    pub(crate) const fn plain(raw: &'a [u8]) -> RawField<'a> {
        RawField { raw, escaping: Escaping::None }
    }

    /// An unset field.
    pub(crate) const UNSET: RawField<'static> = RawField::plain(b"-");

    /// Takes a quoted field off the start of `bytes` and returns the text after its closing quote;
    /// `None` if there is no quoted field or it does not end.
    #[inline(always)]
    pub(crate) fn take_quoted(bytes: &'a [u8]) -> Option<(RawField<'a>, &'a [u8])> {
        let inner = bytes.strip_prefix(b"\"")?;
        let (field, after) = RawField::until_quote(inner, Escaping::Backslash)?;
        Some((field, &after[1..]))
    }

    /// Splits `bytes` before the quote that ends the text at its start; `None` if none does. If
    /// there are escapes, they are those of `escaping`.
    #[inline(always)]
    pub(crate) fn until_quote(
        bytes: &'a [u8],
        escaping: Escaping,
    ) -> Option<(RawField<'a>, &'a [u8])> {
        let (mut at, mut found) = (0, Escaping::None);
        loop {
            at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes[at] == b'"' {
                let (raw, after) = bytes.split_at(at);
                return Some((RawField { raw, escaping: found }, after));
            }
            found = escaping;
            at += 2;
        }
    }

    /// Whether the field is unset: empty, or `-`.
    pub(crate) fn is_unset(&self) -> bool {
        matches!(self.raw, b"" | b"-")
    }

    /// The field's value; `scratch` is used only if there are escapes to undo.
    #[inline]
    pub(crate) fn value<'s>(&self, scratch: &'s mut Vec<u8>) -> &'s [u8]
    where
        'a: 's,
    {
        if !self.escaping.is_in(self.raw) {
            return self.raw;
        }
        scratch.clear();
        self.escaping.undo(self.raw, scratch);
        scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quotes and backslashes at every place of texts of every length, with escapes before them.
    #[test]
    fn a_text_ends_at_its_first_quote_without_a_backslash() {
        for length in 0..80 {
            for (quote, escape) in
                (0..=length).flat_map(|quote| (0..=length).map(move |escape| (quote, escape)))
            {
                let mut text = vec![b'#'; length];
                text.get_mut(quote).into_iter().for_each(|byte| *byte = b'"');
                text.get_mut(escape).into_iter().for_each(|byte| *byte = b'\\');
                let is_escaped = |at: usize| at.checked_sub(1) == Some(escape);
                let expected = (0..length).find(|&at| text[at] == b'"' && !is_escaped(at));
                let found = RawField::until_quote(&text, Escaping::Json);
                assert_eq!(found.map(|(field, _)| field.raw.len()), expected, "{quote} {escape}");
                let (Some((field, after)), Some(end)) = (found, expected) else { continue };
                assert_eq!((field.raw, after), text.split_at(end));
                assert_eq!(field.escaping == Escaping::Json, escape < end, "{quote} {escape}");
            }
        }
    }

    #[test]
    fn what_is_near_is_found_as_what_is_far() {
        for length in 0..60 {
            for at in 0..=length {
                for (other, byte) in [
                    (b' ', b'"'),
                    (b'!', b'"'),
                    (b'#', b'"'),
                    (0xa2, b'"'),
                    (0, 0xff),
                    (0xff, 0),
                    (1, 0),
                ] {
                    let mut bytes = vec![other; length];
                    bytes.iter_mut().skip(at).for_each(|found| *found = byte);
                    assert_eq!(find_near(byte, &bytes), memchr(byte, &bytes), "{bytes:?}");
                }
            }
        }
    }

    #[track_caller]
    fn check(bytes: &str, expected: Option<(&str, &str)>) {
        let found = RawField::take_quoted(bytes.as_bytes());
        let found = found.map(|(field, rest)| (field.value(&mut Vec::new()).to_vec(), rest));
        let expected = expected.map(|(value, rest)| (value.as_bytes().to_vec(), rest.as_bytes()));
        assert_eq!(found, expected);
    }

    #[test]
    fn quotes_end_where_no_backslash_is_before_them() {
        check(r#""a" b"#, Some(("a", " b")));
        check(r#""""#, Some(("", "")));
        check(r#""a\"b" c"#, Some((r#"a"b"#, " c")));
        check(r#""a\\" c"#, Some((r"a\", " c")));
        check(r#""a\\\" c"#, None);
        check(r#""a\"#, None);
        check(r#""a"#, None);
        check("a", None);
        check("", None);
    }
}
