//! The tables that only some reports have.

use crate::audit::comparison::{compared_day, has_compared_changes};
use crate::audit::model::ReportModel;

use super::schemas::{
    CHANGE_COMPARISON, COMPARISON, COSTS, NETWORKS, PATHS, SECTION, SESSIONS, URLS, WHAT_IF,
};
use crate::table::schema::TableSchema;

/// A table, the command that makes it, and whether a report has it.
type OptionalTable = (TableSchema, &'static str, fn(&ReportModel) -> bool);

const OPTIONAL_TABLES: [OptionalTable; 9] = [
    (WHAT_IF, "audit --what-if FILE", |audit| audit.simulation.is_some()),
    (COMPARISON, "report --compare-at DAY", |audit| compared_day(audit).is_some()),
    (CHANGE_COMPARISON, "report --compare-at changes", has_compared_changes),
    (SESSIONS, "audit --session-minutes MINUTES", |audit| has_option(audit, "session_minutes")),
    (NETWORKS, "audit --session-minutes MINUTES --networks FILE", |audit| {
        has_option(audit, "networks")
    }),
    (COSTS, "audit --cost-per-gb PRICE", |audit| audit.price.is_some()),
    (SECTION, "audit --paths", |audit| audit.paths.is_some()),
    (PATHS, "audit --paths", |audit| audit.paths.is_some()),
    (URLS, "audit --paths", |audit| audit.paths.is_some()),
];

/// The command that makes `table`, if not every report has it.
pub fn command_of(table: &TableSchema) -> Option<&'static str> {
    optional(table).map(|(_, command, _)| *command)
}

/// Whether the report of `audit` has `table`.
pub fn has_table(audit: &ReportModel, table: &TableSchema) -> bool {
    optional(table).is_none_or(|(_, _, has)| has(audit))
}

fn optional(table: &TableSchema) -> Option<&'static OptionalTable> {
    OPTIONAL_TABLES.iter().find(|(of, ..)| of.file == table.file)
}

fn has_option(audit: &ReportModel, name: &str) -> bool {
    !audit.options.get(name).is_null()
}
