//! The counts of a classified list, as CSV.

use crate::classify::summary::{By, KeyCounts, Others, SortedSummary, VerdictCounts};
use crate::classify::{answer::VerdictWord, crawler_source::CrawlerSource};
use crate::error::Result;

use crate::table::csv::Row;

/// The columns before the counts.
const KEYS: [&str; 6] = ["by", "crawler", "origin", "rule_line", "directive", "pattern"];

/// Gives `put` rows by crawler, then by crawler and origin, then by crawler, origin and rule. They are
/// sorted; a row for others comes last and says about how many they are.
///
/// # Errors
/// The first error of `put`.
pub(crate) fn write_summary(
    summary: &SortedSummary,
    crawlers: &CrawlerSource<'_>,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    put(summary_header().as_bytes())?;
    for (&crawler, counts) in &summary.crawlers {
        put(&row(&["crawler", crawlers.name(crawler)], counts))?;
    }
    let end_of_origins = summary.kept.partition_point(|(key, _)| By::of(key) == By::Origin);
    let (origins, rules) = summary.kept.split_at(end_of_origins);
    write_keys("origin", origins, summary.other_origins, &mut put)?;
    write_keys("rule", rules, summary.other_rules, &mut put)
}

/// The header line.
pub(crate) fn summary_header() -> String {
    let words = VerdictWord::ALL.map(|word| word.as_str().replace('-', "_"));
    format!("\"{}\",\"urls\",\"{}\"\n", KEYS.join("\",\""), words.join("\",\""))
}

fn write_keys(
    by: &str,
    kept: &[KeyCounts],
    others: Option<Others>,
    put: &mut impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for (key, counts) in kept {
        let key = String::from_utf8_lossy(&key[1..]);
        let cells: Vec<&str> = std::iter::once(by).chain(key.splitn(5, '\0')).collect();
        put(&row(&cells, counts))?;
    }
    let Some(Others { about, counts, .. }) = others else { return Ok(()) };
    let how_many = format!("about {about}, more than --memory holds");
    put(&row(&[by, "(others)", "(others)", "", "", &how_many], &counts))
}

fn row(cells: &[&str], counts: &VerdictCounts) -> Vec<u8> {
    let mut row = Row::default();
    for index in 0..KEYS.len() {
        row.text(cells.get(index).unwrap_or(&""));
    }
    let counts = VerdictWord::ALL.map(|word| counts.of(word));
    row.counts([counts.iter().sum()]).counts(counts);
    [row.written().as_bytes(), b"\n"].concat()
}
