//! Conditions over the columns of a table, evaluated row by row.
//!
//! ```text
//! condition   = any [ "where" any ]
//! any         = all { "or" all }
//! all         = part { "and" part }
//! part        = "not" part | "(" any ")" | comparison
//! comparison  = column operator ( number | text | column )
//! operator    = "=" | "!=" | "<" | "<=" | ">" | ">="
//! number      = digits [ "." digits ] [ "%" ]
//! text        = "'" characters "'" | '"' characters '"'     a quote inside is written twice
//! ```
//!
//! `where` is an `and` with the lowest precedence. Keywords are read in any case; text is compared
//! exactly, after the caller has given names their spelling. A comparison with an empty cell is false, except `= ''` and `!= ''`.

pub mod expression;
mod parse;

use crate::table::schema::{Cell, TableSchema};

use expression::{Condition, ConditionError};

impl Condition {
    /// Parses a condition over the columns of `table`.
    ///
    /// # Errors
    /// If it cannot be parsed; the error says what was expected and where.
    pub fn parse(text: &str, table: &TableSchema) -> Result<Condition, ConditionError> {
        parse::parse(text, table)
    }

    /// Whether the row with these cells meets the condition.
    pub fn is_met(&self, cells: &[Cell]) -> bool {
        self.expression.is_met(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::expression::Kind;
    use super::*;
    use crate::report::tables::crawlers::SUMMARY;
    use crate::table::schema::Column;
    use crate::time::Zone;

    const CELLS: &str = "https://example.com,GPTBot,OpenAI,ai-training,follows,unverified,\
        10,1,6,3,0,0,0,0,0,0,0.333333,2000,2026-03-01T00:00:10Z,2026-03-02T00:00:00Z,,0";

    fn cell((column, text): (&Column, &str)) -> Cell {
        match expression::kind(column) {
            _ if text.is_empty() => Cell::Empty,
            Kind::Number => Cell::Count(text.parse().unwrap()),
            Kind::Fraction => Cell::Decimal { value: text.parse().unwrap(), decimals: 6 },
            Kind::Time => Cell::Time(Zone::UTC.parse(text).unwrap()),
            Kind::Text => Cell::Text(text.to_owned()),
        }
    }

    #[track_caller]
    fn check(condition: &str, expected: bool) {
        let columns = SUMMARY.schema.columns.iter();
        let cells: Vec<Cell> = columns.zip(CELLS.split(',')).map(cell).collect();
        let parsed = Condition::parse(condition, &SUMMARY.schema);
        let parsed = parsed.unwrap_or_else(|err| panic!("{condition}: {err:?}"));
        assert_eq!(parsed.is_met(&cells), expected, "{condition}");
    }

    #[test]
    fn numbers_percentages_text_and_times_are_compared() {
        check("violations > 0", true);
        check("violations>=3", true);
        check("violations < 3", false);
        check("violations <= 2.9", false);
        check("requests = 10.0", true);
        check("violation_rate > 33.3%", true);
        check("violation_rate = 33.3333%", true);
        check("violation_rate > 34%", false);
        check("violation_rate > 0.3", true);
        check("purpose = 'ai-training'", true);
        check("purpose = \"ai-training\"", true);
        check("purpose != 'search'", true);
        check("crawler = 'gptbot'", false);
        check("crawler = 'it''s'", false);
        check("first_seen_utc >= '2026-03-01'", true);
        check("last_seen_utc < '2026-03-02'", false);
        check("first_seen_utc = '2026-03-01'", true);
        check("first_seen_utc <= '2026-03-01'", true);
        check("first_seen_utc > '2026-03-01'", false);
        check("first_seen_utc != '2026-03-01'", false);
        check("first_seen_utc > '2026-02-28'", true);
        check("first_seen_utc = '2026-03-01T01:00:10+01:00'", true);
        check("first_seen_utc < '2026-03-01T00:00:10Z'", false);
        check("first_seen_utc < '2026-03-01T00:00:11Z'", true);
        check("first_seen_utc = ''", false);
        check("violations < allowed", true);
        check("first_seen_utc < last_seen_utc", true);
    }

    /// The first request is of 2026-03-01T00:00:10Z, the last of 2026-03-02T00:00:00Z.
    #[test]
    fn the_beginning_of_a_time_is_all_of_it() {
        check("first_seen_utc = '2026'", true);
        check("first_seen_utc >= '2026'", true);
        check("first_seen_utc > '2026'", false);
        check("first_seen_utc > '2025'", true);
        check("first_seen_utc < '2027'", true);
        check("first_seen_utc <= '2025'", false);
        check("first_seen_utc = '2026-03'", true);
        check("first_seen_utc != '2026-03'", false);
        check("first_seen_utc > '2026-02'", true);
        check("first_seen_utc <= '2026-02'", false);
        check("first_seen_utc < '2026-04'", true);
        check("first_seen_utc >= '2026-04'", false);
        check("first_seen_utc = '2026-03-01T00'", true);
        check("first_seen_utc = '2026-03-01T00:00'", true);
        check("first_seen_utc = '2026-03-01T01:00+01:00'", true);
        check("first_seen_utc > '2026-03-01T00:00'", false);
        check("first_seen_utc = '2026-03-01T00:00:00'", false);
        check("first_seen_utc > '2026-03-01T00:00:00Z'", true);
        check("last_seen_utc = '2026-03-02T00:00:00Z'", true);
        check("last_seen_utc > '2026-03-01T23'", true);
        check("first_seen_utc < '9999'", true);
        check("first_seen_utc > '0000'", true);
    }

    /// Months and years end where the calendar ends them.
    #[test]
    fn months_and_years_have_their_days() {
        let days = |text: &str| {
            let time = expression::time(text).unwrap();
            (time.end - time.start) / crate::time::DAY_SECONDS
        };
        let found = ["2026-02", "2024-02", "2026-04", "2026-12", "2026", "2024", "2026-03-01"];
        assert_eq!(found.map(days), [28, 29, 30, 31, 365, 366, 1]);
        for text in ["", "20", "2026-", "2026-1", "2026-13", "202603", "2026-02-30", "-2026", "x"] {
            assert_eq!(expression::time(text), None, "{text}");
        }
    }

    #[test]
    fn an_empty_cell_compares_with_nothing() {
        check("not_bound_reason = 'declined'", false);
        check("not_bound_reason != 'declined'", false);
        check("not_bound_reason = ''", true);
        check("not_bound_reason != ''", false);
        check("purpose != ''", true);
    }

    #[test]
    fn where_binds_last_and_then_or_and_not() {
        check("violations > 0 where purpose = 'ai-training' AND identity = 'unverified'", true);
        check("violations > 0 WHERE identity = 'verified'", false);
        check("violations > 0 or requests > 100 where identity = 'verified'", false);
        check("requests > 100 and violations > 0 or violations > 0", true);
        check("violations > 0 or violations > 0 and requests > 100", true);
        check("(violations > 0 or violations > 0) and requests > 100", false);
        check("not requests > 100 and violations > 0", true);
        check("not (requests > 5 and violations > 0)", false);
        check("not not requests > 5", true);
    }

    #[test]
    fn columns_and_words_are_known() {
        let text = "violations > grace where purpose = 'seo' or purpose = 'x'";
        let condition = Condition::parse(text, &SUMMARY.schema).unwrap();
        let names: Vec<&str> =
            condition.columns.iter().map(|&column| SUMMARY.schema.columns[column].name).collect();
        assert_eq!(names, ["violations", "grace", "purpose"]);
        let words: Vec<&str> = condition.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(words, ["seo", "x"]);
    }
}
