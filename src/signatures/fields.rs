//! Structured fields (RFC 9651), as far as headers of signatures use them.
//!
//! What is read is written again in the one form that the RFC allows, because signatures cover that.

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet::STANDARD};

/// The longest header that is read. Servers limit all headers together to about this.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// The most members of a dictionary, items of a list and parameters of an item.
const MEMBERS_MAX: usize = 64;

/// Padding may be missing, as the RFC wants it read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// A value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum BareItem {
    Integer(i64),
    /// In thousandths.
    Decimal(i64),
    String(String),
    Token(String),
    Bytes(Vec<u8>),
    Boolean(bool),
    /// In seconds since the epoch.
    Date(i64),
}

/// Parameters in the order in which their names came first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Parameters(Vec<(String, BareItem)>);

/// A value with parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Item {
    pub value: BareItem,
    pub parameters: Parameters,
}

/// The value of a key of a dictionary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Member {
    Item(Item),
    List(Vec<Item>, Parameters),
}

/// Keys and their members, in the order in which the keys came first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Dictionary(Vec<(String, Member)>);

impl Parameters {
    /// The parameter `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&BareItem> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The parameter `name`, if it is a string.
    pub(crate) fn string(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            BareItem::String(text) => Some(text),
            _ => None,
        }
    }

    /// The parameter `name`, if it is an integer.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            BareItem::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn write(&self, out: &mut String) {
        for (name, value) in &self.0 {
            out.push(';');
            out.push_str(name);
            if *value != BareItem::Boolean(true) {
                out.push('=');
                value.write(out);
            }
        }
    }
}

impl BareItem {
    fn write(&self, out: &mut String) {
        match self {
            BareItem::Integer(number) => out.push_str(&number.to_string()),
            BareItem::Decimal(thousandths) => {
                let (sign, of) = (if *thousandths < 0 { "-" } else { "" }, thousandths.abs());
                let text = format!("{sign}{}.{:03}", of / 1000, of % 1000);
                let end = text.trim_end_matches('0');
                out.push_str(end);
                if end.ends_with('.') {
                    out.push('0');
                }
            }
            BareItem::String(text) => {
                out.push('"');
                for c in text.chars() {
                    if matches!(c, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(c);
                }
                out.push('"');
            }
            BareItem::Token(text) => out.push_str(text),
            BareItem::Bytes(bytes) => {
                out.push(':');
                out.push_str(&base64(bytes));
                out.push(':');
            }
            BareItem::Boolean(is_true) => out.push_str(if *is_true { "?1" } else { "?0" }),
            BareItem::Date(seconds) => {
                out.push('@');
                out.push_str(&seconds.to_string());
            }
        }
    }
}

impl Item {
    /// As headers have it.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        self.value.write(out);
        self.parameters.write(out);
    }
}

impl Member {
    /// As headers have it.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        match self {
            Member::Item(item) => item.write(&mut out),
            Member::List(items, parameters) => {
                out.push('(');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    item.write(&mut out);
                }
                out.push(')');
                parameters.write(&mut out);
            }
        }
        out
    }
}

impl Dictionary {
    /// Reads the value of a header; `None` if it is no dictionary, or a very large one.
    pub(crate) fn read(header: &[u8]) -> Option<Dictionary> {
        let mut reader = Reader::of(header)?;
        let mut members = Vec::new();
        reader.skip(b" ");
        while !reader.is_at_end() {
            let key = reader.key()?;
            let member = match reader.take(b'=') {
                true if reader.next() == Some(b'(') => reader.list()?,
                true => Member::Item(reader.item()?),
                false => {
                    let value = BareItem::Boolean(true);
                    Member::Item(Item { value, parameters: reader.parameters()? })
                }
            };
            put(&mut members, key, member)?;
            reader.skip(b" \t");
            if reader.is_at_end() {
                break;
            }
            if !reader.take(b',') {
                return None;
            }
            reader.skip(b" \t");
            if reader.is_at_end() {
                return None;
            }
        }
        Some(Dictionary(members))
    }

    /// The member of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Member> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, member)| member)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Member)> {
        self.0.iter().map(|(key, member)| (key.as_str(), member))
    }
}

/// Reads the value of a header that is one item; `None` if it is none.
pub(crate) fn read_item(header: &[u8]) -> Option<Item> {
    let mut reader = Reader::of(header)?;
    reader.skip(b" ");
    let item = reader.item()?;
    reader.skip(b" ");
    reader.is_at_end().then_some(item)
}

/// Puts `value` where `key` was, or at the end; `None` if there are too many.
fn put<V>(entries: &mut Vec<(String, V)>, key: String, value: V) -> Option<()> {
    match entries.iter().position(|(known, _)| *known == key) {
        Some(at) => entries[at].1 = value,
        None if entries.len() == MEMBERS_MAX => return None,
        None => entries.push((key, value)),
    }
    Some(())
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn of(header: &'a [u8]) -> Option<Reader<'a>> {
        (header.len() <= HEADER_BYTES_MAX).then_some(Reader { rest: header })
    }

    fn next(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.next() == Some(byte);
        if is_there {
            self.rest = &self.rest[1..];
        }
        is_there
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.while_in(|byte| bytes.contains(&byte));
    }

    fn while_in(&mut self, is_in: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| !is_in(byte)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn key(&mut self) -> Option<String> {
        if !self.next().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'*') {
            return None;
        }
        let is_in = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
        };
        String::from_utf8(self.while_in(is_in).to_vec()).ok()
    }

    fn list(&mut self) -> Option<Member> {
        self.take(b'(').then_some(())?;
        let mut items = Vec::new();
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(Member::List(items, self.parameters()?));
            }
            if items.len() == MEMBERS_MAX {
                return None;
            }
            items.push(self.item()?);
            if !matches!(self.next(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        Some(Item { value: self.bare()?, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let mut parameters = Vec::new();
        while self.take(b';') {
            self.skip(b" ");
            let key = self.key()?;
            let value = if self.take(b'=') { self.bare()? } else { BareItem::Boolean(true) };
            put(&mut parameters, key, value)?;
        }
        Some(Parameters(parameters))
    }

    fn bare(&mut self) -> Option<BareItem> {
        match self.next()? {
            b'"' => self.string().map(BareItem::String),
            b':' => self.bytes().map(BareItem::Bytes),
            b'-' | b'0'..=b'9' => self.number(),
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_in =
                    |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte);
                String::from_utf8(self.while_in(is_in).to_vec()).ok().map(BareItem::Token)
            }
            b'?' => {
                self.take(b'?');
                let is_true = self.take(b'1');
                (is_true || self.take(b'0')).then_some(BareItem::Boolean(is_true))
            }
            b'@' => {
                self.take(b'@');
                match self.number()? {
                    BareItem::Integer(seconds) => Some(BareItem::Date(seconds)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"').then_some(())?;
        let mut text = String::new();
        loop {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            match byte {
                b'"' => return Some(text),
                b'\\' => {
                    let (&escaped, rest) = self.rest.split_first()?;
                    self.rest = rest;
                    matches!(escaped, b'"' | b'\\').then(|| text.push(char::from(escaped)))?;
                }
                0x20..=0x7e => text.push(char::from(byte)),
                _ => return None,
            }
        }
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        self.take(b':').then_some(())?;
        let text = self.while_in(|byte| byte != b':');
        self.take(b':').then_some(())?;
        BASE64.decode(text).ok()
    }

    fn number(&mut self) -> Option<BareItem> {
        let sign = if self.take(b'-') { -1 } else { 1 };
        let whole = self.while_in(|byte| byte.is_ascii_digit());
        let is_whole = !self.take(b'.');
        if whole.is_empty() || whole.len() > if is_whole { 15 } else { 12 } {
            return None;
        }
        let whole: i64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
        if is_whole {
            return Some(BareItem::Integer(sign * whole));
        }
        let part = self.while_in(|byte| byte.is_ascii_digit());
        if part.is_empty() || part.len() > 3 {
            return None;
        }
        let thousandths = part.iter().chain(b"00").take(3);
        let thousandths = thousandths.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        Some(BareItem::Decimal(sign * (whole * 1000 + thousandths)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read, as it is written.
    fn written(header: &str) -> Option<String> {
        let members = Dictionary::read(header.as_bytes())?;
        let texts = members.iter().map(|(key, member)| format!("{key}={}", member.to_text()));
        Some(texts.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn headers_are_written_in_one_form() {
        for (header, expected) in [
            ("", Some("")),
            ("a", Some("a=?1")),
            ("a;b;c=?0", Some("a=?1;b;c=?0")),
            (" a=1 ,\tb=( \"x\"  y;z=1 );c=:AQI=:", Some("a=1, b=(\"x\" y;z=1);c=:AQI=:")),
            ("a=:AQI:", Some("a=:AQI=:")),
            ("a=1, b=2, a=3", Some("a=3, b=2")),
            ("a=1;x=1;y;x=2", Some("a=1;x=2;y")),
            ("a=-1.50, b=0007, c=2.0, d=-0.125", Some("a=-1.5, b=7, c=2.0, d=-0.125")),
            (r#"a="b\"\\c""#, Some(r#"a="b\"\\c""#)),
            ("a=@1700000000", Some("a=@1700000000")),
            ("a=()", Some("a=()")),
            ("a=*t/x:y", Some("a=*t/x:y")),
            ("A=1", None),
            ("a=", None),
            ("a=1,", None),
            ("a=1 b=2", None),
            ("a=(\"x\"\"y\")", None),
            ("a=(\"x\"", None),
            ("a=\"\u{e9}\"", None),
            ("a=\"x", None),
            (r#"a="\x""#, None),
            ("a=:A Q:", None),
            ("a=:AQI=", None),
            ("a=:AR==:", None),
            ("a=1234567890123456", None),
            ("a=1.", None),
            ("a=1.2345", None),
            ("a=@1.5", None),
            ("a=?2", None),
            ("a=1;B", None),
        ] {
            assert_eq!(written(header).as_deref(), expected, "{header}");
        }
        assert_eq!(read_item(b" \"x\";a ").unwrap().to_text(), "\"x\";a");
        assert_eq!(read_item(b"\"x\", \"y\""), None);
    }

    #[test]
    fn sizes_are_limited() {
        let many = |count: usize| (0..count).map(|at| format!("a{at}=1")).collect::<Vec<_>>();
        assert!(written(&many(MEMBERS_MAX).join(",")).is_some());
        assert!(written(&many(MEMBERS_MAX + 1).join(",")).is_none());
        assert!(written(&format!("a;{}", many(MEMBERS_MAX + 1).join(";"))).is_none());
        let list = |count: usize| written(&format!("a=({})", "x ".repeat(count)));
        assert!(list(MEMBERS_MAX).is_some() && list(MEMBERS_MAX + 1).is_none());
        let long = |length: usize| written(&format!("a=\"{}\"", "x".repeat(length)));
        assert!(long(HEADER_BYTES_MAX - 4).is_some() && long(HEADER_BYTES_MAX - 3).is_none());
    }
}
