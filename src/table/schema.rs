//! The types for CSV files and their columns.

/// A constant text.
type Text = &'static str;

/// A column of a CSV file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Column {
    /// The header cell.
    pub name: Text,
    /// The unit, the kind of text, or the possible values of a cell.
    pub unit: Text,
    /// The meaning, as a sentence fragment.
    pub meaning: Text,
}

/// A CSV file.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// The file name in the report directory.
    pub file: Text,
    /// What one row describes.
    pub row: Text,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

/// A column, as a group of one.
pub const fn column(name: Text, unit: Text, meaning: Text) -> [Column; 1] {
    [Column { name, unit, meaning }]
}

/// A column of counts.
pub const fn count(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "count", meaning)
}

/// A column of points in time.
pub const fn time(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "RFC 3339, UTC", meaning)
}

/// A column of lines of a file.
pub const fn line_number(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "line number from 1", meaning)
}

/// The number of columns in all groups.
pub const fn total(groups: &[&[Column]]) -> usize {
    let (mut total, mut group) = (0, 0);
    while group < groups.len() {
        total += groups[group].len();
        group += 1;
    }
    total
}

/// Joins all groups into one array of `N` columns.
pub const fn join<const N: usize>(groups: &[&[Column]]) -> [Column; N] {
    let mut columns = [Column { name: "", unit: "", meaning: "" }; N];
    let (mut group, mut at, mut end) = (0, 0, 0);
    while end < N {
        if at == groups[group].len() {
            group += 1;
            at = 0;
        } else {
            columns[end] = groups[group][at];
            at += 1;
            end += 1;
        }
    }
    columns
}

/// Joins groups of columns into the columns of one table.
macro_rules! joined {
    [$($group:expr),* $(,)?] => {{
        const GROUPS: &[&[$crate::table::schema::Column]] = &[$(&$group),*];
        const COLUMNS: [$crate::table::schema::Column; $crate::table::schema::total(GROUPS)] =
            $crate::table::schema::join(GROUPS);
        &COLUMNS
    }};
}
pub(crate) use joined;

/// Declares groups of columns from columns and smaller groups. Inside braces, rustfmt leaves a
/// column on one line, however long its meaning is.
macro_rules! groups {
    { $( $(#[$doc:meta])* $name:ident = [$($column:expr),* $(,)?]; )* } => {
        $( $(#[$doc])* pub const $name: &[$crate::table::schema::Column] = joined![$($column),*]; )*
    };
}
pub(crate) use groups;

/// Declares tables by file, row meaning and groups of columns, and a list of all tables.
macro_rules! tables {
    {
        $(#[$all_doc:meta])* $all:ident;
        $( $(#[$doc:meta])* $name:ident = $file:literal, $row:literal: [$($group:expr),* $(,)?]; )*
    } => {
        $(
            $(#[$doc])*
            pub(crate) const $name: TableSchema =
                TableSchema { file: $file, row: $row, columns: joined![$($group),*] };
        )*

        $(#[$all_doc])*
        pub(crate) const $all: &[TableSchema] = &[$($name),*];
    };
}
pub(crate) use tables;
