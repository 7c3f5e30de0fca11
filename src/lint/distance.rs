//! How many slips of the finger lie between two words.

/// The longest word that is compared, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// How many letters were added, dropped, changed or swapped with their
/// neighbour from `meant` to `written`, in any ASCII case; `None` if more than
/// `slips_max`, or if a word is over 40 bytes.
pub fn distance(written: &[u8], meant: &[u8], slips_max: usize) -> Option<usize> {
    let (rows, columns) = (written.len(), meant.len());
    if rows.max(columns) > WORD_BYTES_MAX || rows.abs_diff(columns) > slips_max {
        return None;
    }
    let is_same =
        |row: usize, column: usize| written[row - 1].eq_ignore_ascii_case(&meant[column - 1]);
    let mut before_last = [0; WORD_BYTES_MAX + 1];
    let mut last: [usize; WORD_BYTES_MAX + 1] = std::array::from_fn(|column| column);
    for row in 1..=rows {
        let mut current = [row; WORD_BYTES_MAX + 1];
        for column in 1..=columns {
            let change = last[column - 1] + usize::from(!is_same(row, column));
            let mut least = change.min(last[column] + 1).min(current[column - 1] + 1);
            let is_swap = row > 1 && column > 1;
            if is_swap && is_same(row, column - 1) && is_same(row - 1, column) {
                least = least.min(before_last[column - 2] + 1);
            }
            current[column] = least;
        }
        if current[..=columns].iter().all(|slips| *slips > slips_max) {
            return None;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    Some(last[columns]).filter(|slips| *slips <= slips_max)
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
        assert_eq!(distance(&[b'a'; 41], &[b'a'; 41], 2), None);
    }
}
