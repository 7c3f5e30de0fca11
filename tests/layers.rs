//! The floors of the house: a room uses only rooms of lower floors, and rooms
//! on one floor do not know each other. Read from the `crate::` paths of `src/`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms by floor, from the ground up.
const FLOORS: &[&[&str]] = &[
    &["bytes", "error", "merge", "time"],
    &["bounded", "staged", "url"],
    &["robots", "crawlers", "logs", "input", "net"],
    &["matcher", "archive"],
    &["judge"],
    &["audit", "classify", "explain", "lint"],
    &["report"],
    &["nightly"],
    &["cli"],
];

/// Crates that only the named rooms may know.
const PRIVILEGES: &[(&str, &[&str])] = &[
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("ctrlc", &["cli"]),
    ("rayon", &["audit", "classify"]),
    ("rusqlite", &["archive", "nightly"]),
    ("simple_dns", &["net"]),
    ("csv", &["report", "crawlers", "archive", "classify"]),
    ("ureq", &["net"]),
    ("toml", &["nightly"]),
];

#[test]
fn rooms_use_only_lower_floors() {
    let broken: Vec<String> = sources().iter().flat_map(|path| broken_floors(path)).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn crates_stay_in_their_rooms() {
    let broken: Vec<String> = sources().iter().flat_map(|path| broken_privileges(path)).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn no_module_reexports_another() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            !code_lines(&text).any(|line| line.trim_start().starts_with("pub use ")),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_check_sees_a_wrong_import() {
    assert_eq!(rooms_named_in("use crate::cli::audit::Run;").collect::<Vec<_>>(), ["cli"]);
    assert!(!may_use("judge", "audit"));
    assert!(!may_use("archive", "matcher"));
    assert!(!may_use("audit", "archive"));
    assert!(!may_use("audit", "matcher"));
    assert!(may_use("lint", "matcher"));
    assert!(!may_use("lint", "archive"));
    assert!(may_use("cli", "report"));
}

fn broken_floors(path: &Path) -> Vec<String> {
    let room = room_of(path);
    let text = fs::read_to_string(path).unwrap();
    code_lines(&text)
        .flat_map(rooms_named_in)
        .filter(|used| !may_use(&room, used))
        .map(|used| format!("{}: {room} must not use {used}", path.display()))
        .collect()
}

fn broken_privileges(path: &Path) -> Vec<String> {
    let room = room_of(path);
    let text = fs::read_to_string(path).unwrap();
    let forbidden = PRIVILEGES.iter().filter(|(_, rooms)| !rooms.contains(&room.as_str()));
    forbidden
        .filter(|(name, _)| code_lines(&text).any(|line| names_crate(line, name)))
        .map(|(name, _)| format!("{}: {room} must not know the crate {name}", path.display()))
        .collect()
}

/// The jobs know `judge`, never `archive` or `matcher`; else lower floors only.
///
/// `lint` alone may ask `matcher`: it compares the rules of one text with each
/// other, and there is no request, no origin and no time that `judge` would add.
fn may_use(room: &str, used: &str) -> bool {
    let is_job = floor(room) == floor("audit");
    let is_hidden = match used {
        "archive" => is_job,
        "matcher" => is_job && room != "lint",
        _ => false,
    };
    room == used || (floor(used) < floor(room) && !is_hidden)
}

fn floor(room: &str) -> usize {
    let found = FLOORS.iter().position(|rooms| rooms.contains(&room));
    found.unwrap_or_else(|| {
        panic!("the room {room} stands on no floor; give it one in tests/layers.rs")
    })
}

fn room_of(path: &Path) -> String {
    let within = path.strip_prefix(src()).unwrap();
    within
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned()
}

fn rooms_named_in(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split("crate::").skip(1);
    names.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
    })
}

/// Lines that are not comments, and not of the unit tests at a file's end.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![src()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                // Tests may use what they like, wherever they stand.
                _ if path.ends_with("tests.rs") => {}
                Some("rs")
                    if !["lib.rs", "main.rs"].iter().any(|name| path == src().join(name)) =>
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
