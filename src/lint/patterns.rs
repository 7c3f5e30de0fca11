//! The value of one rule: whether it can match, and for which crawlers.

use memchr::memmem;

use crate::matcher::pattern;
use crate::robots::lines::{Field, FieldKind};
use crate::robots::model::{Directive, Rule};
use crate::url::path::{self, Dialect};

use super::catalogue::Code;
use super::diagnostic::{Diagnostics, quoting, say, short};

/// Texts that occur in regular expressions and hardly ever in paths.
const REGEX_SIGNS: [&[u8]; 8] =
    [b"\\.", b"\\?", b"\\d", b"\\w", b"(.*)", b"[0-9", b"[a-z", b"[A-Z"];

/// Findings on the value of an Allow or Disallow line.
pub(super) fn diagnose(line: u32, field: &Field<'_>, diagnostics: &mut Diagnostics) {
    let directive = match field.kind {
        FieldKind::Allow => Directive::Allow,
        _ => Directive::Disallow,
    };
    let value = field.value;
    if value.is_empty() {
        if directive == Directive::Allow {
            diagnostics.add(line, Code::EmptyAllow, || {
                let advice = "Write 'Allow: /' to allow everything, or remove the line.";
                ("an Allow without a path has no effect", advice)
            });
        }
    } else if !matches!(value[0], b'/' | b'*') {
        never_matches(line, value, diagnostics);
    } else if value.iter().any(|byte| matches!(byte, 0..=0x20 | 0x7F)) {
        diagnostics.add(line, Code::SpaceInRule, || {
            let message =
                quoting("{} contains a space or control character, so it matches nothing", value);
            let advice = "Write %20 for a space in a URL, put a # before a comment, and give each \
                path its own line.";
            (message, advice)
        });
    } else {
        diagnose_reading(&Rule::new(directive, value.to_vec(), line), diagnostics);
    }
}

fn never_matches(line: u32, value: &[u8], diagnostics: &mut Diagnostics) {
    if let Some(path) = path_of_url(value) {
        return diagnostics.add(line, Code::RuleIsUrl, || {
            let message = "{} is a URL; rules are compared with paths, so it matches nothing";
            let is_whole_site = path.iter().all(|byte| b"/*$".contains(byte));
            let advice = match is_whole_site {
                true => {
                    "Remove the rule. Rules for another host belong in the robots.txt of that \
                         host."
                }
                false => {
                    "Write the path alone, '{}', if it is a URL of this site. Rules for \
                          another host belong in the robots.txt of that host."
                }
            };
            (quoting(message, value), say(advice, &[&path]))
        });
    }
    diagnostics.add(line, Code::NeverMatches, || {
        let message = quoting("{} does not start with / or *, so it matches nothing", value);
        let short = short(value);
        let is_path = value.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let advice = match value[0] {
            b'?' | b'&' | b'=' | b';' => say("Write '/*{}' to match it anywhere.", &[short]),
            _ if !is_path => "Write the path that is meant, or remove the rule.".into(),
            b'.' => say("Write '/*{}' for all files of that kind.", &[short]),
            b'^' => "Rules are not regular expressions: they always start at the top of the \
                     site, with /."
                .into(),
            0x80.. => "There may be an invisible character before the path: delete the value and \
                       type it again."
                .into(),
            _ => say("If it is a path from the top of the site, write '/{}'.", &[short]),
        };
        (message, advice)
    });
}

/// The path of `value`, if it is a whole URL.
fn path_of_url(value: &[u8]) -> Option<Vec<u8>> {
    let is_start =
        |scheme: &[u8]| value.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme));
    let is_url = is_start(b"http://") || is_start(b"https://");
    is_url.then(|| {
        let path = path::of_url(value);
        short(&path).to_vec()
    })
}

/// Values that match something unexpected, or not in every dialect.
fn diagnose_reading(rule: &Rule, diagnostics: &mut Diagnostics) {
    diagnose_percent(rule, diagnostics);
    let (line, value) = (rule.line, rule.written());
    let dollar = memmem::find_iter(value, b"$")
        .any(|at| matches!(value.get(at + 1), Some(b'*' | b'$' | b'/')));
    if dollar {
        diagnostics.add(line, Code::DollarInside, || {
            let message = quoting(
                "the first $ of {} is an ordinary $, because it is not the last character",
                value,
            );
            (message, "If the $ marks the end of the URL, remove what follows it.")
        });
    }
    if REGEX_SIGNS.iter().any(|sign| memmem::find(value, sign).is_some()) {
        diagnostics.add(line, Code::RegexInRule, || {
            let message = quoting(
                "{} looks like a regular expression; only * and a last $ are special",
                value,
            );
            (message, "Write * for any characters, and everything else as in URLs.")
        });
    }
    if rule.directive == Directive::Disallow && matches!(value, b"/robots.txt" | b"/robots.txt$") {
        diagnostics.add(line, Code::RobotsTxtRule, || {
            ("robots.txt itself may always be requested", "Remove the rule; it has no effect.")
        });
    }
    if let Some(index) = pattern::of_directory_index(rule, Dialect::Google) {
        let directory = &index[..index.len() - 1];
        diagnostics.add(line, Code::DirectoryIndex, || {
            let message = quoting("Google also reads this as an Allow of {} itself", directory);
            let advice =
                say("If this is meant for all crawlers, add 'Allow: {}'.", &[short(&index)]);
            (message, advice)
        });
    }
}

/// Percent-encodings that are invalid or that the dialects read differently.
fn diagnose_percent(rule: &Rule, diagnostics: &mut Diagnostics) {
    let (line, value) = (rule.line, rule.written());
    if memchr::memchr(b'%', value).is_none() {
        return;
    }
    let decoded = path::decode_unreserved(&rule.pattern);
    if *decoded != *rule.pattern {
        diagnostics.add(line, Code::EncodedUnreserved, || {
            let message = quoting(
                "{} encodes ordinary characters as %XX, which Google does not decode",
                value,
            );
            (message, say("Write '{}'.", &[short(&decoded)]))
        });
    }
    if [&b"%2A"[..], b"%24"].iter().any(|special| memmem::find(&rule.pattern, special).is_some()) {
        diagnostics.add(line, Code::EncodedWildcard, || {
            let message = quoting(
                "%2A and %24 in {} are an ordinary * and $ by RFC 9309, but not for Google",
                value,
            );
            let advice = "If your URLs contain the ordinary character, no rule matches it for \
                          all crawlers; * matches it, too.";
            (message, advice)
        });
    }
    if memchr::memchr_iter(b'%', value).any(|at| is_bad_percent(&value[at + 1..])) {
        diagnostics.add(line, Code::BadPercent, || {
            let message = quoting("a % in {} does not start a percent-encoding", value);
            (message, "Write %25 for a % in a URL.")
        });
    }
}

/// Whether the text after a `%` is certainly a mistake. A pattern may end there, and a wildcard may
/// stand for the rest.
fn is_bad_percent(after: &[u8]) -> bool {
    let is_fine = |byte: Option<&u8>| {
        byte.is_none_or(|byte| byte.is_ascii_hexdigit() || b"*$".contains(byte))
    };
    match after {
        [first, ..] if b"*$".contains(first) => false,
        _ => !is_fine(after.first()) || !is_fine(after.get(1)),
    }
}
