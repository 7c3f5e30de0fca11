//! Lint findings as text, as JSON, and as GitHub workflow commands.

use serde_json::{Value, json};

use crate::table::escape::visible;

use super::catalogue::{LINTS, Lint, Severity};
use super::diagnostic::{Diagnostic, Diagnostics};

/// The most findings of one code that the text shows for a file; the others are counted.
fn shown_max(severity: Severity) -> usize {
    match severity {
        Severity::Error | Severity::Warning => 20,
        Severity::Info => 5,
    }
}

/// The findings of one file as text: a line each, its advice below, and a summary.
pub(crate) fn findings_text(path: &str, remarks: &Diagnostics) -> String {
    let path = visible(path.as_bytes());
    let mut shown = [0; LINTS.len()];
    let mut text = String::new();
    for remark in remarks.kept() {
        let lint = remark.code.lint();
        let shown = &mut shown[remark.code.index()];
        *shown += 1;
        if *shown > shown_max(lint.severity) {
            continue;
        }
        let Diagnostic { line, message, advice, .. } = remark;
        let (severity, message) = (lint.severity.as_str(), visible(message));
        text += &format!("{path}:{line}: {severity}: {message} [{}]\n", lint.name);
        if !advice.is_empty() {
            text += &format!("    {}\n", visible(advice));
        }
    }
    for lint in LINTS {
        let more = remarks.count(lint.code).saturating_sub(shown_max(lint.severity));
        if more == 0 {
            continue;
        }
        text += &format!("{path}: {}: and {more} more [{}]\n", lint.severity.as_str(), lint.name);
    }
    text + &format!("{path}: {}\n", summary(remarks))
}

/// "1 error, 2 warnings, 3 infos", or that there are no findings.
fn summary(remarks: &Diagnostics) -> String {
    let counted = |severity: Severity| {
        let count = remarks.count_of(severity);
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {}{plural}", severity.as_str()))
    };
    let counts: Vec<String> = Severity::ALL.into_iter().filter_map(counted).collect();
    if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") }
}

/// The findings of one file as workflow commands of GitHub Actions, which shows them at their
/// lines.
pub(crate) fn findings_github(path: &str, remarks: &Diagnostics) -> String {
    let command = |remark: &Diagnostic| {
        let lint = remark.code.lint();
        let level = match lint.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let file = property(&visible(path.as_bytes()));
        let (line, message) = (remark.line, data(&sentence(remark)));
        format!("::{level} file={file},line={line},title={}::{message}\n", lint.name)
    };
    remarks.kept().iter().map(command).collect()
}

/// The message and the advice of a finding.
pub(crate) fn sentence(remark: &Diagnostic) -> String {
    let separator: &[u8] = if remark.advice.is_empty() { b"" } else { b". " };
    visible(&[&remark.message, separator, &remark.advice].concat())
}

/// The text of a command, with GitHub's escapes.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command, with GitHub's escapes.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The findings of all files as one JSON array with one object per file.
pub(crate) fn findings_json(files: &[(String, Diagnostics)]) -> String {
    let files: Value = files.iter().map(|(path, remarks)| wire(path, remarks)).collect();
    format!("{files:#}\n")
}

fn wire(path: &str, remarks: &Diagnostics) -> Value {
    let total: usize = LINTS.iter().map(|lint| remarks.count(lint.code)).sum();
    let wire_remark = |remark: &Diagnostic| {
        json!({
            "line": remark.line,
            "severity": remark.code.lint().severity.as_str(),
            "code": remark.code.lint().name,
            "message": visible(&remark.message),
            "advice": visible(&remark.advice),
        })
    };
    json!({
        "path": visible(path.as_bytes()),
        "errors": remarks.count_of(Severity::Error),
        "warnings": remarks.count_of(Severity::Warning),
        "infos": remarks.count_of(Severity::Info),
        // Findings that were counted but not kept.
        "omitted": total - remarks.kept().len(),
        "findings": remarks.kept().iter().map(wire_remark).collect::<Vec<_>>(),
    })
}

/// All lints, one per line, with their severities.
pub(crate) fn lints_text() -> String {
    let line = |lint: &Lint| {
        let first = lint.meaning.split_inclusive(". ").next().unwrap_or(lint.meaning).trim_end();
        let off = if lint.code.is_optional() { " Off by default; see --warn." } else { "" };
        format!("{:<26} {:<8} {first}{off}\n", lint.name, lint.severity.as_str())
    };
    LINTS.iter().map(line).collect()
}

/// The explanation of one lint.
pub(crate) fn lint_text(lint: &Lint) -> String {
    format!("{} ({})\n\n{}\n", lint.name, lint.severity.as_str(), lint.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::crawlers::registry::Registry;
    use crate::lint::{known_tokens::KnownTokens, lint};
    use crate::url::dialect::Dialect;

    fn remarks(text: &[u8]) -> Diagnostics {
        lint(text, &KnownTokens::new(&Registry::builtin()), Dialect::Google)
    }

    #[test]
    fn as_text() {
        let found = findings_text("a\x1bb", &remarks(b"User-agent: *\nDisallow: \x1b[1m"));
        let expected = "a\\x1Bb:2: error: '\\x1B[1m' does not start with / or *, so it matches nothing [rule-never-matches]\n    If it is a path from the top of the site, write '/\\x1B[1m'.\na\\x1Bb: 1 error\n";
        assert_eq!(found, expected);
        assert_eq!(findings_text("-", &remarks(b"")), "-: no findings\n");
        let many = [b"User-agent: *\nDisallow:/a\n", &b"?\n".repeat(1234)[..]].concat();
        let many = findings_text("x", &remarks(&many));
        assert_eq!(many.lines().count(), 42);
        assert!(many.contains("x: warning: and 1214 more [unread-line]\nx: 1234 warnings\n"));
    }

    #[test]
    fn as_workflow_commands() {
        let found = findings_github("a:b,c%d\r\n", &remarks(b"User-agent: *\nDisallow: a%b%2A"));
        let expected = "::error file=a%3Ab%2Cc%25d\\x0D\\x0A,line=2,title=rule-never-matches::'a%25b%252A' does not start with / or *, so it matches nothing. If it is a path from the top of the site, write '/a%25b%252A'.\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn as_json() {
        let many = [b"User-agent: *\nDisallow:/a\n", &b"\"\xff\n".repeat(1001)[..]].concat();
        let files = [("x".to_owned(), remarks(&many))];
        let json: serde_json::Value = serde_json::from_str(&findings_json(&files)).unwrap();
        assert_eq!(json[0]["warnings"], 1001);
        assert_eq!(json[0]["omitted"], 1);
        assert_eq!(json[0]["findings"][0]["message"], "no parser reads '\"\\xFF'");
    }
}
