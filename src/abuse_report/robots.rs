//! The robots.txt files with the broken rules, as they are, and with these rules marked.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::tally::header::RobotsVersion;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::table::escape::visible;

use super::subject::Subject;

/// The mark of a line that decided.
const MARK: &str = ">>>";

/// A version of robots.txt that decided.
pub(crate) struct DecidingText<'a> {
    /// Unchanged.
    pub bytes: &'a [u8],
    /// With the number of each line, and the marks.
    pub marked: String,
}

/// The versions with rules that the subject broke, by digest.
///
/// # Errors
/// If the bytes of one are not those of its digest.
pub(crate) fn deciding_texts<'a>(
    subject: &Subject<'a>,
) -> Result<BTreeMap<Digest, DecidingText<'a>>> {
    let mut lines: BTreeMap<Digest, BTreeSet<u32>> = BTreeMap::new();
    for broken in subject.broken() {
        lines.entry(broken.rule.digest).or_default().insert(broken.rule.line);
    }
    let mut texts = BTreeMap::new();
    for (_, used) in &subject.audit.robots {
        let digest = used.version.digest;
        if let (Some(text), Some(lines)) = (used.text(), lines.get(&digest)) {
            check(&used.version, &text.body)?;
            let marked = marked(&text.body, lines);
            texts.insert(digest, DecidingText { bytes: &text.body, marked });
        }
    }
    Ok(texts)
}

/// Checks that `bytes` of `version` have its digest. Earlier versions of the program did not check
/// what they read from an archive. The digest of a file that is longer than what counts is that of
/// more bytes than are kept.
fn check(version: &RobotsVersion, bytes: &[u8]) -> Result<()> {
    if bytes.len() as u64 != version.size_bytes || Digest::of(bytes) == version.digest {
        return Ok(());
    }
    Err(Error::input(format!(
        "a robots.txt in the report does not have its digest, {}; the archive was damaged when the \
         logs were audited, or the report was changed; restore the archive and audit the logs again",
        version.digest
    )))
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
    fn changed_bytes_are_not_evidence() {
        let bytes = b"User-agent: *\nDisallow: /private\n";
        let version = RobotsVersion {
            digest: Digest::of(bytes),
            size_bytes: bytes.len() as u64,
            parsed_bytes: bytes.len() as u64,
            foreign: None,
            body: None,
            product_tokens: Vec::new(),
        };
        assert!(check(&version, bytes).is_ok());
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            let refused = check(&version, &changed).unwrap_err().to_string();
            assert!(refused.contains(&version.digest.to_string()), "{refused}");
        }
        // The digest of a long file is that of one byte more than counts.
        let long = RobotsVersion { size_bytes: 512_001, parsed_bytes: 512_000, ..version };
        assert!(check(&long, &[b'x'; 512_000]).is_ok());
    }

    #[test]
    fn lines_are_numbered_as_the_parser_counts_them() {
        let found = marked(b"a\r\nb\rc\n\x1b[1m\n", &BTreeSet::from([3]));
        assert_eq!(
            found,
            "       1  a\n       2  b\n>>>    3  c\n       4  \\x1B[1m\n       5  \n"
        );
    }
}
