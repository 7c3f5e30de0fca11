//! Finds the end of the last whole record in a block of whole lines.

/// The length of `text` up to the end of its last whole record. A line break inside a quoted cell
/// does not end a record. `text` begins with a record.
pub fn whole_records(delimiter: u8, text: &[u8]) -> usize {
    if memchr::memchr(b'"', text).is_none() {
        return memchr::memrchr(b'\n', text).map_or(0, |lf| lf + 1);
    }
    let (mut state, mut end) = (State::CellStart, 0);
    for (at, &byte) in text.iter().enumerate() {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::QuoteInQuoted, b'"') => State::Quoted,
            (State::CellStart, b'"') => State::Quoted,
            (_, b'\n') => {
                end = at + 1;
                State::CellStart
            }
            // To the reader a CR alone ends a record, too.
            (_, byte) if byte == delimiter || byte == b'\r' => State::CellStart,
            _ => State::Plain,
        };
    }
    end
}

/// Whether a quote in the last record of `text` is not closed. `text` begins with a record.
pub(crate) fn is_quote_open(delimiter: u8, text: &[u8]) -> bool {
    whole_records(delimiter, &[text, b"\n"].concat()) <= text.len()
}

/// A reader of records: `"` around a cell, doubled inside it; rows of any length.
pub(crate) fn record_reader(delimiter: u8, text: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

#[derive(Clone, Copy)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// A quote that ends the cell, or the first half of a doubled one.
    QuoteInQuoted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let end = whole_records(b',', text.as_bytes());
        assert_eq!(&text[..end], expected);
    }

    #[test]
    fn a_record_may_span_lines() {
        check("a,b\nc", "a,b\n");
        check("a,\"b\nc\"\nd", "a,\"b\nc\"\n");
        check("a,\"b\nc", "");
        check("a\n\"b\"\"\nc\"\n\"\nd", "a\n\"b\"\"\nc\"\n");
        check("a,b\"\nc", "a,b\"\n");
        check("\"a\"b\"\nc\n", "\"a\"b\"\nc\n");
        check("", "");
    }

    #[test]
    fn quotes_are_closed_in_their_record() {
        let is_open = |text: &str| is_quote_open(b',', text.as_bytes());
        assert!(["\"", "a,\"b\nc", "a\n\"b\"\"\n"].into_iter().all(is_open));
        assert!(!["", "a", "a\"", "a,\"b\"", "\"a\nb\"", "\"a\"\n"].into_iter().any(is_open));
    }

    /// The reader of records ends them at the same places.
    #[test]
    fn agrees_with_the_reader() {
        let alphabet = b"a,\"\n\r";
        for number in 0..5_usize.pow(7) {
            let letter = |digit| alphabet[number / 5_usize.pow(digit) % 5];
            let text: Vec<u8> = (0..7).map(letter).collect();
            let text = [b"x", &text[..]].concat();
            let end = whole_records(b',', &text);
            // Nothing is cut here. To make a reader takes longer than to use it.
            if end == 0 || end == text.len() {
                continue;
            }
            let read = |text: &[u8]| {
                let mut reader = record_reader(b',', text);
                let records = reader.byte_records().map(|record| record.unwrap());
                records
                    .map(|record| record.iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            };
            let parts = [read(&text[..end]), read(&text[end..])].concat();
            assert_eq!(parts, read(&text), "{:?}", String::from_utf8_lossy(&text));
        }
    }
}
