//! Apache's `LogFormat` directive.
//!
//! See the documentation of mod_log_config: `%`, modifiers (`!400,501`, `<`, `>`), optionally
//! `{name}`, and a letter. `%U` is the decoded path without the query; `%q` is the query with its
//! `?`, or nothing.

use crate::error::{Error, Result};

use super::template::{Slot, TemplateToken};
use super::time::can_read;

/// Reads `%h %l "%r"`, the same in quotes with `\"` inside, or the whole `LogFormat "%h" name`.
///
/// # Errors
/// If a directive does not end, or a time pattern is not supported.
pub(crate) fn parse(text: &str) -> Result<Vec<TemplateToken>> {
    let text = text.strip_prefix("LogFormat").map_or(text, str::trim_start);
    let text = unquoted(text)?;
    let mut pieces = Vec::new();
    let mut rest = text.as_str();
    while let Some(percent) = rest.find('%') {
        pieces.push(TemplateToken::Literal(rest[..percent].into()));
        let (directive, next) = directive(&rest[percent..])?;
        pieces.extend(directive);
        rest = next;
    }
    pieces.push(TemplateToken::Literal(rest.into()));
    join_times(pieces)
}

/// Removes quotes around the whole text with what follows them, and undoes escapes.
fn unquoted(text: &str) -> Result<String> {
    let is_quoted = text.starts_with('"')
        && (text.contains("\\\"") || text.bytes().filter(|&byte| byte == b'"').count() == 2);
    let mut out = String::new();
    let mut chars = if is_quoted { text[1..].chars() } else { text.chars() };
    loop {
        match chars.next() {
            Some('"') if is_quoted => return Ok(out),
            Some('\\') => match chars.next() {
                Some(escaped @ ('"' | '\\')) => out.push(escaped),
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            Some(other) => out.push(other),
            None if is_quoted => {
                return Err(Error::usage(format!(
                    "a quote in the log format is not closed: {text}"
                )));
            }
            None => return Ok(out),
        }
    }
}

/// The tokens of the directive at the start of `text`, and the rest.
fn directive(text: &str) -> Result<(Vec<TemplateToken>, &str)> {
    let broken = || {
        let shown: String = text.chars().take(30).collect();
        Error::usage(format!(
            "'{shown}' in the log format is not a directive of Apache's \
                              LogFormat"
        ))
    };
    let modifiers = text[1..]
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '!' | ',' | '<' | '>')))
        .ok_or_else(broken)?;
    let after = &text[1 + modifiers..];
    let (argument, after) = match after.strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}').ok_or_else(broken)?;
            (Some(&inner[..end]), &inner[end + 1..])
        }
        None => (None, after),
    };
    // `%^FB`, `%{x}^ti`, `%{x}^to` have three letters.
    let length = match after.chars().next().ok_or_else(broken)? {
        '^' => 3,
        letter => letter.len_utf8(),
    };
    let letter = after.get(..length).ok_or_else(broken)?;
    let rest = &after[length..];
    let name = &text[..text.len() - rest.len()];
    if letter == "%" {
        return Ok((vec![TemplateToken::Literal(b"%".to_vec())], rest));
    }
    if !letter.starts_with(|c: char| c.is_ascii_alphabetic() || c == '^') {
        return Err(broken());
    }
    let field = |slot| TemplateToken::Field(slot, name.to_owned());
    Ok((
        match (letter, argument) {
            ("t", None) => {
                let bracket = |text: &[u8]| TemplateToken::Literal(text.to_vec());
                vec![bracket(b"["), field(Slot::Time), bracket(b"]")]
            }
            ("t", Some(form)) => vec![field(time(form))],
            _ => vec![field(slot(letter, argument))],
        },
        rest,
    ))
}

/// The field of a directive other than a time.
fn slot(letter: &str, argument: Option<&str>) -> Slot {
    let name = argument.unwrap_or_default().to_ascii_lowercase();
    match (letter, name.as_str()) {
        ("h" | "a", "" | "c") => Slot::Client,
        ("i", "x-forwarded-for") => Slot::ForwardedFor,
        ("i", "user-agent") => Slot::UserAgent,
        ("i", "referer") => Slot::Referer,
        ("i", "host") => Slot::Host,
        ("i", "signature-agent") => Slot::SignatureAgent,
        ("i", "signature-input") => Slot::SignatureInput,
        ("i", "signature") => Slot::Signature,
        ("r", _) => Slot::Request,
        ("m", _) => Slot::Method,
        ("U", _) => Slot::DecodedPath,
        ("q", _) => Slot::Query,
        ("s", _) => Slot::Status,
        ("b" | "B" | "O", _) => Slot::Bytes,
        ("v" | "V", _) => Slot::ServerName,
        ("p", "" | "canonical" | "local") => Slot::Port,
        ("e" | "x", "request_scheme" | "https") => Slot::Scheme,
        _ => Slot::Ignored,
    }
}

/// The field of `%{form}t`.
fn time(form: &str) -> Slot {
    let form = form.strip_prefix("begin:").or(form.strip_prefix("end:")).unwrap_or(form);
    match form {
        "sec" | "msec" | "usec" => Slot::Time,
        "msec_frac" | "usec_frac" => Slot::TimeOf("%f".into()),
        "" => Slot::Time,
        form => Slot::TimeOf(form.into()),
    }
}

/// Joins the parts of one time: `%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t`.
fn join_times(pieces: Vec<TemplateToken>) -> Result<Vec<TemplateToken>> {
    let mut joined: Vec<TemplateToken> = Vec::new();
    let mut unread = None;
    let mut pieces =
        pieces.into_iter().filter(|piece| *piece != TemplateToken::Literal(Vec::new())).peekable();
    while let Some(piece) = pieces.next() {
        let TemplateToken::Field(Slot::TimeOf(first), name) = piece else {
            joined.push(piece);
            continue;
        };
        let (mut pattern, mut held) = (first.into_string(), None);
        loop {
            match pieces.peek() {
                Some(TemplateToken::Literal(literal)) if held.is_none() && literal.len() < 8 => {
                    held = Some(literal.clone());
                }
                Some(TemplateToken::Field(Slot::TimeOf(more), _)) => {
                    let literal = held.take().unwrap_or_default();
                    pattern.push_str(&String::from_utf8_lossy(&literal).replace('%', "%%"));
                    pattern.push_str(more);
                }
                _ => break,
            }
            pieces.next();
        }
        if can_read(&pattern) {
            joined.push(TemplateToken::Field(Slot::TimeOf(pattern.into()), name));
        } else {
            joined.push(TemplateToken::Field(Slot::Ignored, name.clone()));
            unread.get_or_insert(name);
        }
        joined.extend(held.map(TemplateToken::Literal));
    }
    let is_time = |piece: &TemplateToken| {
        matches!(piece, TemplateToken::Field(Slot::Time | Slot::TimeOf(_), _))
    };
    match unread {
        Some(name) if !joined.iter().any(is_time) => Err(Error::usage(format!(
            "the time {name} of the log format is not complete: it needs day, month, year and \
             time of day, as in %{{%d/%b/%Y:%H:%M:%S %z}}t"
        ))),
        _ => Ok(joined),
    }
}
