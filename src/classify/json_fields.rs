//! Reads a few members of a JSON object, without allocation.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The most members that are read: URL, crawler and time.
pub(crate) const WANTED_MAX: usize = 3;

/// The members `names` of the object `line`, in this order. Of several members with one name, the
/// last counts. All are missing if the line is not an object.
pub(crate) fn members<'l>(line: &'l [u8], names: &[&String]) -> [Option<&'l RawValue>; WANTED_MAX] {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let found = reader.deserialize_map(Members(names));
    found.and_then(|found| reader.end().map(|()| found)).unwrap_or_default()
}

struct Members<'n>(&'n [&'n String]);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = [Option<&'de RawValue>; WANTED_MAX];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; WANTED_MAX];
        while let Some(wanted) = map.next_key_seed(Name(self.0))? {
            let value: &RawValue = map.next_value()?;
            for (index, is_wanted) in wanted.into_iter().enumerate() {
                if is_wanted {
                    found[index] = Some(value);
                }
            }
        }
        Ok(found)
    }
}

/// The members that a name stands for; two may have the same name.
struct Name<'n>(&'n [&'n String]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = [bool; WANTED_MAX];

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = [bool; WANTED_MAX];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let mut wanted = [false; WANTED_MAX];
        self.0.iter().zip(&mut wanted).for_each(|(known, is)| *is = *known == name);
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: [Option<&str>; 2]) {
        let names = ["url".to_owned(), "t\"".to_owned()];
        let found = members(line.as_bytes(), &[&names[0], &names[1]]);
        let found = found.map(|value| value.map(RawValue::get));
        assert_eq!(found[..2], expected, "{line}");
    }

    #[test]
    fn members_are_found_by_name() {
        check(r#"{"url":"a","x":{"url":"b"},"t\"":1}"#, [Some("\"a\""), Some("1")]);
        check(r#" { "\u0075rl" : "a" , "url" : null } "#, [Some("null"), None]);
        for line in ["", "1", "[]", "null", "{", r#"{"url":"a"} x"#, r#"{"url":"a""#, r#"{"url"}"#]
        {
            check(line, [None, None]);
        }
    }

    /// Two columns may be one.
    #[test]
    fn one_member_may_be_wanted_twice() {
        let name = "url".to_owned();
        let found = members(br#"{"url":"a"}"#, &[&name, &name]);
        assert!(found[0].is_some() && found[1].is_some());
    }
}
