//! A table whose rows show one measure of one crawler at one origin.

use std::io;

use crate::crawlers::{crawler::Crawler, identity::Identity};
use crate::table::csv::RowSink;
use crate::table::schema::TableSchema;

/// A crawler at an origin, as the first cells of a row name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrawlerAt<'a> {
    /// The origin.
    pub origin: &'a str,
    /// The crawler.
    pub crawler: &'a Crawler,
    /// Whether it was this crawler.
    pub identity: Identity,
}

/// A table with rows of a measure `M`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasureTable<M: 'static> {
    /// Its file and columns.
    pub schema: TableSchema,
    /// Gives the rows of one crawler at one origin.
    pub rows: fn(&M, CrawlerAt<'_>, &mut dyn RowSink) -> io::Result<()>,
}

/// Declares a [`MeasureTable`]: its measure, its file, what a row is, the rows of one crawler at one
/// origin, and its columns with their cells. Origin and crawler stand before them. Inside braces,
/// rustfmt leaves a column on one line, however long its meaning is.
macro_rules! measure_table {
    {
        $(#[$doc:meta])*
        pub(crate) const $name:ident: $measure:ty = $file:literal, $row:literal;
        rows $of:ident => $rows:expr;
        $each:pat => { $($prepare:tt)* }
        cells $cells:ident => { $( $column:expr => $write:expr, )* }
    } => {
        $(#[$doc])*
        pub(crate) const $name: $crate::measures::table::MeasureTable<$measure> = {
            fn rows(
                $of: &$measure,
                at: $crate::measures::table::CrawlerAt<'_>,
                rows: &mut dyn $crate::table::csv::RowSink,
            ) -> std::io::Result<()> {
                for $each in $rows {
                    $($prepare)*
                    rows.row(&|$cells| {
                        $cells.text(at.origin).crawler_and_identity(at.crawler, at.identity);
                        $(
                            let before = $cells.len();
                            $write;
                            debug_assert_eq!($cells.len(), before + $column.len(), "{}", $column[0].name);
                        )*
                    })?;
                }
                Ok(())
            }
            $crate::measures::table::MeasureTable {
                schema: $crate::table::schema::TableSchema {
                    file: $file,
                    row: $row,
                    columns: $crate::table::schema::joined![
                        $crate::table::columns::ORIGIN,
                        $crate::table::columns::CRAWLER,
                        $($column),*
                    ],
                },
                rows,
            }
        };
    };
}
pub(super) use measure_table;
