//! Which robots.txt files are asked: real ones by their number of rules, or generated ones.

use std::fmt::Write as _;
use std::path::Path;

use botaudit::matcher::select::{Selection, select};
use botaudit::robots::model::StarGroups;
use botaudit::robots::model::{ParsedRobotsTxt, Rule};
use botaudit::robots::parse::{cut, parse_body};

use crate::urls::Random;

/// One file, and what it is an example of.
pub struct File {
    /// What was looked for.
    pub bucket: String,
    /// Its name.
    pub name: String,
    /// Its bytes, as far as they count.
    pub body: Vec<u8>,
}

/// How much a file asks of a matcher.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rules that bind whom no group names.
    pub rules: usize,
    /// Those of them with a wildcard or `$`.
    pub wildcards: usize,
}

/// What is looked for: a number of rules, and of which kind.
struct Wanted {
    bucket: &'static str,
    rules: usize,
    is_wanted: fn(Size) -> bool,
}

/// A tenth of the rules: enough that wildcards are involved.
fn has_wildcards(size: Size) -> bool {
    size.wildcards * 10 >= size.rules
}

const WANTED: [Wanted; 5] = [
    Wanted { bucket: "about 6", rules: 6, is_wanted: |_| true },
    Wanted { bucket: "about 50", rules: 50, is_wanted: has_wildcards },
    Wanted { bucket: "about 240", rules: 240, is_wanted: has_wildcards },
    Wanted {
        bucket: "1000 or more",
        rules: 1000,
        is_wanted: |size| size.rules >= 1000 && has_wildcards(size),
    },
    Wanted { bucket: "5000 plain prefixes", rules: 5000, is_wanted: |size| size.wildcards == 0 },
];

/// The rules that bind whom no group names.
pub fn star(robots: &ParsedRobotsTxt) -> Selection<'_> {
    select(robots, &[] as &[&str], StarGroups::Honoured)
}

/// What a file asks of a matcher.
pub fn size(body: &[u8]) -> Size {
    let robots = parse_body(body);
    let rules = star(&robots).rules();
    let is_wild = |rule: &&&Rule| rule.pattern.iter().any(|byte| matches!(byte, b'*' | b'$'));
    Size { rules: rules.len(), wildcards: rules.iter().filter(is_wild).count() }
}

/// Those of `directory` that are nearest to what is wanted, and `random_count` others that have rules.
pub fn real(directory: &Path, random_count: usize) -> std::io::Result<Vec<File>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_file() {
            let body = cut(&std::fs::read(&path)?).to_vec();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.push((size(&body), name, body));
        }
    }
    all.retain(|(size, ..)| size.rules > 0);
    all.sort_by(|(_, a, _), (_, b, _)| a.cmp(b));
    let mut files = Vec::new();
    for wanted in &WANTED {
        let near = all.iter().filter(|(size, ..)| (wanted.is_wanted)(*size));
        if let Some((_, name, body)) =
            near.min_by_key(|(size, ..)| size.rules.abs_diff(wanted.rules))
        {
            let (bucket, name) = (wanted.bucket.to_owned(), name.clone());
            files.push(File { bucket, name, body: body.clone() });
        }
    }
    let mut random = Random(9309);
    for _ in 0..random_count.min(all.len()) {
        let (_, name, body) = all.swap_remove(random.below(all.len()));
        files.push(File { bucket: "random".into(), name, body });
    }
    Ok(files)
}

/// Files in the shape of real ones, for whoever has none.
pub fn generated() -> Vec<File> {
    let plain = |number: usize| format!("Disallow: /shop/{}/item-{number}/\n", number % 17);
    let mixed = |number: usize| match number % 6 {
        0 => format!("Disallow: /*?sort{number}=\n"),
        1 => format!("Disallow: /*/print-{number}/*.html$\n"),
        2 => format!("Allow: /catalog/{number}/*.css\n"),
        3 => format!("Disallow: /catalog/{number}\n"),
        4 => format!("Disallow: /search-{number}\n"),
        _ => format!("Allow: /search-{}/help\n", number - 1),
    };
    let file = |wanted: &Wanted| {
        let mut text = String::from("User-agent: *\n");
        let line: &dyn Fn(usize) -> String = if wanted.rules == 5000 { &plain } else { &mixed };
        (0..wanted.rules).for_each(|number| {
            write!(text, "{}", line(number)).expect("a string takes all");
        });
        File { bucket: wanted.bucket.into(), name: "generated".into(), body: text.into() }
    };
    WANTED.iter().map(file).collect()
}
