//! Dictionaries of RFC 9651 (structured fields), as far as `Content-Usage` needs them: the keys, and
//! the values that are tokens.
//!
//! A text that is not a dictionary as a whole has no members at all.

/// A key with its token, or with `None` if the value is something else.
pub(crate) type Member<'a> = (&'a [u8], Option<&'a [u8]>);

/// The members of the dictionary `text`, in the order of the text. `None` if `text` is not a
/// dictionary.
pub(crate) fn members(text: &[u8]) -> Option<Vec<Member<'_>>> {
    let mut reader = Reader { rest: text };
    let mut members = Vec::new();
    reader.skip(b" ");
    while !reader.rest.is_empty() {
        let key = reader.key()?;
        let value = match reader.take(b'=') {
            true => reader.member_value()?,
            false => None,
        };
        reader.parameters()?;
        members.push((key, value));
        reader.skip(b" \t");
        if reader.rest.is_empty() {
            break;
        }
        reader.take(b',').then_some(())?;
        reader.skip(b" \t");
        // A comma at the end.
        reader.rest.first()?;
    }
    Some(members)
}

/// The text that is not read yet.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The bytes at the start that `is_part` accepts.
    fn run(&mut self, is_part: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !is_part(*byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.run(|byte| bytes.contains(&byte));
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        let first = *self.rest.first()?;
        let is_part = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
        };
        (first.is_ascii_lowercase() || first == b'*').then(|| self.run(is_part))
    }

    /// An item or an inner list, without the parameters of the member.
    fn member_value(&mut self) -> Option<Option<&'a [u8]>> {
        if !self.take(b'(') {
            return self.bare_item();
        }
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(None);
            }
            self.bare_item()?;
            self.parameters()?;
            matches!(self.rest.first()?, b' ' | b')').then_some(())?;
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// A value without parameters: its text if it is a token.
    fn bare_item(&mut self) -> Option<Option<&'a [u8]>> {
        let first = *self.rest.first()?;
        match first {
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => return Some(Some(self.run(is_token_byte))),
            b'-' | b'0'..=b'9' => self.number()?,
            b'@' => {
                self.rest = &self.rest[1..];
                (!self.number()?).then_some(false)?
            }
            b'?' => {
                self.rest = &self.rest[1..];
                (self.take(b'0') || self.take(b'1')).then_some(false)?
            }
            b':' => {
                self.rest = &self.rest[1..];
                self.run(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
                self.take(b':').then_some(false)?
            }
            b'"' => self.string()?,
            b'%' => self.display_string()?,
            _ => return None,
        };
        Some(None)
    }

    /// Reads a number, and returns whether it is a decimal.
    fn number(&mut self) -> Option<bool> {
        self.take(b'-');
        let whole = self.run(|byte| byte.is_ascii_digit()).len();
        if !self.take(b'.') {
            return (1..=15).contains(&whole).then_some(false);
        }
        let part = self.run(|byte| byte.is_ascii_digit()).len();
        ((1..=12).contains(&whole) && (1..=3).contains(&part)).then_some(true)
    }

    fn string(&mut self) -> Option<bool> {
        self.rest = &self.rest[1..];
        loop {
            self.run(|byte| matches!(byte, b' '..=b'~') && !b"\"\\".contains(&byte));
            if self.take(b'"') {
                return Some(false);
            }
            (self.take(b'\\') && (self.take(b'"') || self.take(b'\\'))).then_some(())?;
        }
    }

    fn display_string(&mut self) -> Option<bool> {
        self.rest = self.rest.strip_prefix(b"%\"")?;
        let mut text = Vec::new();
        loop {
            text.extend(self.run(|byte| matches!(byte, b' '..=b'~') && !b"\"%".contains(&byte)));
            if self.take(b'"') {
                return std::str::from_utf8(&text).is_ok().then_some(false);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let shown = members(text.as_bytes()).map(|members| {
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
