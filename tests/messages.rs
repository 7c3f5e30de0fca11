//! All messages of the program in one place: `messages.txt`, extracted from the source.
//!
//! The file shows every change of a message. After a change, run `UPDATE_MESSAGES=1 cargo test --test all
//! messages::` and read the difference. Help texts, tables, the page and lint's catalogue have files of
//! their own.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of the source without messages: columns, the page, rules for servers, samples of logs, names of keys,
/// types of options.
const ELSEWHERE: [&str; 15] = [
    "config/option_value.rs",
    "crawlers/declared_name.rs",
    "deny/firewalls.rs",
    "deny/proxies.rs",
    "deny/web_servers.rs",
    "lint/catalogue.rs",
    "logs/json/dialect.rs",
    "logs/registry.rs",
    "logs/w3c.rs",
    "report/tables.rs",
    "report/tables/",
    "table/columns.rs",
    "report/html/",
    "tests.rs",
    "tests/",
];

/// The first words of SQL statements, which are not messages.
const SQL: [&str; 9] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "BEGIN", "FROM", "WHERE", "PRAGMA"];

/// Words that do not belong in plain sentences.
const NOT_PLAIN: [&str; 10] = [
    " is no ",
    " are no ",
    "nobody",
    "whoever",
    "whom",
    " is told",
    "taken for",
    "stands already",
    "anew",
    "passed over",
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The string literals of `source`, as written but on one line, each with the code before it.
fn literals(source: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = source[at..].find(['"', '\'', '/', 'r']) {
        let start = at + step;
        let rest = &source[start..];
        if rest.starts_with("//") {
            at = start + rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("'\\") {
            at = start + 2 + rest[3..].find('\'').map_or(0, |end| end + 2);
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            // A character, or a lifetime.
            let width = quoted.chars().next().map_or(0, char::len_utf8);
            at = start + 1 + if quoted[width..].starts_with('\'') { width + 1 } else { 0 };
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            let end = raw.find("\"#").unwrap();
            found.push((&source[..start], raw[..end].to_owned()));
            at = start + 3 + end + 2;
        } else if rest.starts_with('"') {
            let end = end_of_literal(rest);
            found.push((&source[..start], on_one_line(&rest[1..end])));
            at = start + end + 1;
        } else {
            at = start + 1;
        }
    }
    found
}

/// The end of the literal at the start of `text`: its last quote.
fn end_of_literal(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at,
            byte => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    panic!("a literal does not end: {}", &text[..text.len().min(80)]);
}

fn on_one_line(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start()).replace('\n', "\\n")
}

/// Whether `text`, which follows the code `before`, is for people.
fn is_message(before: &str, text: &str) -> bool {
    let is_sentence = text.trim().contains(' ')
        && text.split(' ').any(|word| word.chars().filter(char::is_ascii_lowercase).count() > 2);
    let is_sql = SQL.iter().any(|word| text.trim_start_matches(['\\', 'n', ' ']).starts_with(word));
    // Texts for developers, and names for derive macros.
    let is_for_source = before.trim_end().ends_with("expect(") || before.ends_with("reason = ");
    // Of the table of options: texts of the help, and types of Python.
    let fields = ["help: ", "details: ", "Argument(", "Joined("];
    let is_help = fields.iter().any(|field| before.ends_with(field));
    is_sentence && !is_sql && !is_for_source && !is_help
}

/// `code` without the columns of a measure's table.
fn without_table(code: &str) -> String {
    let Some((before, table)) = code.split_once("\nmeasure_table! {\n") else {
        return code.to_owned();
    };
    let (_, after) = table.split_once("\n}\n").expect("the macro ends");
    format!("{before}\n{after}")
}

/// All messages, file by file, in the order of the source.
fn messages() -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for source in ["crates/robots/src", "src"] {
        files(&repository.join(source), &mut paths);
    }
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let whole_name = path.strip_prefix(repository).unwrap().to_str().unwrap();
        let (_, name) = whole_name.split_once("src/").unwrap();
        if ELSEWHERE.iter().any(|part| name.starts_with(part) || name.ends_with(part)) {
            continue;
        }
        let code = fs::read_to_string(&path).unwrap();
        let code = code.split("#[cfg(test)]\nmod ").next().unwrap();
        let code = without_table(code);
        let found = literals(&code);
        let mut found = found.iter().filter(|(before, text)| is_message(before, text)).peekable();
        if found.peek().is_some() {
            writeln!(text, "\n{whole_name}").unwrap();
        }
        found.for_each(|(_, message)| writeln!(text, "  {message}").unwrap());
    }
    text
}

#[test]
fn the_list_of_messages_is_up_to_date() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.txt");
    let messages = messages();
    if std::env::var_os("UPDATE_MESSAGES").is_some() {
        fs::write(&list, &messages).unwrap();
    }
    let known = fs::read_to_string(&list).unwrap_or_default();
    let new: Vec<&str> = messages.lines().filter(|line| !known.contains(line)).collect();
    let gone: Vec<&str> = known.lines().filter(|line| !messages.contains(line)).collect();
    assert!(
        messages == known,
        "tests/messages.txt is out of date; run: UPDATE_MESSAGES=1 cargo test --test all messages::\n\
         new: {new:#?}\ngone: {gone:#?}"
    );
}

#[test]
fn messages_are_plain() {
    let messages = messages();
    // "there is no x" is plain; "y is no x" is not.
    let is_plain = |line: &str| {
        let line = line.replace("there is no ", "");
        !NOT_PLAIN.iter().any(|words| line.contains(words))
    };
    let found: Vec<&str> = messages.lines().filter(|line| !is_plain(line)).collect();
    assert!(found.is_empty(), "say it in other words: {found:#?}");
}
