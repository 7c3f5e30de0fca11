//! The display options of a summary.

use super::palette::Palette;

/// The grouping of the summary's table.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SummaryBy {
    /// A crawler and its identity, over all origins.
    #[default]
    Crawler,
    /// An origin, over all crawlers.
    Origin,
    /// A broken rule, over all crawlers.
    Rule,
}

/// The display options of a summary. They change no count.
#[derive(Clone, Debug)]
pub struct SummaryView {
    /// Names of the crawlers in its table; empty means all.
    pub only: Vec<String>,
    /// Names of crawlers that are hidden in its table.
    pub exclude: Vec<String>,
    /// The most rows of its table.
    pub top: usize,
    /// The grouping of rows.
    pub by: SummaryBy,
    /// The width of the terminal in characters.
    pub columns: usize,
    /// The colors of the terminal.
    pub palette: Palette,
}

impl Default for SummaryView {
    fn default() -> SummaryView {
        SummaryView {
            only: Vec::new(),
            exclude: Vec::new(),
            top: 10,
            by: SummaryBy::default(),
            columns: 100,
            palette: Palette::default(),
        }
    }
}

impl SummaryView {
    /// Whether the crawler `name` is shown.
    pub(crate) fn shows(&self, name: &str) -> bool {
        let is_among = |names: &[String]| names.iter().any(|known| known == name);
        (self.only.is_empty() || is_among(&self.only)) && !is_among(&self.exclude)
    }
}
