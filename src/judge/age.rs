//! The age of a snapshot as text.

/// `seconds` in a suitable unit. A negative age means that no earlier snapshot is known.
pub(crate) fn age_text(seconds: i64) -> String {
    let length = match seconds.unsigned_abs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} hours", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    };
    match seconds {
        0.. => length,
        _ => format!("fetched {length} later; there is no older snapshot, so this one is used"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_the_unit_that_fits() {
        let check = |seconds, expected: &str| assert_eq!(age_text(seconds), expected);
        check(0, "0 seconds");
        check(119, "119 seconds");
        check(120, "2 minutes");
        check(7_200, "2 hours");
        check(172_799, "47 hours");
        check(172_800, "2 days");
        check(-86_400, "fetched 24 hours later; there is no older snapshot, so this one is used");
    }
}
