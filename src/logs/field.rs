//! Fields, quoted or not.

use memchr::memchr2;

use crate::logs::escape::Escaping;

/// A field as it stands in the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Field<'a> {
    /// Without its quotes.
    pub raw: &'a [u8],
    /// How it is to be read; `None` also where there is nothing to undo.
    pub escaping: Escaping,
}

impl<'a> Field<'a> {
    /// A field without escapes.
    pub const fn plain(raw: &'a [u8]) -> Field<'a> {
        Field { raw, escaping: Escaping::None }
    }

    /// What stands where a field is unset.
    pub const UNSET: Field<'static> = Field::plain(b"-");

    /// Takes a quoted field off the start of `bytes` and gives what follows its
    /// closing quote; `None` where no quoted field starts or it does not end.
    #[inline]
    pub fn take_quoted(bytes: &'a [u8]) -> Option<(Field<'a>, &'a [u8])> {
        let inner = bytes.strip_prefix(b"\"")?;
        let mut at = 0;
        let mut escaping = Escaping::None;
        loop {
            at += memchr2(b'"', b'\\', inner.get(at..)?)?;
            if inner[at] == b'"' {
                return Some((Field { raw: &inner[..at], escaping }, &inner[at + 1..]));
            }
            escaping = Escaping::Backslash;
            at += 2;
        }
    }

    /// Whether nothing was logged: empty, or `-`.
    pub fn is_unset(&self) -> bool {
        matches!(self.raw, b"" | b"-")
    }

    /// The field's value; `scratch` is used only if there are escapes to undo.
    #[inline]
    pub fn value<'s>(&self, scratch: &'s mut Vec<u8>) -> &'s [u8]
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
