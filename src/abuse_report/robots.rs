//! The robots.txt files with the broken rules, as they are, and with these rules marked.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Digest;
use crate::report::escape::visible;

use super::subject::Subject;

/// The mark of a line that decided.
const MARK: &str = ">>>";

/// A version of robots.txt that decided.
pub struct DecidingText<'a> {
    /// Unchanged.
    pub bytes: &'a [u8],
    /// With the number of each line, and the marks.
    pub marked: String,
}

/// The versions with rules that the subject broke, by digest.
pub fn deciding_texts<'a>(subject: &Subject<'a>) -> BTreeMap<Digest, DecidingText<'a>> {
    let mut lines: BTreeMap<Digest, BTreeSet<u32>> = BTreeMap::new();
    for broken in subject.broken() {
        lines.entry(broken.rule.digest).or_default().insert(broken.rule.line);
    }
    let mut texts = BTreeMap::new();
    for (_, used) in &subject.audit.robots {
        let digest = used.version.digest;
        if let (Some(text), Some(lines)) = (used.text(), lines.get(&digest)) {
            let marked = marked(&text.body, lines);
            texts.insert(digest, DecidingText { bytes: &text.body, marked });
        }
    }
    texts
}

/// Lines end as for the parser: at LF, CR LF or CR.
fn marked(bytes: &[u8], lines: &BTreeSet<u32>) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    let mut number = 1;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let line = &rest[..end.unwrap_or(rest.len())];
        let mark = if lines.contains(&number) { MARK } else { "" };
        text += &format!("{mark:3} {number:4}  {}\n", visible(line));
        let Some(end) = end else { return text };
        let is_pair = rest[end..].starts_with(b"\r\n");
        rest = &rest[end + if is_pair { 2 } else { 1 }..];
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_as_the_parser_counts_them() {
        let found = marked(b"a\r\nb\rc\n\x1b[1m\n", &BTreeSet::from([3]));
        assert_eq!(
            found,
            "       1  a\n       2  b\n>>>    3  c\n       4  \\x1B[1m\n       5  \n"
        );
    }
}
