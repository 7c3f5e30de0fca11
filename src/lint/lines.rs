//! Single lines: those that parsers ignore, and those that only some parsers read.

use crate::robots::lines::{
    self, Content, Field, FieldKind, LINE_BYTES_MAX, RobotsTxtLine, Separator, Spelling, lines,
};

use super::diagnostic::{Diagnostics, quote, quoting, say, short};
use super::{catalogue::Code, fields, known_tokens::distance, patterns};

/// The standard fields in their correct spelling, and the typos with which they are still
/// recognised.
const STANDARD: [(FieldKind, &str, usize); 4] = [
    (FieldKind::UserAgent, "User-agent", 2),
    (FieldKind::Allow, "Allow", 1),
    (FieldKind::Disallow, "Disallow", 2),
    (FieldKind::Sitemap, "Sitemap", 2),
];

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The position of the current line among the groups.
#[derive(Debug, Default)]
struct GroupPosition {
    /// The last User-agent line, and what follows it.
    user_agent: Option<(u32, After)>,
}

/// What follows a User-agent line.
#[derive(Clone, Debug, Eq, PartialEq)]
enum After {
    /// Nothing that matters.
    Nothing,
    /// A field on this line at which some parsers end a group.
    OtherField(u32, Vec<u8>),
    /// Rules: the group has no more User-agent lines.
    Rules,
}

/// Findings on each line of `text`.
pub(super) fn diagnose(text: &[u8], diagnostics: &mut Diagnostics) {
    let mut position = GroupPosition::default();
    let mut seen = fields::SeenFields::default();
    for line in lines(text) {
        diagnose_bytes(&line, diagnostics);
        match lines::read(&line) {
            Content::Blank | Content::Comment => {}
            Content::NoField => diagnose_unread(&line, diagnostics),
            Content::Field(field) => {
                diagnose_position(&line, &field, &mut position, diagnostics);
                match field.kind {
                    FieldKind::Unknown => diagnose_unknown(&line, &field, &mut seen, diagnostics),
                    FieldKind::Unused => {
                        let is_in_group = position.user_agent.is_some();
                        fields::diagnose_statement(line.number, &field, is_in_group, diagnostics);
                        fields::diagnose_unused(line.number, &field, &mut seen, diagnostics);
                    }
                    _ => diagnose_known(&line, &field, diagnostics),
                }
            }
        }
    }
}

fn diagnose_bytes(line: &RobotsTxtLine<'_>, diagnostics: &mut Diagnostics) {
    // A cut comment does not matter.
    if line.is_too_long() && !lines::has_comment(line) {
        diagnostics.add(line.number, Code::LongLine, || {
            let bytes = line.length_bytes;
            let message =
                format!("the line has {bytes} bytes; those past {LINE_BYTES_MAX} are dropped");
            (message, "Check the line endings, and write each rule on its own line.")
        });
    }
    if line.has_nul {
        diagnostics.add(line.number, Code::NulByte, || {
            ("a NUL byte hides the rest of the line", "Remove the byte 0x00.")
        });
    }
}

fn diagnose_position(
    line: &RobotsTxtLine<'_>,
    field: &Field<'_>,
    position: &mut GroupPosition,
    diagnostics: &mut Diagnostics,
) {
    match (field.kind, &mut position.user_agent) {
        (FieldKind::UserAgent, user_agent) => {
            if let Some((before, After::OtherField(other, key))) = user_agent {
                diagnostics.add(line.number, Code::GroupContinues, || {
                    group_continues(*before, *other, key)
                });
            }
            *user_agent = Some((line.number, After::Nothing));
        }
        (FieldKind::Allow | FieldKind::Disallow, Some((_, after))) => *after = After::Rules,
        (FieldKind::Allow | FieldKind::Disallow, None) => {
            diagnostics.add(line.number, Code::RuleBeforeGroup, || {
                let message = "a rule before the first User-agent line has no effect";
                (message, "If it is for all crawlers, add the line 'User-agent: *' above it.")
            });
        }
        (_, Some((_, after))) if *after == After::Nothing => {
            *after = After::OtherField(line.number, field.key.into());
        }
        _ => {}
    }
}

fn group_continues(before: u32, other: u32, key: &[u8]) -> (Vec<u8>, String) {
    let message = say(
        "this line continues the group of line {}: {} on line {} does not end it, so both share \
         the rules below",
        &[before.to_string().as_bytes(), &quote(key), other.to_string().as_bytes()],
    );
    let advice = format!(
        "If line {before} should be its own group, add a rule to it; 'Disallow:' allows \
         everything."
    );
    (message, advice)
}

fn diagnose_unread(line: &RobotsTxtLine<'_>, diagnostics: &mut Diagnostics) {
    let text = code(line);
    let is_two_words = text.get(..10).is_some_and(|start| {
        start.eq_ignore_ascii_case(
            b"user \
        agent",
        )
    });
    let word_end = match is_two_words {
        true => Some(10),
        false => text.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'/')),
    };
    let (word, rest) = text.split_at(word_end.unwrap_or(text.len()));
    if let Some(name) = intended(word) {
        diagnostics.add(line.number, Code::UnreadRule, || {
            let message = quoting("no parser reads {}: the colon is missing", text);
            let value = lines::strip(rest);
            let advice = instead(name, value);
            (message, advice)
        });
    } else if text.starts_with(b"/") {
        diagnostics.add(line.number, Code::UnreadRule, || {
            let message = quoting("no parser reads {}: it is a path without a field", text);
            (message, say("Write 'Disallow: {}' or 'Allow: {}'.", &[short(text), short(text)]))
        });
    } else {
        unread_line(line, diagnostics);
    }
}

fn unread_line(line: &RobotsTxtLine<'_>, diagnostics: &mut Diagnostics) {
    diagnostics.add(line.number, Code::UnreadLine, || {
        let message = quoting("no parser reads {}", code(line));
        (message, "If it is a comment, put a # before it; otherwise remove it.")
    });
}

fn diagnose_unknown(
    line: &RobotsTxtLine<'_>,
    field: &Field<'_>,
    seen: &mut fields::SeenFields,
    diagnostics: &mut Diagnostics,
) {
    if fields::diagnose_license(line.number, field, diagnostics) {
        return;
    }
    let (key, value) = (field.key, field.value);
    if let Some(after) = key.strip_prefix(BYTE_ORDER_MARK)
        && intended(after).is_some()
    {
        return diagnostics.add(line.number, Code::MisplacedByteOrderMark, || {
            let message = quoting("a byte-order mark hides {} from every parser", after);
            (message, "Remove the invisible character before the line, or type the line again.")
        });
    }
    if let Some(name) = intended(key).or_else(|| kind_of_sitemap(key, value)) {
        return diagnostics.add(line.number, Code::UnreadTypo, || {
            let message = quoting("{} is not a field that parsers read", key);
            (message, instead(name, value))
        });
    }
    let is_url = value.starts_with(b"//") && field.separator == Separator::Colon;
    if is_url && [&b"http"[..], b"https"].iter().any(|scheme| key.eq_ignore_ascii_case(scheme)) {
        return diagnostics.add(line.number, Code::UnreadLine, || {
            let url = code(line);
            let message = quoting("no parser reads {}: it is a URL without a field", url);
            (message, say("If it is a sitemap, write 'Sitemap: {}'.", &[short(url)]))
        });
    }
    let is_prose = field.separator == Separator::Whitespace
        || key.len() > 30
        || key.iter().any(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte));
    if is_prose {
        unread_line(line, diagnostics)
    } else {
        fields::diagnose_unknown(line.number, field, seen, diagnostics)
    }
}

fn diagnose_known(line: &RobotsTxtLine<'_>, field: &Field<'_>, diagnostics: &mut Diagnostics) {
    let (kind, name, _) = STANDARD
        .iter()
        .find(|(kind, ..)| *kind == field.kind)
        .expect("the four known kinds are all there");
    if field.separator == Separator::Colon
        && key_tail(field).iter().any(|byte| b" \t/".contains(byte))
    {
        return diagnostics.add(line.number, Code::ColonSplit, || colon_split(line, field, name));
    }
    diagnose_spelling(line, field, name, diagnostics);
    diagnose_hash(line, field, diagnostics);
    match kind {
        FieldKind::Allow | FieldKind::Disallow => {
            patterns::diagnose(line.number, field, diagnostics)
        }
        FieldKind::Sitemap => fields::diagnose_sitemap(line.number, field, diagnostics),
        _ => {}
    }
}

fn diagnose_spelling(
    line: &RobotsTxtLine<'_>,
    field: &Field<'_>,
    name: &str,
    diagnostics: &mut Diagnostics,
) {
    let instead = || instead(name, field.value);
    if field.separator == Separator::Whitespace {
        diagnostics.add(line.number, Code::MissingColon, || {
            let message =
                quoting("the colon after {} is missing; some parsers ignore the line", field.key);
            (message, instead())
        });
    }
    if field.spelling == Spelling::AcceptedTypo {
        diagnostics.add(line.number, Code::AcceptedTypo, || {
            let message = quoting(
                "{} is a misspelling that Google accepts and many others do not",
                field.key,
            );
            (message, instead())
        });
    } else if !field.key.eq_ignore_ascii_case(name.as_bytes()) {
        diagnostics.add(line.number, Code::LooseName, || {
            let message = say(
                "Google reads {} as {}; most others ignore it",
                &[&quote(field.key), name.as_bytes()],
            );
            (message, instead())
        });
    }
}

fn colon_split(line: &RobotsTxtLine<'_>, field: &Field<'_>, name: &str) -> (Vec<u8>, Vec<u8>) {
    let text = code(line);
    let message = say(
        "the colon after {} is missing, so the value is read as {}",
        &[name.as_bytes(), &quote(field.value)],
    );
    let value = lines::strip(&text[(field.key.len() - key_tail(field).len()).min(text.len())..]);
    (message, instead(name, value))
}

/// The corrected line: the field `name` with `value`.
fn instead(name: &str, value: &[u8]) -> Vec<u8> {
    say("Write '{}: {}'.", &[name.as_bytes(), short(value)])
}

/// A `#` directly after a value, with text directly after it: probably meant as part of the value.
fn diagnose_hash(line: &RobotsTxtLine<'_>, field: &Field<'_>, diagnostics: &mut Diagnostics) {
    let Some(at) = memchr::memchr(b'#', line.text) else { return };
    let is_space = |byte: Option<&u8>| byte.is_none_or(|byte| lines::is_space(*byte));
    let (before, after) = (line.text[..at].last(), line.text.get(at + 1));
    if field.kind == FieldKind::UserAgent
        || field.value.is_empty()
        || is_space(before)
        || is_space(after)
    {
        return;
    }
    diagnostics.add(line.number, Code::HashInValue, || {
        let message =
            quoting("a # starts a comment: the value ends before it and is {}", field.value);
        let advice = "If it is a comment, put a space before it. If the URL contains a #, write \
                      %23; rules cannot match fragments.";
        (message, advice)
    });
}

/// The text after the known name at the start of a key.
fn key_tail<'a>(field: &Field<'a>) -> &'a [u8] {
    let name_bytes = match (field.kind, field.spelling) {
        (FieldKind::UserAgent, Spelling::Standard) => 10,
        (FieldKind::UserAgent, _) if field.key.get(4) == Some(&b' ') => 10,
        (FieldKind::Allow, _) => 5,
        (FieldKind::Disallow, Spelling::Standard) => 8,
        // The length of the shortest accepted misspelling of each.
        (FieldKind::UserAgent, Spelling::AcceptedTypo) => 9,
        _ => 7,
    };
    &field.key[name_bytes.min(field.key.len())..]
}

/// The standard name that `key` probably means, if there is one. Text before its first letter is
/// ignored.
fn intended(key: &[u8]) -> Option<&'static str> {
    let start = key.iter().position(u8::is_ascii_alphabetic)?;
    let word = lines::strip(&key[start..]);
    let close = STANDARD.iter().filter_map(|(_, name, slips_max)| {
        Some((distance(word, name.as_bytes(), *slips_max)?, *name))
    });
    close.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// The correct name for `Video Sitemap: https://...`.
fn kind_of_sitemap(key: &[u8], value: &[u8]) -> Option<&'static str> {
    let start = key.len().checked_sub(b"sitemap".len())?;
    let is_meant = key[start..].eq_ignore_ascii_case(b"sitemap")
        && memchr::memmem::find(value, b"://").is_some();
    is_meant.then_some("Sitemap")
}

/// The line without its comment.
fn code<'a>(line: &RobotsTxtLine<'a>) -> &'a [u8] {
    let end = memchr::memchr(b'#', line.text).unwrap_or(line.text.len());
    lines::strip(&line.text[..end])
}
