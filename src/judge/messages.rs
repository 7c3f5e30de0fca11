//! Sentences about the robots.txt files of a run, and the age of a snapshot as text.

use std::collections::BTreeMap;

use crate::matcher::compiled_set::SEARCHES_MAX;
use crate::numbers::{counted, grouped};
use crate::robots::{foreign::Foreign, parse::BODY_BYTES_MAX};

/// A sentence that the file `source` is not a robots.txt.
pub(crate) fn foreign_message(source: &str, what: Foreign) -> String {
    format!(
        "{source} is {}, not a robots.txt, so it allows everything; use the file that the site \
         serves as /robots.txt",
        what.as_str()
    )
}

/// The most files that are not robots.txt files with a sentence of their own, or named in one.
const FOREIGN_NAMED_MAX: usize = 3;

/// Sentences that `files` are not robots.txt files: one for each if they are few, otherwise one for
/// all. There may be more of them if there are `most`.
pub(super) fn foreign_messages(files: &BTreeMap<String, Foreign>, most: usize) -> Vec<String> {
    if files.len() <= FOREIGN_NAMED_MAX {
        return files.iter().map(|(source, what)| foreign_message(source, *what)).collect();
    }
    let named = files.iter().take(FOREIGN_NAMED_MAX);
    let named: Vec<String> =
        named.map(|(source, what)| format!("{source} ({})", what.as_str())).collect();
    let count = grouped(files.len() as u64);
    let more = if files.len() < most { "" } else { " or more" };
    vec![format!(
        "{count}{more} files are not robots.txt files, so they allow everything: {} and others, which \
         --verbose names; use the files that the sites serve as /robots.txt",
        named.join(", ")
    )]
}

/// A sentence that only a part of the files `names` counts, if there are any.
pub(crate) fn cut_message<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    let shown = names.get(..FOREIGN_NAMED_MAX).unwrap_or(&names).join(", ");
    let more = match names.len().saturating_sub(FOREIGN_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    (!names.is_empty()).then(|| {
        format!(
            "{shown}{more}: only the lines within the first {} bytes count, as for Google; the rest was \
             ignored, so its rules decided nothing",
            grouped(BODY_BYTES_MAX as u64)
        )
    })
}

/// A sentence for each robots.txt that could not be read, in order.
pub fn failure_messages(failures: &BTreeMap<String, String>) -> Vec<String> {
    let mut messages: Vec<String> = failures.values().map(|why| failure_message(why)).collect();
    messages.sort();
    messages
}

/// A sentence on a robots.txt that could not be read, and `why`.
pub(crate) fn failure_message(why: &str) -> String {
    format!("{why}; requests to its origin are counted as unknown")
}

/// A sentence that the names of the `ignored` entries of a directory are not hosts, if there are any.
pub fn ignored_message<'a>(
    mut ignored: impl ExactSizeIterator<Item = &'a String>,
) -> Option<String> {
    let first = ignored.next()?;
    let more = match ignored.len() {
        0 => String::new(),
        more => format!(" (and {} more)", grouped(more as u64)),
    };
    Some(format!(
        "{first}: the file name is not a host, so it was not used{more}; rename it to example.com, \
         example.com.txt, example.com/robots.txt or https_example.com_8443.txt"
    ))
}

/// What was compiled: rules, the sets of rules that bind crawlers, and the automata with their bytes.
pub(super) fn compiled(rules: usize, sets: usize, (automata, bytes): (usize, usize)) -> String {
    format!(
        "compiled: {} in {}; {} for wildcards, {}",
        counted(rules as u64, "rule"),
        counted(sets as u64, "rule set"),
        counted(automata as u64, "DFA"),
        counted(bytes as u64, "byte"),
    )
}

/// A sentence that `slow` decisions took long.
pub(super) fn slow_decisions(slow: u64) -> String {
    format!(
        "more than {} wildcard rules were compared for {}; the verdicts are exact, but such a \
         robots.txt makes the run slow",
        grouped(u64::from(SEARCHES_MAX)),
        counted(slow, "path")
    )
}

/// `seconds` in a suitable unit. A negative age means that no earlier snapshot is known.
pub(crate) fn age_text(seconds: i64) -> String {
    let length = match seconds.unsigned_abs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} hours", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    };
    match seconds {
        0.. => length,
        _ => format!("fetched {length} later; there is no older snapshot, so this one is used"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_may_be_more_files_than_are_remembered() {
        let files: BTreeMap<String, Foreign> =
            (1..=5).map(|number| (format!("{number}.txt"), Foreign::Html)).collect();
        for (most, count) in [(6, "5 files"), (5, "5 or more files")] {
            let messages = foreign_messages(&files, most);
            assert!(messages.len() == 1 && messages[0].starts_with(count), "{messages:?}");
        }
    }

    #[test]
    fn three_cut_files_are_named() {
        let names = ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"];
        let message = |count| cut_message(names.into_iter().take(count));
        assert_eq!(message(0), None);
        assert!(message(2).unwrap().starts_with("1.txt, 2.txt: only the lines"));
        assert!(message(5).unwrap().starts_with("1.txt, 2.txt, 3.txt and 2 more: only the lines"));
    }

    #[test]
    fn ages_have_the_unit_that_fits() {
        let check = |seconds, expected: &str| assert_eq!(age_text(seconds), expected);
        check(0, "0 seconds");
        check(119, "119 seconds");
        check(120, "2 minutes");
        check(7_200, "2 hours");
        check(172_799, "47 hours");
        check(172_800, "2 days");
        check(-86_400, "fetched 24 hours later; there is no older snapshot, so this one is used");
    }
}
