//! `botaudit report`: a report directory shown again, without the logs.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::report::columns::Table;
use crate::report::directory::{MARKER, Staging};
use crate::report::escape::visible;
use crate::report::facts;
use crate::report::html::{PAGE, page};
use crate::report::json_lines::{json_lines, name};
use crate::report::outputs::{OutputContent, Outputs};
use crate::report::page_model::PageModel;
use crate::report::range::put_together;
use crate::report::summary::summary_text;
use crate::report::tables::TABLES;
use crate::staged::replace;
use crate::time::{Day, UtcTime};

use super::Outcome;
use super::shared::{ForceArg, complain, print};

const EXAMPLES: &str = "\
Examples:
  Make the page of a report anew, and print its summary:
    botaudit report report/

  The page somewhere else:
    botaudit report report/ -o /srv/www/crawlers.html

  A week out of the reports of its days:
    botaudit report reports/ --from 2026-11-16 --to 2026-11-22 -o week/

  The tables for a program:
    botaudit report report/ --format json --table violations | jq 'select(.requests > 100)'";

/// Days that are looked for.
const DAYS_MAX: usize = 36_600;

/// Days without a report that are named.
const DAYS_NAMED_MAX: usize = 5;

const DAYS: &str = "Several days";

/// Show a report again from its tables: the page, the summary, or JSON Lines; or several as one.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit report --help")]
pub struct ReportArgs {
    /// A directory that botaudit audit wrote; several are put together into that of -o.
    #[arg(value_name = "DIR", default_value = "botaudit-report")]
    directories: Vec<PathBuf>,

    /// With --to: DIR holds a report a day, as botaudit nightly writes them; put those together.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "to", help_heading = DAYS)]
    from: Option<Day>,

    /// The last of these days.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "from", help_heading = DAYS)]
    to: Option<Day>,

    /// What to make of it.
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,

    /// Write the page to this file instead of report.html in DIR; of several reports, the directory
    /// of the new one.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

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
        if self.format != Format::Json && !self.tables.is_empty() {
            return Err(Error::usage("--table is for --format json"));
        }
        let asked = self.asked()?;
        match &self.directories[..] {
            [directory] if self.from.is_none() => self.one(directory, &asked),
            _ => self.several(&asked),
        }
    }

    fn one(&self, directory: &Path, asked: &[&Table]) -> Result<Outcome> {
        if self.format != Format::Html && self.output.is_some() {
            return Err(Error::usage("-o is for the page; send other formats to a file with >"));
        }
        if let Some(path) = &self.output {
            let mut outputs = Outputs::new(self.force.overwrite());
            outputs.reads_files_of("a file of the report", directory, Some(PAGE));
            outputs.file("-o", path, OutputContent::Page)?;
        }
        let model = facts::read(directory)?;
        let path = self.output.clone().unwrap_or_else(|| directory.join(PAGE));
        if self.format == Format::Html {
            replace(&path, page(&model).as_bytes())?;
        }
        self.show(&model, directory, &path, asked)
    }

    fn several(&self, asked: &[&Table]) -> Result<Outcome> {
        let Some(output) = &self.output else {
            let why = "several reports make a new one; name its directory with -o";
            return Err(Error::usage(why));
        };
        let (directories, notes) = self.days()?;
        let mut outputs = Outputs::new(self.force.overwrite());
        for directory in &directories {
            outputs.reads_files_of("a report", directory, None);
        }
        outputs.directory("-o", output)?;
        let staging = Staging::open(output)?;
        let now = UtcTime::from(jiff::Timestamp::now());
        let model = put_together(&directories, notes, &staging, now)?;
        model.run.warnings.iter().for_each(|warning| complain(warning));
        self.show(&model, output, &output.join(PAGE), asked)
    }

    /// Prints what was asked for of the report in `directory`, whose page is at `path`.
    fn show(
        &self,
        model: &PageModel,
        directory: &Path,
        path: &Path,
        asked: &[&Table],
    ) -> Result<Outcome> {
        match self.format {
            Format::Json => {
                json_lines(directory, asked, &mut BufWriter::new(io::stdout().lock()))?;
            }
            Format::Text => print(&summary_text(model))?,
            Format::Html => {
                let path = visible(path.display().to_string().as_bytes());
                print(&format!("{}\npage: {path}\n", summary_text(model)))?;
            }
        }
        Ok(Outcome::Done)
    }

    /// The reports that are to be put together; which of the days asked for have none.
    fn days(&self) -> Result<(Vec<PathBuf>, Vec<String>)> {
        let (Some(from), Some(to)) = (self.from, self.to) else {
            return Ok((self.directories.clone(), Vec::new()));
        };
        let [parent] = &self.directories[..] else {
            return Err(Error::usage(
                "--from and --to are for one DIR, which holds a report a day",
            ));
        };
        let days: Vec<Day> = std::iter::successors(Some(from), |day| Some(day.plus(1)))
            .take_while(|day| *day <= to)
            .take(DAYS_MAX)
            .collect();
        let (there, gone): (Vec<Day>, Vec<Day>) =
            days.into_iter().partition(|day| parent.join(day.to_string()).join(MARKER).is_file());
        if there.is_empty() {
            let why = format!("holds no report of {from} to {to}");
            return Err(Error::invalid_file(parent, why));
        }
        let gone: Vec<String> = gone.iter().map(Day::to_string).collect();
        let mut notes = Vec::new();
        if let [first, ..] = &gone[..] {
            let count = gone.len();
            notes.push(match count {
                1..=DAYS_NAMED_MAX => format!("there is no report of {}", gone.join(", ")),
                _ => format!("there are no reports of {count} days, {first} the first of them"),
            });
        }
        Ok((there.iter().map(|day| parent.join(day.to_string())).collect(), notes))
    }

    /// The tables that were asked for, all if none was.
    fn asked(&self) -> Result<Vec<&'static Table>> {
        let known: Vec<&Table> = TABLES.iter().map(|(table, _)| table).collect();
        let names: Vec<&str> = known.iter().map(|table| name(table)).collect();
        if let Some(unknown) = self.tables.iter().find(|asked| !names.contains(&asked.as_str())) {
            return Err(Error::usage(format!(
                "unknown table '{unknown}'; the tables are {}",
                names.join(", ")
            )));
        }
        let is_asked = |table: &&Table| {
            self.tables.is_empty() || self.tables.iter().any(|asked| asked == name(table))
        };
        Ok(known.into_iter().filter(is_asked).collect())
    }
}

fn day(text: &str) -> std::result::Result<Day, String> {
    Day::parse(text).ok_or_else(|| "write a day as 2026-11-20".to_owned())
}
