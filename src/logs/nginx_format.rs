//! nginx's `log_format` directive.
//!
//! See the documentation of ngx_http_log_module. By default, `"`, `\` and bytes that are not
//! printable ASCII are written as `\xXX`, and an unset variable as `-`. `escape=json` escapes as in
//! JSON, `escape=none` does not escape; both leave an unset variable empty.

use crate::error::{Error, Result};

use super::escape::Escaping;
use super::template::{Slot, TemplateToken};

/// Reads `$a - "$b"`, `'$a' '$b'` or the whole `log_format name escape=json '$a';`.
///
/// # Errors
/// If a quote or a brace does not end.
pub(crate) fn parse(text: &str) -> Result<(Vec<TemplateToken>, Escaping)> {
    let mut escaping = Escaping::Backslash;
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("log_format") {
        rest = after.trim_start();
        let name = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest[name..].trim_start();
        if let Some(after) = rest.strip_prefix("escape=") {
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            escaping = match &after[..end] {
                "default" => Escaping::Backslash,
                "json" => Escaping::Json,
                "none" => Escaping::None,
                other => {
                    return Err(Error::usage(format!(
                        "log_format has escape={other}; it must be default, json or none"
                    )));
                }
            };
            rest = after[end..].trim_start();
        }
        return Ok((pieces(&unquoted(rest.trim_end().trim_end_matches(';'))?)?, escaping));
    }
    let text = if rest.starts_with('\'') {
        unquoted(rest.trim_end_matches(';'))?
    } else {
        rest.to_owned()
    };
    Ok((pieces(&text)?, escaping))
}

/// Joins the contents of the quotes of `'a' "b"`.
fn unquoted(text: &str) -> Result<String> {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, quote)) = chars.next() {
        if quote.is_whitespace() {
            continue;
        }
        if !matches!(quote, '\'' | '"') {
            // Without quotes, a parameter ends at white space.
            out.push(quote);
            while let Some((_, next)) = chars.next_if(|(_, next)| !next.is_whitespace()) {
                out.push(next);
            }
            continue;
        }
        loop {
            match chars.next() {
                Some((_, end)) if end == quote => break,
                Some((_, '\\')) => match chars.next() {
                    Some((_, escaped @ ('\'' | '"' | '\\'))) => out.push(escaped),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, other)) => out.extend(['\\', other]),
                    None => {}
                },
                Some((_, other)) => out.push(other),
                None => {
                    return Err(Error::usage(format!(
                        "the quote at byte {} of the log format is not closed: {}",
                        at + 1,
                        &text[at..]
                    )));
                }
            }
        }
    }
    Ok(out)
}

fn pieces(text: &str) -> Result<Vec<TemplateToken>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        pieces.push(TemplateToken::Literal(rest[..dollar].into()));
        let after = &rest[dollar + 1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, next) = match after.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').ok_or_else(|| {
                    Error::usage(format!("the brace of ${after} in the log format is not closed"))
                })?;
                (&inner[..end], &inner[end + 1..])
            }
            None => after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len())),
        };
        if name.is_empty() {
            pieces.push(TemplateToken::Literal(b"$".to_vec()));
        } else if name == "is_args" {
            // A `?` or nothing, which is part of the query.
            pieces.push(TemplateToken::Field(Slot::Query, "$is_args".to_owned()));
        } else {
            pieces.push(TemplateToken::Field(slot(name), format!("${name}")));
        }
        rest = next;
    }
    pieces.push(TemplateToken::Literal(rest.into()));
    Ok(pieces)
}

/// The field of a variable.
fn slot(name: &str) -> Slot {
    match name {
        "remote_addr" | "proxy_protocol_addr" => Slot::Client,
        "http_x_forwarded_for" | "proxy_add_x_forwarded_for" => Slot::ForwardedFor,
        "time_local" | "time_iso8601" | "msec" => Slot::Time,
        "request" => Slot::Request,
        "request_method" => Slot::Method,
        "request_uri" => Slot::Target,
        "uri" | "document_uri" => Slot::DecodedPath,
        "args" | "query_string" => Slot::Query,
        "status" => Slot::Status,
        "body_bytes_sent" | "bytes_sent" => Slot::Bytes,
        "http_user_agent" => Slot::UserAgent,
        "http_referer" => Slot::Referer,
        "host" | "http_host" => Slot::Host,
        "server_name" => Slot::ServerName,
        "server_port" => Slot::Port,
        "scheme" | "https" => Slot::Scheme,
        "http_signature_agent" => Slot::SignatureAgent,
        "http_signature_input" => Slot::SignatureInput,
        "http_signature" => Slot::Signature,
        _ => Slot::Ignored,
    }
}
