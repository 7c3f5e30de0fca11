//! Finds some values of a JSON object in one pass over its line.
//!
//! The structure is checked against RFC 8259 up to the end of the line, so that a cut or merged
//! line is invalid. The content of strings is not checked: servers write bytes that are not UTF-8,
//! and nginx without `escape=json` writes `\xHH`. Values are slices of the line; nothing is
//! allocated.
//!
//! The exceptions are for nginx configurations: a missing value, or a lone `-`, is an unset
//! variable without quotes around it. Of a repeated key, the last value counts, as in most readers.
//! A key with escapes is not recognised.

use memchr::memchr2;

use crate::logs::json::key_predictor::{KeyPredictor, Meaning};
use crate::logs::json::key_tree::{KeyTree, Node, ValueSlot};
use crate::logs::{escape::Escaping, field::RawField};

/// The deepest nesting of objects and arrays. Real logs are far below; a deeper line is hostile.
const DEPTH_MAX: usize = 32;

/// A value as written in the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JsonValue<'a> {
    /// A string without its quotes, a number, `true` or `false`. Empty if the value is missing,
    /// `null`, an empty string or `-`.
    pub field: RawField<'a>,
    /// The rank of its path.
    rank: u8,
}

/// The line is not a JSON object, or is nested too deeply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MalformedJson;

/// Puts the `wanted` values of `line` into `values`, by slot; slots beyond its end are ignored. For
/// an array, its first element counts. `predictor` knows the previous lines and does not change the
/// result.
#[inline]
pub fn scan<'a>(
    line: &'a [u8],
    wanted: &KeyTree,
    predictor: &mut KeyPredictor,
    values: &mut [JsonValue<'a>],
) -> Result<(), MalformedJson> {
    predictor.begin();
    let mut scan = Scan { line, at: 0, wanted, predictor, values };
    scan.space();
    if scan.byte() != b'{' {
        return Err(MalformedJson);
    }
    scan.object(Some(Node::ROOT), DEPTH_MAX)?;
    scan.space();
    if scan.at == line.len() { Ok(()) } else { Err(MalformedJson) }
}

enum Number {
    Whole,
    Unset,
}

struct Scan<'a, 's> {
    line: &'a [u8],
    at: usize,
    wanted: &'s KeyTree,
    predictor: &'s mut KeyPredictor,
    values: &'s mut [JsonValue<'a>],
}

/// Puts `field` into its slot of `values`, unless a better one is there.
#[inline]
pub fn put<'a>(values: &mut [JsonValue<'a>], value_slot: Option<ValueSlot>, field: RawField<'a>) {
    let Some(ValueSlot { slot, rank }) = value_slot else { return };
    let Some(value) = values.get_mut(usize::from(slot)) else { return };
    if value.field.raw.is_empty() || rank <= value.rank {
        *value = JsonValue { field, rank };
    }
}

impl<'a> Scan<'a, '_> {
    /// The next byte; 0 at the end, which begins no value.
    #[inline]
    fn byte(&self) -> u8 {
        self.line.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Reads an object, from its opening brace to its closing one.
    fn object(&mut self, node: Option<Node>, depth: usize) -> Result<(), MalformedJson> {
        self.at += 1;
        self.space();
        if self.byte() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let bytes = self.line.get(self.at..).unwrap_or_default();
            let Meaning { value_slot, node } = match self.predictor.find(node, bytes) {
                Some((length, meaning)) => {
                    self.at += length;
                    self.space();
                    meaning
                }
                None => self.key(node)?,
            };
            self.value(value_slot, node, depth)?;
            self.space();
            let end = self.byte();
            self.at += 1;
            match end {
                b',' => self.space(),
                b'}' => return Ok(()),
                _ => return Err(MalformedJson),
            }
        }
    }

    /// Reads a key, from its quote to its value.
    fn key(&mut self, object: Option<Node>) -> Result<Meaning, MalformedJson> {
        let start = self.at;
        let name = self.string()?.raw;
        self.space();
        if self.byte() != b':' {
            return Err(MalformedJson);
        }
        self.at += 1;
        self.space();
        let key = object.and_then(|object| self.wanted.find(object, name));
        let (value_slot, node) = key.map_or((None, None), |key| (key.value_slot, key.node));
        let meaning = Meaning { value_slot, node };
        self.predictor.learn(object, &self.line[start..self.at], meaning);
        Ok(meaning)
    }

    /// Reads an array, from its opening bracket to its closing one; its first element is its value.
    fn array(
        &mut self,
        mut value_slot: Option<ValueSlot>,
        mut node: Option<Node>,
        depth: usize,
    ) -> Result<(), MalformedJson> {
        self.at += 1;
        self.space();
        if self.byte() == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if matches!(self.byte(), b',' | b']') {
                return Err(MalformedJson);
            }
            self.value(value_slot.take(), node.take(), depth)?;
            self.space();
            let end = self.byte();
            self.at += 1;
            match end {
                b',' => self.space(),
                b']' => return Ok(()),
                _ => return Err(MalformedJson),
            }
        }
    }

    #[inline]
    fn value(
        &mut self,
        value_slot: Option<ValueSlot>,
        node: Option<Node>,
        depth: usize,
    ) -> Result<(), MalformedJson> {
        let start = self.at;
        match self.byte() {
            b'"' => {
                let field = self.string()?;
                if !field.is_unset() {
                    put(self.values, value_slot, field);
                }
            }
            b'{' if depth > 0 => self.object(node, depth - 1)?,
            b'[' if depth > 0 => self.array(value_slot, node, depth - 1)?,
            b'-' | b'0'..=b'9' => {
                if let Number::Whole = self.number()? {
                    put(self.values, value_slot, RawField::plain(&self.line[start..self.at]));
                }
            }
            b't' => {
                let word = self.word(b"true")?;
                put(self.values, value_slot, word);
            }
            b'f' => {
                let word = self.word(b"false")?;
                put(self.values, value_slot, word);
            }
            b'n' => {
                self.word(b"null")?;
            }
            b',' | b'}' => {}
            _ => return Err(MalformedJson),
        }
        Ok(())
    }

    /// Reads a string, from its opening quote to its closing one.
    #[inline]
    fn string(&mut self) -> Result<RawField<'a>, MalformedJson> {
        if self.byte() != b'"' {
            return Err(MalformedJson);
        }
        let start = self.at + 1;
        let mut at = start;
        let mut escaping = Escaping::None;
        loop {
            let rest = self.line.get(at..).ok_or(MalformedJson)?;
            at += memchr2(b'"', b'\\', rest).ok_or(MalformedJson)?;
            if self.line[at] == b'"' {
                self.at = at + 1;
                return Ok(RawField { raw: &self.line[start..at], escaping });
            }
            escaping = Escaping::Json;
            at += 2;
        }
    }

    #[inline]
    fn word(&mut self, word: &'static [u8]) -> Result<RawField<'a>, MalformedJson> {
        let rest = &self.line[self.at..];
        if !rest.starts_with(word) {
            return Err(MalformedJson);
        }
        self.at += word.len();
        Ok(RawField::plain(&rest[..word.len()]))
    }

    /// Reads a number, or the `-` of an unset variable.
    #[inline]
    fn number(&mut self) -> Result<Number, MalformedJson> {
        if self.byte() == b'-' {
            self.at += 1;
            if !self.byte().is_ascii_digit() {
                return Ok(Number::Unset);
            }
        }
        // JSON forbids leading zeros, but `000` is a status.
        self.digits()?;
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Number::Whole)
    }

    #[inline]
    fn digits(&mut self) -> Result<(), MalformedJson> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(MalformedJson) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value as Json};

    use super::*;

    const PATHS: [&str; 6] = ["a", "b", "c.a", "c.b", "c.c.a", "é.b"];

    /// The value at each of the paths.
    fn found(line: &[u8]) -> Option<[Vec<u8>; 6]> {
        let value_slots = PATHS.iter().enumerate();
        let value_slots =
            value_slots.map(|(slot, path)| (*path, ValueSlot { slot: slot as u8, rank: 0 }));
        let wanted = KeyTree::new(value_slots);
        let mut predictor = KeyPredictor::default();
        let mut found = || {
            let mut values = [JsonValue::default(); 6];
            scan(line, &wanted, &mut predictor, &mut values).ok()?;
            Some(values.map(|value| value.field.value(&mut Vec::new()).to_vec()))
        };
        let first = found();
        assert_eq!(found(), first, "as after lines like it: {}", line.escape_ascii());
        first
    }

    #[track_caller]
    fn check(line: &str, expected: Option<[&str; 6]>) {
        let expected = expected.map(|values| values.map(|value| value.as_bytes().to_vec()));
        assert_eq!(found(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn values_of_every_kind() {
        check(r#"{"a":"x","b":-1.5e+3}"#, Some(["x", "-1.5e+3", "", "", "", ""]));
        check(r#" { "a" : true , "b" : false } "#, Some(["true", "false", "", "", "", ""]));
        check(r#"{"a":null,"b":"","c":{"a":"-","b":{"b":1}}}"#, Some([""; 6]));
        check(
            r#"{"c":{"a":1,"b":2,"c":{"a":3,"b":4}},"c.b":5}"#,
            Some(["", "", "1", "5", "3", ""]),
        );
        check(r#"{"a":["x","y"],"c":[{"a":1},{"b":2}],"b":[]}"#, Some(["x", "", "1", "", "", ""]));
        check(r#"{"a":"\"\\\/\u00e9\x41"}"#, Some(["\"\\/éA", "", "", "", "", ""]));
        check(r#"{"é":{"b":"ü"}}"#, Some(["", "", "", "", "", "ü"]));
        check("{}", Some([""; 6]));
    }

    #[test]
    fn of_two_the_last_that_says_something() {
        check(r#"{"a":1,"a":2}"#, Some(["2", "", "", "", "", ""]));
        check(r#"{"a":1,"a":null}"#, Some(["1", "", "", "", "", ""]));
        let wanted = KeyTree::new([
            ("x", ValueSlot { slot: 0, rank: 1 }),
            ("y", ValueSlot { slot: 0, rank: 2 }),
        ]);
        for line in [r#"{"x":1,"y":2}"#, r#"{"y":2,"x":1}"#] {
            let mut values = [JsonValue::default()];
            scan(line.as_bytes(), &wanted, &mut KeyPredictor::default(), &mut values).unwrap();
            assert_eq!(values[0].field.raw, b"1", "{line}");
        }
    }

    #[test]
    fn unset_variables_without_quotes() {
        check(r#"{"a":,"b":-,"c":{"a":}}"#, Some([""; 6]));
        check(r#"{"a":-,"b":1}"#, Some(["", "1", "", "", "", ""]));
    }

    #[test]
    fn what_is_no_object() {
        for line in [
            "",
            " ",
            "{",
            "}",
            "[]",
            "1",
            "null",
            "{}}",
            "{} {}",
            "{,}",
            r#"{"a"}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[,1]}"#,
            r#"{"a":[1}"#,
            r#"{"a":tru}"#,
            r#"{"a":nul}"#,
            r#"{"a":+1}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":1e}"#,
            r#"{"a":0.001, 0.002}"#,
            r#"{"a":"x}"#,
            r#"{"a":"x\"}"#,
            r#"{a:1}"#,
            "{\"a\":1}\0",
        ] {
            check(line, None);
        }
        let nested = |depth: usize| "{\"x\":".repeat(depth) + "1" + &"}".repeat(depth);
        assert!(found(nested(DEPTH_MAX + 1).as_bytes()).is_some());
        assert!(found(nested(DEPTH_MAX + 2).as_bytes()).is_none());
        assert!(found("[".repeat(1 << 20).as_bytes()).is_none());
        assert!(found(("{\"a\":".to_owned() + &"[".repeat(1 << 20)).as_bytes()).is_none());
    }

    #[test]
    fn bytes_that_are_no_text_pass() {
        let [a, ..] = found(b"{\"a\":\"\xff\0\x1f\\xe9\"}").unwrap();
        assert_eq!(a, b"\xff\0\x1f\xe9");
    }

    /// The values that serde_json finds, if it can read the line.
    fn found_by_serde(line: &[u8]) -> Option<[Vec<u8>; 6]> {
        let object: Map<String, Json> = serde_json::from_slice(line).ok()?;
        let whole = Json::Object(object);
        Some(PATHS.map(|path| {
            let value = path.split('.').try_fold(&whole, |value, key| first(value.get(key)?));
            match value {
                Some(Json::String(text)) if text != "-" => text.clone().into_bytes(),
                Some(Json::Number(number)) => number.to_string().into_bytes(),
                Some(Json::Bool(value)) => value.to_string().into_bytes(),
                _ => Vec::new(),
            }
        }))
    }

    fn first(value: &Json) -> Option<&Json> {
        match value {
            Json::Array(values) => first(values.first()?),
            _ => Some(value),
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % bound
        }

        fn value(&mut self, depth: usize) -> Json {
            const TEXTS: [&str; 6] =
                ["", "x", "-", "a\"b\\c/\n", "\u{e9}\u{1f600}\0", "\u{7f}{[,]}:"];
            match self.below(if depth > 3 { 5 } else { 8 }) {
                0 => Json::Null,
                1 => Json::Bool(self.below(2) == 0),
                2 => Json::from(self.below(2000)),
                3..5 => Json::from(TEXTS[self.below(TEXTS.len())]),
                5 => (0..self.below(4)).map(|_| self.value(depth + 1)).collect(),
                _ => Json::Object(self.object(depth + 1)),
            }
        }

        fn object(&mut self, depth: usize) -> Map<String, Json> {
            const KEYS: [&str; 6] = ["a", "b", "c", "é", "", "other"];
            let count = self.below(7);
            (0..count).map(|_| (KEYS[self.below(6)].to_owned(), self.value(depth))).collect()
        }
    }

    #[test]
    fn serde_json_finds_the_same() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for round in 0..3000 {
            let object = random.object(0);
            let mut line = match round % 2 {
                0 => serde_json::to_vec(&object).unwrap(),
                _ => serde_json::to_string_pretty(&object).unwrap().into_bytes(),
            };
            assert_eq!(found(&line), found_by_serde(&line), "{}", line.escape_ascii());
            // A damaged quote puts line ends into strings, which our reader allows.
            for _ in 0..if round % 2 == 0 { 5 } else { 0 } {
                let at = random.below(line.len());
                match random.below(3) {
                    0 => line[at] = b"{}[]\",: 1etx\\"[random.below(13)],
                    1 => drop(line.drain(at..)),
                    _ => line.insert(at, b"{}[]\",: 1etx\\"[random.below(13)]),
                }
                check_damaged(&line);
                if line.is_empty() {
                    break;
                }
            }
        }
    }

    /// Whether all values are equal. Our reader keeps the spelling of a number, serde_json does
    /// not.
    fn are_same(ours: &[Vec<u8>; 6], theirs: &[Vec<u8>; 6]) -> bool {
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
        ours.iter().zip(theirs).all(|(ours, theirs)| {
            ours == theirs || number(ours).is_some_and(|ours| Some(ours) == number(theirs))
        })
    }

    /// Checks that our reader gives the same as serde_json, and that it reads more only in the
    /// intended exceptions.
    #[track_caller]
    fn check_damaged(line: &[u8]) {
        if std::str::from_utf8(line).is_err() {
            return;
        }
        match (found(line), found_by_serde(line)) {
            // Keys with escapes, or repeated keys with objects, are intentionally read differently.
            (Some(ours), Some(theirs)) if !are_same(&ours, &theirs) => {
                let keys = line.split(|&byte| byte == b'"').filter(|key| !key.is_empty());
                let mut keys: Vec<&[u8]> = keys.collect();
                keys.sort_unstable();
                let is_twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
                assert!(is_twice || line.contains(&b'\\'), "{}", line.escape_ascii());
            }
            (None, Some(_)) => panic!("serde_json reads {}", line.escape_ascii()),
            (Some(_), None) => {
                let text = String::from_utf8_lossy(line).replace(' ', "");
                let is_lenient =
                    [":,", ":}", ":-", "\\", ":0"].iter().any(|mark| text.contains(mark));
                assert!(is_lenient, "serde_json does not read {}", line.escape_ascii());
            }
            _ => {}
        }
    }
}
