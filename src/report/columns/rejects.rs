//! The columns of `rejects.csv`.

use super::{Table, column};

/// Why lines were no records.
pub const REJECTS: Table = Table {
    file: "rejects.csv",
    row: "each input and reason for which lines were no records",
    columns: &[
        column("file", "path", "the input"),
        column("reason", "text", "why the lines are no records"),
        column("lines", "count", "how many lines"),
        column("example_line", "line number from 1", "the first of them"),
        column("example", "text", "its beginning, cut to 512 bytes"),
    ],
};
