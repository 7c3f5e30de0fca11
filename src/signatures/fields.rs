//! Structured fields (RFC 9651), as far as headers of signatures use them.
//!
//! What is read is written again in the one form that the RFC allows, because signatures cover that.

use std::iter;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet::STANDARD};

use crate::structured_fields::{FieldReader, RawItem};

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
pub enum BareItem {
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
pub struct Parameters(Vec<(String, BareItem)>);

/// A value with parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    pub value: BareItem,
    pub parameters: Parameters,
}

/// The value of a key of a dictionary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Member {
    Item(Item),
    List(Vec<Item>, Parameters),
}

/// Keys and their members, in the order in which the keys came first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Dictionary(Vec<(String, Member)>);

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
    pub fn to_text(&self) -> String {
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
    pub fn to_text(&self) -> String {
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
    pub fn read(header: &[u8]) -> Option<Dictionary> {
        let mut members = Vec::new();
        reader(header)?.dictionary(|reader, key, has_value| {
            let member = match has_value {
                true if reader.take(b'(') => list(reader)?,
                true => Member::Item(item(reader)?),
                false => {
                    let value = BareItem::Boolean(true);
                    Member::Item(Item { value, parameters: parameters(reader)? })
                }
            };
            put(&mut members, key, member)
        })?;
        Some(Dictionary(members))
    }

    /// The member of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Member> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, member)| member)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Member)> {
        self.0.iter().map(|(key, member)| (key.as_str(), member))
    }
}

/// Reads the value of a header that is one item; `None` if it is none.
pub fn read_item(header: &[u8]) -> Option<Item> {
    let mut reader = reader(header)?;
    reader.skip(b" ");
    let item = item(&mut reader)?;
    reader.skip(b" ");
    reader.is_at_end().then_some(item)
}

fn reader(header: &[u8]) -> Option<FieldReader<'_>> {
    (header.len() <= HEADER_BYTES_MAX).then(|| FieldReader::new(header))
}

/// Puts `value` where `key` was, or at the end; `None` if there are too many.
fn put<V>(entries: &mut Vec<(String, V)>, key: &[u8], value: V) -> Option<()> {
    match entries.iter().position(|(known, _)| known.as_bytes() == key) {
        Some(at) => entries[at].1 = value,
        None if entries.len() == MEMBERS_MAX => return None,
        None => entries.push((text(key)?, value)),
    }
    Some(())
}

fn list(reader: &mut FieldReader<'_>) -> Option<Member> {
    let mut items = Vec::new();
    reader.list(|reader| {
        if items.len() == MEMBERS_MAX {
            return None;
        }
        items.push(item(reader)?);
        Some(())
    })?;
    Some(Member::List(items, parameters(reader)?))
}

fn item(reader: &mut FieldReader<'_>) -> Option<Item> {
    Some(Item { value: bare(reader.item()?)?, parameters: parameters(reader)? })
}

fn parameters(reader: &mut FieldReader<'_>) -> Option<Parameters> {
    let mut parameters = Vec::new();
    reader.parameters(|name, value| put(&mut parameters, name, bare(value)?))?;
    Some(Parameters(parameters))
}

/// The value of `item`. Headers of signatures have no display strings.
fn bare(item: RawItem<'_>) -> Option<BareItem> {
    match item {
        RawItem::Integer(digits) => text(digits)?.parse().ok().map(BareItem::Integer),
        RawItem::Date(digits) => text(digits)?.parse().ok().map(BareItem::Date),
        RawItem::Decimal(number) => {
            let number = text(number)?;
            let (whole, part) = number.split_once('.')?;
            format!("{whole}{part:0<3}").parse().ok().map(BareItem::Decimal)
        }
        RawItem::String(escaped) => {
            let escaped = text(escaped)?;
            let mut chars = escaped.chars();
            let next = || chars.next().and_then(|c| if c == '\\' { chars.next() } else { Some(c) });
            Some(BareItem::String(iter::from_fn(next).collect()))
        }
        RawItem::Token(token) => text(token).map(BareItem::Token),
        RawItem::Bytes(encoded) => BASE64.decode(encoded).ok().map(BareItem::Bytes),
        RawItem::Boolean(is_true) => Some(BareItem::Boolean(is_true)),
        RawItem::DisplayString => None,
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
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
