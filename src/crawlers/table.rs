//! The CSV file of crawlers: its columns, defaults and mistakes.
//!
//! The built-in list and a user's own have the same form. Only `name` is
//! required, and a `user_agent_regex` unless `sends_own_user_agent` is `no`.
//!
//! | column | cell | if empty or absent |
//! |---|---|---|
//! | `name` | unique, in any ASCII case | refused |
//! | `operator`, `purpose` | any text | `unknown`, `other` |
//! | `user_agent_regex` | regex, case-insensitive, no look-around | refused |
//! | `user_agent_exclude` | regex: a match means another client | no exclusion |
//! | `product_tokens` | `;` between, most specific first | empty: none; no such column: the name |
//! | `honours_star` | `yes`, `no`, `unknown` | `unknown`: it does |
//! | `rep_applies` | `yes`, `no`, `partial`, `unknown` | `unknown`: it is bound |
//! | `user_triggered` | `yes`, `no`, `unknown` | `unknown`: it is not |
//! | `sends_own_user_agent` | `yes`, `no` | `yes` |
//! | `crawl_delay` | `yes`, `partial`, `no`, `unknown` | `unknown` |
//! | `ip_list_urls`, `rdns_suffixes` | spaces between | none |
//! | `evidence` | `operator-doc`, `registry`, `unverified` | `unverified` |
//! | `reaction_hours`, `robots_cache_hours` | whole hours | none |
//! | `rate_per_hour` | whole number of requests | none |
//! | all others | any text | empty |

use crate::crawlers::{crawler::*, pattern::Pattern};
use crate::error::{Error, Result};
use crate::robots::model::StarGroups;
use std::{collections::HashMap, path::Path, sync::LazyLock};

/// The columns, in the order in which the built-in file has them.
pub(crate) const COLUMNS: &str = "name, operator, purpose, user_agent_regex, user_agent_exclude, \
    product_tokens, honours_star, rep_applies, user_triggered, sends_own_user_agent, crawl_delay, \
    ip_list_urls, ip_list_format, rdns_suffixes, documentation_url, sample_user_agent, evidence, \
    evidence_url, notes, reaction_promise, reaction_hours, crawl_delay_promise, \
    robots_cache_promise, promise_url, promise_notes, robots_cache_hours, rate_promise, rate_per_hour";

/// The name of the last row, which is not a crawler but the test for automated clients.
pub(super) const GENERIC_NAME: &str = "Generic bot";

/// A row of the file, its patterns compiled.
#[derive(Debug)]
pub(crate) struct RegistryRow {
    /// The crawler.
    pub crawler: Crawler,
    /// Which user agents are this crawler's: none where it sends none.
    pub test: Option<Test>,
}

/// The test that a user agent must pass to be a crawler's.
#[derive(Debug)]
pub(crate) struct Test {
    /// It matches this ...
    pub include: Pattern,
    /// ... and not this.
    pub exclude: Option<Pattern>,
}

/// How the pattern of the crawler `name` is made. Only that of clients without a name has no names.
fn new_for(name: &str) -> fn(String) -> Pattern {
    match name.eq_ignore_ascii_case(GENERIC_NAME) {
        true => Pattern::new,
        false => Pattern::of_names,
    }
}

/// Reads the rows of `text`; `path` is where it came from, for errors.
///
/// Errors name the line of the first mistake: an unknown column, a word that
/// its column does not know, a regex that does not compile, a name twice.
pub(crate) fn read(path: &Path, text: &[u8]) -> Result<Vec<RegistryRow>> {
    let (rows, errors) = read_all(path, text);
    match errors.into_iter().next() {
        None => Ok(rows.into_iter().map(|(_, row)| row).collect()),
        Some(first) => Err(first),
    }
}

/// All rows that can be read, each with its line, and all mistakes, in the order of their lines.
pub(crate) fn read_all(path: &Path, text: &[u8]) -> (Vec<(u64, RegistryRow)>, Vec<Error>) {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text);
    let header = reader.headers().map_err(|error| wrong_csv(path, &error)).cloned();
    let columns = match header.and_then(|header| Columns::new(path, &header)) {
        Ok(columns) => columns,
        Err(error) => return (Vec::new(), vec![error]),
    };
    let mut lines = HashMap::new();
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for record in reader.records() {
        match record {
            Err(error) => errors.push(wrong_csv(path, &error)),
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                let cells = Cells { path, line, columns: &columns, record: &record };
                match row(&cells).and_then(|row| only_one(row, &cells, &mut lines)) {
                    Ok(row) => rows.push((line, row)),
                    Err(error) => errors.push(error),
                }
            }
        }
    }
    (rows, errors)
}

/// The columns of the built-in list: all of them.
static ALL: LazyLock<Columns> = LazyLock::new(|| {
    let names = COLUMNS.split(", ").map(str::to_owned);
    Columns(names.zip(0..).collect())
});

fn builtin(record: &csv::StringRecord) -> Cells<'_> {
    Cells { path: Path::new("builtin.csv"), line: 0, columns: &ALL, record }
}

/// The crawler of a row of the built-in list.
pub(crate) fn read_builtin(record: &csv::StringRecord) -> Result<Crawler> {
    crawler(&builtin(record))
}

/// The test of a row of the built-in list. Its patterns are compiled when they are first needed.
pub(crate) fn builtin_test(record: &csv::StringRecord) -> Option<Test> {
    let cells = builtin(record);
    let include = new_for(cells.get("name")?)(cells.text("user_agent_regex"));
    let exclude =
        Some(cells.text("user_agent_exclude")).filter(|text| !text.is_empty()).map(Pattern::new);
    let is_sent = cells.get("sends_own_user_agent") != Some("no");
    is_sent.then_some(Test { include, exclude })
}

fn only_one(
    row: RegistryRow,
    cells: &Cells,
    lines: &mut HashMap<String, u64>,
) -> Result<RegistryRow> {
    match lines.insert(row.crawler.name.to_ascii_lowercase(), cells.line) {
        None => Ok(row),
        Some(first) => {
            let name = &row.crawler.name;
            Err(cells.wrong(format!("'{name}' is already on line {first}; remove one of them")))
        }
    }
}

/// The index of each column that this file has.
struct Columns(HashMap<String, usize>);

impl Columns {
    fn new(path: &Path, header: &csv::StringRecord) -> Result<Columns> {
        let mut indexes = HashMap::new();
        for (index, column) in header.iter().enumerate() {
            if !COLUMNS.split(", ").any(|known| known == column) {
                let why = format!("unknown column '{column}'; the columns are {COLUMNS}");
                return Err(Error::invalid(path, 1, why));
            }
            if indexes.insert(column.to_owned(), index).is_some() {
                return Err(Error::invalid(path, 1, format!("duplicate column '{column}'")));
            }
        }
        if !indexes.contains_key("name") {
            let why = "column 'name' is missing; the first line names the columns, for example \
                       name,user_agent_regex,product_tokens";
            return Err(Error::invalid(path, 1, why));
        }
        Ok(Columns(indexes))
    }
}

/// One row's cells, by column name.
struct Cells<'a> {
    path: &'a Path,
    line: u64,
    columns: &'a Columns,
    record: &'a csv::StringRecord,
}

impl Cells<'_> {
    /// The cell without white space around it; `None` without such a column.
    fn get(&self, column: &str) -> Option<&str> {
        self.record.get(*self.columns.0.get(column)?).map(str::trim)
    }

    fn text(&self, column: &str) -> String {
        self.get(column).unwrap_or_default().to_owned()
    }

    fn text_or(&self, column: &str, default: &str) -> String {
        let text = self.get(column).unwrap_or_default();
        if text.is_empty() { default.to_owned() } else { text.to_owned() }
    }

    fn words(&self, column: &str) -> Vec<String> {
        self.get(column).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    /// The value of the cell's word; an empty cell is the last of `choices`.
    fn choice<T: Copy>(&self, column: &str, choices: &[(&str, T)]) -> Result<T> {
        let cell = self.get(column).unwrap_or_default();
        let found = match cell {
            "" => choices.last(),
            word => choices.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)),
        };
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words = choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            self.wrong(format!("{column} is '{cell}'; write one of {words}"))
        })
    }

    fn whole(&self, column: &str, of: &str) -> Result<Option<u32>> {
        match self.get(column).unwrap_or_default() {
            "" => Ok(None),
            cell => cell.parse().map(Some).map_err(|_| {
                self.wrong(format!(
                    "{column} is '{cell}'; write a whole number of {of}, or nothing"
                ))
            }),
        }
    }

    fn pattern(&self, column: &str, new: fn(String) -> Pattern) -> Result<Option<Pattern>> {
        match self.get(column).unwrap_or_default() {
            "" => Ok(None),
            text => {
                let pattern = new(text.to_owned());
                let checked = pattern.check().map(|()| Some(pattern));
                checked.map_err(|why| self.wrong(format!("{column} '{text}': {why}")))
            }
        }
    }

    fn wrong(&self, why: impl Into<String>) -> Error {
        Error::invalid(self.path, self.line, why)
    }
}

fn row(cells: &Cells) -> Result<RegistryRow> {
    let crawler = crawler(cells)?;
    let include = cells.pattern("user_agent_regex", new_for(&crawler.name))?;
    let exclude = cells.pattern("user_agent_exclude", Pattern::new)?;
    let test = match (crawler.visibility, include) {
        (Visibility::NoUserAgent, _) => None,
        (Visibility::OwnUserAgent, Some(include)) => Some(Test { include, exclude }),
        (Visibility::OwnUserAgent, None) => {
            let why = "no user_agent_regex; write a regular expression for its user agent, or \
                       sends_own_user_agent no if it has none";
            return Err(cells.wrong(why));
        }
    };
    Ok(RegistryRow { crawler, test })
}

fn crawler(cells: &Cells) -> Result<Crawler> {
    let name = cells.text("name");
    if name.is_empty() {
        return Err(cells.wrong("no name; every crawler needs one"));
    }
    Ok(Crawler {
        product_tokens: product_tokens(cells, &name)?,
        name,
        operator: cells.text_or("operator", "unknown"),
        purpose: cells.text_or("purpose", "other"),
        user_agent_regex: cells.text("user_agent_regex"),
        user_agent_exclude: cells.text("user_agent_exclude"),
        star: cells.choice("honours_star", &STAR)?,
        rep_applies: cells
            .choice("rep_applies", &RepApplies::ALL.map(|word| (word.as_str(), word)))?,
        trigger: cells.choice("user_triggered", &TRIGGER)?,
        visibility: cells.choice("sends_own_user_agent", &VISIBILITY)?,
        crawl_delay: cells.choice("crawl_delay", &CRAWL_DELAY)?,
        ip_list_urls: cells.words("ip_list_urls"),
        ip_list_format: cells.text("ip_list_format"),
        rdns_suffixes: cells.words("rdns_suffixes"),
        documentation_url: cells.text("documentation_url"),
        sample_user_agent: cells.text("sample_user_agent"),
        evidence: cells
            .choice("evidence", &InformationSource::ALL.map(|word| (word.as_str(), word)))?,
        evidence_url: cells.text("evidence_url"),
        notes: cells.text("notes"),
        reaction_promise: cells.text("reaction_promise"),
        reaction_hours: cells.whole("reaction_hours", "hours")?,
        crawl_delay_promise: cells.text("crawl_delay_promise"),
        robots_cache_promise: cells.text("robots_cache_promise"),
        promise_url: cells.text("promise_url"),
        promise_notes: cells.text("promise_notes"),
        robots_cache_hours: cells.whole("robots_cache_hours", "hours")?,
        rate_promise: cells.text("rate_promise"),
        rate_per_hour: cells.whole("rate_per_hour", "requests")?,
    })
}

// An empty cell means the last word of each.
const STAR: [(&str, StarGroups); 3] =
    [("yes", StarGroups::Honoured), ("no", StarGroups::Ignored), ("unknown", StarGroups::Honoured)];
const TRIGGER: [(&str, Trigger); 3] =
    [("yes", Trigger::Person), ("no", Trigger::Schedule), ("unknown", Trigger::Schedule)];
const VISIBILITY: [(&str, Visibility); 2] =
    [("no", Visibility::NoUserAgent), ("yes", Visibility::OwnUserAgent)];
const CRAWL_DELAY: [(&str, CrawlDelaySupport); 4] = [
    ("yes", CrawlDelaySupport::Honoured),
    ("partial", CrawlDelaySupport::Partly),
    ("no", CrawlDelaySupport::Ignored),
    ("unknown", CrawlDelaySupport::Unknown),
];

/// Without the column, the name is the token. An empty cell means that the crawler has no token.
fn product_tokens(cells: &Cells, name: &str) -> Result<Vec<String>> {
    let Some(cell) = cells.get("product_tokens") else { return Ok(vec![name.to_owned()]) };
    let tokens: Vec<_> = cell.split(';').map(str::trim).filter(|token| !token.is_empty()).collect();
    if tokens.iter().any(|token| token.starts_with('*')) {
        let why = "'*' is not a product token; a crawler follows '*' unless honours_star is no";
        return Err(cells.wrong(why));
    }
    Ok(tokens.into_iter().map(str::to_owned).collect())
}

/// The error for `error` of a CSV reader.
pub(crate) fn wrong_csv(path: &Path, error: &csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, but the first line names {expected_len} columns")
        }
        csv::ErrorKind::Utf8 { .. } => "not UTF-8; save the file as UTF-8".to_owned(),
        _ => error.to_string(),
    };
    Error::invalid(path, line, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_stands_in_the_documentation() {
        let page = include_str!("../../docs/identity.md");
        for column in COLUMNS.split(", ") {
            assert!(page.contains(&format!("\n| `{column}` | ")), "{column}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (rows, expected) in [
            (
                "",
                "crawlers.csv:1: column 'name' is missing; the first line names the columns, for \
                 example name,user_agent_regex,product_tokens",
            ),
            ("operator\n", "crawlers.csv:1: column 'name' is missing; the first line names"),
            (
                "name,tokn\n",
                "crawlers.csv:1: unknown column 'tokn'; the columns are name, operator, purpose, user_agent_regex, ",
            ),
            ("name,name\n", "crawlers.csv:1: duplicate column 'name'"),
            (
                "name,user_agent_regex\na,aa\nb\n",
                "crawlers.csv:3: 1 cells, but the first line names 2 columns",
            ),
            (
                "name,user_agent_regex\na,aa\n ,bb\n",
                "crawlers.csv:3: no name; every crawler needs one",
            ),
            (
                "name,user_agent_regex\na,\n",
                "crawlers.csv:2: no user_agent_regex; write a regular expression for its user \
                 agent, or sends_own_user_agent no if it has none",
            ),
            (
                "name,user_agent_regex\na,aa\nb,bb\nA,cc\n",
                "crawlers.csv:4: 'A' is already on line 2; remove one of them",
            ),
            (
                "name,user_agent_regex\na,b(t\n",
                "crawlers.csv:2: user_agent_regex 'b(t': unclosed group",
            ),
            (
                "name,user_agent_regex,user_agent_exclude\na,b,c*\n",
                "crawlers.csv:2: user_agent_exclude 'c*': it matches every user agent, \
                 because it matches empty text",
            ),
            (
                "name,user_agent_regex,honours_star\na,b,maybe\n",
                "crawlers.csv:2: honours_star is 'maybe'; write one of yes, no, unknown",
            ),
            (
                "name,user_agent_regex,reaction_hours\na,b,24h\n",
                "crawlers.csv:2: reaction_hours is '24h'; write a whole number of hours, or nothing",
            ),
            (
                "name,user_agent_regex,product_tokens\na,b,a;*\n",
                "crawlers.csv:2: '*' is not a product token; a crawler follows '*' unless \
                 honours_star is no",
            ),
        ] {
            let error = read(Path::new("crawlers.csv"), rows.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{rows:?}: {error}");
        }
    }
}
