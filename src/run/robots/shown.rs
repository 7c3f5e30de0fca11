//! Bodies and snapshots as text: bodies unchanged for programs, escaped for people.

use std::io::{IsTerminal, Write};

use crate::archive::snapshot::HistoryEntry;
use crate::error::Result;
use crate::run::{console::Console, output::cannot_print};
use crate::table::escape::visible;

/// A snapshot as one line.
pub(crate) fn described(entry: &HistoryEntry) -> String {
    let fetch = &entry.fetch;
    let mut text = format!("fetched {}: {}", fetch.fetched_at, fetch.outcome);
    for hop in &fetch.chain {
        text.push_str(&format!(", after {} to {}", hop.status, hop.location));
    }
    if let Some(seconds) = fetch.max_age_seconds {
        text.push_str(&format!(", max-age {seconds} s"));
    }
    if let Some(body) = entry.body {
        text.push_str(&format!(", {} bytes, {}", body.size_bytes, body.digest));
    }
    text.push_str(&format!(", from {}", entry.source));
    text
}

/// Writes `bytes` to standard output. On a terminal, control characters other than line ends are
/// escaped.
pub(crate) fn print_body(bytes: &[u8], console: &dyn Console) -> Result<()> {
    let mut stdout = console.stdout()?;
    let written = match stdout.is_terminal() {
        false => stdout.write_all(bytes),
        true => stdout.write_all(shown(bytes).as_bytes()),
    };
    written.map_err(cannot_print)
}

fn shown(bytes: &[u8]) -> String {
    let line = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        line.split(|byte| *byte == b'\t').map(visible).collect::<Vec<_>>().join("\t")
    };
    let mut text = bytes.split(|byte| *byte == b'\n').map(line).collect::<Vec<_>>().join("\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_text() {
        assert_eq!(shown(b"a\tb\r\n\x1b[2J\xff"), "a\tb\n\\x1B[2J\\xFF\n");
        assert_eq!(shown(b""), "");
        assert_eq!(shown(b"a\n"), "a\n");
    }
}
