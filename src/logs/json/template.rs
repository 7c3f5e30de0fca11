//! Lines that differ only in their values.
//!
//! A program writes its lines from a template: the keys and everything else between two values are
//! the same in each line. A line of a known template is read value by value, without a search if the places
//! of its quotes are known. Nested objects, words and unusual numbers are left to the scan of the whole
//! structure, which gives the same values.

use crate::bytes::equal;
use crate::logs::{escape::Escaping, field::RawField, field_kind::LogField};

use super::keys::{KeyTree, Node, ValueSlot};
use super::scan::{JsonValue, put};
use super::usual_values::{FieldParts, UsualValues};

/// The templates that are kept: a program has few, and each is tried.
const TEMPLATES_MAX: usize = 4;

/// The most values of a template; loggers write 8 to 60.
const VALUES_MAX: usize = 96;

/// The most values of a template whose lines are read by the places of their quotes.
const MARKED_VALUES_MAX: usize = 48;

/// Once there are that many templates, one of so many lines of none replaces the oldest.
const LINES_PER_TEMPLATE: u32 = 64;

/// A text, where a line starts in it, and a bit for each of its bytes, in words of 64: set for quotes, backslashes
/// and LF, and for no others.
pub(crate) type MarkedText<'a, 'm> = (&'a [u8], usize, &'m [u64]);

/// Where the values of a line are in a text.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// By part of the template.
    ends: [(u32, u32); MARKED_VALUES_MAX],
    /// A bit for each value with escapes.
    escaped: u64,
}

impl Default for Places {
    fn default() -> Places {
        Places { ends: [(0, 0); MARKED_VALUES_MAX], escaped: 0 }
    }
}

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
    /// `None` if it has none, or too many values.
    fields: Option<FieldParts>,
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

impl Places {
    /// The value of a part, as written in the line.
    #[inline(always)]
    fn raw<'a>(&self, text: &'a [u8], part: usize) -> &'a [u8] {
        let (from, until) = self.ends[part];
        &text[from as usize..until as usize]
    }

    #[inline(always)]
    fn field<'a>(&self, text: &'a [u8], part: usize) -> RawField<'a> {
        let has_escapes = self.escaped >> part & 1 == 1;
        let escaping = if has_escapes { Escaping::Json } else { Escaping::None };
        RawField { raw: self.raw(text, part), escaping }
    }
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

    /// Finds the values of the line that starts at a place in a marked text, and gives the place of its LF;
    /// `None` if it has no known template.
    #[inline(always)]
    pub(crate) fn find(&mut self, text: MarkedText<'_, '_>, places: &mut Places) -> Option<usize> {
        for at in 0..self.known.len() {
            let lf = self.known[at].find(text, places);
            if lf.is_some() {
                self.known.swap(0, at);
                return lf;
            }
        }
        None
    }

    /// The fields of the line that was found last, which has these places in `text`; `None` if several of its
    /// values may be of one field.
    #[inline(always)]
    pub(crate) fn fields<'a>(
        &self,
        text: &'a [u8],
        places: &Places,
    ) -> Option<impl Fn(LogField) -> RawField<'a>> {
        let parts = self.known.first()?.fields.as_ref()?;
        Some(move |field| match parts.part(field).map(|part| places.field(text, part)) {
            Some(field) if !field.is_unset() => field,
            _ => RawField::default(),
        })
    }

    /// Puts the values of that line into `values`.
    pub(crate) fn take<'a>(&self, text: &'a [u8], places: &Places, values: &mut [JsonValue<'a>]) {
        let parts = self.known.iter().take(1).flat_map(|template| &template.parts);
        for (at, part) in parts.enumerate() {
            let field = places.field(text, at);
            if !field.is_unset() {
                put(values, part.value_slot, field);
            }
        }
    }

    /// The usual values of that line; `None` if it has others.
    #[inline(always)]
    pub(crate) fn usual<'a>(&self, text: &'a [u8], places: &Places) -> Option<UsualValues<'a>> {
        let parts = self.known.first()?.fields.as_ref().filter(|_| places.escaped == 0)?;
        parts.usual(|part| places.raw(text, part))
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

    #[inline(never)]
    fn find(&self, (text, start, marks): MarkedText<'_, '_>, places: &mut Places) -> Option<usize> {
        let mut at = start;
        places.escaped = 0;
        if self.parts.len() > MARKED_VALUES_MAX {
            return None;
        }
        for (number, (part, ends)) in self.parts.iter().zip(&mut places.ends).enumerate() {
            let value_at = at + part.before.len();
            if !equal(text.get(at..value_at)?, &part.before) {
                return None;
            }
            at = match part.kind {
                Kind::Text => {
                    let mut mark = next_mark(marks, value_at)?;
                    while text[mark] != b'"' {
                        if text[mark] != b'\\' {
                            return None;
                        }
                        places.escaped |= 1 << number;
                        // What is escaped is no end, but an LF still ends the line.
                        let is_lf = text.get(mark + 1)? == &b'\n';
                        mark = next_mark(marks, mark + 1 + usize::from(!is_lf))?;
                    }
                    mark
                }
                Kind::Digits => value_at + Kind::Digits.take(&text[value_at..])?.0.raw.len(),
            };
            *ends = (value_at as u32, at as u32);
        }
        let end = at + self.end.len();
        if !equal(text.get(at..end)?, &self.end) {
            return None;
        }
        match text.get(end)? {
            b'\n' => Some(end),
            b'\r' => (text.get(end + 1)? == &b'\n').then_some(end + 1),
            _ => None,
        }
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
                None if rest == b"}" => {
                    let is_text = |part: &Part| part.kind == Kind::Text;
                    let slots: Vec<_> =
                        parts.iter().map(|part| (part.value_slot, is_text(part))).collect();
                    let fields = FieldParts::of(&slots);
                    return Some(Template { parts, end: from.into(), fields });
                }
                None => return None,
            }
        }
    }
}

/// The first mark at a place or after it.
#[inline(always)]
fn next_mark(marks: &[u64], place: usize) -> Option<usize> {
    let (mut word, of_word) = (place / 64, place % 64);
    let near = marks.get(word)? >> of_word;
    if near != 0 {
        return Some(place + near.trailing_zeros() as usize);
    }
    loop {
        word += 1;
        let bits = *marks.get(word)?;
        if bits != 0 {
            return Some(word * 64 + bits.trailing_zeros() as usize);
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

/// The bits of the marks of a text, byte by byte.
#[cfg(test)]
pub(super) fn marks_of(text: &[u8]) -> Vec<u64> {
    let mut marks = vec![0; text.len() / 64 + 1];
    for (at, byte) in text.iter().enumerate() {
        marks[at / 64] |= u64::from(matches!(byte, b'"' | b'\\' | b'\n')) << (at % 64);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::json::keys::KeyPredictor;
    use crate::logs::json::scan::scan;
    use crate::random::Random;

    /// Reads `line` by its marks, between other lines; says whether it was read.
    fn read_marked<'a>(
        templates: &mut Templates,
        (text, line): (&'a [u8], &[u8]),
        values: &mut [JsonValue<'a>],
    ) -> bool {
        let start = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let marks = marks_of(text);
        let mut places = Places::default();
        let Some(lf) = templates.find((text, start, &marks), &mut places) else { return false };
        assert_eq!(text[lf], b'\n');
        let read = &text[start..lf];
        assert_eq!(read.strip_suffix(b"\r").unwrap_or(read), line);
        templates.take(text, &places, values);
        true
    }

    /// Lines of few templates with hostile values, cut, merged and damaged: the values are those of
    /// the scan, and no line that it refuses is read.
    #[test]
    fn gives_the_values_of_the_scan() {
        let slots = ["a", "b", "c", "d"].iter().zip(0..);
        let slots = slots.chain([(&"p.a", 2)]);
        let wanted =
            KeyTree::new(slots.map(|(key, slot)| (*key, ValueSlot { slot, rank: 3 - slot })));
        let texts =
            ["", "-", "x", "a b", "\\\"", "\\\\", "},", "\\u00e9\\", "long text of values", "*"];
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
            let mut marked = [JsonValue::default(); 4];
            let end = ["\n", "\r\n", "\n\"\n"][below(3)].as_bytes();
            let text = [b"{\"b\":\"\n", &*line, end, b"{\"b\":1}"].concat();
            let is_read = read_marked(&mut templates, (&text, &line), &mut marked);
            let mut values = [JsonValue::default(); 4];
            assert_eq!(templates.read(&line, &mut values), is_read, "{}", line.escape_ascii());
            assert_eq!(marked, values, "{}", line.escape_ascii());
            if is_read {
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
