//! Lint findings as SARIF 2.1.0, which code hosts show at their lines.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::catalogue::{LINTS, Lint, Severity};
use super::diagnostic::{Diagnostic, Diagnostics};
use super::findings::sentence;

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
    use crate::url::dialect::Dialect;

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
