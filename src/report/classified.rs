//! The counts of a classified list, as CSV.

use crate::classify::summary::{Summary, VerdictCounts};
use crate::classify::{answer::VerdictWord, crawler_source::CrawlerSource};

use super::csv::Row;

/// The columns before the counts.
const KEYS: [&str; 6] = ["by", "crawler", "origin", "rule_line", "directive", "pattern"];

/// Rows by crawler, then by crawler and origin, then by crawler, origin and rule. They are sorted;
/// the row for others comes last.
pub fn summary_csv(summary: Summary, crawlers: &CrawlerSource<'_>) -> String {
    let mut text = summary_header();
    for (&crawler, counts) in &summary.crawlers {
        push_row(&["crawler", crawlers.name(crawler)], counts, &mut text);
    }
    for (by, counts) in [("origin", summary.origins), ("rule", summary.rules)] {
        let (kept, others) = counts.into_parts();
        let mut kept: Vec<(Vec<u8>, VerdictCounts)> = kept.collect();
        kept.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        for (key, counts) in kept {
            let key = String::from_utf8_lossy(&key);
            let cells: Vec<&str> = std::iter::once(by).chain(key.splitn(5, '\0')).collect();
            push_row(&cells, &counts, &mut text);
        }
        if let Some(counts) = others {
            push_row(&[by, "(others)", "(others)"], &counts, &mut text);
        }
    }
    text
}

/// The header line.
pub fn summary_header() -> String {
    let words = VerdictWord::ALL.map(|word| word.as_str().replace('-', "_"));
    format!("\"{}\",\"urls\",\"{}\"\n", KEYS.join("\",\""), words.join("\",\""))
}

fn push_row(cells: &[&str], counts: &VerdictCounts, text: &mut String) {
    let mut row = Row::default();
    for index in 0..KEYS.len() {
        row.text(cells.get(index).unwrap_or(&""));
    }
    let counts = VerdictWord::ALL.map(|word| counts.of(word));
    row.counts([counts.iter().sum()]).counts(counts);
    text.push_str(row.written());
    text.push('\n');
}
