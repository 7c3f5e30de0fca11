//! Numbers in a form for people.

/// `part` of `whole` in percent with one decimal, rounded half up; `-` if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{} %", with_tenths(u128::from(part) * 100, whole)),
    }
}

/// `part / whole` with one decimal, rounded half up; empty if `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> String {
    match whole {
        0 => String::new(),
        _ => with_tenths(u128::from(part), whole),
    }
}

fn with_tenths(part: u128, whole: u64) -> String {
    let tenths = (part * 20 / u128::from(whole)).div_ceil(2);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// Groups of three digits: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let mut text = String::new();
    push_grouped(number, &mut text);
    text
}

/// Appends the grouped number to `text`.
pub(crate) fn push_grouped(number: u64, text: &mut String) {
    let mut decimal = itoa::Buffer::new();
    let digits = decimal.format(number);
    let (first, others) = digits.split_at((digits.len() - 1) % 3 + 1);
    text.push_str(first);
    for at in (0..others.len()).step_by(3) {
        text.push(',');
        text.push_str(&others[at..at + 3]);
    }
}

/// Millions of bytes with one decimal: `1,234.5`.
pub(crate) fn megabytes(bytes: u64) -> String {
    let tenths = (u128::from(bytes) + 50_000) / 100_000;
    format!("{}.{}", grouped((tenths / 10) as u64), tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn shares_and_plurals() {
        assert_eq!(percent(1, 0), "-");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
        // A half is rounded up, whether the digit before is odd or even.
        for (part, expected) in [(24_999, "6.2 %"), (25_000, "6.3 %"), (35_000, "8.8 %")] {
            assert_eq!(percent(part, 400_000), expected);
        }
        assert_eq!([(1, 4), (1, 20), (5, 1)].map(|of| ratio(of.0, of.1)), ["0.3", "0.1", "5.0"]);
        assert_eq!(ratio(1, 0), "");
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2_000, "line"), "2,000 lines");
        assert_eq!(megabytes(49_999), "0.0");
        assert_eq!(megabytes(1_234_560_000), "1,234.6");
        assert_eq!(megabytes(u64::MAX), "18,446,744,073,709.6");
    }
}
