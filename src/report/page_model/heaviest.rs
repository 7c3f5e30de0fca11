//! The rows that matter most of a table that may be of any length.

use std::cmp::Reverse;

/// The rows of a table that weigh most.
#[derive(Clone, Debug)]
pub struct Heaviest<T> {
    /// The heaviest first; of equal ones those that came first.
    pub rows: Vec<T>,
    /// Of all rows.
    pub total: u64,
}

impl<T> Heaviest<T> {
    /// At most `rows_max` of `all`.
    pub fn of(
        all: impl Iterator<Item = T>,
        rows_max: usize,
        weight: impl Fn(&T) -> u64,
    ) -> Heaviest<T> {
        let (mut rows, mut total) = (Vec::new(), 0);
        for row in all {
            rows.push((Reverse(weight(&row)), total, row));
            total += 1;
            if rows.len() >= rows_max.saturating_mul(2) {
                cut(&mut rows, rows_max);
            }
        }
        cut(&mut rows, rows_max);
        Heaviest { rows: rows.into_iter().map(|(_, _, row)| row).collect(), total }
    }
}

fn cut<T>(rows: &mut Vec<(Reverse<u64>, u64, T)>, rows_max: usize) {
    rows.sort_unstable_by_key(|&(weight, turn, _)| (weight, turn));
    rows.truncate(rows_max);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_stay_and_equal_ones_in_order() {
        let weights = [5, 1, 9, 5, 7, 5, 0, 9, 9, 8, 7, 9];
        for rows_max in 1..=weights.len() {
            let heaviest = Heaviest::of(0..weights.len(), rows_max, |&at| weights[at]);
            let mut expected: Vec<usize> = (0..weights.len()).collect();
            expected.sort_by_key(|&at| Reverse(weights[at]));
            assert_eq!(heaviest.total, weights.len() as u64);
            assert_eq!(heaviest.rows, expected[..rows_max], "{rows_max}");
        }
    }
}
