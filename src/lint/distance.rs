//! The edit distance of two words.

use strsim::osa_distance;

/// The longest word that is compared, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// Letters of a name for each one that may be wrong.
pub(crate) const LETTERS_PER_SLIP: usize = 6;

/// Shorter names get no proposal, because too many are similar.
pub(crate) const SPELT_LENGTH_MIN: usize = 5;

/// The number of letters that were added, removed, changed or swapped with their neighbour, in any
/// ASCII case; `None` if it is more than `slips_max`, or if a word is longer than 40 bytes.
pub(crate) fn distance(written: &[u8], meant: &[u8], slips_max: usize) -> Option<usize> {
    let (rows, columns) = (written.len(), meant.len());
    if rows.max(columns) > WORD_BYTES_MAX || rows.abs_diff(columns) > slips_max {
        return None;
    }
    // Each byte is one character, whatever its value.
    let text = |word: &[u8]| -> String {
        word.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
    };
    Some(osa_distance(&text(written), &text(meant))).filter(|slips| *slips <= slips_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips() {
        let cases = [
            ("alow", "allow", Some(1)),
            ("ALLOW", "allow", Some(0)),
            ("dsiallow", "disallow", Some(1)),
            ("useragnet", "user-agent", Some(2)),
            ("delay", "allow", None),
            ("", "ab", Some(2)),
            ("ab", "", Some(2)),
            ("abc", "", None),
        ];
        for (written, meant, expected) in cases {
            assert_eq!(distance(written.as_bytes(), meant.as_bytes(), 2), expected, "{written}");
        }
        // A byte that is not UTF-8 is one letter.
        assert_eq!(distance(b"al\xffow", b"allow", 2), Some(1));
        assert_eq!(distance(b"al\xc3\xbcow", b"allow", 2), Some(2));
        assert_eq!(distance(b"ba", b"ab", 1), Some(1));
        assert_eq!(distance(b"bxa", b"ab", 2), None);
        assert_eq!(distance(&[b'a'; 41], &[b'a'; 41], 2), None);
    }
}
