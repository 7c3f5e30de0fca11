//! Prints bodies to standard output: unchanged for programs, escaped for people.

use std::io::{self, IsTerminal, Write};

use crate::error::Result;
use crate::run::output::cannot_print;
use crate::table::escape::visible;

/// Writes `bytes` to standard output. On a terminal, control characters other than line ends are
/// escaped.
pub fn print_body(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = match stdout.is_terminal() {
        false => stdout.write_all(bytes),
        true => stdout.write_all(shown(bytes).as_bytes()),
    };
    written.and_then(|()| stdout.flush()).map_err(cannot_print)
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
