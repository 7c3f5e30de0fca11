//! Statements about the use of what is fetched: Content-Usage, Content-Signal and License.

use crate::lint::catalogue::Code;
use crate::lint::diagnostic::{Diagnostics, quoting, say};
use crate::robots::field::Field;
use crate::robots::model::ParsedRobotsTxt;
use crate::robots::usage::{UsageCategory, UsageSignal, is_license, is_license_url, signal, value};

use std::collections::HashMap;

/// Findings on a line with a statement; `is_in_group` tells whether a User-agent line is above it.
pub(super) fn diagnose_line(
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
pub(super) fn diagnose(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
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
