//! What the page and the terminal summary show: an audit in the order of its report, with the sums
//! over rows that its tables do not have.
//!
//! Of tables of any length only sums and the rows that weigh most are kept. What strangers wrote is
//! text here, with hidden bytes as `\xHH`; printers escape it for the format that they write.

pub mod crawler;
pub mod of_audit;
pub mod rows;
pub mod rule;
pub mod run;
pub mod top;
pub mod what_if;

use std::collections::BTreeMap;

use crate::audit::sums::{Span, Sums};
use crate::crawlers::identity::Identity;
use crate::merge::Merge;
use crate::time::{Day, Hour};

use crawler::{CrawlerTotals, PriorFetches};
use rows::{DelayRow, RejectRow, SummaryRow, UnknownCrawlerRow, ViolationRow};
use rule::{RobotsLine, RuleTotals, RuleVersion};
use run::RunDetails;
use top::Top;
use what_if::Changes;

/// Rows of a table that are kept.
pub const ROWS_MAX: usize = 1_000;

/// Rules that are shown among the lines of their robots.txt.
pub const RULES_SHOWN: usize = 10;

/// Rows of the short table of a summary.
pub const OFFENDERS_SHOWN: usize = 10;

/// The name of a crawler, and the class of its identity.
pub type CrawlerKey = (String, Identity);

/// Everything that the page and the summary show.
#[derive(Clone, Debug, Default)]
pub struct PageModel {
    /// The run.
    pub run: RunDetails,
    /// Requests of known crawlers.
    pub identities: BTreeMap<Identity, Sums>,
    /// By crawler and identity, over all origins.
    pub crawlers: BTreeMap<CrawlerKey, CrawlerTotals>,
    /// Origins to which known crawlers sent requests.
    pub origins: usize,
    /// One of them, where it is the only one.
    pub only_origin: Option<String>,
    /// Time of the first and the last request of a known crawler.
    pub period: Option<Span>,
    /// By day and identity.
    pub days: BTreeMap<Day, BTreeMap<Identity, Sums>>,
    /// By hour and identity.
    pub hours: BTreeMap<Hour, BTreeMap<Identity, Sums>>,
    /// The rules broken most often by crawlers that are not spoofed.
    pub rules: Vec<(RuleVersion, RuleTotals)>,
    /// Rules that were broken by them.
    pub rules_broken: usize,
    /// Lines near `rules`, by digest, in the order of the file.
    pub robots_lines: BTreeMap<String, Vec<RobotsLine>>,
    /// Rows of `summary.csv` with most violations, of crawlers that are not spoofed, with the
    /// fetches of robots.txt before these.
    pub offenders: Vec<(SummaryRow, PriorFetches)>,
    /// Rows from which these were taken.
    pub offenders_total: u64,
    /// Rows of `summary.csv` by violations.
    pub summary: Heaviest<SummaryRow>,
    /// Rows of `violations.csv` by requests.
    pub violations: Heaviest<ViolationRow>,
    /// Rows of `crawl-delay.csv` by requests beyond the delay.
    pub delays: Heaviest<DelayRow>,
    /// Rows of `unknown-crawlers.csv` by requests.
    pub unknown_crawlers: Heaviest<UnknownCrawlerRow>,
    /// Rows of `rejects.csv` by lines.
    pub rejects: Heaviest<RejectRow>,
    /// What a draft would change.
    pub changes: Changes,
}

/// The rows of a table that weigh most.
#[derive(Clone, Debug)]
pub struct Heaviest<T> {
    /// The heaviest first.
    pub rows: Vec<T>,
    /// Of all rows.
    pub total: u64,
}

impl<T> Default for Heaviest<T> {
    fn default() -> Heaviest<T> {
        Heaviest { rows: Vec::new(), total: 0 }
    }
}

impl<T> From<Top<T>> for Heaviest<T> {
    fn from(top: Top<T>) -> Heaviest<T> {
        Heaviest { total: top.offered, rows: top.into_rows() }
    }
}

impl PageModel {
    /// Requests of crawlers that are not spoofed.
    pub fn not_spoofed(&self) -> Sums {
        let mut sums = Sums::default();
        let others = self.identities.iter().filter(|(identity, _)| is_itself(**identity));
        others.for_each(|(_, of_it)| sums.absorb(*of_it));
        sums
    }

    /// Requests of crawlers whose identity is `identity`.
    pub fn sums_of(&self, identity: Identity) -> Sums {
        self.identities.get(&identity).copied().unwrap_or_default()
    }

    /// Whether anybody's address was checked.
    pub fn is_identity_known(&self) -> bool {
        self.sums_of(Identity::Verified).requests + self.sums_of(Identity::Spoofed).requests > 0
    }

    /// Crawlers and identities by violations, most first.
    pub fn offenders(&self) -> Vec<(&CrawlerKey, &CrawlerTotals)> {
        let mut all: Vec<_> = self.crawlers.iter().collect();
        all.sort_by_key(|(_, crawler)| std::cmp::Reverse(crawler.sums.violations));
        all.retain(|(_, crawler)| crawler.sums.violations > 0);
        all
    }
}

/// Requests of one stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct JudgedSums {
    /// Of crawlers that are not spoofed.
    pub own: Sums,
    /// Those of them that could be judged.
    pub judged: u64,
    /// Of others, in their name.
    pub spoofed: Sums,
}

/// The sums over identities.
pub fn judged_sums(identities: &BTreeMap<Identity, Sums>) -> JudgedSums {
    let mut all = JudgedSums::default();
    for (identity, sums) in identities {
        if is_itself(*identity) { all.own.absorb(*sums) } else { all.spoofed.absorb(*sums) }
    }
    all.judged = all.own.allowed + all.own.violations;
    all
}

/// What a crawler of that identity did may be held against it.
pub fn is_itself(identity: Identity) -> bool {
    identity != Identity::Spoofed
}
