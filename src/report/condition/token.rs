//! The tokens of a condition, with their positions.

use super::expression::{ConditionError, Operator};

/// A token of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A keyword or the name of a column.
    Word(String),
    /// A number; a percentage is divided by 100.
    Number(f64),
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
    match moved.parse() {
        Ok(number) if is_plain => Ok((Token::Number(number), length + usize::from(is_percent))),
        _ => Err(format!("'{written}' is not a number; write 1000, 0.05 or 5%")),
    }
}
