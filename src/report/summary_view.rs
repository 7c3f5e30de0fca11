//! What a summary shows, and how.

use super::palette::Palette;

/// What a row of the summary's table is.
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

/// What a summary shows, and how. It changes nothing of what is counted.
#[derive(Clone, Debug)]
pub struct SummaryView {
    /// Names of the crawlers that its table shows; all if there are none.
    pub only: Vec<String>,
    /// Names of crawlers that its table leaves out.
    pub exclude: Vec<String>,
    /// Rows of its table.
    pub top: usize,
    /// What a row is.
    pub by: SummaryBy,
    /// Columns of the terminal.
    pub columns: usize,
    /// Colors of the terminal.
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
    /// Whether the crawler of that name is shown.
    pub fn shows(&self, name: &str) -> bool {
        let is_among = |names: &[String]| names.iter().any(|known| known == name);
        (self.only.is_empty() || is_among(&self.only)) && !is_among(&self.exclude)
    }
}
