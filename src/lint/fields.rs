//! Fields other than rules: sitemaps, fields that only some crawlers know, and statements about the
//! use of what is fetched: Content-Usage, Content-Signal and License.

use std::collections::{HashMap, HashSet};

use crate::robots::usage::{UsageCategory, UsageSignal, is_license, is_license_url, signal, value};
use crate::robots::{lines::Field, model::ParsedRobotsTxt};

use super::diagnostic::{Diagnostics, quoting, say};
use super::{catalogue::Code, known_tokens::distance};

/// Fields that some crawlers read, with a note on each.
const SUPPORTED_ELSEWHERE: [(&str, &str); 9] = [
    ("clean-param", "Only Yandex reads it."),
    (
        "content-signal",
        "It states how content may be used (Cloudflare); it does not allow or disallow requests.",
    ),
    (
        "content-usage",
        "It states how content may be used (draft-ietf-aipref-attach-05); it does not allow or disallow \
         requests.",
    ),
    ("domain", "No crawler is documented to read it."),
    ("host", "Yandex read it until 2018. Redirect to the host you want, or use rel=\"canonical\"."),
    ("request-rate", "No large crawler is documented to read it."),
    ("revisit-after", "No crawler is documented to read it."),
    ("visit-time", "No large crawler is documented to read it."),
    ("crawl-delay", ""),
];

/// Names of reported fields; each is reported once per file.
#[derive(Debug, Default)]
pub(super) struct SeenFields(HashSet<Vec<u8>>);

impl SeenFields {
    fn is_new(&mut self, key: &[u8]) -> bool {
        self.0.insert(key.to_ascii_lowercase())
    }
}

/// A known field that changes no verdict. `Crawl-delay` is checked with its group.
pub(super) fn diagnose_unused(
    line: u32,
    field: &Field<'_>,
    seen: &mut SeenFields,
    diagnostics: &mut Diagnostics,
) {
    let is_one_of = |names: &[&str]| names.iter().any(|name| is_key(field.key, name));
    if is_one_of(&["crawl-delay"]) || !seen.is_new(field.key) {
        return;
    }
    if is_one_of(&["noindex", "nofollow", "noarchive"]) {
        return diagnostics.add(line, Code::DeadField, || {
            let message = quoting("no crawler reads {} in robots.txt", field.key);
            let advice = "Use a robots meta tag or an X-Robots-Tag header instead, and do not \
                          disallow the page: crawlers must fetch it to see them.";
            (message, advice)
        });
    }
    let known = SUPPORTED_ELSEWHERE.iter().find(|(name, _)| is_key(field.key, name));
    diagnostics.add(line, Code::UnsupportedField, || {
        let message = quoting("{} does not change what crawlers may request", field.key);
        (message, known.map_or("", |(_, advice)| advice))
    });
}

/// A field that no crawler is known to read.
pub(super) fn diagnose_unknown(
    line: u32,
    field: &Field<'_>,
    seen: &mut SeenFields,
    diagnostics: &mut Diagnostics,
) {
    if !seen.is_new(field.key) {
        return;
    }
    let close = SUPPORTED_ELSEWHERE
        .iter()
        .find(|(name, _)| name.len() > 6 && distance(field.key, name.as_bytes(), 2).is_some());
    diagnostics.add(line, Code::UnknownField, || {
        let message = quoting("no crawler is known to read {}", field.key);
        let advice = match close {
            Some((name, _)) => format!("The field that some crawlers read is spelled {name}."),
            None => "It has no effect. If it is a comment, put a # before it.".into(),
        };
        (message, advice)
    });
}

/// A Sitemap line whose value is not a URL, or is several.
pub(super) fn diagnose_sitemap(line: u32, field: &Field<'_>, diagnostics: &mut Diagnostics) {
    let value = field.value;
    let host = ["https://", "http://", "ftp://"].iter().find_map(|scheme| {
        let (start, rest) = value.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
    });
    if host.is_none_or(<[u8]>::is_empty) {
        return diagnostics.add(line, Code::SitemapNotAbsolute, || {
            let message = match value {
                [] => b"a Sitemap line without a URL".to_vec(),
                _ => quoting("{} is not a complete URL", value),
            };
            (message, "Write it with scheme and host: 'Sitemap: https://example.com/sitemap.xml'.")
        });
    }
    let mut words = value.split(|byte| b" \t,".contains(byte)).skip(1);
    if words.any(|word| word.starts_with(b"http://") || word.starts_with(b"https://")) {
        diagnostics.add(line, Code::SeveralSitemaps, || {
            let message = "several URLs on one Sitemap line are read as one";
            (message, "Write one Sitemap line for each sitemap.")
        });
    }
}

fn is_key(key: &[u8], name: &str) -> bool {
    key.eq_ignore_ascii_case(name.as_bytes())
}

/// Findings on a line with a statement; `is_in_group` tells whether a User-agent line is above it.
pub(super) fn diagnose_statement(
    line: u32,
    field: &Field<'_>,
    is_in_group: bool,
    diagnostics: &mut Diagnostics,
) {
    let Some(signal) = signal(field) else { return };
    if !is_in_group {
        diagnostics.add(line, Code::UsageOutsideGroup, || {
            let message =
                quoting("{} before the first User-agent line is for no crawler", field.key);
            (message, "If it is for all crawlers, add the line 'User-agent: *' above it.")
        });
    }
    let example = match signal {
        UsageSignal::ContentUsage => "Write for example 'Content-Usage: train-ai=n'.",
        _ => "Write for example 'Content-Signal: search=yes, ai-train=no'.",
    };
    let (_, Some(members)) = value(signal, field.value) else {
        return diagnostics.add(line, Code::UnreadUsage, || {
            (quoting("{} is not a dictionary, so it has no effect", field.value), example)
        });
    };
    if members.iter().all(|member| member.preference.is_none()) {
        return diagnostics.add(line, Code::UsageWithoutPreference, || {
            (quoting("{} has no known label with a known value", field.value), example)
        });
    }
    for category in UsageCategory::ALL {
        let mut of_it = members.iter().filter(|member| member.category == Some(category));
        let Some(first) = of_it.next() else { continue };
        if of_it.any(|member| member.preference != first.preference) {
            diagnostics.add(line, Code::UsageContradicted, || {
                (quoting("{} has different values on this line", first.key), "Keep one of them.")
            });
        }
    }
}

/// Whether `field` is a License line; a finding is added if it has a path in place of a URL.
pub(super) fn diagnose_license(
    line: u32,
    field: &Field<'_>,
    diagnostics: &mut Diagnostics,
) -> bool {
    if !is_license(field) {
        return false;
    }
    let is_path = field.value.starts_with(b"/");
    if is_path {
        diagnostics.add(line, Code::LicenseNotAbsolute, || {
            let advice =
                "Write it with scheme and host: 'License: https://example.com/license.xml'.";
            (quoting("{} is not a complete URL", field.value), advice)
        });
    }
    is_path || is_license_url(field.value)
}

/// Statements for the same crawlers and path that differ.
pub(super) fn diagnose_usage(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let mut first = HashMap::new();
    for usage in &robots.usage {
        let lines = usage.product_tokens(robots).iter().map(|token| token.line);
        let path = (lines.min(), &usage.path.pattern, usage.signal);
        for (category, preference) in &usage.preferences {
            let known = first.entry((path, category)).or_insert((preference, usage.path.line));
            if known.0 != preference {
                diagnostics.add(usage.path.line, Code::UsageContradicted, || {
                    let (label, line) = (category.as_str(), known.1.to_string());
                    let message = say(
                        "{} has another value on line {}, for the same crawlers and paths",
                        &[label.as_bytes(), line.as_bytes()],
                    );
                    (message, "Keep one of them.")
                });
            }
        }
    }
}
