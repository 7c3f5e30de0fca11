//! Each option of the table in `src/config/audit_config.rs` is found everywhere: in the help, in
//! configuration files, in nightly jobs, in `run.json`, in docs/options.md and in Python.
//!
//! With `UPDATE_DOCS=1`, the page and the arguments of Python are written instead of compared.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use botaudit::AuditConfig;
use botaudit::config::audit_config::OPTIONS;
use botaudit::config::option::{Class, InPython, Needs, OptionEntry};
use botaudit::config::option_value::Kind;

use super::documents::{check_page, read};
use super::program::{Sandbox, line, repository};

/// The options are in this page after this line.
const GENERATED: &str =
    "<!-- Generated from src/config/audit_config.rs by scripts/update-expected. -->\n";

/// Values in a file; each option takes one of them.
const SAMPLES: [&str; 8] = [
    "true",
    "7",
    "\"text\"",
    "\"https://a.example\"",
    "\"192.0.2.1:53\"",
    "\"Europe/Berlin\"",
    "\"mask\"",
    "\"google\"",
];

/// The flag of `key`.
fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// `option` in a file, with a value that it takes.
fn in_file(option: &OptionEntry) -> String {
    let lines = SAMPLES.map(|sample| format!("{} = {sample}\n", option.key));
    let valid = lines.into_iter().find(|line| AuditConfig::from_toml(line).is_ok());
    valid.unwrap_or_else(|| panic!("no value for {}; add one to SAMPLES", option.key))
}

/// `text` without line ends and indentation.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The part of a help text under `heading`.
fn section(help: &str, heading: &str) -> String {
    let after = help.lines().skip_while(|line| *line != format!("{heading}:")).skip(1);
    let lines: Vec<&str> = after.take_while(|line| line.starts_with(' ')).collect();
    flowing(&lines.join(" "))
}

#[test]
fn each_is_a_flag_with_its_help() {
    let sandbox = Sandbox::new();
    let [long, short] = ["audit --help", "audit -h"].map(|words| sandbox.run(words).stdout);
    for option in OPTIONS {
        let flag = match option.kind {
            Kind::Switch => flag(option.key),
            _ => format!("{} <{}>", flag(option.key), option.value_name),
        };
        let text = option.long_help().unwrap_or_else(|| option.short_help());
        let expected = format!("{flag} {}", flowing(&text));
        let found = section(&long, option.heading);
        assert!(found.contains(&expected), "{expected}\n{found}");
        let expected = format!("{flag} {}", flowing(&option.short_help()));
        let found = section(&short, option.heading);
        assert_eq!(found.contains(&expected), option.is_in_short_help, "{expected}\n{found}");
    }
}

#[test]
fn each_is_a_key_of_a_file_which_refuses_other_types() {
    for option in OPTIONS {
        in_file(option);
        let err = AuditConfig::from_toml(&format!("{} = 2026-01-31", option.key)).unwrap_err();
        assert!(err.to_string().contains(&format!("{}: expected ", option.key)), "{err}");
        assert!(AuditConfig::keys().contains(&option.key), "{}", option.key);
    }
}

#[test]
fn nightly_jobs_refuse_those_that_they_cannot_honour() {
    let sandbox = Sandbox::new();
    let keys: String = OPTIONS.iter().map(in_file).collect();
    sandbox.write("botaudit.toml", format!("[sites.a]\nlogs = \"a.log\"\n{keys}"));
    let said = sandbox.run("nightly --check-config").exits(2).stderr;
    for OptionEntry { key, not_nightly, .. } in OPTIONS {
        let refused = format!("sites.a.{key}: not possible in a nightly job, {not_nightly}\n");
        assert_eq!(said.contains(&refused), !not_nightly.is_empty(), "{key}\n{said}");
    }
}

#[test]
fn run_json_has_what_can_change_a_report_in_the_order_of_the_numbers() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(0, "/private", 200, "GPTBot/1.0"));
    sandbox.run("audit -q --robots robots.txt access.log").exits(0);
    let run = sandbox.json("botaudit-report/run.json");
    let found: Vec<&str> = run["options"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected: Vec<&OptionEntry> = OPTIONS.iter().collect();
    expected.retain(|option| option.class != Class::Neutral && !option.only_if_given);
    expected.sort_by_key(|option| option.number);
    let expected: Vec<&str> = expected.iter().map(|option| option.reported_as).collect();
    assert_eq!(found, expected);
    let mut numbers: Vec<usize> = OPTIONS.iter().map(|option| option.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=OPTIONS.len()).collect::<Vec<_>>());
    for option in OPTIONS {
        let given = AuditConfig::from_toml(&in_file(option)).unwrap();
        let reported = serde_json::to_value(given).unwrap();
        let is_reported = !reported[option.reported_as].is_null();
        assert_eq!(is_reported, option.class != Class::Neutral, "{}", option.key);
    }
}

/// What depends on an option, in the page.
fn depends(option: &OptionEntry) -> &'static str {
    match option.class {
        Class::Read => "reading",
        Class::Collected => "first pass",
        Class::Source => "facts",
        Class::Window => "times",
        Class::Verdicts => "verdicts",
        Class::Counted => "counts",
        Class::Shown => "report",
        Class::Neutral => "",
    }
}

fn row(option: &OptionEntry) -> String {
    let value = match option.kind {
        Kind::Switch => String::new(),
        _ => format!(" {}", option.value_name),
    };
    let text = option.short_help();
    let (text, default) = text.rsplit_once(" [default: ").unwrap_or((&text, ""));
    let needs = option.needs.map(|needs| match needs {
        Needs::Given(other) | Needs::On(other) => other,
    });
    let needs = needs.map(|key| format!("; needs `{}`", flag(key)));
    let places = [
        (!option.not_nightly.is_empty(), "`nightly`"),
        (option.python == InPython::Refused, "Python"),
    ];
    let places: Vec<&str> =
        places.into_iter().filter(|(is_out, _)| *is_out).map(|(_, place)| place).collect();
    format!(
        "| `{}{value}` | {text}{} | {} | {} | {} |\n",
        flag(option.key),
        needs.unwrap_or_default(),
        default.trim_end_matches(']'),
        depends(option),
        places.join(", ")
    )
}

#[test]
fn the_page_has_all() {
    let page = "docs/options.md";
    let text = read(page);
    let (before, _) = text.split_once(GENERATED).expect("the page marks its tables");
    let mut expected = format!("{before}{GENERATED}");
    let mut headings: Vec<&str> = Vec::new();
    for OptionEntry { heading, .. } in OPTIONS {
        if headings.contains(heading) {
            continue;
        }
        headings.push(heading);
        write!(expected, "\n## {heading}\n\n| option | meaning | default | changes | not in |\n")
            .unwrap();
        expected += "|---|---|---|---|---|\n";
        expected.extend(OPTIONS.iter().filter(|option| option.heading == *heading).map(row));
    }
    check_page(page, &expected);
}

/// The type of the argument of Python for `option`, if there is one.
fn python_type(option: &OptionEntry) -> Option<&'static str> {
    match option.python {
        InPython::Refused => None,
        InPython::Argument(of) | InPython::Joined(of) => Some(of),
    }
}

/// The argument in the signature.
fn argument(option: &OptionEntry) -> Option<String> {
    let of = python_type(option)?;
    let default = match of {
        of if of.ends_with("| None") => " = None",
        _ if option.is_list => " = ()",
        _ => "",
    };
    Some(format!("    {}: {of}{default},\n", option.key))
}

/// Its documentation, in lines of at most 100 characters.
fn described(option: &OptionEntry) -> Option<String> {
    let is_mapping = python_type(option)?.contains("Mapping");
    let meaning = flowing(&option.meaning.concat());
    let meaning = match is_mapping {
        true => format!("{}, or a mapping.", meaning.trim_end_matches('.')),
        false => meaning,
    };
    let mut text = format!("        {}:", option.key);
    let mut width = text.len();
    for word in meaning.split(' ') {
        if width + 1 + word.len() > 100 {
            text += "\n           ";
            width = 11;
        }
        write!(text, " {word}").unwrap();
        width += 1 + word.len();
    }
    Some(text + "\n")
}

/// `text` with `new` in place of what is between the lines `start` and `end`.
fn replaced(text: &str, start: &str, end: &str, new: &str) -> String {
    let (before, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{end}"));
    format!("{before}{start}{new}{end}{after}")
}

#[test]
fn python_has_those_that_it_allows() {
    let page = "python/pybotaudit/_audit.py";
    let text = read(page);
    let signature: String = OPTIONS.iter().filter_map(argument).collect();
    let documentation: String = OPTIONS.iter().filter_map(described).collect();
    let text = replaced(&text, "    *,\n", "    progress: Asked", &signature);
    let logs = "files, directories, and patterns with `*`.\n";
    let expected = replaced(&text, logs, "        progress: True", &documentation);
    check_page(page, &expected);
}

/// The source files below `directory`.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The compiler does not see a name that no option has.
#[test]
fn the_source_names_no_other_options() {
    const BEFORE_NAMES: [&str; 5] = [
        "options.get(\"",
        "has_option(audit, \"",
        "Fault::new(\"",
        "Needs::Given(\"",
        "Needs::On(\"",
    ];
    let mut paths = Vec::new();
    sources(&repository().join("src"), &mut paths);
    let mut names = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|of| of == "rs")) {
        let code = fs::read_to_string(path).unwrap();
        for after in BEFORE_NAMES.iter().flat_map(|before| code.split(before).skip(1)) {
            let name = after.split('"').next().unwrap();
            let is_option = |option: &OptionEntry| option.key == name || option.reported_as == name;
            assert!(OPTIONS.iter().any(is_option), "{}: {name}", path.display());
            names += 1;
        }
    }
    assert!(names > 30, "{names}");
}
