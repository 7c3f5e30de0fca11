//! Estimates from counts.

/// The quantile of the normal distribution for intervals of 95 %, as docs/research.md gives it.
const Z_95: f64 = 1.959_964;

/// The least expected count for which a normal distribution is a good approximation.
const EXPECTED_MIN: f64 = 5.0;

/// The Wilson score interval of 95 % for the share `part / whole`; `None` if `whole` is 0.
pub(crate) fn wilson_interval(part: u64, whole: u64) -> Option<(f64, f64)> {
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

/// The two-proportion z-test of `part / whole` before and after: z, positive if the later share is
/// greater, and the two-sided p value. `None` if one of the four expected counts is less than 5,
/// where the test does not hold.
pub(crate) fn two_proportions(before: (u64, u64), after: (u64, u64)) -> Option<(f64, f64)> {
    let [(k1, n1), (k2, n2)] = [before, after].map(|(part, whole)| (part as f64, whole as f64));
    let pooled = (k1 + k2) / (n1 + n2);
    let expected = [n1, n2].map(|n| (n * pooled).min(n * (1.0 - pooled)));
    if !expected.iter().all(|count| *count >= EXPECTED_MIN) {
        return None;
    }
    let error = (pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2)).sqrt();
    let z = (k2 / n2 - k1 / n1) / error;
    Some((z, erfc(z.abs() / std::f64::consts::SQRT_2)))
}

/// The complementary error function of a number that is not negative.
fn erfc(x: f64) -> f64 {
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.5 {
        // The sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)).
        let terms = std::iter::successors(Some((x, 3.0)), |(term, odd)| {
            Some((term * 2.0 * x * x / odd, odd + 2.0))
        });
        let sum: f64 = terms.take(80).map(|(term, _)| term).sum();
        return 1.0 - 2.0 * scale * sum;
    }
    let fraction = (1..=60).rev().fold(x, |rest, n| x + f64::from(n) / 2.0 / rest);
    scale / fraction
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

    /// Values of Python's math.erfc.
    #[test]
    fn tests_of_known_counts() {
        for (before, after, expected) in [
            ((30, 100), (45, 100), "2.190890 2.845973692e-2"),
            ((5, 1000), (40, 1000), "5.277198 1.311739989e-7"),
            ((500, 1000), (510, 1000), "0.447236 6.547047015e-1"),
            ((10, 40), (0, 40), "-3.380617 7.232327164e-4"),
            ((200, 400), (150, 1600), "-19.125921 1.536348407e-81"),
        ] {
            let (z, p) = two_proportions(before, after).unwrap();
            assert_eq!(format!("{z:.6} {p:.9e}"), expected, "{before:?} {after:?}");
        }
        for (before, after) in
            [((9, 100), (0, 100)), ((0, 0), (5, 10)), ((0, 9), (0, 9)), ((9, 9), (9, 9))]
        {
            assert_eq!(two_proportions(before, after), None, "{before:?} {after:?}");
        }
    }
}
