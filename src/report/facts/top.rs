//! The rows that matter most of a table that may be of any length.

use std::cmp::Reverse;

/// At most so many rows, those of the highest weight; of equal ones those that came first.
#[derive(Clone, Debug)]
pub struct Top<T> {
    rows: Vec<(u64, u64, T)>,
    rows_max: usize,
    /// Rows that were offered.
    pub offered: u64,
}

impl<T> Top<T> {
    /// Keeps `rows_max` rows.
    pub fn new(rows_max: usize) -> Top<T> {
        Top { rows: Vec::new(), rows_max, offered: 0 }
    }

    /// Keeps what `make` gives, unless others weigh more.
    pub fn offer(&mut self, weight: u64, make: impl FnOnce() -> T) {
        self.offered += 1;
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
        self.rows.sort_by_key(|&(weight, turn, _)| (Reverse(weight), turn));
        self.rows.truncate(self.rows_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_stay_and_equal_ones_in_order() {
        let mut top = Top::new(3);
        for (at, weight) in [5, 1, 9, 5, 7, 5, 0, 9].into_iter().enumerate() {
            top.offer(weight, || at);
        }
        assert_eq!(top.offered, 8);
        assert_eq!(top.into_rows(), [2, 7, 4]);
    }
}
