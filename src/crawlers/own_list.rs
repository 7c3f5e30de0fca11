//! A user's own list of crawlers, to which rows are added; cells of other rows stay as they are.

use std::path::{Path, PathBuf};

use crate::crawlers::builtin;
use crate::crawlers::card::CardRow;
use crate::crawlers::registry::{Registry, merged, read_file};
use crate::crawlers::table::{self, COLUMNS, wrong_csv};
use crate::error::{Error, Result};

/// What became of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Put {
    /// No row had its name.
    Added,
    /// It replaced the row with its name.
    Replaced,
}

/// The cells of a list.
#[derive(Clone, Debug)]
pub(crate) struct OwnList {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl OwnList {
    /// A list without rows and with all columns.
    pub(crate) fn new(path: &Path) -> OwnList {
        let columns = COLUMNS.split(", ").map(str::to_owned).collect();
        OwnList { path: path.to_owned(), columns, rows: Vec::new() }
    }

    /// Reads the list in the file `path`. If the file does not exist or is empty, this is a new list.
    ///
    /// # Errors
    /// If it has a mistake.
    pub(crate) fn read(path: &Path) -> Result<OwnList> {
        if !path.exists() {
            return Ok(OwnList::new(path));
        }
        let text = read_file(path)?;
        if text.is_empty() {
            return Ok(OwnList::new(path));
        }
        table::read(path, &text)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(&*text);
        let columns = reader.headers().map_err(|err| wrong_csv(path, &err))?;
        let columns = columns.iter().map(str::to_owned).collect();
        let rows = reader.records().map(|record| {
            let record = record.map_err(|err| wrong_csv(path, &err))?;
            Ok(record.iter().map(str::to_owned).collect())
        });
        Ok(OwnList { path: path.to_owned(), columns, rows: rows.collect::<Result<_>>()? })
    }

    /// Adds the row of a card, or replaces the row with its name.
    ///
    /// # Errors
    /// If the list would not be valid with it, or the row is about user agents of others; the list is
    /// as before.
    pub(crate) fn put(&mut self, card: &CardRow) -> std::result::Result<Put, String> {
        let mut list = self.clone();
        for (column, _) in &card.cells {
            list.add_column(column);
        }
        let cells = list.columns.iter().map(|column| {
            let found = card.cells.iter().find(|(name, _)| name == column);
            found.map(|(_, cell)| cell.clone()).unwrap_or_default()
        });
        let cells: Vec<String> = cells.collect();
        let name = list.column("name");
        let is_same = |row: &Vec<String>| row[name].trim().eq_ignore_ascii_case(&card.name);
        let put = match list.rows.iter().position(is_same) {
            Some(at) => {
                list.rows[at] = cells;
                Put::Replaced
            }
            None => {
                list.rows.push(cells);
                Put::Added
            }
        };
        match card.conflict(&self.registry()?, &list.registry()?) {
            Some(why) => Err(why),
            None => {
                *self = list;
                Ok(put)
            }
        }
    }

    /// The built-in crawlers with the rows of this list.
    fn registry(&self) -> std::result::Result<Registry, String> {
        let rows = table::read(&self.path, self.text().as_bytes());
        let rows = merged(builtin::rows(), rows.map_err(|err| err.to_string())?);
        match rows.len() > usize::from(u16::MAX) {
            true => Err(format!("more than {} crawlers; remove some", u16::MAX)),
            false => Ok(Registry::new(rows)),
        }
    }

    fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or(0)
    }

    /// Adds a column, with cells that mean what no column means.
    fn add_column(&mut self, column: &str) {
        if self.columns.iter().any(|known| known == column) {
            return;
        }
        let name = self.column("name");
        for row in &mut self.rows {
            let cell = if column == "product_tokens" { row[name].clone() } else { String::new() };
            row.push(cell);
        }
        self.columns.push(column.to_owned());
    }

    /// The list as CSV.
    pub(crate) fn text(&self) -> String {
        let mut out = csv::WriterBuilder::new().from_writer(Vec::new());
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            out.write_record(row)
                .expect("rows are as long as the header, and memory does not fail");
        }
        let bytes = out.into_inner().expect("memory does not fail");
        String::from_utf8(bytes).expect("cells are texts")
    }

    /// Whether the built-in list has a crawler of this name.
    pub(crate) fn is_builtin(name: &str) -> bool {
        builtin::rows().iter().any(|row| row.crawler.name().eq_ignore_ascii_case(name))
    }

    /// The error for a card of the file `path` that was refused.
    pub(crate) fn refused(path: &Path, card: &CardRow, why: String) -> Error {
        Error::invalid(path, card.line, why)
    }
}
