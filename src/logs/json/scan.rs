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
//!
//! Azure writes some objects as strings that contain them. Such a string is read as the object if
//! values in it are wanted, but not the string itself.

use crate::logs::{escape::Escaping, field::RawField};

use super::keys::{KeyPredictor, KeyTree, Meaning, Node, ValueSlot};

/// The deepest nesting of objects and arrays. Real logs are far below; a deeper line is hostile.
const DEPTH_MAX: usize = 32;

/// A value as written in the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct JsonValue<'a> {
    /// A string without its quotes, a number, `true` or `false`. Empty if the value is missing,
    /// `null`, an empty string or `-`.
    pub field: RawField<'a>,
    /// The rank of its path.
    rank: u8,
}

/// The line is not a JSON object, or is nested too deeply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct MalformedJson;

/// Puts the `wanted` values of `line` into `values`, by slot; slots beyond its end are ignored. For
/// an array, its first element counts. `predictor` knows the previous lines and does not change the
/// result.
#[inline]
pub(crate) fn scan<'a>(
    line: &'a [u8],
    wanted: &KeyTree,
    predictor: &mut KeyPredictor,
    values: &mut [JsonValue<'a>],
) -> Result<(), MalformedJson> {
    predictor.begin();
    let mut scan = Scan { line, at: 0, is_in_string: false, wanted, predictor, values };
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
    /// Whether the object is in a string, where `\"` begins and ends its own strings.
    is_in_string: bool,
    wanted: &'s KeyTree,
    predictor: &'s mut KeyPredictor,
    values: &'s mut [JsonValue<'a>],
}

/// Puts `field` into its slot of `values`, unless a better one is there.
#[inline]
pub(crate) fn put<'a>(
    values: &mut [JsonValue<'a>],
    value_slot: Option<ValueSlot>,
    field: RawField<'a>,
) {
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
        if self.is_in_string {
            self.escaped_space();
        }
    }

    /// Passes white space as strings contain it.
    fn escaped_space(&mut self) {
        loop {
            match self.line.get(self.at..) {
                Some([b' ', ..]) => self.at += 1,
                Some([b'\\', b'n' | b'r' | b't', ..]) => self.at += 2,
                _ => return,
            }
        }
    }

    /// Reads a string that contains an object, from its opening quote to its closing one. If it does
    /// not contain one, it is an ordinary string.
    fn object_in_string(&mut self, node: Node, depth: usize) -> Result<(), MalformedJson> {
        let start = self.at;
        self.at += 1;
        self.is_in_string = true;
        let read = self.object(Some(node), depth);
        self.space();
        self.is_in_string = false;
        if read.is_ok() && self.byte() == b'"' {
            self.at += 1;
            return Ok(());
        }
        self.at = start;
        self.string().map(drop)
    }

    /// Reads the opening brace of an object, and its closing one if nothing lies between.
    #[inline]
    fn is_empty_object(&mut self) -> bool {
        self.at += 1;
        self.space();
        let is_empty = self.byte() == b'}';
        self.at += usize::from(is_empty);
        is_empty
    }

    /// Reads an object, from its opening brace to its closing one.
    fn object(&mut self, node: Option<Node>, depth: usize) -> Result<(), MalformedJson> {
        if self.is_empty_object() {
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
        let pairs = node.filter(|_| self.wanted.has_pairs());
        loop {
            if matches!(self.byte(), b',' | b']') {
                return Err(MalformedJson);
            }
            match pairs {
                Some(pairs) if self.byte() == b'{' && depth > 0 => self.pair(pairs, depth - 1)?,
                _ => self.value(value_slot.take(), node.take(), depth)?,
            }
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

    /// Reads a named object of an array, from its opening brace to its closing one. Its value is
    /// `value`, or else its name.
    fn pair(&mut self, array: Node, depth: usize) -> Result<(), MalformedJson> {
        let (mut name, mut value) = (None, None);
        let mut has_value = false;
        if self.is_empty_object() {
            return Ok(());
        }
        loop {
            let key = self.string()?.raw;
            self.space();
            if self.byte() != b':' {
                return Err(MalformedJson);
            }
            self.at += 1;
            self.space();
            has_value |= key == b"value";
            match (key, self.byte()) {
                (b"name", b'"') => name = Some(self.string()?),
                (b"value", b'"') => value = Some(self.string()?),
                _ => self.value(None, None, depth)?,
            }
            self.space();
            let end = self.byte();
            self.at += 1;
            match end {
                b',' => self.space(),
                b'}' => break,
                _ => return Err(MalformedJson),
            }
        }
        let field = if has_value { value } else { name };
        if let (Some(name), Some(field)) = (name, field.filter(|field| !field.is_unset())) {
            put(self.values, self.wanted.pair(array, name.raw), field);
        }
        Ok(())
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
            first @ (b'"' | b'\\') => {
                let is_object = value_slot.is_none()
                    && !self.is_in_string
                    && depth > 0
                    && first == b'"'
                    && self.line.get(start + 1) == Some(&b'{');
                match node.filter(|_| is_object) {
                    Some(node) => self.object_in_string(node, depth - 1)?,
                    None => {
                        let field = self.string()?;
                        if !field.is_unset() {
                            put(self.values, value_slot, field);
                        }
                    }
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
        if self.is_in_string {
            return self.string_in_string();
        }
        if self.byte() != b'"' {
            return Err(MalformedJson);
        }
        let text = &self.line[self.at + 1..];
        let (field, after) = RawField::until_quote(text, Escaping::Json).ok_or(MalformedJson)?;
        self.at = self.line.len() - after.len() + 1;
        Ok(field)
    }

    /// Reads a string of an object that is in a string itself.
    fn string_in_string(&mut self) -> Result<RawField<'a>, MalformedJson> {
        let quote = |at| self.line.get(at..at + 2) == Some(b"\\\"");
        if !quote(self.at) {
            return Err(MalformedJson);
        }
        let start = self.at + 2;
        let mut at = start;
        while !quote(at) {
            at += match self.line.get(at..).unwrap_or_default() {
                [] | [b'"', ..] => return Err(MalformedJson),
                // A backslash of the inner string, and what it escapes.
                [b'\\', b'\\', b'\\', ..] => 4,
                [b'\\', b'\\', ..] => 3,
                [b'\\', ..] => 2,
                _ => 1,
            };
        }
        self.at = at + 2;
        Ok(RawField { raw: &self.line[start..at], escaping: Escaping::JsonTwice })
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
mod tests;
