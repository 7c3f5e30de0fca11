//! A fast path for cells that need no escaping, which are nearly all.

use crate::bytes;

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
