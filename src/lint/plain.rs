//! Files whose lines are all written as usual, which a run need not look at closely.

use memchr::memchr_iter;

use crate::bytes::any;

/// The longest line that is still plain, in bytes.
const LINE_BYTES_MAX: usize = 1024;

/// Whether every line of `text` is blank, a comment, or a usual User-agent, Allow, Disallow or
/// Sitemap line: then no line has an error. Most files are like that.
pub(super) fn is_plain(text: &[u8]) -> bool {
    let mut has_group = false;
    let ends = memchr_iter(b'\n', text).chain([text.len()]);
    let mut start = 0;
    ends.map(|end| &text[std::mem::replace(&mut start, end + 1)..end]).all(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LINE_BYTES_MAX {
            return false;
        }
        if let Some(pattern) = value(line, b"Disallow").or_else(|| value(line, b"Allow")) {
            return has_group && is_plain_pattern(pattern);
        }
        if let Some(token) = value(line, b"User-agent") {
            has_group = true;
            return is_visible(token);
        }
        if let Some(seconds) = value(line, b"Crawl-delay") {
            return seconds.iter().all(u8::is_ascii_digit);
        }
        match value(line, b"Sitemap") {
            Some(url) => url.starts_with(b"http") && is_visible(url),
            None => line.is_empty() || (line[0] == b'#' && !line.contains(&0)),
        }
    })
}

/// What follows the `name` of a field, a colon and a space.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(name)?.strip_prefix(b": ")
}

fn is_plain_pattern(pattern: &[u8]) -> bool {
    let path = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let is_other = |byte: u8| !byte.is_ascii_graphic() | (byte == b'#') | (byte == b'$');
    matches!(path.first(), Some(b'/' | b'*')) && !any(path, is_other)
}

/// Printable ASCII without blanks and comments.
fn is_visible(text: &[u8]) -> bool {
    !text.is_empty() && !any(text, |byte| !byte.is_ascii_graphic() | (byte == b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::catalogue::Severity;
    use crate::lint::diagnostic::Diagnostics;
    use crate::lint::lines;
    use crate::random::Random;

    /// Lines of all kinds in any order: what is plain has no error.
    #[test]
    fn plain_files_have_no_errors() {
        let parts = [
            "User-agent: *",
            "User-agent: a b",
            "User-agent: ",
            "Disallow: /a*b$",
            "Disallow: a",
            "Disallow: /a b",
            "Disallow: /$a",
            "Allow: /",
            "Allow:/x",
            "Disallow: http://x/",
            "Disallow /x",
            "Disalow: /x",
            "Crawl-delay: 1",
            "Sitemap: https://x/y",
            "Sitemap: /y",
            "# text",
            "",
            "\0",
            "\u{feff}User-agent: *",
            "<html>",
            "Disallow: *",
            "User-agent: **",
        ];
        let (mut random, mut count) = (Random::new(), 0);
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..4 {
                text += parts[random.below(parts.len())];
                text += if random.below(2) == 0 { "\n" } else { "\r\n" };
            }
            if is_plain(text.as_bytes()) {
                count += 1;
                let mut errors = Diagnostics::of(Severity::Error);
                lines::diagnose(text.as_bytes(), &mut errors);
                assert_eq!(errors.kept(), [], "{text:?}");
            }
        }
        assert!(count > 100, "{count}");
    }
}
