//! Estimates from counts.

/// The quantile of the normal distribution for intervals of 95 %.
const Z_95: f64 = 1.959_963_984_540_054;

/// The Wilson score interval of 95 % for the share `part / whole`; `None` if `whole` is 0.
pub fn wilson_interval(part: u64, whole: u64) -> Option<(f64, f64)> {
    if whole == 0 {
        return None;
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let square = Z_95 * Z_95;
    let centre = share + square / (2.0 * n);
    let half = Z_95 * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let scale = 1.0 + square / n;
    // Without rounding, shares of 0 and 1 have these ends.
    let low = if part == 0 { 0.0 } else { (centre - half) / scale };
    let high = if part == whole { 1.0 } else { (centre + half) / scale };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The roots of (share - x)² = z² x (1 - x) / n.
    #[test]
    fn intervals_of_known_shares() {
        for (part, whole, expected) in [
            (0, 10, "0.000000 0.277533"),
            (10, 10, "0.722467 1.000000"),
            (81, 263, "0.255289 0.366210"),
            (15, 148, "0.062386 0.160487"),
            (1, 1, "0.206549 1.000000"),
        ] {
            let (low, high) = wilson_interval(part, whole).unwrap();
            assert_eq!(format!("{low:.6} {high:.6}"), expected, "{part}/{whole}");
        }
        assert_eq!(wilson_interval(0, 0), None);
    }
}
