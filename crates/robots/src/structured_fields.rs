//! Structured fields (RFC 9651) cut into their parts, and dictionaries as far as `Content-Usage` needs them.
//!
//! A text that is not what it should be as a whole has no parts at all.

/// The text that is not read yet.
#[derive(Debug)]
pub struct FieldReader<'a> {
    rest: &'a [u8],
}

/// A value without its parameters, as the text has it.
#[derive(Clone, Copy, Debug)]
pub enum RawItem<'a> {
    /// Digits, and a sign.
    Integer(&'a [u8]),
    /// The same with a point.
    Decimal(&'a [u8]),
    /// Between the quotes, with its escapes.
    String(&'a [u8]),
    Token(&'a [u8]),
    /// Base64, which may be none, between the colons.
    Bytes(&'a [u8]),
    Boolean(bool),
    /// An integer.
    Date(&'a [u8]),
    DisplayString,
}

impl<'a> FieldReader<'a> {
    /// All of `text`.
    pub fn new(text: &'a [u8]) -> FieldReader<'a> {
        FieldReader { rest: text }
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Skips `byte`, if it is next.
    pub fn take(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips all of `bytes`.
    pub fn skip(&mut self, bytes: &[u8]) {
        self.run(|byte| bytes.contains(&byte));
    }

    /// Reads a dictionary to the end of the text. `member` gets each key, and whether a value follows, and reads
    /// the value and the parameters.
    pub fn dictionary(
        &mut self,
        mut member: impl FnMut(&mut FieldReader<'a>, &'a [u8], bool) -> Option<()>,
    ) -> Option<()> {
        self.skip(b" ");
        while !self.is_at_end() {
            let key = self.key()?;
            let has_value = self.take(b'=');
            member(self, key, has_value)?;
            self.skip(b" \t");
            if self.is_at_end() {
                break;
            }
            self.take(b',').then_some(())?;
            self.skip(b" \t");
            // A comma at the end.
            self.rest.first()?;
        }
        Some(())
    }

    /// Reads an inner list after its bracket. `item` reads each item with its parameters.
    pub fn list(&mut self, mut item: impl FnMut(&mut FieldReader<'a>) -> Option<()>) -> Option<()> {
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(());
            }
            item(self)?;
            matches!(self.rest.first()?, b' ' | b')').then_some(())?;
        }
    }

    /// Reads parameters. `parameter` gets the name and the value of each; one without a value is true.
    pub fn parameters(
        &mut self,
        mut parameter: impl FnMut(&'a [u8], RawItem<'a>) -> Option<()>,
    ) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            let name = self.key()?;
            let value = if self.take(b'=') { self.item()? } else { RawItem::Boolean(true) };
            parameter(name, value)?;
        }
        Some(())
    }

    /// Reads a value without its parameters.
    pub fn item(&mut self) -> Option<RawItem<'a>> {
        match *self.rest.first()? {
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => Some(RawItem::Token(self.run(is_token_byte))),
            b'-' | b'0'..=b'9' => self.number(),
            b'@' => {
                self.rest = &self.rest[1..];
                match self.number()? {
                    RawItem::Integer(seconds) => Some(RawItem::Date(seconds)),
                    _ => None,
                }
            }
            b'?' => {
                self.rest = &self.rest[1..];
                let is_true = self.take(b'1');
                (is_true || self.take(b'0')).then_some(RawItem::Boolean(is_true))
            }
            b':' => {
                self.rest = &self.rest[1..];
                let text = self.run(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
                self.take(b':').then_some(RawItem::Bytes(text))
            }
            b'"' => self.string(),
            b'%' => self.display_string(),
            _ => None,
        }
    }

    /// The bytes at the start that `is_part` accepts.
    fn run(&mut self, is_part: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !is_part(*byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    /// What was read since `before` was left.
    fn since(&self, before: &'a [u8]) -> &'a [u8] {
        &before[..before.len() - self.rest.len()]
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        let first = *self.rest.first()?;
        let is_part = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
        };
        (first.is_ascii_lowercase() || first == b'*').then(|| self.run(is_part))
    }

    fn number(&mut self) -> Option<RawItem<'a>> {
        let before = self.rest;
        self.take(b'-');
        let whole = self.run(|byte| byte.is_ascii_digit()).len();
        if !self.take(b'.') {
            return (1..=15).contains(&whole).then(|| RawItem::Integer(self.since(before)));
        }
        let part = self.run(|byte| byte.is_ascii_digit()).len();
        let is_short = (1..=12).contains(&whole) && (1..=3).contains(&part);
        is_short.then(|| RawItem::Decimal(self.since(before)))
    }

    fn string(&mut self) -> Option<RawItem<'a>> {
        self.rest = &self.rest[1..];
        let before = self.rest;
        loop {
            self.run(|byte| matches!(byte, b' '..=b'~') && !b"\"\\".contains(&byte));
            let text = self.since(before);
            if self.take(b'"') {
                return Some(RawItem::String(text));
            }
            (self.take(b'\\') && (self.take(b'"') || self.take(b'\\'))).then_some(())?;
        }
    }

    fn display_string(&mut self) -> Option<RawItem<'a>> {
        self.rest = self.rest.strip_prefix(b"%\"")?;
        let mut text = Vec::new();
        loop {
            text.extend(self.run(|byte| matches!(byte, b' '..=b'~') && !b"\"%".contains(&byte)));
            if self.take(b'"') {
                return std::str::from_utf8(&text).is_ok().then_some(RawItem::DisplayString);
            }
            let [b'%', high, low, rest @ ..] = self.rest else { return None };
            text.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
            self.rest = rest;
        }
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
}

/// The value of a digit in lower case.
fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// A key with its token, or with `None` if the value is something else.
pub(crate) type TokenMember<'a> = (&'a [u8], Option<&'a [u8]>);

/// The members of the dictionary `text`, in the order of the text. `None` if `text` is not a
/// dictionary.
pub(crate) fn token_members(text: &[u8]) -> Option<Vec<TokenMember<'_>>> {
    let skipped = |_: &[u8], _: RawItem<'_>| Some(());
    let mut members = Vec::new();
    FieldReader::new(text).dictionary(|reader, key, has_value| {
        let token = match has_value {
            true if reader.take(b'(') => {
                reader.list(|reader| reader.item().and_then(|_| reader.parameters(skipped)))?;
                None
            }
            true => match reader.item()? {
                RawItem::Token(token) => Some(token),
                _ => None,
            },
            false => None,
        };
        members.push((key, token));
        reader.parameters(skipped)
    })?;
    Some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let shown = token_members(text.as_bytes()).map(|members| {
            let shown = members.iter().map(|(key, token)| {
                let token = token.map_or("-".into(), String::from_utf8_lossy);
                format!("{}={token}", String::from_utf8_lossy(key))
            });
            shown.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.as_deref(), expected, "{text}");
    }

    #[test]
    fn dictionaries() {
        check("", Some(""));
        check("train-ai=n", Some("train-ai=n"));
        check("  a=y \t,\t*b.c_1=n", Some("a=y *b.c_1=n"));
        check("a=n, a", Some("a=n a=-"));
        check("a;x=1;y, b=y;z=\"q\\\"\"; w=tok", Some("a=- b=y"));
        check("a=1, b=-1.5, c=\"n\", d=?0, e=:aGk=:, f=@12, g=%\"f%c3%bc\"", {
            Some("a=- b=- c=- d=- e=- f=- g=-")
        });
        check("a=(n y;q=1  2), b=()", Some("a=- b=-"));
        check("a=*t/:x", Some("a=*t/:x"));
    }

    #[test]
    fn texts_that_are_not_dictionaries() {
        let texts = [
            ",",
            "a,",
            ",a",
            "a=",
            "a =n",
            "a= n",
            "a b",
            "A=n",
            "a=n;",
            "a=n; ;",
            "a=?2",
            "a=\"n",
            "a=\"\\n\"",
            "a=(n",
            "a=(n,y)",
            "a=1.",
            "a=1.2345",
            "a=-",
            "a=1234567890123456",
            "a=@1.5",
            "a=:x",
            "a=%\"%FF\"",
            "a=%\"%ff\"",
            "a=\u{fc}",
            "\ta=n",
            "-a=n",
            "a=n\u{b}",
        ];
        for text in texts {
            check(text, None);
        }
    }
}
