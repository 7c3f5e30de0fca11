//! Quoted fields.

use memchr::memchr2;

use crate::logs::escape::unescape;

/// A field as it stands in the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Field<'a> {
    /// Without its quotes.
    pub raw: &'a [u8],
    /// Whether there is a backslash in it.
    pub has_escapes: bool,
}

impl<'a> Field<'a> {
    /// A field without escapes.
    pub fn plain(raw: &'a [u8]) -> Field<'a> {
        Field { raw, has_escapes: false }
    }

    /// Takes a quoted field off the start of `bytes` and gives what follows its
    /// closing quote; `None` where no quoted field starts or it does not end.
    #[inline]
    pub fn take_quoted(bytes: &'a [u8]) -> Option<(Field<'a>, &'a [u8])> {
        let inner = bytes.strip_prefix(b"\"")?;
        let mut at = 0;
        let mut has_escapes = false;
        loop {
            at += memchr2(b'"', b'\\', inner.get(at..)?)?;
            if inner[at] == b'"' {
                return Some((Field { raw: &inner[..at], has_escapes }, &inner[at + 1..]));
            }
            has_escapes = true;
            at += 2;
        }
    }

    /// The field's value; `scratch` is used only if there are escapes to undo.
    pub fn value<'s>(&self, scratch: &'s mut Vec<u8>) -> &'s [u8]
    where
        'a: 's,
    {
        if !self.has_escapes {
            return self.raw;
        }
        scratch.clear();
        unescape(self.raw, scratch);
        scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, expected: Option<(&str, &str)>) {
        let found = Field::take_quoted(bytes.as_bytes());
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
