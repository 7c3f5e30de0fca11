use super::*;
use crate::input::compression::Compression::*;
use crate::input::compression::tests::{ALL, member};
use crate::input::source::expand;

/// Lines that make a file long enough to be recognised by its content.
fn long(name: &str) -> String {
    (0..800).map(|n| format!("{name} line {n}\n")).collect()
}

fn found_in(directory: &Path) -> (Vec<String>, Repeats) {
    let prefix = format!("{}/", directory.display());
    let cut = |name: &str| name.strip_prefix(&prefix).unwrap_or(name).to_owned();
    let all = ["", "below"].map(|name| directory.join(name).into_os_string());
    let DistinctLogs { sources, repeats } = without_copies(expand(&all));
    let names = sources.iter().map(|source| cut(&source.name));
    let copy =
        |SkippedCopy { name, of, damage }| SkippedCopy { name: cut(&name), of: cut(&of), damage };
    let alike = |AlikeLogs { name, of }| AlikeLogs { name: cut(&name), of: cut(&of) };
    let names = names.filter(|name| *name != "below").collect();
    let repeats = Repeats {
        copies: repeats.copies.into_iter().map(copy).collect(),
        alike: repeats.alike.into_iter().map(alike).collect(),
    };
    (names, repeats)
}

/// The pairs `copies` (`copy=whole`) and `alike` among `files`.
#[track_caller]
fn check(files: &[(&str, &[u8])], copies: &[&str], alike: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("below")).unwrap();
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let (kept, repeats) = found_in(dir.path());
    let found: Vec<String> =
        repeats.copies.iter().map(|copy| format!("{}={}", copy.name, copy.of)).collect();
    assert_eq!(found, copies);
    let found: Vec<String> =
        repeats.alike.iter().map(|pair| format!("{}={}", pair.name, pair.of)).collect();
    assert_eq!(found, alike);
    let is_copy = |name: &str| copies.iter().any(|copy| copy.starts_with(&format!("{name}=")));
    let mut expected: Vec<&str> =
        files.iter().map(|(name, _)| *name).filter(|name| !is_copy(name)).collect();
    expected.sort_unstable();
    assert_eq!(kept, expected);
}

#[test]
fn the_whole_content_decides() {
    let header = "#Fields: a b c\n".repeat(1_000);
    let (one, two) = (format!("{header}one\n"), format!("{header}two\n"));
    let longer = format!("{one}more\n");
    let gz = member(Gzip, one.as_bytes());
    let [one, two, longer] = [&one, &two, &longer].map(String::as_bytes);
    check(&[("a", one), ("b", two)], &[], &[]);
    check(&[("a", one), ("b", &gz)], &["b=a"], &[]);
    check(&[("a", one), ("b", longer)], &["a=b"], &[]);
    check(&[("a", one), ("b", longer), ("c", &gz)], &["a=b", "c=b"], &[]);
    check(&[("a", b""), ("b", b""), ("c", longer)], &[], &[]);
}

#[test]
fn any_compression_is_a_copy() {
    let text = long("a");
    for kind in ALL {
        check(&[("a", text.as_bytes()), ("b", &member(kind, text.as_bytes()))], &["b=a"], &[]);
        let part = member(kind, &text.as_bytes()[..text.len() / 4 * 3]);
        check(&[("a", &part), ("b", text.as_bytes())], &["a=b"], &[]);
    }
}

#[test]
fn many_that_begin_alike_are_told_apart() {
    let head = long("head");
    let mut files: Vec<(String, String)> = Vec::new();
    for tail in ["x", "xy", "xyz", "y", "yz", "z", "x", "yz"] {
        files.push((format!("{}.log", files.len()), format!("{head}{tail}")));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let copies = ["0.log=2.log", "1.log=2.log", "3.log=4.log", "6.log=2.log", "7.log=4.log"];
    check(&files, &copies, &[]);
}

#[test]
fn short_logs_are_copies_by_their_names() {
    let text = long("a");
    let all = text.as_bytes();
    let short = &all[..200];
    check(&[("access.log", all), ("access.log.1", short)], &["access.log.1=access.log"], &[]);
    check(
        &[("access.log.1", short), ("access.log.1.gz", &member(Gzip, short))],
        &["access.log.1.gz=access.log.1"],
        &[],
    );
    check(&[("a.log", all), ("b.log", short)], &[], &["b.log=a.log"]);
    check(&[("a.log", short), ("b.log", short)], &[], &["b.log=a.log"]);
    check(
        &[("access.log", short), ("below/access.log", short)],
        &[],
        &["below/access.log=access.log"],
    );
    // The one that has the name is found behind another.
    check(
        &[("a.log", short), ("access.log", short), ("access.log.1", all)],
        &["access.log=access.log.1"],
        &["a.log=access.log.1"],
    );
}

#[test]
fn logs_without_requests_are_no_copies_and_need_no_warning() {
    let header = b"#Version: 1.0\n#Fields: date time\n\n";
    let log = [&header[..], long("a").as_bytes()].concat();
    check(&[("a.log", &log), ("b.log", header), ("c.log", header)], &[], &[]);
}

#[test]
fn a_damaged_copy_says_what_may_be_missing() {
    let text = long("a");
    let whole = member(Gzip, text.as_bytes());
    let cut = &whole[..whole.len() - 9];
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let damages = || {
        let (kept, repeats) = found_in(dir.path());
        let copies = repeats.copies.into_iter();
        (kept, copies.map(|copy| (copy.name, copy.damage)).collect::<Vec<_>>())
    };
    fs::create_dir(dir.path().join("below")).unwrap();
    write("access.log.1", text.as_bytes());
    write("access.log.1.gz", cut);
    write("other.gz", cut);
    let damage = Some(format!("truncated gzip stream at byte {}", cut.len()));
    let copies = vec![("access.log.1.gz".to_owned(), None), ("other.gz".to_owned(), damage)];
    assert_eq!(damages(), (vec!["access.log.1".to_owned()], copies));
    // Of equal contents, the whole one is kept, whatever its name.
    let mut bad = whole.clone();
    let at = bad.len() - 5;
    bad[at] ^= 1;
    fs::remove_file(dir.path().join("access.log.1")).unwrap();
    write("access.log.1.gz", &bad);
    write("other.gz", &whole);
    let (kept, copies) = damages();
    assert_eq!((kept, copies.len()), (vec!["other.gz".to_owned()], 1));
    assert!(copies[0].1.as_ref().is_some_and(|why| why.contains("checksum")), "{copies:?}");
}

#[cfg(unix)]
#[test]
fn names_of_one_file_are_one_log() {
    for text in [b"one line\n".to_vec(), long("a").into_bytes()] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(dir.path().join("a.log"), &text).unwrap();
        fs::hard_link(dir.path().join("a.log"), dir.path().join("b.log")).unwrap();
        std::os::unix::fs::symlink("a.log", dir.path().join("c.log")).unwrap();
        let (kept, repeats) = found_in(dir.path());
        assert_eq!(kept, ["a.log"]);
        assert_eq!((repeats.copies.len(), repeats.alike.len()), (1, 0));
    }
}
