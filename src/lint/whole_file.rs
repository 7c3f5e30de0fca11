//! The file as a whole: whether it is text, and how much of it counts.

use memchr::memmem;

use crate::numbers::counted;
use crate::robots::foreign::{Foreign, is_page};
use crate::robots::lines::{self, Content, FieldKind, RobotsTxtLine};
use crate::robots::parse::{BODY_BYTES_MAX, cut};

use super::{catalogue::Code, diagnostic::Diagnostics};

/// Content that is not a robots.txt, by its beginning.
const FOREIGN: [(&[u8], &str, &str); 4] = [
    (b"\xFF\xFE", "UTF-16 text", "Save it as UTF-8, or as plain ASCII."),
    (b"\xFE\xFF", "UTF-16 text", "Save it as UTF-8, or as plain ASCII."),
    (b"\x1F\x8B", "gzip data", "Serve it uncompressed, or with the header Content-Encoding: gzip."),
    (b"PK\x03\x04", "a ZIP archive", "Serve the text file itself."),
];

/// Whether the lines of a file should be checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FileContent {
    /// Yes.
    Text,
    /// No: every line would be reported for one reason, which is already reported.
    Foreign,
}

/// Findings on the whole file.
pub(super) fn diagnose(body: &[u8], diagnostics: &mut Diagnostics) -> FileContent {
    diagnose_size(body, diagnostics);
    if let Some((_, what, advice)) = FOREIGN.iter().find(|(magic, ..)| body.starts_with(magic)) {
        diagnostics.add(1, Code::NotText, || (format!("the file is {what}"), *advice));
        return FileContent::Foreign;
    }
    if is_binary(body) {
        diagnostics.add(1, Code::NotText, || {
            ("the file is binary data", "Serve the text file itself, as plain UTF-8.")
        });
        return FileContent::Foreign;
    }
    let mark = lines::byte_order_mark_bytes(body);
    if is_html(&body[mark..]) {
        diagnose_html(cut(body), diagnostics);
        return FileContent::Foreign;
    }
    if mark == 3 {
        diagnostics.add(1, Code::ByteOrderMark, || {
            let advice =
                "Save the file as UTF-8 without a byte-order mark, or leave the first line blank.";
            ("the file starts with a byte-order mark", advice)
        });
    }
    FileContent::Text
}

/// Whether one character in twenty at the start is a control character or U+FFFD, which replaces
/// bytes that are not text, and no line is a field of robots.txt.
fn is_binary(body: &[u8]) -> bool {
    let head = &body[..body.len().min(4096)];
    let is_control = |byte: &u8| byte.is_ascii_control() && !lines::is_space(*byte);
    let controls = head.iter().filter(|byte| is_control(byte)).count();
    let replaced = memmem::find_iter(head, "\u{fffd}").count();
    (controls + replaced) * 20 > head.len() - replaced * 2
        && !lines::lines(cut(body)).any(|line| is_counted_field(&line))
}

/// Whether it is a page, and not rules after a tag.
fn is_html(text: &[u8]) -> bool {
    is_page(text)
        || lines::strip(&text[..text.len().min(1024)]).starts_with(b"<")
            && !lines::lines(cut(text)).any(|line| is_counted_field(&line))
}

/// The finding on a file without a line of robots.txt.
pub(super) fn diagnose_foreign(what: Foreign, diagnostics: &mut Diagnostics) {
    diagnostics.add(1, Code::NotRobotsTxt, || {
        let what = what.as_str();
        let message = format!("the file is not a robots.txt but {what}; no parser reads its lines");
        let advice = "If it is an error page, let the server answer 404 instead of 200. If it is \
                      the wrong file, check the one that the site serves as /robots.txt.";
        (message, advice)
    });
}

fn diagnose_html(text: &[u8], diagnostics: &mut Diagnostics) {
    let fields = lines::lines(text).filter(|line| is_counted_field(line)).count();
    diagnostics.add(1, Code::Html, || {
        let found = match fields {
            0 => "none of its lines can".to_owned(),
            fields => format!("only {} of it can", counted(fields as u64, "line")),
        };
        let message = format!("the file is an HTML page; {found} be read as robots.txt");
        let advice =
            "Serve a plain text file as /robots.txt. A site without rules may answer 404 instead.";
        (message, advice)
    });
}

/// The finding on a file that is too large: from which line on it is ignored.
fn diagnose_size(body: &[u8], diagnostics: &mut Diagnostics) {
    if body.len() <= BODY_BYTES_MAX {
        return;
    }
    let is_rule = |line: &RobotsTxtLine<'_>| {
        matches!(lines::read(line), Content::Field(field)
            if matches!(field.kind, FieldKind::Allow | FieldKind::Disallow))
    };
    let last = lines::lines(cut(body)).last().map_or(1, |line| line.number);
    // What counts ends with a whole line, whose end may be past the limit.
    let is_read = |byte: &u8| !matches!(byte, b'\n' | b'\r');
    let first_lost = if cut(body).last().is_some_and(is_read) { last + 1 } else { last };
    let from_cut = lines::lines(body).filter(|line| line.number >= first_lost && is_rule(line));
    let lost = from_cut.count();
    if lost == 0 {
        return;
    }
    diagnostics.add(last, Code::TooLarge, || {
        let message = format!(
            "the file has {} bytes, and only the first 512,000 are read, up to this line; {} \
             after it not read",
            body.len(),
            if lost == 1 { "1 rule is".to_owned() } else { format!("{lost} rules are") },
        );
        let advice =
            "Combine rules with wildcards or shorter paths, and remove rules that others cover.";
        (message, advice)
    });
}

fn is_counted_field(line: &RobotsTxtLine<'_>) -> bool {
    matches!(lines::read(line), Content::Field(field)
        if !matches!(field.kind, FieldKind::Unknown | FieldKind::Unused))
}
