//! A user's own list of crawlers: rows are added, while cells of other rows stay as they are; and mistakes and
//! suspicious rows are found.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::borders::{Side, open_sides};
use super::registry::{Registry, merged, read_file};
use super::table::{self, COLUMNS, wrong_csv};
use super::{builtin, card::CardRow, crawler::Crawler, identify::Identified};

/// What became of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Put {
    /// No row had its name.
    Added,
    /// It replaced the row with its name.
    Replaced,
}

/// The cells of a list.
#[derive(Clone, Debug)]
pub struct OwnList {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl OwnList {
    /// A list without rows and with all columns.
    pub fn new(path: &Path) -> OwnList {
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
    pub fn put(&mut self, card: &CardRow) -> std::result::Result<Put, String> {
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
        Registry::of_list(&self.path, rows).map_err(|err| err.to_string())
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
    pub fn text(&self) -> String {
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

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// Rows that can be read.
    pub rows: usize,
    /// The crawlers that replace a built-in one.
    pub replacing: usize,
    /// The errors, in the order of lines.
    pub errors: Vec<Error>,
    /// The warnings, in the order of lines.
    pub warnings: Vec<Error>,
}

/// Checks the list at `path`.
///
/// # Errors
/// If it cannot be read, or has too many crawlers.
pub fn check(path: &Path) -> Result<Checked> {
    let text = read_file(path)?;
    let (rows, errors) = table::read_all(path, &text);
    let builtin = builtin::rows();
    let is_builtin =
        |name: &str| builtin.iter().any(|row| row.crawler.name().eq_ignore_ascii_case(name));
    let replacing = rows.iter().filter(|(_, row)| is_builtin(&row.crawler.name)).count();
    let own: Vec<(u64, String)> =
        rows.iter().map(|(line, row)| (*line, row.crawler.name.clone())).collect();
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    let registry = Registry::of_list(path, merged(builtin, rows))?;
    let mut warnings = Vec::new();
    for (line, name) in &own {
        let id = registry.find(name).expect("its row was merged into the registry");
        let whys = oddities_of(registry.crawler(id), &registry);
        warnings.extend(whys.into_iter().map(|why| Error::invalid(path, *line, why)));
    }
    Ok(Checked { rows: own.len(), replacing, errors, warnings })
}

fn oddities_of(crawler: &Crawler, registry: &Registry) -> Vec<String> {
    let mut whys = Vec::new();
    let sample = crawler.sample_user_agent.as_str();
    let found = match registry.identify(sample.as_bytes()) {
        Identified::Crawler(id) => registry.crawler(id).name.as_str(),
        Identified::Generic => "an unknown crawler",
        Identified::Other | Identified::Empty => "no crawler",
    };
    if !sample.is_empty() && found != crawler.name {
        whys.push(format!("sample_user_agent '{sample}' is identified as {found}"));
    }
    for side in open_sides(&crawler.user_agent_regex) {
        let (verb, mark) = match side {
            Side::Start => ("begin", "'^'"),
            Side::End => ("end", "'/', or '$'"),
        };
        whys.push(format!(
            "user_agent_regex '{}' is also found within longer names; {verb} it with a letter, \
             a digit, {mark}",
            crawler.user_agent_regex
        ));
    }
    let pages = [&crawler.documentation_url, &crawler.evidence_url, &crawler.promise_url];
    for url in crawler.ip_list_urls.iter().chain(pages.into_iter().filter(|url| !url.is_empty())) {
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            whys.push(format!(
                "'{url}' is not a valid URL; write it with its scheme, such as \
                 https://example.com/"
            ));
        }
    }
    for (column, number) in [
        ("reaction_hours", crawler.reaction_hours),
        ("robots_cache_hours", crawler.robots_cache_hours),
        ("rate_per_hour", crawler.rate_per_hour),
    ] {
        if number.is_some() && crawler.promise_url.is_empty() {
            whys.push(format!("{column} has no source; name the page in promise_url"));
        }
    }
    for suffix in &crawler.rdns_suffixes {
        if !suffix.trim_matches('.').contains('.') {
            whys.push(format!(
                "rdns_suffixes has '{suffix}', where anyone can get a name; write the operator's \
                 own domain"
            ));
        }
    }
    whys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::crawler::Visibility;

    #[test]
    fn too_many_crawlers_are_an_error() {
        let row = |number| {
            let crawler = Crawler::once_known(format!("bot{number}")).into();
            super::super::builtin::LazyRow { crawler, test: None }
        };
        let path = Path::new("own.csv");
        let rows = |count: usize| (0..count).map(row).collect();
        assert!(Registry::of_list(path, rows(10)).is_ok());
        let refused = Registry::of_list(path, rows(usize::from(u16::MAX) + 1)).unwrap_err();
        let why = "own.csv: 65536 crawlers with the built-in ones, but at most 65535 are possible";
        assert!(refused.to_string().starts_with(why), "{refused}");
    }

    #[test]
    fn all_errors_and_warnings_are_named_with_their_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own.csv");
        let text = "name,user_agent_regex,sample_user_agent,ip_list_urls,rdns_suffixes,evidence\n\
                    mybot,mybot,mybot/1.0,https://example.com/ips,bots.example.com,\n\
                    yourbot,y(,,,,\n\
                    gptbot,GPTBot,GPTBot/1.0,,,\n\
                    short\n\
                    hisbot,hisbot,herbot/1.0,example.com/ips,com,\n\
                    mybot,mybot,,,,\n\
                    ourbot,ourbot,,,,hearsay\n";
        std::fs::write(&path, text).unwrap();
        let found = check(&path).unwrap();
        let name = path.display().to_string();
        let messages = |errors: &[Error]| {
            let lines: Vec<String> =
                errors.iter().map(|error| error.to_string().replace(&name, "")).collect();
            lines.join("\n")
        };
        assert_eq!((found.rows, found.replacing), (3, 1));
        assert_eq!(
            messages(&found.errors),
            ":3: user_agent_regex 'y(': unclosed group\n:5: 1 cells, but the first line names 6 columns\n:7: 'mybot' is already on line 2; remove one of them\n:8: evidence is 'hearsay'; write one of operator-doc, registry, unverified"
        );
        assert_eq!(
            messages(&found.warnings),
            ":6: sample_user_agent 'herbot/1.0' is identified as an unknown crawler\n:6: 'example.com/ips' is not a valid URL; write it with its scheme, such as https://example.com/\n:6: rdns_suffixes has 'com', where anyone can get a name; write the operator's own domain"
        );
    }

    #[test]
    fn the_built_in_list_has_no_warnings() {
        let registry = Registry::builtin();
        // Rows without a user agent of their own have samples of the crawlers that fetch for them.
        let crawlers = registry.iter().filter(|(id, crawler)| {
            *id != registry.generic() && crawler.visibility == Visibility::OwnUserAgent
        });
        let whys: Vec<String> =
            crawlers.flat_map(|(_, crawler)| oddities_of(crawler, &registry)).collect();
        // Of two, only the beginning is known.
        let is_known = |why: &String| why.contains("'^muse-'") || why.contains("'^curly-'");
        assert_eq!(whys.len(), 2, "{whys:?}");
        assert!(whys.iter().all(is_known), "{whys:?}");
    }
}
