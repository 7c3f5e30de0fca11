//! Conditions on rows of `summary.csv` that make a run fail.
//!
//! A row counts as it is written. What somebody did in a crawler's name is not
//! held against it: rows of spoofed crawlers count only where the condition
//! names `identity`. Rows of tools count only where it names the tool or its purpose.

use crate::audit::{conduct::Conduct, crawler_row::ActorRow, model::ReportModel};
use crate::crawlers::{crawler::TOOL_PURPOSES, identity::Identity, registry::Registry};
use crate::lint::known_tokens::{LETTERS_PER_SLIP, SPELT_LENGTH_MIN, distance};
use crate::table::csv::{CrawlerCells, EachRow};
use crate::table::schema::Column;

use super::condition::expression::{Condition, ConditionError};
use super::{table::Audited, tables::crawlers::SUMMARY};

/// The most rows shown for each condition.
const ROWS_SHOWN: usize = 5;

/// The columns that identify a row.
const WHO: [&str; 3] = ["origin", "crawler", "identity"];

/// Columns whose values come from the registry.
const OF_THE_REGISTRY: [&str; 3] = ["crawler", "operator", "purpose"];

/// The most characters of a condition that are shown from the position of an error.
const CONTEXT_CHARS_MAX: usize = 40;

/// A condition that makes a run fail.
#[derive(Clone, Debug)]
pub struct Threshold(Condition);

/// A condition that some rows meet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MetCondition {
    /// How many rows meet which condition.
    pub message: String,
    /// Some of the rows, one text for each.
    pub rows: Vec<String>,
}

impl MetCondition {
    /// The message, and a line for each of the rows.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.message).chain(&self.rows).map(String::as_str)
    }
}

impl Threshold {
    /// Parses a condition over the columns of `summary.csv`.
    ///
    /// # Errors
    /// If it cannot be parsed, or compares with a word that is not in `registry`.
    pub fn parse(text: &str, registry: &Registry) -> Result<Threshold, String> {
        let mut condition =
            Condition::parse(text, &SUMMARY.schema).map_err(|error| located(text, &error))?;
        for at in 0..condition.words.len() {
            let word = &condition.words[at];
            let name = SUMMARY.schema.columns[word.column].name;
            if word.text.is_empty() {
                continue;
            }
            let Some(known) = known_word(name, &word.text, registry) else {
                return Err(unknown_word(name, &word.text, registry));
            };
            condition.spell(at, &known);
        }
        Ok(Threshold(condition))
    }

    /// A message and the rows of `audit` if some meet the condition, which the user gave to `option`.
    pub(crate) fn met(&self, audit: &ReportModel, option: &str) -> Option<MetCondition> {
        let rows = self.rows(audit, &TOOL_PURPOSES);
        if rows.is_empty() {
            return None;
        }
        let what = if rows.len() == 1 { "row meets" } else { "rows meet" };
        let message = format!("{} {what} {option} \"{}\"", rows.len(), self.0.text);
        let shown = rows.iter().take(ROWS_SHOWN).map(|(_, cells)| self.row_text(cells));
        let mut shown: Vec<String> = shown.collect();
        if rows.len() > ROWS_SHOWN {
            shown.push(format!("... and {} more, see summary.csv", rows.len() - ROWS_SHOWN));
        }
        Some(MetCondition { message, rows: shown })
    }

    /// The rows of `audit` that meet the condition, with their cells. Rows with one of `purposes`
    /// count only where the condition has their crawler or purpose.
    pub(crate) fn rows<'a>(
        &self,
        audit: &'a ReportModel,
        purposes: &[&str],
    ) -> Vec<(&'a ActorRow, Vec<String>)> {
        let Threshold(condition) = self;
        let identity = column_index("identity");
        let names_identity = condition.columns.contains(&identity);
        let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
        let is_met = |(_, cells): &(&ActorRow, Vec<String>)| {
            let is_itself = names_identity || cells[identity] != Identity::Spoofed.as_str();
            let is_reserved = purposes.contains(&cells[column_index("purpose")].as_str());
            is_itself && (!is_reserved || self.names(cells)) && condition.is_met(cells)
        };
        let (mut rows, mut met) = (audit.rows().iter(), Vec::new());
        let mut each = EachRow(|cells| {
            met.extend(rows.next().map(|row| (row, cells)).filter(is_met));
            Ok(())
        });
        SUMMARY.rows(of, &mut each).expect("memory takes all rows");
        met
    }

    /// Whether the condition has the name or the purpose of a row.
    fn names(&self, cells: &[String]) -> bool {
        let columns = ["crawler", "purpose"].map(column_index);
        let mut words = self.0.words.iter();
        words.any(|word| columns.contains(&word.column) && cells[word.column] == word.text)
    }

    /// Who a row is about, and what the condition asks of it.
    fn row_text(&self, cells: &[String]) -> String {
        let [origin, crawler, identity] = WHO.map(|name| &cells[column_index(name)]);
        let mut text = format!("{crawler} ({identity}) at {origin}");
        for &column in &self.0.columns {
            let Column { name, .. } = SUMMARY.schema.columns[column];
            if !WHO.contains(&name) {
                text += &format!(", {name} {}", cells[column]);
            }
        }
        text
    }
}

fn column_index(name: &str) -> usize {
    let found = SUMMARY.schema.columns.iter().position(|column| column.name == name);
    found.expect("summary.csv has this column")
}

/// The values of the crawlers of `registry` in `column`.
fn words<'a>(column: &'a str, registry: &'a Registry) -> impl Iterator<Item = &'a str> {
    registry.iter().map(move |(_, crawler)| match column {
        "crawler" => crawler.name.as_str(),
        "operator" => crawler.operator.as_str(),
        _ => crawler.purpose.as_str(),
    })
}

/// The spelling of `word`, where upper and lower case do not matter; `None` if no cell of the column
/// can hold it.
fn known_word(column: &str, word: &str, registry: &Registry) -> Option<String> {
    let is_alike = |known: &&str| known.eq_ignore_ascii_case(word);
    let found = match column {
        "conduct" => Conduct::ALL.map(Conduct::as_str).into_iter().find(is_alike),
        _ if !OF_THE_REGISTRY.contains(&column) => Some(word),
        // One operator may be spelled in two ways.
        _ => words(column, registry)
            .find(|known| *known == word)
            .or_else(|| words(column, registry).find(is_alike)),
    };
    found.map(str::to_owned)
}

fn unknown_word(column: &str, word: &str, registry: &Registry) -> String {
    if column == "conduct" {
        let all = Conduct::ALL.map(Conduct::as_str).join(", ");
        return format!("unknown conduct '{word}'; did you mean {all}?");
    }
    let all: std::collections::BTreeSet<&str> = words(column, registry).collect();
    let is_near = |known: &&str| {
        let (known, word) = (known.to_ascii_lowercase(), word.to_ascii_lowercase());
        let slips_max = (word.len() / LETTERS_PER_SLIP).clamp(1, 2);
        known.contains(&word)
            || word.contains(&known)
            || (word.len() >= SPELT_LENGTH_MIN
                && distance(word.as_bytes(), known.as_bytes(), slips_max).is_some())
    };
    let near: Vec<&str> = match column {
        "purpose" => all.into_iter().collect(),
        _ => all.into_iter().filter(is_near).take(5).collect(),
    };
    let near = match near.as_slice() {
        [] => "`botaudit crawlers` lists all".to_owned(),
        near => format!("did you mean {}?", near.join(", ")),
    };
    format!("unknown {column} '{word}'; {near}")
}

/// The error with its position in the condition.
fn located(text: &str, ConditionError { at, why }: &ConditionError) -> String {
    let rest: String = text.chars().skip(*at).take(CONTEXT_CHARS_MAX).collect();
    let context = if rest.is_empty() { String::new() } else { format!(", before {rest}") };
    format!("at character {}{context}: {why}", at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, expected: &str) {
        let text = Threshold::parse(condition, &Registry::builtin()).map(drop).unwrap_err();
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn errors_name_their_position() {
        check("violations >", "at character 13: expected a number");
        check(
            "violations > 0 requests > 5",
            "at character 16, before requests > 5: expected 'and'",
        );
    }

    #[test]
    fn words_that_no_row_can_hold_are_errors() {
        check("purpose = 'ai-trainig'", "unknown purpose 'ai-trainig'; did you mean ");
        check("crawler != 'gptbt'", "unknown crawler 'gptbt'; did you mean GPTBot?");
        check("operator = 'zzz'", "unknown operator 'zzz'; `botaudit crawlers` lists all");
        for fine in ["operator = 'OpenAI'", "origin = 'https://anything'", "purpose != ''"] {
            assert!(Threshold::parse(fine, &Registry::builtin()).is_ok(), "{fine}");
        }
    }

    #[test]
    fn names_are_those_of_the_registry_in_any_case() {
        let text = "crawler = 'gptbot' or not (operator = 'OPENAI' and identity != 'spoofed')";
        let Threshold(condition) = Threshold::parse(text, &Registry::builtin()).unwrap();
        let words: Vec<&str> = condition.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!((words, &*condition.text), (vec!["GPTBot", "OpenAI", "spoofed"], text));
        let mut cells = vec![String::new(); SUMMARY.schema.columns.len()];
        assert!(condition.is_met(&cells));
        cells[column_index("operator")] = "OpenAI".to_owned();
        cells[column_index("identity")] = "verified".to_owned();
        assert!(!condition.is_met(&cells));
        cells[column_index("crawler")] = "GPTBot".to_owned();
        assert!(condition.is_met(&cells));
    }
}
