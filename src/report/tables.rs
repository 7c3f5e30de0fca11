//! The tables of a report directory: one file for each kind.

mod clients;
mod comparison;
mod compliance;
mod costs;
mod crawl_delay;
mod days;
mod paths;
mod promises;
mod reactions;
mod referrals;
mod rejects;
pub mod robots_fetches;
mod robots_rules;
mod sessions;
mod signatures;
pub mod summary;
mod unknown_crawlers;
mod usage;
pub mod violations;
mod what_if;

use crate::audit::model::ReportModel;

use super::table::{Table, of_measure};

/// The tables of a report directory, in the order in which they are written.
pub(crate) const TABLES: &[&Table] = &[
    &summary::SUMMARY,
    of_measure!(statuses),
    of_measure!(methods),
    of_measure!(verification),
    &signatures::SIGNATURES,
    &referrals::REFERRALS,
    &costs::COSTS,
    &paths::SECTION,
    &paths::PATHS,
    &paths::URLS,
    &violations::VIOLATION,
    of_measure!(violation_networks),
    &robots_rules::ROBOTS_RULES,
    &robots_fetches::ROBOTS_FETCHES,
    &robots_fetches::REFETCHES,
    &crawl_delay::CRAWL_DELAY,
    &compliance::COMPLIANCE,
    &compliance::ORIGIN_COMPLIANCE,
    &promises::PROMISES,
    &days::DAILY,
    &days::HOURLY,
    &reactions::REACTIONS,
    &usage::USAGE,
    of_measure!(policy_files),
    &clients::CLIENTS,
    &unknown_crawlers::UNKNOWN_CRAWLERS,
    &rejects::REJECTS,
    &what_if::WHAT_IF,
    &comparison::COMPARISON,
    &comparison::CHANGE_COMPARISON,
    &sessions::SESSIONS,
    &sessions::NETWORKS,
];

/// The [`TABLES`] that the report of `audit` has.
pub fn tables_of(audit: &ReportModel) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().copied().filter(|table| table.is_in(audit))
}
