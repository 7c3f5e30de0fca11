//! The layers of the modules: a module uses only modules of lower layers, modules of one layer do
//! not know each other, files form no circle of imports, and a public type name exists once.
//! All read from the text of `src/` and `crates/robots/src/`, of which the modules are names of `crate` in
//! both packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules by layer, from the lowest up.
const LAYERS: &[&[&str]] = &[
    &[
        "bytes",
        "digest",
        "error",
        "files",
        "merge",
        "mutex",
        "named_enum",
        "numbers",
        "random",
        "statistics",
        "structured_fields",
        "time",
    ],
    &["bounded", "staged", "url"],
    &["config", "pipeline", "robots", "signatures"],
    &["matcher"],
    &["crawlers", "logs", "input", "net"],
    &["archive"],
    &["judge"],
    &["table"],
    &["measures"],
    &["audit", "classify", "explain", "lint"],
    &["report"],
    &["abuse_report", "deny", "nightly"],
    &["run"],
    &["cli"],
];

/// Crates that only these modules may use.
const PRIVILEGES: &[(&str, &[&str])] = &[
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("ctrlc", &["cli"]),
    ("nix", &["cli"]),
    ("terminal_size", &["cli"]),
    ("landlock", &["run"]),
    ("seccompiler", &["run"]),
    ("rayon", &["pipeline"]),
    ("rusqlite", &["archive", "nightly"]),
    ("simple_dns", &["net"]),
    ("csv", &["table", "report", "crawlers", "archive", "classify", "abuse_report", "deny"]),
    ("maud", &["report"]),
    ("ureq", &["net"]),
    ("toml", &["config"]),
];

/// The most lines of code of the command line, rounded up to the next 50. What a command does belongs
/// into `run`.
const CLI_LINES_MAX: usize = 2_250;

/// The most items of both packages that are `pub`, rounded up to the next 50. They are what users of the
/// library, tests, benchmarks and the other packages use; all else is `pub(crate)`, so that the
/// compiler finds what nobody uses any more.
const PUBLIC_ITEMS_MAX: usize = 865;

/// Folders whose files still import each other in a circle. Nothing is added here; a folder without
/// a circle leaves the list.
const FOLDERS_WITH_CIRCLES: &[&str] = &[];

/// Public types whose name still exists more than once. Nothing is added here; a name that is
/// unique leaves the list.
const SHARED_TYPE_NAMES: &[&str] = &[];

#[test]
fn modules_use_only_lower_layers() {
    let broken: Vec<String> = sources().iter().flat_map(|path| broken_layers(path)).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn the_command_line_stays_small() {
    let files = sources().into_iter().filter(|path| path.starts_with(src().join("cli")));
    let lines = files.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        code_lines(&text).filter(|line| !line.trim().is_empty()).count()
    });
    let lines: usize = lines.sum();
    assert!(lines <= CLI_LINES_MAX, "{lines} lines; move work to src/run");
    assert!(lines + 100 > CLI_LINES_MAX, "{lines} lines; lower the limit");
}

/// All other text on the page is escaped by its type.
#[test]
fn only_constants_of_the_page_are_markup_as_they_stand() {
    let unescaped = sources().into_iter().flat_map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let calls: Vec<String> = text
            .split("PreEscaped(")
            .skip(1)
            .map(|after| after.split(')').next().unwrap_or_default().to_owned())
            .collect();
        calls.into_iter().map(move |what| (path.file_name().unwrap().to_owned(), what))
    });
    let unescaped: Vec<_> = unescaped.collect();
    let of_the_shell = ["GENERATOR", "STYLE", "SCRIPT"];
    assert_eq!(unescaped, of_the_shell.map(|name| ("shell.rs".into(), name.to_owned())));
}

#[test]
fn what_only_the_crate_uses_is_not_public() {
    let is_public = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().take(5).collect();
        let kinds = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
        words.first() == Some(&"pub") && words.iter().any(|word| kinds.contains(word))
    };
    let texts = sources().into_iter().map(|path| fs::read_to_string(path).unwrap());
    let public: usize = texts.map(|text| text.lines().filter(is_public).count()).sum();
    assert!(public <= PUBLIC_ITEMS_MAX, "{public} public items; most can be `pub(crate)`");
    assert!(public + 50 > PUBLIC_ITEMS_MAX, "{public} public items; lower PUBLIC_ITEMS_MAX");
}

#[test]
fn crates_stay_in_their_modules() {
    let broken: Vec<String> = sources().iter().flat_map(|path| broken_privileges(path)).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// Each package on which the program depends does its work in the file that docs/architecture.md names.
#[test]
fn each_dependency_has_its_reason_and_its_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let page = read("docs/architecture.md");
    let (_, table) = page.split_once("\n## Dependencies\n").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | `"));
    let rows: BTreeMap<&str, &str> =
        rows.map(|(name, rest)| (name, rest.split('`').next().unwrap())).collect();
    let mut declared = BTreeSet::new();
    for manifest in ["Cargo.toml", "crates/robots/Cargo.toml"].map(read) {
        let manifest: toml::Table = manifest.parse().unwrap();
        let targets = manifest.get("target").and_then(|targets| targets.as_table());
        let tables = targets.into_iter().flat_map(|targets| targets.values());
        for table in tables.chain([&toml::Value::Table(manifest.clone())]) {
            let names = table.get("dependencies").and_then(|names| names.as_table());
            declared.extend(names.into_iter().flat_map(|names| names.keys().cloned()));
        }
    }
    assert_eq!(declared, rows.keys().map(|name| (*name).to_owned()).collect());
    for (name, path) in rows {
        let (name, text) = (name.replace('-', "_"), read(path));
        let is_used =
            |line: &str| names_crate(line, &name) || line.contains(&format!("\"{name}\""));
        assert!(code_lines(&text).any(is_used), "{path} does not use {name}");
    }
}

#[test]
fn no_module_reexports_another_of_its_package() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!code_lines(&text).any(is_reexport), "{}", path.display());
    }
}

fn is_reexport(line: &str) -> bool {
    let what = line.trim_start().strip_prefix("pub use ");
    what.is_some_and(|what| !what.starts_with("botaudit_robots::"))
}

/// `/robots.txt` may always be requested. This is decided in one place, with the other parts of a
/// verdict.
#[test]
fn robots_txt_itself_is_decided_in_one_place() {
    let asks = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        code_lines(&text).any(|line| line.contains(".is_robots_txt()"))
    };
    let asking: Vec<String> = sources()
        .iter()
        .filter(|path| asks(path))
        .map(|path| within_sources(path).display().to_string())
        .collect();
    // The second one decides nothing: it collects the answers to requests for robots.txt. The third
    // one is for applications with rules and without a judge.
    let mut expected =
        ["judge/verdict.rs", "audit/worker/collect.rs", "matcher/robots_txt.rs"].map(str::to_owned);
    expected.sort();
    let mut asking = asking;
    asking.sort();
    assert_eq!(asking, expected);
    let makes = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        code_lines(&text).any(|line| line.contains("Some(Verdict::RobotsTxt)"))
    };
    let making: Vec<PathBuf> = sources().into_iter().filter(makes).collect();
    assert_eq!(making, [src().join("judge/verdict.rs")]);
}

#[test]
fn the_check_sees_a_wrong_import() {
    assert_eq!(modules_named_in("use crate::cli::audit::Run;").collect::<Vec<_>>(), ["cli"]);
    assert!(!may_use("judge", "audit"));
    assert!(!may_use("archive", "matcher"));
    assert!(!may_use("audit", "archive"));
    assert!(!may_use("audit", "matcher"));
    assert!(may_use("lint", "matcher"));
    assert!(!may_use("lint", "archive"));
    assert!(may_use("run", "report"));
    assert!(!may_use("run", "cli"));
    assert!(may_use("cli", "report"));
}

#[test]
fn files_form_no_circle() {
    let circles = circles(&import_graph());
    let describe = |circle: &BTreeSet<Module>| {
        let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
        format!("{}: {}", folder_of(circle), names.join(", "))
    };
    let is_known =
        |circle: &&BTreeSet<Module>| FOLDERS_WITH_CIRCLES.contains(&folder_of(circle).as_str());
    let new: Vec<String> =
        circles.iter().filter(|circle| !is_known(circle)).map(describe).collect();
    assert!(new.is_empty(), "these files import each other:\n{}", new.join("\n"));
    let folders: BTreeSet<String> = circles.iter().map(folder_of).collect();
    assert_no_leftovers(FOLDERS_WITH_CIRCLES, &folders);
}

/// A field that a merge does not name would be lost in silence.
#[test]
fn merges_name_each_field_of_what_they_absorb() {
    let mut merges = 0;
    for path in sources() {
        for body in merge_bodies(&fs::read_to_string(&path).unwrap()) {
            merges += 1;
            let forgetful = may_forget_fields(&body);
            assert!(!forgetful, "{}: destructure `other` without `..`:\n{body}", path.display());
        }
    }
    assert!(merges > 20, "{merges}");
}

#[test]
fn the_check_sees_a_merge_that_may_forget_fields() {
    let merge = |body: &str| {
        let text = format!("impl<T> Merge for A<T> {{\n    fn absorb() {{\n{body}\n    }}\n}}\n");
        let bodies = merge_bodies(&text);
        assert_eq!(bodies.len(), 1);
        may_forget_fields(&bodies[0])
    };
    assert!(merge("self.a += other.a;"));
    assert!(merge("let A { a, .. } = other;"));
    assert!(!merge("let A { a, b: _ } = other;\nother.settle();\nself.0.absorb(other.0);"));
}

/// The bodies of `impl Merge for …`.
fn merge_bodies(text: &str) -> Vec<String> {
    let lines: Vec<&str> = code_lines(text).collect();
    let is_start = |line: &&&str| line.starts_with("impl") && line.contains(" Merge for ");
    let body = |start: &&str| {
        let at = lines.iter().position(|line| std::ptr::eq(*line, *start)).unwrap();
        lines[at..]
            .iter()
            .take_while(|line| **line != "}")
            .map(|line| format!("{line}\n"))
            .collect()
    };
    lines.iter().filter(is_start).map(body).collect()
}

/// Whether `body` reads single fields of `other`, or leaves out some.
fn may_forget_fields(body: &str) -> bool {
    let reads_field = body.match_indices("other.").any(|(at, _)| {
        let rest = &body[at + "other.".len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.starts_with(|c: char| c.is_alphabetic()) && !rest[end..].starts_with('(')
    });
    let leaves_out = body.lines().any(|line| line.trim() == ".." || line.contains(".. } = other"));
    reads_field || leaves_out
}

#[test]
fn a_public_type_name_exists_once() {
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in sources() {
        for name in public_types(&fs::read_to_string(&path).unwrap()) {
            files.entry(name).or_default().push(path.clone());
        }
    }
    files.retain(|_, files| files.len() > 1);
    let new: Vec<String> = files
        .iter()
        .filter(|(name, _)| !SHARED_TYPE_NAMES.contains(&name.as_str()))
        .map(|(name, files)| format!("{name}: {files:?}"))
        .collect();
    assert!(new.is_empty(), "these types share a name:\n{}", new.join("\n"));
    assert_no_leftovers(SHARED_TYPE_NAMES, &files.into_keys().collect());
}

fn assert_no_leftovers(known: &[&str], found: &BTreeSet<String>) {
    let gone: Vec<&&str> = known.iter().filter(|name| !found.contains(**name)).collect();
    assert!(gone.is_empty(), "mended; remove from the list in tests/layers.rs: {gone:?}");
}

#[test]
fn the_check_sees_every_form_of_import() {
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let paths = ["a", "a::b", "a::b::c", "a::d", "e"].map(module);
    let modules: BTreeSet<Module> = paths.into_iter().collect();
    let check = |own: &str, text: &str, expected: &[&str]| {
        let expected = expected.iter().map(|path| module(path)).collect();
        assert_eq!(imports(&module(own), text, &modules), expected, "{text}");
    };
    check("a::d", "use crate::a::b::{self, c::C as X};", &["a::b", "a::b::c"]);
    check("a::d", "use super::{b::{B, c}, A};", &["a", "a::b", "a::b::c"]);
    check("a::b::c", "fn f() -> super::super::d::D { crate::e::f() }", &["a::d", "e"]);
    check("a::b::c", "use super::*;", &["a::b"]);
    check("a::b", "mod c;\nuse std::io;\nconst X: u8 = c::X; // crate::e\n", &["a::b::c"]);
    check("a::d", "#[cfg(test)]\nmod tests {\n    use crate::e::E;\n}\n", &[]);
    check("e", "pub mod c;\nuse b::B;\n", &[]);

    let graph: BTreeMap<Module, BTreeSet<Module>> =
        [("a::b", &["a::d", "e"][..]), ("a::d", &["a::b::c"]), ("a::b::c", &["a::b"]), ("e", &[])]
            .into_iter()
            .map(|(from, to)| (module(from), to.iter().map(|path| module(path)).collect()))
            .collect();
    let found = circles(&graph);
    assert_eq!(found, [["a::b", "a::b::c", "a::d"].map(module).into_iter().collect()]);
    assert_eq!(folder_of(&found[0]), "a");
}

#[test]
fn the_check_sees_public_types() {
    let text = "pub struct A<'a>(&'a u8);\nstruct B;\n    pub(super) enum C {}\npub type D = u8;\n\
                // pub struct E;\n    pub enum F {\npub trait G: Copy {}\npub fn h() {}\n";
    assert_eq!(public_types(text), ["A", "D", "F", "G"]);
}

/// A module: the names on its path, without `crate`. Each stands for one file.
type Module = Vec<String>;

fn import_graph() -> BTreeMap<Module, BTreeSet<Module>> {
    let files: Vec<(Module, PathBuf)> =
        sources().into_iter().map(|path| (module_of(&path), path)).collect();
    let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
    let mut graph: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, path) in &files {
        let imported = imports(module, &fs::read_to_string(path).unwrap(), &modules);
        // Both packages have a folder of this name.
        graph.entry(module.clone()).or_default().extend(imported);
    }
    graph
}

fn module_of(path: &Path) -> Module {
    let within = within_sources(path).with_extension("");
    let mut names: Module = within.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    names.pop_if(|last| last == "mod");
    names
}

/// The modules that the text of `own` names in any path; a declaration alone is not an import.
fn imports(own: &Module, text: &str, modules: &BTreeSet<Module>) -> BTreeSet<Module> {
    let without_comment = |line: &'_ str| line.split(" // ").next().unwrap_or("").to_owned() + "\n";
    let code: String = code_lines(text).map(without_comment).collect();
    let tokens = tokens(&code);
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let begins = at == 0 || tokens[at - 1] != "::";
        if is_name(token) && begins && tokens.get(at + 1) == Some(&"::") {
            let mut paths = Vec::new();
            read_tree(&tokens, at, &[], &mut paths);
            found.extend(paths.iter().filter_map(|path| resolve(own, path, modules)));
        }
    }
    found.remove(own);
    found
}

/// Names and punctuation; `::` is one token.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("::") {
            2
        } else if is_name(&rest[..first.len_utf8()]) {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Reads one tree of paths, such as `a::b` or `a::{b, c::d}`; returns the position after it.
fn read_tree<'t>(
    tokens: &[&'t str],
    mut at: usize,
    prefix: &[&'t str],
    paths: &mut Vec<Vec<&'t str>>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    let is_item = tokens[at] != ",";
                    at = if is_item {
                        read_tree(tokens, at, &path, paths).max(at + 1)
                    } else {
                        at + 1
                    };
                }
                return at + 1;
            }
            Some(name) if is_name(name) => path.push(name),
            _ => break,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    paths.push(path);
    at
}

/// The module of `path`, written in `own`; `None` for other crates and local names.
fn resolve(own: &Module, path: &[&str], modules: &BTreeSet<Module>) -> Option<Module> {
    let mut base = own.clone();
    let mut rest = path;
    match path.first()? {
        &"crate" => {
            base.clear();
            rest = &path[1..];
        }
        &"self" => rest = &path[1..],
        &"super" => {
            while rest.first() == Some(&"super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        name => {
            base.push((*name).to_owned());
            rest = &path[1..];
            if !modules.contains(&base) {
                return None;
            }
        }
    }
    for name in rest {
        base.push((*name).to_owned());
        if !modules.contains(&base) {
            base.pop();
            break;
        }
    }
    modules.contains(&base).then_some(base)
}

/// The largest sets of modules in which each one leads to all others.
fn circles(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        graph.keys().map(|module| (module, reachable(graph, module))).collect();
    let circle_of = |module: &Module| -> BTreeSet<Module> {
        let back = |other: &&&Module| reached.get(*other).is_some_and(|all| all.contains(module));
        reached[module].iter().filter(back).map(|other| (*other).clone()).collect()
    };
    let all: BTreeSet<BTreeSet<Module>> = graph.keys().map(circle_of).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn reachable<'g>(
    graph: &'g BTreeMap<Module, BTreeSet<Module>>,
    from: &Module,
) -> BTreeSet<&'g Module> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&Module> = graph.get(from).into_iter().flatten().collect();
    while let Some(module) = next.pop() {
        if found.insert(module) {
            next.extend(graph.get(module).into_iter().flatten());
        }
    }
    found
}

/// The innermost folder with all files of `circle`.
fn folder_of(circle: &BTreeSet<Module>) -> String {
    let (Some(first), Some(last)) = (circle.first(), circle.last()) else { return String::new() };
    let common = first.iter().zip(last).take_while(|(a, b)| a == b).map(|(name, _)| name.as_str());
    common.collect::<Vec<_>>().join("/")
}

fn public_types(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace();
        let is_type = matches!(words.next()?, "struct" | "enum" | "trait" | "type" | "union");
        let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        // A macro's `$name` is not a name.
        (is_type && !name.is_empty()).then(|| name.to_owned())
    };
    code_lines(text).filter_map(name).collect()
}

fn broken_layers(path: &Path) -> Vec<String> {
    let module = module_name_of(path);
    let text = fs::read_to_string(path).unwrap();
    code_lines(&text)
        .flat_map(modules_named_in)
        .filter(|used| !may_use(&module, used))
        .map(|used| format!("{}: {module} must not use {used}", path.display()))
        .collect()
}

fn broken_privileges(path: &Path) -> Vec<String> {
    let module = module_name_of(path);
    let text = fs::read_to_string(path).unwrap();
    let forbidden = PRIVILEGES.iter().filter(|(_, modules)| !modules.contains(&module.as_str()));
    forbidden
        .filter(|(name, _)| code_lines(&text).any(|line| names_crate(line, name)))
        .map(|(name, _)| format!("{}: {module} must not know the crate {name}", path.display()))
        .collect()
}

/// Whether `module` may use `used`. The jobs use `judge`, never `archive` or `matcher`; otherwise,
/// lower layers only. Readers decide nothing, so they know no `matcher`; but `net` follows no redirect that the
/// robots.txt of its target disallows.
///
/// `lint` alone may use `matcher`: it compares the rules of one text with each other, without a
/// request, an origin or a time for `judge`.
fn may_use(module: &str, used: &str) -> bool {
    let is_job = layer(module) == layer("audit");
    let is_hidden = match used {
        "archive" => is_job,
        "matcher" => match module {
            "logs" | "input" | "archive" => true,
            _ => is_job && module != "lint",
        },
        _ => false,
    };
    module == used || (layer(used) < layer(module) && !is_hidden)
}

fn layer(module: &str) -> usize {
    let found = LAYERS.iter().position(|modules| modules.contains(&module));
    found.unwrap_or_else(|| {
        panic!("the module {module} is in no layer; give it one in tests/layers.rs")
    })
}

fn module_name_of(path: &Path) -> String {
    within_sources(path)
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned()
}

fn modules_named_in(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split("crate::").skip(1);
    names.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
    })
}

/// The lines of code, without comments and without the unit tests at the end of a file.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = roots().to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                // Tests may use anything.
                _ if path.ends_with("tests.rs") => {}
                Some("rs")
                    if !["lib.rs", "main.rs"]
                        .iter()
                        .any(|name| within_sources(&path) == Path::new(name)) =>
                {
                    found.push(path)
                }
                _ => {}
            }
        }
    }
    assert!(found.len() > 8, "the sources were not found");
    found
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The sources of both packages.
fn roots() -> [PathBuf; 2] {
    [src(), Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/robots/src")]
}

fn within_sources(path: &Path) -> &Path {
    roots().iter().find_map(|root| path.strip_prefix(root).ok()).unwrap()
}
