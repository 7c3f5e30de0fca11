//! Compares every engine with verdicts of Google's parser.
//!
//! `cargo run --release --example rep_differential FILE` reads lines of
//! `robots.txt in base64, or - for that of the line before TAB asked name TAB
//! URL TAB allowed (0/1) TAB deciding line (0: none) TAB a group named it (0/1)
//! TAB anything TAB path`; a field that starts with `b64:` is base64 of bytes.
//! It prints for each engine how many agree and the first that differ. Exit
//! code: 0 all agree, 1 some differ, 2 the file cannot be read.

#[path = "../google_parser/mod.rs"]
mod google_parser;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use botaudit::matcher::compiled::CompiledPolicy;
use botaudit::matcher::decision::{Decision, IndexedDecision};
use botaudit::matcher::limits::Limits;
use botaudit::matcher::linear::LinearGlobs;
use botaudit::matcher::precedence::rank;
use botaudit::matcher::reference;
use botaudit::robots::model::Rule;
use botaudit::url::path::Dialect::Google;
use google_parser::{Answer, ask};

use std::process::ExitCode;

/// The most differences printed for each engine.
const SHOWN_MAX: usize = 5;

type Engine = fn(&[&Rule], &[u8]) -> IndexedDecision;

const ENGINES: [(&str, Engine); 3] = [
    ("reference", |rules, path| reference::decide(rules, Google, path)),
    ("direct", |rules, path| LinearGlobs::new(&rank(rules, Google), Google).decide(path)),
    ("compiled", |rules, path| {
        // With these limits, every set and every pattern is compiled.
        let limits =
            Limits { ordered_patterns_max: 0, searches_before_compiling: 0, ..Limits::default() };
        CompiledPolicy::new(rules, Google, &limits).decide(path)
    }),
];

struct Case {
    number: usize,
    robots_txt: Vec<u8>,
    asked: Vec<u8>,
    url: Vec<u8>,
    expected: Decision,
    is_named: bool,
    path: Vec<u8>,
}

fn main() -> ExitCode {
    match std::env::args().nth(1).ok_or("usage: rep_differential FILE".into()).and_then(read) {
        Ok(cases) if run(&cases) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(why) => {
            eprintln!("rep_differential: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(cases: &[Case]) -> bool {
    let mut all_agree = true;
    for (name, engine) in ENGINES {
        let differ: Vec<String> =
            cases.iter().filter_map(|case| difference(case, engine)).collect();
        println!("{name}: {} agree, {} differ", cases.len() - differ.len(), differ.len());
        differ.iter().take(SHOWN_MAX).for_each(|difference| println!("  {difference}"));
        all_agree &= differ.is_empty();
    }
    all_agree
}

fn difference(case: &Case, engine: Engine) -> Option<String> {
    let Answer { decision, is_named, path } = ask(&case.robots_txt, &case.asked, &case.url, engine);
    let is_same = (decision, is_named, &*path) == (case.expected, case.is_named, &*case.path);
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    (!is_same).then(|| {
        format!(
            "line {}: {} {}: expected {:?} named {} path {}, got {decision:?} named {is_named} path {}",
            case.number,
            show(&case.asked),
            show(&case.url),
            case.expected,
            case.is_named,
            show(&case.path),
            show(&path),
        )
    })
}

fn read(path: String) -> Result<Vec<Case>, String> {
    let text = std::fs::read(&path).map_err(|err| format!("cannot read {path}: {err}"))?;
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if !line.is_empty() {
            let before = cases.last().map(|case| case.robots_txt.as_slice());
            let case = case(index + 1, line, before);
            cases.push(case.ok_or_else(|| format!("{path}:{}: no case", index + 1))?);
        }
    }
    Ok(cases)
}

fn case(number: usize, line: &[u8], robots_txt_before: Option<&[u8]>) -> Option<Case> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    let [robots_txt, asked, url, allowed, by, is_named, _, path, ..] = fields[..] else {
        return None;
    };
    let robots_txt = match robots_txt {
        b"-" => robots_txt_before?.to_vec(),
        encoded => BASE64_STANDARD.decode(encoded).ok()?,
    };
    let by: u32 = std::str::from_utf8(by).ok()?.parse().ok()?;
    let expected = Decision { allowed: allowed == b"1", line: (by > 0).then_some(by) };
    let is_named = is_named == b"1";
    let (asked, url, path) = (field(asked)?, field(url)?, field(path)?);
    Some(Case { number, robots_txt, asked, url, expected, is_named, path })
}

fn field(written: &[u8]) -> Option<Vec<u8>> {
    match written.strip_prefix(b"b64:") {
        Some(encoded) => BASE64_STANDARD.decode(encoded).ok(),
        None => Some(written.to_vec()),
    }
}
