//! Finds logs that are copies of each other, by their content.
//!
//! During rotation the same lines may be in two files: under two names, or in a compressed copy
//! that is still being written. A file whose whole content is the beginning of another file adds
//! nothing. The whole content is compared, because logs may begin with equal headers.

use std::fs;
use std::sync::Arc;

use crate::input::open::{Opened, open};
use crate::input::source::{Location, Source};

/// The decompressed bytes that are compared first; most files differ in them.
const HEAD_BYTES: usize = 4 << 10;

/// Decompressed bytes that are compared at once.
const STEP_BYTES: usize = 256 << 10;

/// A source that another one holds all of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Copy {
    /// The source that is skipped.
    pub name: String,
    /// The source that contains all of it.
    pub of: String,
}

/// How two contents compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Likeness {
    Different,
    Equal,
    /// The first is the beginning of the second.
    FirstBegins,
    SecondBegins,
}

/// Removes sources that are contained in others. Of equal ones the first stays. Empty sources and
/// those that are not files stay.
pub fn without_copies(sources: Vec<Source>) -> (Vec<Source>, Vec<Copy>) {
    let heads: Vec<Option<Vec<u8>>> = sources.iter().map(head).collect();
    let mut copy_of: Vec<Option<usize>> = vec![None; sources.len()];
    for later in 0..sources.len() {
        for earlier in 0..later {
            if copy_of[later].is_some() {
                break;
            }
            let (Some(first), Some(second)) = (&heads[earlier], &heads[later]) else { continue };
            if copy_of[earlier].is_some() || !are_alike(first, second) {
                continue;
            }
            match likeness(&sources[earlier], &sources[later]) {
                Likeness::Different => {}
                Likeness::Equal | Likeness::SecondBegins => copy_of[later] = Some(earlier),
                Likeness::FirstBegins => copy_of[earlier] = Some(later),
            }
        }
    }
    let copy = |(at, of): (usize, &Option<usize>)| {
        of.map(|of| Copy { name: sources[at].name.clone(), of: sources[of].name.clone() })
    };
    let copies = copy_of.iter().enumerate().filter_map(copy).collect();
    let kept = sources.iter().zip(&copy_of).filter(|(_, of)| of.is_none());
    (kept.map(|(source, _)| source.clone()).collect(), copies)
}

/// Whether the content of `part` is the beginning of `whole`.
pub fn is_beginning(part: &Source, whole: &Source) -> bool {
    matches!(likeness(part, whole), Likeness::Equal | Likeness::FirstBegins)
}

/// The beginning of a file's content; `None` if it is empty.
fn head(source: &Source) -> Option<Vec<u8>> {
    let mut content = content(source)?;
    let mut head = vec![0; HEAD_BYTES];
    let filled = content.fill(&mut head);
    head.truncate(filled);
    (!head.is_empty()).then_some(head)
}

fn are_alike(first: &[u8], second: &[u8]) -> bool {
    let common = first.len().min(second.len());
    first[..common] == second[..common]
}

fn likeness(first: &Source, second: &Source) -> Likeness {
    let (Some(mut first), Some(mut second)) = (content(first), content(second)) else {
        return Likeness::Different;
    };
    let (mut left, mut right) = (vec![0; STEP_BYTES], vec![0; STEP_BYTES]);
    loop {
        let (in_first, in_second) = (first.fill(&mut left), second.fill(&mut right));
        if !are_alike(&left[..in_first], &right[..in_second]) {
            return Likeness::Different;
        }
        match in_first.cmp(&in_second) {
            std::cmp::Ordering::Less => return Likeness::FirstBegins,
            std::cmp::Ordering::Greater => return Likeness::SecondBegins,
            std::cmp::Ordering::Equal if in_first < STEP_BYTES => return Likeness::Equal,
            std::cmp::Ordering::Equal => {}
        }
    }
}

/// The content of a file; `None` if it is not a file, or cannot be opened.
fn content(source: &Source) -> Option<Opened> {
    let Location::File(path) = &source.location else { return None };
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    open(source, &Arc::default()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::input::source::expand;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    /// The remaining `files`, and the copies.
    #[track_caller]
    fn check(files: &[(&str, &[u8])], kept: &[&str], copies: &[(&str, &str)]) {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        let short = |name: &str| name.rsplit('/').next().unwrap().to_owned();
        let (sources, found) = without_copies(expand(&[dir.path().as_os_str().to_owned()]));
        let names: Vec<String> = sources.iter().map(|source| short(&source.name)).collect();
        assert_eq!(names, kept);
        let found: Vec<_> = found.iter().map(|copy| (short(&copy.name), short(&copy.of))).collect();
        let found: Vec<_> = found.iter().map(|(name, of)| (&**name, &**of)).collect();
        assert_eq!(found, copies);
    }

    #[test]
    fn the_whole_content_decides() {
        let header = "#Fields: a b c\n".repeat(1_000);
        let one = format!("{header}one\n");
        let two = format!("{header}two\n");
        let longer = format!("{one}more\n");
        let half = gzip(longer.as_bytes());
        let half = &half[..half.len() - 9];
        check(&[("a", one.as_bytes()), ("b", two.as_bytes())], &["a", "b"], &[]);
        check(&[("a", one.as_bytes()), ("b", &gzip(one.as_bytes()))], &["a"], &[("b", "a")]);
        check(&[("a", one.as_bytes()), ("b", longer.as_bytes())], &["b"], &[("a", "b")]);
        check(&[("a", longer.as_bytes()), ("a.gz", half)], &["a"], &[("a.gz", "a")]);
        check(
            &[("a", one.as_bytes()), ("b", longer.as_bytes()), ("c", &gzip(one.as_bytes()))],
            &["b"],
            &[("a", "b"), ("c", "b")],
        );
        check(&[("a", b""), ("b", b""), ("c", b"x\n")], &["a", "b", "c"], &[]);
    }
}
