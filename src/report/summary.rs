//! The short table that is shown when a run is done.

use std::fmt::Write;

use crate::audit::awareness::Awareness;
use crate::audit::finish::Audit;
use crate::audit::row::ActorRow;
use crate::audit::sums::Sums;
use crate::crawlers::crawler::{Binding, Crawler};
use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;

use super::cell::visible;

/// Rows of the table.
const OFFENDERS_SHOWN: usize = 10;

/// Widest cell of a text column, in characters.
const CELL_CHARS_MAX: usize = 40;

/// The crawlers with most violations, and a sentence on the whole.
pub fn summary_text(audit: &Audit, registry: &Registry) -> String {
    let mut text = headline(audit) + &identity_lines(audit);
    let is_accused =
        |row: &&ActorRow| row.actor.1 != Identity::Spoofed && row.tally.total().violations > 0;
    let mut offenders: Vec<_> = audit.rows().iter().filter(is_accused).collect();
    // The rows come in order, and the sort is stable: ties stay in order.
    offenders.sort_by_key(|row| std::cmp::Reverse(row.tally.total().violations));
    if offenders.is_empty() {
        return text;
    }
    let mut rows = vec![
        ["violations", "of judged", "crawler", "operator", "promise", "origin"].map(str::to_owned),
    ];
    let mut known = Vec::new();
    for row in offenders.iter().take(OFFENDERS_SHOWN) {
        let ActorRow { origin, actor: (crawler, identity), tally, awareness, .. } = row;
        let (sums, crawler) = (tally.total(), registry.crawler(*crawler));
        known.push(what_was_known(awareness, crawler));
        let mut name = format!("{} ({})", crawler.name, identity.as_str());
        if crawler.binding() != Binding::Bound {
            name =
                format!("{} ({}, {})", crawler.name, identity.as_str(), crawler.binding().as_str());
        }
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
    write_aligned(&rows, &known, &mut text);
    if offenders.len() > OFFENDERS_SHOWN {
        let more = offenders.len() - OFFENDERS_SHOWN;
        writeln!(text, "... and {more} more, see summary.csv")
            .expect("writing to a string cannot fail");
    }
    text
}

/// Who only says that he is a crawler adds nothing to what crawlers are said to have done.
fn headline(audit: &Audit) -> String {
    let total = audit.total_not_spoofed();
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

/// Whether robots.txt had been read before the violations.
fn what_was_known(awareness: &Awareness, crawler: &Crawler) -> String {
    let Awareness { read_by_itself, read_by_operator, not_read_in_logs, reading_unknown, .. } =
        *awareness;
    let of = format!(" of {} came", counted(awareness.total(), "violation"));
    let operator = cell(&crawler.operator);
    let parts = [
        (read_by_itself, "after it had read robots.txt".to_owned()),
        (read_by_operator, format!("after another crawler of {operator} had read robots.txt")),
        (not_read_in_logs, "after no reading of robots.txt in these logs".to_owned()),
        (reading_unknown, "after it is not known what".to_owned()),
    ];
    let parts = parts.iter().filter(|(violations, _)| *violations > 0);
    let told = parts.enumerate().map(|(at, (violations, what))| {
        let of = if at == 0 { of.as_str() } else { "" };
        format!("{}{of} {what}", grouped(*violations))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// What is known of who asked; nothing where nobody was checked, which a note says.
fn identity_lines(audit: &Audit) -> String {
    let [verified, spoofed, unverified] = Identity::ALL.map(|identity| audit.total_of(identity));
    let mut text = String::new();
    if verified.requests + spoofed.requests > 0 {
        let line = |what: &str, sums: &Sums| {
            format!(
                "  {what:<11} {}, {} ({} of those judged)\n",
                counted(sums.requests, "request"),
                counted(sums.violations, "violation"),
                percent(sums.violations, sums.allowed + sums.violations),
            )
        };
        text += &line("verified:", &verified);
        text += &line("unverified:", &unverified);
        text +=
            &format!("  {:<11} {}, left out\n", "spoofed:", counted(spoofed.requests, "request"));
    }
    audit.notes.iter().for_each(|note| text += &format!("  note: {note}\n"));
    text
}

/// `below` are lines that stand under the rows, but for the first.
fn write_aligned<const N: usize>(rows: &[[String; N]], below: &[String], text: &mut String) {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let below = std::iter::once("").chain(below.iter().map(String::as_str));
    for (row, below) in rows.iter().zip(below) {
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
        if !below.is_empty() {
            let indent = width(0) + width(1) + 4;
            writeln!(text, "{:indent$}{below}", "").expect("writing to a string cannot fail");
        }
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
