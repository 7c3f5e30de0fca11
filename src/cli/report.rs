//! `botaudit report`: a report directory shown again, without the logs.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::report::cell::visible;
use crate::report::columns::Table;
use crate::report::directory::replace_file;
use crate::report::facts::Facts;
use crate::report::html::{PAGE, page};
use crate::report::json_lines::{json_lines, name};
use crate::report::summary::summary_text;
use crate::report::tables::TABLES;

use super::Outcome;
use super::shared::print;

const EXAMPLES: &str = "\
Examples:
  Make the page of a report anew, and print its summary:
    botaudit report report/

  The page somewhere else:
    botaudit report report/ -o /srv/www/crawlers.html

  The tables for a program:
    botaudit report report/ --format json --table violations | jq 'select(.requests > 100)'";

/// Show a report again from its tables: the page, the summary, or JSON Lines.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit report --help")]
pub struct ReportArgs {
    /// A directory that botaudit audit wrote.
    #[arg(value_name = "DIR", default_value = "botaudit-report")]
    directory: PathBuf,

    /// What to make of it.
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,

    /// Write the page to FILE instead of report.html in DIR.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// For JSON Lines: only this table, as `violations`; can be repeated.
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// Write the page, and print the summary.
    Html,
    /// Print the summary.
    Text,
    /// Print the tables as JSON Lines: an object a row, with the name of its table.
    Json,
}

impl ReportArgs {
    /// Runs it.
    pub fn run(self) -> Result<Outcome> {
        if self.format != Format::Html && self.output.is_some() {
            return Err(Error::usage("-o is for the page; send other formats to a file with >"));
        }
        if self.format != Format::Json && !self.tables.is_empty() {
            return Err(Error::usage("--table is for --format json"));
        }
        let facts = Facts::read(&self.directory)?;
        match self.format {
            Format::Json => self.json()?,
            Format::Text => print(&summary_text(&facts))?,
            Format::Html => {
                let path = self.output.clone().unwrap_or_else(|| self.directory.join(PAGE));
                replace_file(&path, page(&facts).as_bytes())?;
                let path = visible(path.display().to_string().as_bytes());
                print(&format!("{}\npage: {path}\n", summary_text(&facts)))?;
            }
        }
        Ok(Outcome::Done)
    }

    fn json(&self) -> Result<()> {
        let known: Vec<&Table> = TABLES.iter().map(|(table, _)| table).collect();
        let names: Vec<&str> = known.iter().map(|table| name(table)).collect();
        if let Some(unknown) = self.tables.iter().find(|asked| !names.contains(&asked.as_str())) {
            return Err(Error::usage(format!(
                "unknown table '{unknown}'; the tables are {}",
                names.join(", ")
            )));
        }
        let is_asked = |table: &&&Table| {
            self.tables.is_empty() || self.tables.iter().any(|asked| asked == name(table))
        };
        let asked: Vec<&Table> = known.iter().filter(is_asked).copied().collect();
        json_lines(&self.directory, &asked, &mut BufWriter::new(io::stdout().lock()))
    }
}
