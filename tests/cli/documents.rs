//! The documentation describes the actual behaviour: README.md, CONTRIBUTING.md and `docs/`.
//!
//! Blocks marked `sh` are run. Blocks marked `console` have commands after `$`, each with its
//! output; a line `[...]` stands for omitted lines. All commands must succeed, unless a comment
//! before the block says otherwise: `<!-- run: exit 1 -->`, `<!-- run: network -->` (with a server
//! of the test) or `<!-- run: no -->`.
//!
//! With `UPDATE_DOCS=1`, outputs, the tables of docs/reports.md and the example of docs/library.md
//! are written into the pages instead of compared; `scripts/update-expected` does that.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use botaudit::report::tables::all_schemas;
use botaudit::table::schema::{Column, TableSchema};

use super::document_sandbox::DocumentSandbox;
use super::program::repository;

/// The columns of docs/reports.md begin after this line.
const GENERATED: &str = "<!-- Generated from src/report/tables by scripts/update-expected. -->\n";

pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).unwrap_or_else(|err| panic!("{page}: {err}"))
}

/// Checks that a page is `expected`, or writes it.
#[track_caller]
pub(crate) fn check_page(page: &str, expected: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(repository().join(page), expected).unwrap();
    }
    let found = read(page);
    let differing =
        found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let at = differing.unwrap_or(found.lines().count().min(expected.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(the end)").to_owned();
    assert!(
        found == expected,
        "{page}:{}: run scripts/update-expected\n  is     {}\n  should {}",
        at + 1,
        line(&found),
        line(expected)
    );
}

/// A block of code, and the comment before it on how to run it.
struct Block<'a> {
    language: &'a str,
    body: Vec<&'a str>,
    how: &'a str,
}

impl Block<'_> {
    fn exit_code(&self) -> i32 {
        let code = self.how.strip_prefix("exit ");
        code.map_or(0, |code| code.parse().unwrap())
    }

    fn sandbox(&self, page: &str) -> DocumentSandbox {
        let configuration = read(page).split("```toml\n").nth(1).map(|rest| {
            let (configuration, _) = rest.split_once("```").unwrap();
            configuration.to_owned()
        });
        DocumentSandbox::new(self.how == "network", configuration.as_deref())
    }

    /// The block as it should be in the page.
    fn rendered(&self, page: &str) -> String {
        match self.language {
            _ if self.how == "no" => self.as_written(),
            "sh" => {
                let ran = self.sandbox(page).run(&self.as_written());
                assert_eq!(ran.code, self.exit_code(), "{page}\n{}{ran:?}", self.as_written());
                self.as_written()
            }
            "console" => self.session(page),
            "rust" => library_example(),
            _ => {
                let strays = self.body.iter().find(|line| line.starts_with("botaudit "));
                assert!(strays.is_none(), "{page}: not marked sh or console: {strays:?}");
                for word in self.as_written().split_whitespace() {
                    let is_script = word.starts_with("scripts/");
                    assert!(!is_script || repository().join(word).exists(), "{page}: {word}");
                }
                self.as_written()
            }
        }
    }

    fn as_written(&self) -> String {
        self.body.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Runs the commands one after another in one directory, and returns each with its output.
    fn session(&self, page: &str) -> String {
        let sandbox = self.sandbox(page);
        let mut text = String::new();
        let mut lines = self.body.iter().peekable();
        while let Some(first) = lines.next() {
            let mut command = (*first).to_owned();
            while command.ends_with('\\') {
                command.push('\n');
                command.push_str(lines.next().unwrap());
            }
            let command_line =
                command.strip_prefix("$ ").unwrap_or_else(|| panic!("{page}: {first}"));
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.push(*line);
            }
            let ran = sandbox.run(command_line);
            assert_eq!(ran.code, self.exit_code(), "{page}: {command}\n{ran:?}");
            writeln!(text, "{command}").unwrap();
            text.push_str(&abridged(&ran.stdout, &shown));
        }
        text
    }
}

/// `output` cut to the number of lines that `shown` has before and after `[...]`.
fn abridged(output: &str, shown: &[&str]) -> String {
    let output: Vec<&str> = output.trim_end().lines().collect();
    let Some(gap) = shown.iter().position(|line| *line == "[...]") else {
        let blank = shown.iter().rev().take_while(|line| line.is_empty()).count();
        return output.into_iter().chain(vec![""; blank]).map(|line| format!("{line}\n")).collect();
    };
    let end = output.len().saturating_sub(shown.len() - gap - 1).max(gap);
    let lines = output[..gap.min(end)].iter().chain([&"[...]"]).chain(&output[end..]);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_excerpt_keeps_the_lines_around_the_gap() {
    assert_eq!(abridged("a\nb\nc\nd\n", &["x", "[...]", "y"]), "a\n[...]\nd\n");
    assert_eq!(abridged("a\nb\n", &["x", ""]), "a\nb\n\n");
}

/// Checks the outputs of the commands in the page.
fn check_commands(page: &str) {
    let text = read(page);
    let mut expected = String::new();
    let mut how = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(expected, "{line}").unwrap();
        if let Some(language) = line.strip_prefix("```") {
            let body = lines.by_ref().take_while(|line| *line != "```").collect();
            expected.push_str(&Block { language, body, how }.rendered(page));
            expected.push_str("```\n");
        }
        let comment = line.strip_prefix("<!-- run: ").and_then(|rest| rest.strip_suffix(" -->"));
        how = comment.unwrap_or("");
    }
    check_page(page, &expected);
}

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(
            #[cfg(unix)]
            #[test]
            fn $test() {
                check_commands($page);
            }
        )*
        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    the_readme: "README.md",
    contributing: "CONTRIBUTING.md",
    architecture: "docs/architecture.md",
    archive: "docs/archive.md",
    benchmarks: "docs/benchmarks.md",
    classify: "docs/classify.md",
    crawls: "docs/crawls.md",
    deny: "docs/deny.md",
    guide: "docs/guide.md",
    identity: "docs/identity.md",
    install: "docs/install.md",
    library: "docs/library.md",
    limits: "docs/limits.md",
    nightly: "docs/nightly.md",
    python: "docs/python.md",
    research: "docs/research.md",
    scale: "docs/scale.md",
    spark: "docs/spark.md",
    study_of_address_lists: "docs/studies/address-lists.md",
    study_of_parsers: "docs/studies/parsers-disagree.md",
    study_of_the_great_gpt_firewall: "docs/studies/the-great-gpt-firewall.md",
    study_of_ucsd: "docs/studies/ucsd-site-c.md",
}

#[test]
fn every_page_is_checked() {
    let mut pages = BTreeSet::new();
    for folder in ["docs", "docs/studies"] {
        let found = fs::read_dir(repository().join(folder)).unwrap();
        let found = found.map(|page| page.unwrap().file_name().into_string().unwrap());
        let found = found.filter(|name| name.ends_with(".md"));
        pages.extend(found.map(|name| format!("{folder}/{name}")));
    }
    let checked = PAGES.iter().filter(|page| page.starts_with("docs/"));
    // Their texts have no commands; their tables have tests of their own, below and in `options`.
    let others = ["docs/options.md", "docs/reports.md"];
    let checked = checked.copied().chain(others).map(str::to_owned).collect();
    assert_eq!(pages, checked);
}

/// `README.md` must be short enough to be read completely.
#[test]
fn the_readme_is_short() {
    assert!(read("README.md").lines().count() <= 200);
}

/// The two commands of people and of continuous integration.
#[test]
fn the_readme_has_its_two_commands() {
    for command in [
        "cargo run --locked -- audit --robots sample-data/robots -o report/ sample-data/logs",
        "scripts/check",
    ] {
        assert!(read("README.md").contains(&format!("\n```\n{command}\n```\n")), "{command}");
    }
}

/// The doc test of the library compiles its example; docs/library.md has the same.
fn library_example() -> String {
    let library = read("src/lib.rs");
    let lines = library.lines().skip_while(|line| *line != "//! ```").skip(1);
    let lines = lines.take_while(|line| *line != "//! ```");
    // Lines that only the doc test needs.
    let lines = lines.filter(|line| !line.starts_with("//! # "));
    lines.map(|line| format!("{}\n", line.strip_prefix("//! ").unwrap_or_default())).collect()
}

/// The columns that several tables share, by name.
fn shared_columns() -> Vec<Column> {
    let all = || all_schemas().flat_map(|table| table.columns);
    let mut shared: Vec<Column> = Vec::new();
    for column in all() {
        let is_same = |other: &&Column| {
            (other.name, other.unit, other.meaning) == (column.name, column.unit, column.meaning)
        };
        let is_new = !shared.iter().any(|other| is_same(&other));
        if is_new && all().filter(is_same).count() > 1 {
            shared.push(*column);
        }
    }
    shared
}

fn is_among(column: &Column, columns: &[Column]) -> bool {
    columns.iter().any(|other| {
        (other.name, other.unit, other.meaning) == (column.name, column.unit, column.meaning)
    })
}

fn column_table(columns: &[Column]) -> String {
    let mut text = "| column | unit | meaning |\n|---|---|---|\n".to_owned();
    for column in columns {
        writeln!(text, "| `{}` | {} | {} |", column.name, column.unit, column.meaning).unwrap();
    }
    text
}

/// What the section of `file` in docs/reports.md says after its columns: how they are computed.
fn method<'a>(page: &'a str, file: &str) -> &'a str {
    let (_, section) = page.split_once(&format!("\n## {file}\n")).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    section.find("\n### ").map_or("", |start| &section[start..])
}

#[test]
fn the_method_of_a_table_is_kept() {
    let page = "# R\n## a.csv\n\nOld\n\n### How\n\ntext\n\n## b.csv\n\nOld\n";
    assert_eq!(method(page, "a.csv"), "\n### How\n\ntext\n");
    assert_eq!((method(page, "b.csv"), method(page, "c.csv")), ("", ""));
}

fn table_section(table: &TableSchema, shared: &[Column]) -> String {
    let names: Vec<String> =
        table.columns.iter().map(|column| format!("`{}`", column.name)).collect();
    let own: Vec<Column> =
        table.columns.iter().filter(|column| !is_among(column, shared)).copied().collect();
    let mut text = format!("\n## {}\n\nOne row for {}.\n", table.file, table.row);
    write!(text, "\nColumns in order: {}.\n", names.join(", ")).unwrap();
    if !own.is_empty() {
        write!(text, "\n{}", column_table(&own)).unwrap();
    }
    text
}

#[test]
fn reports_are_described_as_declared() {
    let page = "docs/reports.md";
    let text = read(page);
    let (single_file, _) = text.split_once(GENERATED).expect("docs/reports.md marks its tables");
    let shared = shared_columns();
    let mut expected = format!("{single_file}{GENERATED}\n## Shared columns\n\n");
    expected.push_str("These columns mean the same in every table that has them.\n\n");
    expected.push_str(&column_table(&shared));
    for table in all_schemas() {
        expected.push_str(&table_section(table, &shared));
        expected.push_str(method(&text, table.file));
    }
    check_page(page, &expected);
}

#[test]
fn every_exit_code_is_explained() {
    for code in ["| 0 |", "| 1 |", "| 2 |", "| 3 |"] {
        assert!(read("README.md").contains(code), "{code}");
    }
}

/// systemd checks the units of the timer, if it is installed.
#[test]
fn systemd_accepts_the_units() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["botaudit.service", "botaudit.timer"].map(|name| {
        let unit = read(&format!("scripts/packaging/{name}"));
        let path = dir.path().join(name);
        fs::write(&path, unit.replace("/usr/bin/botaudit", env!("CARGO_BIN_EXE_botaudit")))
            .unwrap();
        path
    });
    let mut command = std::process::Command::new("systemd-analyze");
    match command.args(["verify", "--man=no"]).args(&names).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.trim().is_empty(), "{said}");
        }
        Err(_) => eprintln!("skipped: there is no systemd-analyze"),
    }
}

/// The last step of `action.yml`, as a runner of GitHub Actions runs it.
#[test]
fn the_action_lints_and_gives_its_outputs() {
    if std::process::Command::new("jq").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no jq");
    }
    let action = read("action.yml");
    let (_, step) = action.split_once("    - name: Lint\n").unwrap();
    let (_, script) = step.split_once("run: |\n").unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("good.txt"), "User-agent: *\nDisallow: /x\n").unwrap();
    fs::write(dir.path().join("bad.txt"), "User-agent: *\nDisalow: /x\n").unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_botaudit")).parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let run = |files: &str, strict: &str| {
        let output = dir.path().join("output");
        fs::write(&output, "").unwrap();
        let mut command = std::process::Command::new("bash");
        command.args(["-c", script]).current_dir(dir.path());
        command.env("PATH", format!("{}:{path}", programs.display()));
        command.env("RUNNER_TEMP", dir.path()).env("GITHUB_OUTPUT", &output);
        let ran = command.env("FILES", files).env("STRICT", strict).output().unwrap();
        (
            ran.status.code(),
            String::from_utf8(ran.stdout).unwrap(),
            fs::read_to_string(output).unwrap(),
        )
    };
    let (code, said, outputs) = run("good.txt bad.txt", "false");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("::warning file=bad.txt,line=2,"), "{said}");
    let report = dir.path().join("botaudit-lint.json");
    let sarif = dir.path().join("botaudit-lint.sarif");
    let (report, log) = (report.display(), sarif.display());
    assert_eq!(outputs, format!("errors=0\nwarnings=1\nreport={report}\nsarif={log}\n"));
    assert!(fs::read_to_string(sarif).unwrap().contains("\"ruleId\": \"accepted-typo\""));
    assert_eq!(run("bad.txt", "true").0, Some(1));
    assert_eq!(run("missing.txt", "false").0, Some(2));
}
