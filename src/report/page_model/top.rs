//! The rows that matter most of a table that may be of any length.

use std::cmp::Reverse;

/// At most so many rows, those of the highest weight; of equal ones those that came first.
#[derive(Clone, Debug)]
pub struct Top<T> {
    rows: Vec<(u64, u64, T)>,
    rows_max: usize,
    /// The least weight of `rows_max` rows that are known; later ones must weigh more.
    floor: Option<u64>,
    /// Rows that were offered.
    pub offered: u64,
}

impl<T> Top<T> {
    /// Keeps `rows_max` rows.
    pub fn new(rows_max: usize) -> Top<T> {
        Top { rows: Vec::new(), rows_max, floor: None, offered: 0 }
    }

    /// Keeps what `make` gives, unless others weigh more.
    pub fn offer(&mut self, weight: u64, make: impl FnOnce() -> T) {
        self.offered += 1;
        if self.floor.is_some_and(|floor| weight <= floor) {
            return;
        }
        self.rows.push((weight, self.offered, make()));
        if self.rows.len() >= self.rows_max.saturating_mul(2) {
            self.cut();
        }
    }

    /// The heaviest first.
    pub fn into_rows(mut self) -> Vec<T> {
        self.cut();
        self.rows.into_iter().map(|(_, _, row)| row).collect()
    }

    fn cut(&mut self) {
        self.rows.sort_unstable_by_key(|&(weight, turn, _)| (Reverse(weight), turn));
        if self.rows.len() >= self.rows_max {
            self.rows.truncate(self.rows_max);
            self.floor = self.rows.last().map(|(weight, _, _)| *weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_stay_and_equal_ones_in_order() {
        let weights = [5, 1, 9, 5, 7, 5, 0, 9, 9, 8, 7, 9];
        for rows_max in 1..=weights.len() {
            let mut top = Top::new(rows_max);
            for (at, weight) in weights.into_iter().enumerate() {
                top.offer(weight, || at);
            }
            let mut expected: Vec<usize> = (0..weights.len()).collect();
            expected.sort_by_key(|&at| Reverse(weights[at]));
            assert_eq!(top.offered, weights.len() as u64);
            assert_eq!(top.into_rows(), expected[..rows_max], "{rows_max}");
        }
    }
}
