//! A table of a report: its columns beside their cells.

use std::io::{self, Write};

use crate::audit::model::ReportModel;
use crate::table::csv::{CsvTable, RowSink};
use crate::table::schema::TableSchema;

/// The audit that a table is of.
#[derive(Clone, Copy)]
pub struct Audited<'a> {
    /// The audit.
    pub audit: &'a ReportModel,
}

/// The command that makes a table, and whether a report has it.
pub(crate) type Only = (&'static str, fn(&ReportModel) -> bool);

/// A table of a report.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its file and columns.
    pub schema: TableSchema,
    /// `None` if every report has it.
    pub(super) only: Option<Only>,
    pub(super) rows: fn(&Audited<'_>, &mut dyn RowSink) -> io::Result<()>,
}

impl Table {
    /// Whether the report of `audit` has this table.
    pub(crate) fn is_in(&self, audit: &ReportModel) -> bool {
        self.only.is_none_or(|(_, has)| has(audit))
    }

    /// The command that makes it, if not every report has it.
    pub(crate) fn command(&self) -> Option<&'static str> {
        self.only.map(|(command, _)| command)
    }

    /// Gives its rows to `rows`.
    ///
    /// # Errors
    /// If `rows` fails.
    pub(crate) fn rows(&self, of: Audited<'_>, rows: &mut dyn RowSink) -> io::Result<()> {
        (self.rows)(&of, rows)
    }

    /// Writes it as CSV.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write(&self, of: Audited<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = CsvTable::with_header(out, &self.schema)?;
        self.rows(of, &mut csv)?;
        csv.finish().map(drop)
    }
}

/// The only one of `of`, if there is one.
pub(crate) const fn optional(of: &[Only]) -> Option<Only> {
    match of {
        [only] => Some(*only),
        _ => None,
    }
}

/// Declares a [`Table`]: file, what a row is, the rows, and columns with their cells. Inside
/// braces, rustfmt leaves a column on one line, however long its meaning is.
macro_rules! table {
    {
        $(#[$doc:meta])*
        pub(crate) const $name:ident = $file:literal, $row:literal;
        $( only $command:literal, $has:expr; )?
        rows $of:ident => $rows:expr;
        $each:pat => { $($prepare:tt)* }
        cells $cells:ident => { $( $column:expr => $write:expr, )* }
    } => {
        $(#[$doc])*
        pub const $name: $crate::report::table::Table = {
            fn rows(
                $of: &$crate::report::table::Audited<'_>,
                rows: &mut dyn $crate::table::csv::RowSink,
            ) -> std::io::Result<()> {
                for $each in $rows {
                    $($prepare)*
                    rows.row(&|$cells| {
                        $(
                            let before = $cells.len();
                            $write;
                            debug_assert_eq!($cells.len(), before + $column.len(), "{}", $column[0].name);
                        )*
                    })?;
                }
                Ok(())
            }
            $crate::report::table::Table {
                schema: $crate::table::schema::TableSchema {
                    file: $file,
                    row: $row,
                    columns: $crate::table::schema::joined![$($column),*],
                },
                only: $crate::report::table::optional(&[
                    $( ($command, $has as fn(&$crate::audit::model::ReportModel) -> bool) )?
                ]),
                rows,
            }
        };
    };
}
pub(super) use table;

/// The table of a measure, with rows for each crawler at each origin. A measure, its file and its
/// field in the list of measures have one name.
macro_rules! of_measure {
    ($measure:ident) => {
        &$crate::report::table::Table {
            schema: $crate::measures::$measure::TABLE.schema,
            only: None,
            rows: |of, rows| {
                of.audit.actors().try_for_each(|(origin, (crawler, identity), tally)| {
                    let crawler = of.audit.registry.crawler(crawler);
                    let at = $crate::measures::table::CrawlerAt { origin, crawler, identity };
                    ($crate::measures::$measure::TABLE.rows)(&tally.$measure, at, rows)
                })
            },
        }
    };
}
pub(super) use of_measure;
