//! Lint findings as text, as JSON, as GitHub workflow commands, as JUnit XML for servers that show the results of tests,
//! and as SARIF 2.1.0, which code hosts show at their lines.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::table::escape::visible;
use crate::time::UtcTime;

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

/// The findings of `files` at `now`; warnings fail a run that `is_strict`.
pub(crate) fn findings_junit(
    files: &[(String, Diagnostics)],
    is_strict: bool,
    now: UtcTime,
) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for (id, (path, found)) in files.iter().enumerate() {
        text += &suite(id, path, found, is_strict, now);
    }
    text + "</testsuites>\n"
}

fn suite(id: usize, path: &str, found: &Diagnostics, is_strict: bool, now: UtcTime) -> String {
    let is_failure = |diagnostic: &&Diagnostic| match diagnostic.code.lint().severity {
        Severity::Error => true,
        Severity::Warning => is_strict,
        Severity::Info => false,
    };
    let (failures, others): (Vec<_>, Vec<_>) = found.kept().iter().partition(is_failure);
    let name = escaped(&visible(path.as_bytes()));
    // The schema wants a time without a zone.
    let now = now.to_string();
    let time = now.trim_end_matches('Z');
    let mut text = format!(
        "  <testsuite name=\"{name}\" package=\"botaudit\" id=\"{id}\" timestamp=\"{time}\" \
         hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"0\">\n    \
         <properties/>\n",
        failures.len().max(1),
        failures.len()
    );
    if failures.is_empty() {
        text += &format!("    <testcase name=\"lint\" classname=\"{name}\" time=\"0\"/>\n");
    }
    for diagnostic in failures {
        let (line, code) = (diagnostic.line, diagnostic.code.lint().name);
        let sentence = escaped(&sentence(diagnostic));
        text += &format!(
            "    <testcase name=\"line {line}: {code}\" classname=\"{name}\" time=\"0\">\n      \
             <failure type=\"{code}\" message=\"{sentence}\">{name}:{line}: {sentence}</failure>\n    \
             </testcase>\n"
        );
    }
    let others = others.into_iter().map(|diagnostic| {
        let severity = diagnostic.code.lint().severity.as_str();
        let sentence = escaped(&sentence(diagnostic));
        format!("{name}:{}: {severity}: {sentence}\n", diagnostic.line)
    });
    let others: String = others.collect();
    text + &format!(
        "    <system-out>{others}</system-out>\n    <system-err></system-err>\n  </testsuite>\n"
    )
}

/// Text and attributes, without the characters that XML 1.0 forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            character => out.push(character),
        }
    }
    out
}

/// What is not encoded in the path of a URI.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The findings of `files` as one log. `is_complete` says whether all files could be read.
pub(crate) fn findings_sarif(files: &[(String, Diagnostics)], is_complete: bool) -> String {
    let results = files.iter().flat_map(|(path, found)| {
        found.kept().iter().map(move |diagnostic| result(&uri(path), diagnostic))
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "botaudit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": LINTS.iter().map(rule).collect::<Value>(),
            }},
            "invocations": [{ "executionSuccessful": is_complete }],
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Value>(),
        }],
    });
    format!("{log:#}\n")
}

fn rule(lint: &Lint) -> Value {
    json!({
        "id": lint.name,
        "shortDescription": { "text": lint.name },
        "fullDescription": { "text": text(lint.meaning) },
        "defaultConfiguration": { "level": level(lint.severity) },
    })
}

fn result(uri: &str, diagnostic: &Diagnostic) -> Value {
    let lint = diagnostic.code.lint();
    json!({
        "ruleId": lint.name,
        "ruleIndex": diagnostic.code.index(),
        "level": level(lint.severity),
        "message": { "text": text(&sentence(diagnostic)) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": { "startLine": diagnostic.line.max(1) },
        }}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Text without links: `[text](target)` would be one.
fn text(plain: &str) -> String {
    plain.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// A path as a reference that names no other host and no scheme.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let is_absolute = path.starts_with('/');
    let rest = path.trim_start_matches('/');
    let root = if is_absolute { "/" } else { "" };
    format!("{root}{}", utf8_percent_encode(rest, ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::registry::Registry;
    use crate::lint::{known_tokens::KnownTokens, lint};
    use crate::url::path::Dialect;

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

    #[test]
    fn findings_are_tests_that_failed() {
        let registry = Registry::builtin();
        let names = KnownTokens::new(&registry);
        let hostile = "User-agent: *\nDisallow: ]]><x a=\"&\u{ffff}'\x1b\n?\n";
        let found = |text: &str| lint(text.as_bytes(), &names, Dialect::Google);
        let files = [("a\"<b".to_owned(), found(hostile)), ("c".to_owned(), found(""))];
        let now = UtcTime::from_unix_seconds(1_772_323_200).unwrap();
        let text = findings_junit(&files, false, now);
        for part in [
            "<testsuite name=\"a&quot;&lt;b\" package=\"botaudit\" id=\"0\" timestamp=\"2026-03-01T00:00:00\" ",
            " tests=\"1\" failures=\"1\" errors=\"0\" time=\"0\">",
            "<failure type=\"rule-never-matches\" message=\"']]&gt;&lt;x a=&quot;&amp;'\\x1B' does not",
            "<system-out>a&quot;&lt;b:3: warning: no parser reads '?'",
            "<testcase name=\"lint\" classname=\"c\" time=\"0\"/>",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(['\x1b', '\u{ffff}']));
        assert!(findings_junit(&files, true, now).contains(" tests=\"2\" failures=\"2\""));
    }

    #[test]
    fn findings_have_rules_levels_and_lines() {
        let registry = Registry::builtin();
        let names = KnownTokens::new(&registry);
        let hostile = b"User-agent: *\nDisallow: [pay](http://x.example)\x1b[1m\"}]\n?\n";
        let files = [("//h\\a b?#\u{e4}:%".to_owned(), lint(hostile, &names, Dialect::Google))];
        let text = findings_sarif(&files, false);
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), LINTS.len());
        let results = run["results"].as_array().unwrap();
        let levels: Vec<&str> =
            results.iter().map(|result| result["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "warning"]);
        for (result, line) in results.iter().zip([2, 3]) {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["region"]["startLine"], line);
            assert_eq!(place["artifactLocation"]["uri"], "/h/a%20b%3F%23%C3%A4%3A%25");
        }
        let message = results[0]["message"]["text"].as_str().unwrap();
        assert!(message.starts_with(r"'\[pay\](http://x.example)\\x1B\[1m"), "{message}");
        let empty: Value = serde_json::from_str(&findings_sarif(&[], true)).unwrap();
        assert_eq!(empty["runs"][0]["results"], json!([]));
    }
}
