//! The log format that the user names or copies from a server configuration.

use crate::error::{Error, Result};

use super::{apache_format, detect::named, escape::Escaping, format::Format, hints::Hints};
use super::{nginx_format, parser::LineParser, registry::ENTRIES, template::compile};

/// A format by its name, by an nginx `log_format`, or by an Apache `LogFormat`.
///
/// # Errors
/// If the name is unknown, or the format cannot be read or lacks needed fields.
pub fn parse(text: &str, hints: &Hints) -> Result<Format> {
    let text = text.trim();
    if let Some(format) = named(text, hints) {
        return Ok(format);
    }
    let is_nginx = text.starts_with("log_format") || has_variable(text);
    let (pieces, escaping) = if is_nginx {
        nginx_format::parse(text)?
    } else if text.contains('%') {
        (apache_format::parse(text)?, Escaping::Backslash)
    } else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        return Err(Error::usage(format!(
            "unknown log format '{text}'; the formats are {}; or write the format string of your \
             server: '$remote_addr - [$time_local] ...' or '%h %l %u %t ...'",
            names.join(", ")
        )));
    };
    let template = compile(pieces, escaping)?;
    Ok(Format::new("own format", LineParser::Template(template.into()), hints.zone.clone()))
}

/// `$name` or `${name}`.
fn has_variable(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| {
        pair[0] == b'$' && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'{' | b'_'))
    })
}
