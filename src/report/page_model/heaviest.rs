//! The most important rows of a table of any length.

use std::cmp::Reverse;

/// The heaviest rows of a table.
#[derive(Clone, Debug)]
pub struct Heaviest<T> {
    /// The heaviest first; rows of equal weight stay in their order.
    pub rows: Vec<T>,
    /// The number of all rows.
    pub total: u64,
}

impl<T> Heaviest<T> {
    /// At most `rows_max` rows of `all`.
    pub(crate) fn of(
        all: impl Iterator<Item = T>,
        rows_max: usize,
        weight: impl Fn(&T) -> u64,
    ) -> Heaviest<T> {
        let mut rows: Vec<T> = all.collect();
        let total = rows.len() as u64;
        rows.sort_by_cached_key(|row| Reverse(weight(row)));
        rows.truncate(rows_max);
        Heaviest { rows, total }
    }
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
