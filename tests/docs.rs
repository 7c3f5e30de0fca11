//! `docs/` matches the source: the files and functions that it names exist, and its layers are
//! those of `tests/layers.rs`. Workflows take the code of others by its digest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

/// The texts in backquotes, outside of blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("\n```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// Whether a quotation is a path in the repository: not a URL path, a command or a type.
fn is_path(quoted: &str) -> bool {
    let is_file = quoted.ends_with(".rs") || quoted.ends_with(".md");
    (is_file || quoted.contains('/')) && !quoted.starts_with('/') && !quoted.contains(' ')
}

/// The rows of the table under `heading`, without its header.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_check_sees_paths() {
    let text =
        "`src/lib.rs` is `a::b`\n```\n`x/y`\n```\n`/robots.txt`, `cargo doc -p a/b`, `src/cli/`";
    let paths: Vec<&str> = quoted(text).into_iter().filter(|word| is_path(word)).collect();
    assert_eq!(paths, ["src/lib.rs", "src/cli/"]);
}

#[test]
fn every_path_in_the_architecture_exists() {
    let text = read("docs/architecture.md");
    let paths: Vec<&str> = quoted(&text).into_iter().filter(|word| is_path(word)).collect();
    assert!(paths.len() > 30, "{paths:?}");
    let missing: Vec<&&str> =
        paths.iter().filter(|path| !repository().join(path).exists()).collect();
    assert!(missing.is_empty(), "docs/architecture.md names files that are gone: {missing:?}");
}

#[test]
fn every_step_of_a_line_is_a_function_of_its_file() {
    let text = read("docs/architecture.md");
    let steps = table(&text, "One line, from the file to a row of violations.csv");
    let mut files = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        let [number, file, function, _] = step[..] else { panic!("{step:?}") };
        assert_eq!(number, (at + 1).to_string());
        let (file, function) = (file.trim_matches('`'), function.trim_matches('`'));
        let source = read(file);
        let name = function.rsplit("::").next().unwrap();
        let is_there = ["(", "<"].iter().any(|end| source.contains(&format!("fn {name}{end}")));
        assert!(is_there, "{file} has no function {function}");
        if let Some((owner, _)) = function.rsplit_once("::") {
            let starts = [format!("impl {owner}"), format!("for {owner}")];
            let is_impl = |line: &str| {
                line.starts_with("impl") && starts.iter().any(|start| line.contains(start))
            };
            let is_generic =
                |line: &str| line.starts_with("impl<") && line.contains(&format!(" {owner}"));
            assert!(
                source.lines().any(|line| is_impl(line) || is_generic(line)),
                "{file}: {function}"
            );
        }
        assert!(files.insert(file), "{file} stands twice");
    }
    assert!(files.len() > 10, "{} files", files.len());
}

#[test]
fn the_layers_are_those_that_are_checked() {
    let layers = read("tests/layers.rs");
    let (_, layers) = layers.split_once("const LAYERS: &[&[&str]] = &[").unwrap();
    let (layers, _) = layers.split_once("\n];").unwrap();
    let names = |text: &str, quote| -> BTreeSet<String> {
        text.split(quote).skip(1).step_by(2).map(str::to_owned).collect()
    };
    let checked: Vec<BTreeSet<String>> = layers
        .split("],")
        .map(|layer| names(layer, '"'))
        .filter(|layer| !layer.is_empty())
        .collect();
    let text = read("docs/architecture.md");
    let mut described: Vec<BTreeSet<String>> =
        table(&text, "Layers").iter().map(|row| names(row[1], '`')).collect();
    described.reverse();
    assert_eq!(described, checked, "docs/architecture.md and tests/layers.rs name other layers");
}

/// All pages with links.
fn pages() -> Vec<String> {
    let root = [
        "README",
        "CONTRIBUTING",
        "SECURITY",
        "CHANGELOG",
        "sample-data/README",
        "tests/conformance/README",
    ];
    let mut pages: Vec<String> = root.iter().map(|page| format!("{page}.md")).collect();
    for folder in ["docs", "docs/studies"] {
        for page in fs::read_dir(repository().join(folder)).unwrap() {
            let name = page.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    pages
}

/// The anchors of a page, made from its headings as GitHub does.
fn anchors(page: &Path) -> BTreeSet<String> {
    let anchor = |heading: &str| -> String {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let text = fs::read_to_string(page).unwrap();
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = read(&page);
        let folder = repository().join(&page).parent().map(Path::to_owned).unwrap();
        let links = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        for link in links.filter(|link| !link.contains("://")) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if target.is_empty() { repository().join(&page) } else { folder.join(target) };
            assert!(target.exists(), "{page} links to {link}");
            let is_anchor = anchor.is_empty() || anchors(&target).contains(anchor);
            assert!(is_anchor, "{page}: there is no heading for {link}");
        }
    }
}

#[test]
fn every_page_is_linked_from_the_readme() {
    for page in pages().iter().filter(|page| *page != "README.md") {
        let (from, link) = match page.strip_prefix("docs/studies/") {
            Some(study) => ("docs/research.md", format!("](studies/{study}")),
            None => ("README.md", format!("]({page}")),
        };
        assert!(read(from).contains(&link), "{from}: {page}");
    }
}

#[test]
fn every_file_that_contributors_are_sent_to_exists() {
    let text = read("CONTRIBUTING.md");
    let paths: Vec<&str> = quoted(&text)
        .into_iter()
        .filter(|word| is_path(word) && word.contains('/') && !word.contains("NAME"))
        .filter(|word| !word.starts_with("target/"))
        .collect();
    assert!(paths.len() > 15, "{paths:?}");
    let missing: Vec<&&str> =
        paths.iter().filter(|path| !repository().join(path).exists()).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md names files that are gone: {missing:?}");
}

/// What `scripts/measure-house` prints is in docs/architecture.md, so it must count what it says.
#[test]
fn the_house_is_measured_as_described() {
    let house = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = house.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let long = "    call();\n".repeat(59);
    write(
        "src/lib.rs",
        &format!(
            "//! Doc.\n\n#[cfg(test)]\nmod checks;\nuse std::{{\n    fs,\n}};\n\
             /* a /* nested */ block\n */ pub mod a;\npub(crate) fn long<'a>() {{\n{long}}}\n\
             #[cfg(test)]\nmod tests {{\n    use super::*;\n    const TEXT: &str = \"}}\";\n}}\n"
        ),
    );
    write("src/checks.rs", "pub fn helper() {}\n");
    write(
        "src/a.rs",
        "pub struct A { pub field: u8 } // pub struct B;\n\
         pub const C: char = '\"'; // a mark\n\
         pub const D: &str = r#\"\npub fn no() { // no comment\n\n\"#;\n\
         impl A {\n    pub const fn e(&self) {\n        if '{' == C {}\n    }\n}\n",
    );
    write("crates/small/src/lib.rs", "trait T {\n    fn declared();\n}\n");
    let script = repository().join("scripts/measure-house");
    let measured = match Command::new("python3").arg(script).arg(house.path()).output() {
        Err(err) => return eprintln!("skipped: no python3 here: {err}"),
        Ok(measured) => measured,
    };
    let expected = "\
        | | `src` | `crates/small` | all |\n\
        | --- | ---: | ---: | ---: |\n\
        | code lines | 75 | 3 | 78 |\n\
        | files | 2 | 1 | 3 |\n\
        | median of a file | 38 | 3 | 10 |\n\
        | files under 40 lines | 1 | 1 | 2 |\n\
        | public items | 4 | 0 | 4 |\n\
        | `use` | 4.0 % | 0.0 % | 3.8 % |\n\
        | functions | 2 | 0 | 2 |\n\
        | functions over 60 lines | 1 | 0 | 1 |\n";
    let said = String::from_utf8_lossy(&measured.stdout);
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&measured.stderr));
}

/// The lines of all workflows that take an action of others, each with its file.
fn uses_of_workflows() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join(".github/workflows")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| line.trim_start().trim_start_matches("- "));
        found.extend(
            lines
                .filter_map(|line| line.strip_prefix("uses:"))
                .map(|used| (path.clone(), used.trim().to_owned())),
        );
    }
    found
}

/// Whether `used` is an action by the digest of its commit, with the version as a comment.
fn is_pinned(used: &str) -> bool {
    let pinned = used.split_once('@').and_then(|(_, pin)| pin.split_once(" # "));
    pinned.is_some_and(|(digest, version)| {
        let is_digest =
            digest.len() == 40 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let number = version.strip_prefix('v').unwrap_or_default();
        is_digest
            && number.split('.').count() == 3
            && number.split('.').all(|n| n.parse::<u32>().is_ok())
    })
}

/// A tag can be moved to another commit, a digest can not.
#[test]
fn workflows_take_actions_by_the_digest_of_their_commit() {
    assert!(is_pinned("actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"));
    assert!(!is_pinned("actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"));
    assert!(!is_pinned("actions/checkout@3d3c42e # v7.0.1"));
    assert!(!is_pinned("actions/checkout@v7.0.1"));
    let used = uses_of_workflows();
    assert!(used.len() > 3, "{used:?}");
    let loose: Vec<_> = used.iter().filter(|(_, used)| !is_pinned(used)).collect();
    assert!(loose.is_empty(), "not pinned by the digest of a commit: {loose:?}");
    let digests: BTreeSet<&str> = used.iter().map(|(_, used)| used.as_str()).collect();
    let names: BTreeSet<&str> =
        used.iter().filter_map(|(_, used)| used.split('@').next()).collect();
    assert_eq!(digests.len(), names.len(), "one action in two versions: {digests:?}");
}

/// The service of the packages, as the system's own check rates it: 0 is safe, 10 is not.
#[test]
fn the_systemd_service_is_hardened() {
    let service = read("scripts/packaging/botaudit.service");
    assert!(service.contains("\nSuccessExitStatus=1\n"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("botaudit.service");
    fs::write(&path, service).unwrap();
    let mut command = Command::new("systemd-analyze");
    // The limit is 2.0, in tenths.
    let checked =
        command.args(["security", "--offline=true", "--threshold=20"]).arg(&path).output();
    match checked {
        Err(err) => eprintln!("skipped: no systemd-analyze here: {err}"),
        Ok(output) => {
            let said =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(said.contains("exposure level"), "{said}");
            assert!(output.status.success(), "{said}");
        }
    }
}
