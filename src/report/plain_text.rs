//! Cells that are written as they are: nearly all, and told at the speed of a copy.

use crate::bytes;

/// Whether every byte is ASCII that can be seen, or a blank, and means nothing in CSV, TSV, JSON or
/// to [`super::escape::visible`].
pub fn is_plain_text(bytes: &[u8]) -> bool {
    !bytes::any(bytes, is_special)
}

/// Whether [`super::escape::csv_cell`] would give `bytes` as they are, and no quotes are needed.
pub fn is_plain_cell(bytes: &[u8]) -> bool {
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

    /// Every byte at every place of cells of every length up to three chunks.
    #[test]
    fn what_is_plain_stays_as_it_is() {
        for length in 1..=48 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut cell = vec![b'a'; length];
                    cell[at] = byte;
                    let is_same = csv_cell(&cell).as_bytes() == cell && !b"\",".contains(&byte);
                    // These are the same, too, but are left to those who look closer.
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
