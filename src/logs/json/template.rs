//! Lines that differ only in their values.
//!
//! A program writes its lines from a template: the keys and everything else between two values are
//! the same in each line. A line of a known template is read value by value. Nested objects, words
//! and unusual numbers are left to the scan of the whole structure, which gives the same values.

use crate::bytes::equal;
use crate::logs::{escape::Escaping, field::RawField};

use super::keys::{KeyTree, Node, ValueSlot};
use super::scan::{JsonValue, put};

/// The templates that are kept: a program has few, and each is tried.
const TEMPLATES_MAX: usize = 4;

/// The most values of a template; loggers write 8 to 60.
const VALUES_MAX: usize = 96;

/// Once there are that many templates, one of so many lines of none replaces the oldest.
const LINES_PER_TEMPLATE: u32 = 64;

/// The templates of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    known: Vec<Template>,
    /// The lines that had no known template.
    others: u32,
}

#[derive(Clone, Debug)]
struct Template {
    parts: Vec<Part>,
    /// The text after the last value.
    end: Box<[u8]>,
}

/// The text before a value, and the value's kind and destination.
#[derive(Clone, Debug)]
struct Part {
    before: Box<[u8]>,
    kind: Kind,
    value_slot: Option<ValueSlot>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Up to a quote.
    Text,
    /// Digits only.
    Digits,
}

impl Templates {
    /// Puts the values of `line` into `values`; `false` if it has no known template, and `values`
    /// may then be filled in part.
    #[inline]
    pub(crate) fn read<'a>(&mut self, line: &'a [u8], values: &mut [JsonValue<'a>]) -> bool {
        for at in 0..self.known.len() {
            if self.known[at].read(line, values).is_some() {
                // The next line probably has the same one.
                self.known.swap(0, at);
                return true;
            }
            values.fill(JsonValue::default());
        }
        false
    }

    /// Learns the template of `line`, a valid object without a known one.
    pub(crate) fn learn(&mut self, line: &[u8], wanted: &KeyTree) {
        let is_full = self.known.len() == TEMPLATES_MAX;
        self.others = self.others.wrapping_add(1);
        if is_full && !self.others.is_multiple_of(LINES_PER_TEMPLATE) {
            return;
        }
        if let Some(template) = Template::of(line, wanted) {
            self.known.truncate(TEMPLATES_MAX - 1);
            self.known.insert(0, template);
        }
    }
}

impl Template {
    fn read<'a>(&self, line: &'a [u8], values: &mut [JsonValue<'a>]) -> Option<()> {
        let mut rest = line;
        for part in &self.parts {
            let (before, after) = rest.split_at_checked(part.before.len())?;
            if !equal(before, &part.before) {
                return None;
            }
            let (field, after) = part.kind.take(after)?;
            if !field.is_unset() {
                put(values, part.value_slot, field);
            }
            rest = after;
        }
        equal(rest, &self.end).then_some(())
    }

    /// The template of `line`, a valid object; `None` if it has other values than text and digits.
    fn of(line: &[u8], wanted: &KeyTree) -> Option<Template> {
        let mut parts = Vec::new();
        let (mut from, mut rest) = (line, line.strip_prefix(b"{")?);
        loop {
            rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
            let (name, after) = Kind::Text.take(rest)?;
            rest = after.strip_prefix(b"\"")?.trim_ascii_start().strip_prefix(b":")?;
            rest = rest.trim_ascii_start();
            let kind = match rest.strip_prefix(b"\"") {
                Some(text) => {
                    rest = text;
                    Kind::Text
                }
                None => Kind::Digits,
            };
            let before = from[..from.len() - rest.len()].into();
            let key = wanted.find(Node::ROOT, name.raw);
            let value_slot = key.and_then(|key| key.value_slot);
            if value_slot.is_none() && key.is_some_and(|key| key.node.is_some()) {
                // The scan also looks for an object in such a text.
                return None;
            }
            parts.push(Part { before, kind, value_slot });
            (_, from) = kind.take(rest)?;
            rest = from.strip_prefix(b"\"").filter(|_| kind == Kind::Text).unwrap_or(from);
            rest = rest.trim_ascii_start();
            match rest.strip_prefix(b",") {
                Some(next) if parts.len() < VALUES_MAX => rest = next,
                Some(_) => return None,
                // A number that goes on, such as 1.5, is not of digits only.
                None if rest == b"}" => return Some(Template { parts, end: from.into() }),
                None => return None,
            }
        }
    }
}

impl Kind {
    /// The value at the start of `bytes`, and what follows it.
    #[inline]
    fn take(self, bytes: &[u8]) -> Option<(RawField<'_>, &[u8])> {
        match self {
            Kind::Text => RawField::until_quote(bytes, Escaping::Json),
            Kind::Digits => {
                let length = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
                let (raw, after) = bytes.split_at(length);
                (length > 0).then_some((RawField::plain(raw), after))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::json::keys::KeyPredictor;
    use crate::logs::json::scan::scan;
    use crate::random::Random;

    /// Lines of few templates with hostile values, cut, merged and damaged: the values are those of
    /// the scan, and no line that it refuses is read.
    #[test]
    fn gives_the_values_of_the_scan() {
        let slots = ["a", "b", "c", "d"].iter().zip(0..);
        let slots = slots.chain([(&"p.a", 2)]);
        let wanted =
            KeyTree::new(slots.map(|(key, slot)| (*key, ValueSlot { slot, rank: 3 - slot })));
        let texts = ["", "-", "x", "a b", "\\\"", "\\\\", "},", "\\u00e9\\", "long text of values"];
        let shapes: [(&str, &str); 8] = [
            ("{\"p\":\"{\\\"a\\\":7}\",\"b\":\"1\"}", "1"),
            ("{\"a\":\"1\",\"b\":2,\"c\":\"3\"}", "1"),
            ("{ \"a\" : \"1\" , \"x\" : \"2\", \"d\" :3 }", "2"),
            ("{\"d\":\"1\",\"a\":4,\"d\":\"2\"}", "2"),
            ("{\"b\":7,\"c\":\"1\"}", "1"),
            ("{\"b\":\"1\",\"c\":{\"a\":\"2\"}}", "2"),
            ("{\"a\":1.5,\"b\":-,\"c\":\"1\"}", "1"),
            ("{\"a\":true,\"\":\"1\"}", "1"),
        ];
        let mut random = Random::new();
        let mut below = |bound| random.below(bound);
        let (mut templates, mut read) = (Templates::default(), 0);
        for _ in 0..40_000 {
            let (shape, value) = shapes[below(shapes.len())];
            let mut line = shape.replace(value, texts[below(texts.len())]).into_bytes();
            match below(8) {
                0 => line.truncate(below(line.len() + 1)),
                1 => line[below(shape.len().min(8))] = b"{}\",: 1\\"[below(8)],
                2 => line.extend_from_slice(shape.as_bytes()),
                _ => {}
            }
            let mut expected = [JsonValue::default(); 4];
            let whole = scan(&line, &wanted, &mut KeyPredictor::default(), &mut expected);
            let mut values = [JsonValue::default(); 4];
            if templates.read(&line, &mut values) {
                read += 1;
                assert!(whole.is_ok(), "{}", line.escape_ascii());
                assert_eq!(values, expected, "{}", line.escape_ascii());
            } else {
                assert_eq!(values, [JsonValue::default(); 4]);
                if whole.is_ok() {
                    templates.learn(&line, &wanted);
                }
            }
        }
        assert!(read > 5_000, "{read}");
        assert!(templates.known.len() <= TEMPLATES_MAX);
    }
}
