//! Lint findings as JUnit XML, for servers that show the results of tests.
//!
//! A file is a suite. Each finding that fails a run is a failed test; a file without them is one test
//! that passed. Other findings are the output of the suite.

use crate::table::escape::visible;
use crate::time::UtcTime;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::{catalogue::Severity, findings::sentence};

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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::crawlers::registry::Registry;
    use crate::lint::{known_tokens::KnownTokens, lint};
    use crate::url::dialect::Dialect;

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
}
