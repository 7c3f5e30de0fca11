//! Foreign bytes as text that is safe in CSV files, spreadsheets and terminals.
//!
//! Bytes that are not UTF-8, control characters and bidirectional marks become `\xHH`, byte by
//! byte. A backslash that would look like such an escape becomes `\x5C`. A cell that a spreadsheet
//! would run as a formula gets a `'` in front, and so does a cell that begins with `'`.
//!
//! To undo: drop one leading `'`, then replace each `\xHH` by its byte.

use std::{borrow::Cow, fmt::Write};

use crate::bytes;

/// The text of a CSV cell.
pub(crate) fn csv_cell(bytes: &[u8]) -> String {
    without_formula(&visible(bytes)).into_owned()
}

/// Visible `text` that no spreadsheet runs.
pub(crate) fn without_formula(text: &str) -> Cow<'_, str> {
    if is_formula(text) { format!("'{text}").into() } else { text.into() }
}

/// `cell`, as [`csv_cell`] gives it, quoted if its content requires it.
pub(crate) fn push_quoted(cell: &str, delimiter: char, out: &mut Vec<u8>) {
    let is_quoted = cell.contains([delimiter, '"', '\r', '\n']);
    match is_quoted {
        true => push_in_quotes(cell, out),
        false => out.extend_from_slice(cell.as_bytes()),
    }
}

/// `cell` in quotes. All cells of a header are quoted, so that readers that detect the format from
/// the first rows recognise quotes.
pub(crate) fn push_in_quotes(cell: &str, out: &mut Vec<u8>) {
    out.extend([b"\"", cell.replace('"', "\"\"").as_bytes(), b"\""].concat());
}

/// `bytes` with everything that is not visible text as `\xHH`.
pub fn visible(bytes: &[u8]) -> String {
    if let Some(plain) = plain(bytes) {
        return plain.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_visible(chunk.valid(), reads_as_escape, &mut text);
        escape(chunk.invalid(), &mut text);
    }
    text
}

/// The common case: printable ASCII without a backslash, which stays unchanged.
fn plain(bytes: &[u8]) -> Option<&str> {
    let is_other = |byte: u8| (byte.wrapping_sub(b' ') > b'~' - b' ') | (byte == b'\\');
    if bytes::any(bytes, is_other) { None } else { std::str::from_utf8(bytes).ok() }
}

/// The value of a cell that was read from a CSV file of ours.
pub(crate) fn without_mark(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

/// The text of a cell for people, without the `'` that disarms a formula. Cells that we wrote hold
/// nothing hidden; hidden characters in a changed file are escaped.
pub(crate) fn shown(cell: &str) -> String {
    let text = without_mark(cell);
    if let Some(plain) = plain(text.as_bytes()) {
        return plain.to_owned();
    }
    spelled_out(text)
}

/// `text` of our own, which may repeat foreign text, with hidden characters as `\xHH`. What is
/// escaped already stays.
pub(crate) fn spelled_out(text: &str) -> String {
    let mut spelled_out = String::with_capacity(text.len());
    push_visible(text, |_| false, &mut spelled_out);
    spelled_out
}

/// Whether `text` has characters that [`visible`] escapes because a terminal acts on them, or they
/// hide, break or reverse text.
pub(crate) fn has_hidden(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// Appends `text` with hidden characters as `\xHH`, and every character for which `is_escaped`
/// holds for the rest of the text.
fn push_visible(text: &str, is_escaped: impl Fn(&str) -> bool, out: &mut String) {
    for (at, character) in text.char_indices() {
        if is_hidden(character) || is_escaped(&text[at..]) {
            escape(&text.as_bytes()[at..at + character.len_utf8()], out);
        } else {
            out.push(character);
        }
    }
}

/// Whether spreadsheets read it as a formula, or it begins with our own mark. A lone `-` is not a
/// formula.
fn is_formula(text: &str) -> bool {
    let first = text.chars().next();
    text != "-"
        && first.is_some_and(|first| "=+-@'\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(first))
}

/// Control characters, and characters that hide, break or reverse text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn reads_as_escape(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    bytes.len() >= 4 && bytes.starts_with(b"\\x") && bytes[2..4].iter().all(u8::is_ascii_hexdigit)
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        write!(text, "\\x{byte:02X}").expect("writing to a string cannot fail");
    }
}

/// Whether every byte is visible ASCII or a space, and has no special meaning in CSV, TSV, JSON or
/// [`super::escape::visible`].
pub(crate) fn is_plain_text(bytes: &[u8]) -> bool {
    !bytes::any(bytes, is_special)
}

/// Whether [`super::escape::csv_cell`] would leave `bytes` unchanged, and no quotes are needed.
pub(crate) fn is_plain_cell(bytes: &[u8]) -> bool {
    !matches!(bytes.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\'')) && is_plain_text(bytes)
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') > b'~' - b' ') | (byte == b'"') | (byte == b',') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::super::escape::csv_cell;
    use super::*;
    use crate::random::Random;

    /// Undoes [`csv_cell`].
    fn bytes_of(cell: &str) -> Vec<u8> {
        let text = cell.strip_prefix('\'').unwrap_or(cell).as_bytes();
        let mut bytes = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let hex = text.get(at + 2..at + 4).filter(|_| text[at..].starts_with(b"\\x"));
            let byte =
                hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
            bytes.push(byte.unwrap_or(text[at]));
            at += if byte.is_some() { 4 } else { 1 };
        }
        bytes
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(csv_cell(bytes), expected);
        assert_eq!(bytes_of(expected), bytes);
    }

    #[test]
    fn plain_text_stays() {
        check(b"/a?b=c&d", "/a?b=c&d");
        check("/größe/ツ".as_bytes(), "/größe/ツ");
        check(b"", "");
        check(b"-", "-");
        check(b"a\\b \\xzz \\x4", "a\\b \\xzz \\x4");
    }

    #[test]
    fn formulas_are_disarmed() {
        check(b"=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1");
        check(b"+1", "'+1");
        check(b"-1+1", "'-1+1");
        check(b"@SUM(A1)", "'@SUM(A1)");
        check("＝1".as_bytes(), "'＝1");
        check(b"'quoted", "''quoted");
        check(b"\t=1", "\\x09=1");
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        check(b"\x1b[31mred\x00\r\n", "\\x1B[31mred\\x00\\x0D\\x0A");
        check(b"caf\xe9", "caf\\xE9");
        check("a\u{202e}b".as_bytes(), "a\\xE2\\x80\\xAEb");
        check(b"\\x41", "\\x5Cx41");
        check(b"\\\\x41\xff", "\\\\x5Cx41\\xFF");
    }

    #[test]
    fn text_of_our_own_is_spelled_out_once() {
        assert_eq!(
            spelled_out("'a\u{1b}\u{202e}\\x41\u{ad}'"),
            "'a\\x1B\\xE2\\x80\\xAE\\x41\\xC2\\xAD'"
        );
        assert!(has_hidden("a\u{202e}") && has_hidden("\n") && !has_hidden("a\\x41 \u{e9}"));
    }

    #[test]
    fn a_cell_reads_as_what_was_visible() {
        for bytes in [&b"=1+1"[..], b"'quoted", b"\\x41", b"a\x00\xff", b"-", b""] {
            assert_eq!(shown(&csv_cell(bytes)), visible(bytes));
        }
        assert_eq!(shown("a\u{202e}\0b"), "a\\xE2\\x80\\xAE\\x00b");
    }

    #[test]
    fn any_bytes_come_back() {
        let mut random = Random::new();
        for length in 0..200 {
            let bytes: Vec<u8> =
                (0..length).map(|_| b"\\x4'=\xff\x00\xe2\x80\xaeA"[random.below(11)]).collect();
            assert_eq!(bytes_of(&csv_cell(&bytes)), bytes);
        }
    }

    /// Every byte at every position of cells of every length up to three chunks.
    #[test]
    fn what_is_plain_stays_as_it_is() {
        for length in 1..=48 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut cell = vec![b'a'; length];
                    cell[at] = byte;
                    let is_same = csv_cell(&cell).as_bytes() == cell && !b"\",".contains(&byte);
                    // These need no escaping either, but the fast path leaves them to the slow one.
                    let is_left = byte == b'\\' || cell == b"-";
                    let expected = is_same && !is_left;
                    assert_eq!(is_plain_cell(&cell), expected, "{byte} at {at} of {length}");
                    let is_formula = at == 0 && b"=+-@'".contains(&byte);
                    assert_eq!(is_plain_text(&cell), expected || is_formula);
                }
            }
        }
        assert!(is_plain_cell(b"") && !is_plain_cell(b"-"));
    }
}
