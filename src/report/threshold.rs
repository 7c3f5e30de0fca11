//! Conditions on rows of `summary.csv` that make a run fail.
//!
//! A row counts as it is written. What somebody did in a crawler's name is not
//! held against it: rows of spoofed crawlers count only where the condition
//! names `identity`. Rows of tools count only where it names the tool or its purpose.

use std::collections::BTreeSet;

use crate::audit::{conduct::Conduct, crawler_row::ActorRow, model::ReportModel};
use crate::crawlers::crawler::{Crawler, TOOL_PURPOSES};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::lint::known_tokens::{distance, slips_max};
use crate::table::csv::EachRow;
use crate::table::escape::visible;
use crate::table::schema::{Cell, Column};

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
    ) -> Vec<(&'a ActorRow, Vec<Cell>)> {
        let Threshold(condition) = self;
        let identity = column_index("identity");
        let names_identity = condition.columns.contains(&identity);
        let of = Audited { audit };
        let is_met = |(_, cells): &(&ActorRow, Vec<Cell>)| {
            let is_itself =
                names_identity || cells[identity].text() != Some(Identity::Spoofed.as_str());
            let purpose = cells[column_index("purpose")].text();
            let is_reserved = purpose.is_some_and(|purpose| purposes.contains(&purpose));
            is_itself && (!is_reserved || self.names(cells)) && condition.is_met(cells)
        };
        let (mut rows, mut met) = (audit.rows().iter(), Vec::new());
        let mut each = EachRow(|cells: Vec<Cell>| {
            met.extend(rows.next().map(|row| (row, cells)).filter(is_met));
            Ok(())
        });
        SUMMARY.rows(of, &mut each).expect("memory takes all rows");
        met
    }

    /// Whether the condition has the name or the purpose of a row.
    fn names(&self, cells: &[Cell]) -> bool {
        let columns = ["crawler", "purpose"].map(column_index);
        let mut words = self.0.words.iter();
        words.any(|word| {
            columns.contains(&word.column) && cells[word.column].text() == Some(&word.text)
        })
    }

    /// Who a row is about, and what the condition asks of it.
    fn row_text(&self, cells: &[Cell]) -> String {
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

/// The values of the crawlers of `registry` in `column`, as cells have them.
fn words(column: &str, registry: &Registry) -> BTreeSet<String> {
    let value = |crawler: &Crawler| match column {
        "crawler" => visible(crawler.name.as_bytes()),
        "operator" => visible(crawler.operator.as_bytes()),
        _ => visible(crawler.purpose.as_bytes()),
    };
    registry.iter().map(|(_, crawler)| value(crawler)).collect()
}

/// How cells of the column have `word`, where upper and lower case do not matter, and hidden
/// characters may be written as they are; `None` if no cell can hold it.
fn known_word(column: &str, word: &str, registry: &Registry) -> Option<String> {
    if column == "conduct" {
        let mut all = Conduct::ALL.map(Conduct::as_str).into_iter();
        return all.find(|known| known.eq_ignore_ascii_case(word)).map(str::to_owned);
    }
    if !OF_THE_REGISTRY.contains(&column) {
        return Some(word.to_owned());
    }
    let (known, spelt) = (words(column, registry), visible(word.as_bytes()));
    let is_alike = |known: &&String| {
        [word, &spelt].iter().any(|spelling| known.eq_ignore_ascii_case(spelling))
    };
    // One operator may be spelled in two ways.
    let same = known.get(word).or_else(|| known.get(&spelt));
    same.or_else(|| known.iter().find(is_alike)).cloned()
}

fn unknown_word(column: &str, word: &str, registry: &Registry) -> String {
    if column == "conduct" {
        let all = Conduct::ALL.map(Conduct::as_str).join(", ");
        return format!("unknown conduct '{word}'; did you mean {all}?");
    }
    let all = words(column, registry);
    let lower = word.to_ascii_lowercase();
    let begins = |known: &&String| known.to_ascii_lowercase().starts_with(&lower);
    let is_near = |known: &&String| {
        let known = known.to_ascii_lowercase();
        known.contains(&lower)
            || lower.contains(&known)
            || distance(word.as_bytes(), known.as_bytes(), slips_max(word)).is_some()
    };
    let mut near: Vec<&str> = match column {
        "purpose" if all.iter().any(|known| begins(&known)) => {
            all.iter().filter(begins).map(String::as_str).collect()
        }
        "purpose" => all.iter().map(String::as_str).collect(),
        _ => all.iter().filter(is_near).map(String::as_str).collect(),
    };
    if column != "purpose" {
        near.truncate(5);
    }
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
        check("purpose = 'ai-trainig'", "unknown purpose 'ai-trainig'; did you mean academic, ");
        check(
            "purpose = 'ai'",
            "unknown purpose 'ai'; did you mean ai-search, ai-training, ai-user?",
        );
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
        let mut cells = vec![Cell::Empty; SUMMARY.schema.columns.len()];
        assert!(condition.is_met(&cells));
        cells[column_index("operator")] = Cell::Text("OpenAI".to_owned());
        cells[column_index("identity")] = Cell::Text("verified".to_owned());
        assert!(!condition.is_met(&cells));
        cells[column_index("crawler")] = Cell::Text("GPTBot".to_owned());
        assert!(condition.is_met(&cells));
    }
}
