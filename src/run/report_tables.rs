//! The tables of a report as values, for applications.

use std::io;

use crate::audit::model::ReportModel;
use crate::crawlers::{crawler::Crawler, identity::Identity};
use crate::report::table::{Audited, Table};
use crate::report::{json_lines::name, tables::tables_of};
use crate::table::csv::{CrawlerCells, EachValues};
use crate::table::{cell::Cell, escape::visible, schema::Column};
use crate::time::UtcTime;

/// A table of a report, which is also one of its CSV files. `docs/reports.md` describes them all.
#[derive(Clone, Copy, Debug)]
pub struct ReportTable<'a> {
    table: &'static Table,
    audit: &'a ReportModel,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    columns: &'static [Column],
    cells: Vec<Cell>,
}

/// The requests of a crawler that one rule disallowed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViolationRow<'a> {
    /// The origin, or what reports write for requests without one.
    pub origin: &'a str,
    /// The crawler that the user agent names.
    pub crawler: &'a Crawler,
    /// Whether it was this crawler.
    pub identity: Identity,
    /// The line of the rule in its robots.txt, from 1.
    pub line: u32,
    /// The pattern of the rule as written; what is not visible text is `\xHH`.
    pub pattern: String,
    /// The product token through which the rule binds the crawler, or `*`.
    pub group: String,
    /// The requests.
    pub requests: u64,
    /// The bytes of the answers.
    pub bytes: u64,
    /// When the first was made.
    pub first: UtcTime,
    /// When the last was made.
    pub last: UtcTime,
    /// The requests with a valid signature of an agent.
    pub signed: u64,
    /// The earliest of the requests.
    pub example: ExampleRequest<'a>,
}

/// A request that can be found in its log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExampleRequest<'a> {
    /// The target as logged, cut to 2,048 bytes; what is not visible text is `\xHH`.
    pub target: String,
    /// The log.
    pub file: &'a str,
    /// The line in that log, from 1.
    pub line: u64,
    /// When it was made.
    pub time: UtcTime,
}

impl<'a> ReportTable<'a> {
    /// The tables that the report of `audit` has, in the order of the documentation.
    pub(super) fn all(audit: &'a ReportModel) -> impl Iterator<Item = ReportTable<'a>> {
        tables_of(audit).map(move |table| ReportTable { table, audit })
    }

    /// Its name, which is that of its file without `.csv`.
    pub fn name(&self) -> &'static str {
        name(&self.table.schema)
    }

    /// What a row stands for.
    pub fn row_meaning(&self) -> &'static str {
        self.table.schema.row
    }

    /// Its columns, in order. New ones come last.
    pub fn columns(&self) -> &'static [Column] {
        self.table.schema.columns
    }

    /// Its rows.
    pub fn rows(&self) -> Vec<TableRow> {
        let (columns, mut rows) = (self.columns(), Vec::new());
        self.each_cells(|cells| rows.push(TableRow { columns, cells }));
        rows
    }

    /// The table as the bytes of its CSV file.
    pub fn csv(&self) -> Vec<u8> {
        let crawlers = &CrawlerCells::new(&self.audit.registry);
        let mut text = Vec::new();
        let written = self.table.write(Audited { audit: self.audit, crawlers }, &mut text);
        written.expect("memory can be written");
        text
    }

    fn each_cells(&self, mut take: impl FnMut(Vec<Cell>)) {
        let crawlers = &CrawlerCells::new(&self.audit.registry);
        let of = Audited { audit: self.audit, crawlers };
        let mut each = EachValues(|cells| -> io::Result<()> {
            take(cells);
            Ok(())
        });
        self.table.rows(of, &mut each).expect("what takes the rows does not fail");
    }
}

impl TableRow {
    /// The cell of the column `name`; `None` if the table has no such column.
    pub fn get(&self, name: &str) -> Option<&Cell> {
        let index = self.columns.iter().position(|column| column.name == name)?;
        self.cells.get(index)
    }

    /// Its cells, in the order of the columns.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// Each rule that a crawler broke at an origin, by their names.
pub(super) fn violations(audit: &ReportModel) -> impl Iterator<Item = ViolationRow<'_>> {
    audit.broken_rules().map(|(origin, (crawler, identity), broken)| {
        let (rule, tally) = (&broken.rule, &broken.tally);
        let example = &tally.example;
        ViolationRow {
            origin,
            crawler: audit.registry.crawler(crawler),
            identity,
            line: rule.line,
            pattern: visible(&rule.pattern),
            group: visible(&rule.group),
            requests: tally.requests,
            bytes: tally.bytes,
            first: tally.span.first,
            last: tally.span.last,
            signed: tally.signed,
            example: ExampleRequest {
                target: visible(&example.target),
                file: audit.input_name(example.file),
                line: example.line,
                time: example.time,
            },
        }
    })
}
