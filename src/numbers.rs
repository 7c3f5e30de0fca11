//! Numbers in a form for people.

/// `part` of `whole` in percent with one decimal; `-` if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

/// `1 line`, `2 lines`.
pub fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// Groups of three digits: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let mut text = String::new();
    push_grouped(number, &mut text);
    text
}

/// Appends the grouped number to `text`.
pub fn push_grouped(number: u64, text: &mut String) {
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
pub fn megabytes(bytes: u64) -> String {
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
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2_000, "line"), "2,000 lines");
        assert_eq!(megabytes(49_999), "0.0");
        assert_eq!(megabytes(1_234_560_000), "1,234.6");
        assert_eq!(megabytes(u64::MAX), "18,446,744,073,709.6");
    }
}
