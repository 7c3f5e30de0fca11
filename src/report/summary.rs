//! The short table that is shown when a run is done.

use std::fmt::Write;

use crate::audit::finish::Audit;
use crate::crawlers::registry::Registry;

use super::cell::visible;

/// Rows of the table.
const OFFENDERS_SHOWN: usize = 10;

/// Widest cell of a text column, in characters.
const CELL_CHARS_MAX: usize = 40;

/// The crawlers with most violations, and a sentence on the whole.
pub fn summary_text(audit: &Audit, registry: &Registry) -> String {
    let mut text = headline(audit);
    let mut offenders: Vec<_> =
        audit.actors().filter(|(_, _, tally)| tally.total().violations > 0).collect();
    // The rows come in order, and the sort is stable: ties stay in order.
    offenders.sort_by_key(|(_, _, tally)| std::cmp::Reverse(tally.total().violations));
    if offenders.is_empty() {
        return text;
    }
    let mut rows = vec![
        ["violations", "of judged", "crawler", "operator", "promise", "origin"].map(str::to_owned),
    ];
    for (origin, (crawler, identity), tally) in offenders.iter().take(OFFENDERS_SHOWN) {
        let (sums, crawler) = (tally.total(), registry.crawler(*crawler));
        let name = format!("{} ({})", crawler.name, identity.as_str());
        rows.push([
            grouped(sums.violations),
            percent(sums.violations, sums.allowed + sums.violations),
            cell(&name),
            cell(&crawler.operator),
            crawler.promise().as_str().to_owned(),
            cell(origin),
        ]);
    }
    text.push('\n');
    write_aligned(&rows, &mut text);
    if offenders.len() > OFFENDERS_SHOWN {
        let more = offenders.len() - OFFENDERS_SHOWN;
        writeln!(text, "... and {more} more, see summary.csv")
            .expect("writing to a string cannot fail");
    }
    text
}

fn headline(audit: &Audit) -> String {
    let total = audit.total();
    let lines: u64 = audit.inputs.iter().map(|input| input.tally.lines()).sum();
    let rejected: u64 = audit.inputs.iter().map(|input| input.tally.rejected_lines()).sum();
    format!(
        "{}, {} of known crawlers, {} ({} of those judged), {} rejected\n",
        counted(lines, "line"),
        counted(total.requests, "request"),
        counted(total.violations, "violation"),
        percent(total.violations, total.allowed + total.violations),
        counted(rejected, "line"),
    )
}

fn write_aligned<const N: usize>(rows: &[[String; N]], text: &mut String) {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            // The first two columns are numbers.
            let padded =
                if column < 2 { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            line.push_str(&padded);
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn cell(stranger: &str) -> String {
    let text = visible(stranger.as_bytes());
    if text.chars().count() <= CELL_CHARS_MAX {
        return text;
    }
    text.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect()
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// Groups of three digits: `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn a_stranger_cannot_write_to_the_terminal() {
        assert_eq!(cell("a\x1b[2Jb"), "a\\x1B[2Jb");
        assert_eq!(cell(&"x".repeat(100)).chars().count(), CELL_CHARS_MAX);
    }
}
