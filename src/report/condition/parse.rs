//! The parser of conditions, and their tokens with positions.

use crate::lint::known_tokens::{distance, slips_max};
use crate::table::schema::{Column, TableSchema};

use super::expression::{
    Condition, ConditionError, Expression, Kind, Operand, Operator, Word, kind, time, words_of,
};

/// The deepest nesting of parentheses and `not`. It prevents a stack overflow.
const DEPTH_MAX: usize = 64;

const KEYWORDS: [&str; 4] = ["where", "and", "or", "not"];

/// Reads all of `text`.
pub(crate) fn parse(text: &str, table: &TableSchema) -> Result<Condition, ConditionError> {
    let end = text.chars().count();
    let (columns, words) = (Vec::new(), Vec::new());
    let mut parser =
        Parser { tokens: tokens(text)?, next: 0, end, depth: 0, table, columns, words };
    let mut expression = parser.any()?;
    if parser.takes_word("where") {
        expression = Expression::All(vec![expression, parser.any()?]);
    }
    match parser.tokens.get(parser.next) {
        None => {
            let Parser { columns, words, .. } = parser;
            Ok(Condition { text: text.to_owned(), columns, words, expression })
        }
        Some(_) => Err(parser.expected("'and', 'or', 'where' or the end")),
    }
}

struct Parser<'a> {
    tokens: Vec<LocatedToken>,
    next: usize,
    /// The number of characters.
    end: usize,
    depth: usize,
    table: &'a TableSchema,
    columns: Vec<usize>,
    words: Vec<Word>,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expression, ConditionError> {
        let mut parts = vec![self.all()?];
        while self.takes_word("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn all(&mut self) -> Result<Expression, ConditionError> {
        let mut parts = vec![self.part()?];
        while self.takes_word("and") {
            parts.push(self.part()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn part(&mut self) -> Result<Expression, ConditionError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error(format!("more than {DEPTH_MAX} nested parts; write it shorter")));
        }
        self.depth += 1;
        let part = if self.takes_word("not") {
            Expression::Not(Box::new(self.part()?))
        } else if self.takes(&Token::Open) {
            let inner = self.any()?;
            if !self.takes(&Token::Close) {
                return Err(self.expected("'and', 'or' or ')'"));
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(part)
    }

    fn comparison(&mut self) -> Result<Expression, ConditionError> {
        let column = self.column("a column, 'not' or '('")?;
        let Some(Token::Compare(operator)) = self.peek().cloned() else {
            return Err(self.expected("=, !=, <, <=, > or >="));
        };
        let operator_index = self.next;
        self.next += 1;
        let kind = kind(&self.table.columns[column]);
        let with = self.operand(column)?;
        let is_ordered = !matches!(operator, Operator::Equal | Operator::NotEqual);
        if kind == Kind::Text && is_ordered {
            let name = self.table.columns[column].name;
            let why = format!("{name} is text; compare it with = or !=");
            return Err(ConditionError { at: self.tokens[operator_index].at, why });
        }
        Ok(Expression::Compare { column, operator, with })
    }

    /// Parses the operand that `column` is compared with.
    fn operand(&mut self, column: usize) -> Result<Operand, ConditionError> {
        let Column { name, .. } = self.table.columns[column];
        let kind = kind(&self.table.columns[column]);
        let wanted = match kind {
            Kind::Number => "a number or a column",
            Kind::Fraction => "a number, a percentage or a column",
            Kind::Time => "a time in quotes, such as '2026-01-31', or a column",
            Kind::Text => "text in quotes, such as 'seo', or a column",
        };
        let operand = match (self.peek().cloned(), kind) {
            (Some(Token::Number(number)), Kind::Number) => Operand::Number(number),
            (Some(Token::Number(number) | Token::Percentage(number)), Kind::Fraction) => {
                if number > 1.0 {
                    let why = format!("{name} is between 0 and 1; write 0.05, or 5%");
                    return Err(self.error(why));
                }
                Operand::Number(number)
            }
            (Some(Token::Text(text)), kind)
                if matches!(kind, Kind::Text | Kind::Time) || text.is_empty() =>
            {
                self.check_word(column, &text)?;
                self.words.push(Word { column, text: text.clone() });
                match time(&text) {
                    _ if kind != Kind::Time || text.is_empty() => Operand::Text(text),
                    Some(time) => Operand::Time(time),
                    None => {
                        return Err(self.error(format!(
                            "'{text}' is not a time; write a day such as '2026-01-31', a month such \
                             as '2026-01', or a time such as '2026-01-31T12:00:00Z'"
                        )));
                    }
                }
            }
            (Some(Token::Word(word)), _) => {
                let index = self.next;
                if kind == Kind::Text && self.index(&word).is_none() {
                    return Err(self.error(format!(
                        "write text in quotes: {name} = '{word}'; without quotes it is a column, and \
                         no column is called {word}"
                    )));
                }
                let other = self.column(wanted)?;
                if self::kind(&self.table.columns[other]) != kind {
                    let why = format!("{name} cannot be compared with that; expected {wanted}");
                    return Err(ConditionError { at: self.tokens[index].at, why });
                }
                return Ok(Operand::Column(other));
            }
            _ => return Err(self.expected(&format!("{wanted}, to compare {name} with"))),
        };
        self.next += 1;
        Ok(operand)
    }

    fn check_word(&self, column: usize, text: &str) -> Result<(), ConditionError> {
        let Some(words) = words_of(&self.table.columns[column]) else { return Ok(()) };
        if text.is_empty() || words.contains(&text) {
            return Ok(());
        }
        let name = self.table.columns[column].name;
        Err(self.error(format!("{name} is never '{text}'; its values are {}", words.join(", "))))
    }

    /// Parses the name of a column.
    fn column(&mut self, expected: &str) -> Result<usize, ConditionError> {
        let is_keyword = |word: &str| KEYWORDS.iter().any(|known| word.eq_ignore_ascii_case(known));
        let word = match self.peek() {
            Some(Token::Word(word)) if !is_keyword(word) => word,
            _ => return Err(self.expected(expected)),
        };
        let Some(column) = self.index(word) else {
            let names = || self.table.columns.iter().map(|column| column.name);
            let is_near =
                |name: &&str| distance(word.as_bytes(), name.as_bytes(), slips_max(word)).is_some();
            let rest = match names().filter(is_near).collect::<Vec<_>>().as_slice() {
                [] => format!(
                    "expected {expected}; the columns are {}",
                    names().collect::<Vec<_>>().join(", ")
                ),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            return Err(self.error(format!("unknown column '{word}'; {rest}")));
        };
        self.next += 1;
        if !self.columns.contains(&column) {
            self.columns.push(column);
        }
        Ok(column)
    }

    /// The index of the column `name`, in any case.
    fn index(&self, name: &str) -> Option<usize> {
        self.table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|located| &located.token)
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_it = self.peek() == Some(token);
        self.next += usize::from(is_it);
        is_it
    }

    fn takes_word(&mut self, keyword: &str) -> bool {
        let is_it =
            matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.next += usize::from(is_it);
        is_it
    }

    fn expected(&self, what: &str) -> ConditionError {
        let found = if self.peek().is_some() { "" } else { ", but it ends here" };
        self.error(format!("expected {what}{found}"))
    }

    fn error(&self, why: String) -> ConditionError {
        ConditionError {
            at: self.tokens.get(self.next).map_or(self.end, |located| located.at),
            why,
        }
    }
}

/// A token of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A keyword or the name of a column.
    Word(String),
    /// A number.
    Number(f64),
    /// A percentage, divided by 100.
    Percentage(f64),
    /// The text between quotes.
    Text(String),
    /// A comparison operator.
    Compare(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
}

/// A token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LocatedToken {
    /// The token.
    pub token: Token,
    /// The number of characters before it.
    pub at: usize,
}

/// Splits `text` into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<LocatedToken>, ConditionError> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = characters.get(at) {
        if first.is_whitespace() {
            at += 1;
            continue;
        }
        let (token, length) = token(&characters[at..]).map_err(|why| ConditionError { at, why })?;
        found.push(LocatedToken { token, at });
        at += length;
    }
    Ok(found)
}

/// The token at the start of `rest`, and its length in characters.
fn token(rest: &[char]) -> Result<(Token, usize), String> {
    match (rest[0], rest.get(1)) {
        ('(', _) => Ok((Token::Open, 1)),
        (')', _) => Ok((Token::Close, 1)),
        ('=', Some('=')) => Ok((Token::Compare(Operator::Equal), 2)),
        ('=', _) => Ok((Token::Compare(Operator::Equal), 1)),
        ('!', Some('=')) | ('<', Some('>')) => Ok((Token::Compare(Operator::NotEqual), 2)),
        ('<', Some('=')) => Ok((Token::Compare(Operator::AtMost), 2)),
        ('<', _) => Ok((Token::Compare(Operator::Less), 1)),
        ('>', Some('=')) => Ok((Token::Compare(Operator::AtLeast), 2)),
        ('>', _) => Ok((Token::Compare(Operator::Greater), 1)),
        (quote @ ('\'' | '"'), _) => quoted(rest, quote),
        (first, _) if first.is_ascii_digit() => number(rest),
        (first, _) if is_of_word(first) => {
            let word: String = rest.iter().take_while(|&&next| is_of_word(next)).collect();
            let length = word.chars().count();
            Ok((Token::Word(word), length))
        }
        (first, _) => Err(format!(
            "'{}' is not valid here; write text in quotes, as in purpose = 'seo'",
            first.escape_default()
        )),
    }
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}

fn quoted(rest: &[char], quote: char) -> Result<(Token, usize), String> {
    let (mut text, mut at) = (String::new(), 1);
    while let Some(&next) = rest.get(at) {
        let is_quote = next == quote;
        if is_quote && rest.get(at + 1) != Some(&quote) {
            return Ok((Token::Text(text), at + 1));
        }
        text.push(next);
        at += if is_quote { 2 } else { 1 };
    }
    Err(format!("this quote is not closed; add {quote}"))
}

fn number(rest: &[char]) -> Result<(Token, usize), String> {
    let is_of_number = |next: &&char| next.is_alphanumeric() || matches!(next, '.' | '_' | ',');
    let written: String = rest.iter().take_while(is_of_number).collect();
    let length = written.chars().count();
    let is_percent = rest.get(length) == Some(&'%');
    let is_plain =
        written.chars().all(|next| next.is_ascii_digit() || next == '.') && !written.ends_with('.');
    // Moving the decimal point is exact; a division by 100 is not.
    let moved = if is_percent { format!("{written}e-2") } else { written.clone() };
    let token = if is_percent { Token::Percentage } else { Token::Number };
    match moved.parse() {
        Ok(number) if is_plain => Ok((token(number), length + usize::from(is_percent))),
        _ => Err(format!("'{written}' is not a number; write 1000, 0.05 or 5%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tables::crawlers::SUMMARY;

    #[track_caller]
    fn check(text: &str, at: usize, why: &str) {
        let error = parse(text, &SUMMARY.schema).unwrap_err();
        assert!(error.why.contains(why), "{text}: {}", error.why);
        assert_eq!(error.at, at, "{text}: {}", error.why);
    }

    #[test]
    fn errors_name_their_position_and_what_was_expected() {
        check("", 0, "expected a column, 'not' or '(', but it ends here");
        check("violation > 0", 0, "unknown column 'violation'; did you mean violations?");
        check("last_seen > '2026'", 0, "unknown column 'last_seen'; expected a column");
        check("last_seen > '2026'", 0, "the columns are origin, crawler, operator, purpose");
        check("violations", 10, "expected =, !=, <, <=, > or >=, but it ends here");
        check("violations 5", 11, "expected =, !=");
        check("violations >", 12, "expected a number or a column, to compare violations with");
        check("violations > 5%", 13, "expected a number or a column, to compare violations with");
        check("violation_rate >", 16, "expected a number, a percentage or a column, to compare");
        check("violation_rate > 5", 17, "violation_rate is between 0 and 1; write 0.05, or 5%");
        check("violation_rate > 500%", 17, "violation_rate is between 0 and 1; write 0.05, or 5%");
        check("violation_rate > requests", 17, "violation_rate cannot be compared with that");
        check("violations > 'a'", 13, "expected a number");
        check("violations > 1,000", 13, "'1,000' is not a number; write 1000");
        check("violations > 1.", 13, "'1.' is not a number");
        check("violations > 1e400", 13, "'1e400' is not a number");
        check(
            "purpose = ai-training",
            10,
            "write text in quotes: purpose = 'ai-training'; without",
        );
        check("crawler = GPTBot", 10, "write text in quotes: crawler = 'GPTBot'");
        check("purpose = 5", 10, "expected text in quotes, such as 'seo', or a column");
        check("purpose > 'a'", 8, "purpose is text; compare it with = or !=");
        check("purpose = violations", 10, "purpose cannot be compared with that");
        check(
            "identity = 'verifed'",
            11,
            "its values are verified, spoofed, unverified, not-on-list",
        );
        check("first_seen_utc > 'monday'", 17, "'monday' is not a time; write a day such as");
        check("first_seen_utc > 5", 17, "expected a time in quotes, such as '2026-01-31'");
        check("crawler = 'GPTBot", 10, "this quote is not closed; add '");
        check("violations > 0 requests > 5", 15, "expected 'and', 'or', 'where' or the end");
        check("violations > 0 where", 20, "expected a column");
        check("a where b where c", 0, "unknown column 'a'");
        check("violations > 0 where requests > 0 where requests > 0", 34, "or the end");
        check("(violations > 0", 15, "expected 'and', 'or' or ')', but it ends here");
        check("violations > 0)", 14, "or the end");
        check("violations > 0 and and", 19, "expected a column, 'not' or '('");
        check("größe ; 5", 6, "';' is not valid here");
        check(&"(".repeat(100_000), DEPTH_MAX, "more than 64 nested parts");
        check(&"not ".repeat(100), 4 * DEPTH_MAX, "more than 64 nested parts");
    }
}
