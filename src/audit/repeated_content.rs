//! Finds inputs with the same content where the inputs themselves cannot be compared: in tallies of
//! several machines, and in pipes.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::input::source::{Location, Source, lasting_name};
use crate::input::{content_hash::ContentSketch, copies::AlikeLogs};

/// An input and what is known of its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedContent<'a> {
    /// What counts it. Inputs with the same owner are not compared, because they were before.
    pub owner: usize,
    /// Its name.
    pub name: &'a str,
    /// The sketch of its content.
    pub sketch: &'a ContentSketch,
}

/// Inputs that repeat others.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatedContents<'a> {
    /// An input, and one that begins with all lines of it; these lines would count twice.
    pub certain: Option<(NamedContent<'a>, NamedContent<'a>)>,
    /// Short inputs that may be copies, though their names do not say so.
    pub alike: Vec<AlikeLogs>,
}

/// The inputs among `contents` that repeat others.
pub(crate) fn repeated_contents(mut contents: Vec<NamedContent<'_>>) -> RepeatedContents<'_> {
    // The order in which tallies are named shows nowhere.
    contents.sort_by_key(|content| content.name);
    let (short, long) = contents.into_iter().partition(|content| content.sketch.is_short());
    let long: Vec<NamedContent<'_>> = long;
    let certain = equal(&long).or_else(|| beginning(&long));
    let RepeatedContents { certain: of_short, alike } = repeated_short(short);
    RepeatedContents { certain: certain.or(of_short), alike }
}

/// Checks that no pipe among `sources` has the content of another one, because a pipe cannot be
/// compared before it is read. Gives short ones that may be copies.
///
/// # Errors
/// If a pipe repeats another source, or is repeated by one.
pub(crate) fn refuse_repeated_pipes<'a>(
    sources: &'a [Source],
    sketches: impl Iterator<Item = Option<&'a ContentSketch>>,
) -> Result<Vec<AlikeLogs>> {
    let is_file =
        |source: &Source| matches!(&source.location, Location::File(path) if path.is_file());
    let owner = |at: usize| if is_file(&sources[at]) { 0 } else { at + 1 };
    let contents = sketches.enumerate().filter_map(|(at, sketch)| {
        Some(NamedContent { owner: owner(at), name: &sources[at].name, sketch: sketch? })
    });
    let RepeatedContents { certain, alike } = repeated_contents(contents.collect());
    match certain {
        None => Ok(alike),
        Some((part, whole)) => Err(Error::input(format!(
            "the input '{}' begins with all lines of the input '{}', so these lines would count \
             twice; leave one of the two out",
            whole.name, part.name
        ))),
    }
}

/// Two with the same length and the same hashes.
fn equal<'a>(long: &[NamedContent<'a>]) -> Option<(NamedContent<'a>, NamedContent<'a>)> {
    let mut known: BTreeMap<_, NamedContent<'a>> = BTreeMap::new();
    long.iter().find_map(|&content| {
        let ContentSketch { bytes, marks, end } = content.sketch;
        let first = *known.entry((bytes, marks.last(), end)).or_insert(content);
        (first.owner != content.owner).then_some((content, first))
    })
}

/// One with the first hashes of a longer one.
fn beginning<'a>(long: &[NamedContent<'a>]) -> Option<(NamedContent<'a>, NamedContent<'a>)> {
    let last_mark = |content: &NamedContent<'a>| {
        let marks = &content.sketch.marks;
        Some((marks.len() - 1, *marks.last()?))
    };
    let last_marks: BTreeSet<(usize, u64)> = long.iter().filter_map(last_mark).collect();
    // The longest content with a mark, and the longest one of another owner.
    let mut longest: BTreeMap<(usize, u64), Vec<NamedContent<'a>>> = BTreeMap::new();
    for content in long {
        for mark in content.sketch.marks.iter().copied().enumerate() {
            if last_marks.contains(&mark) {
                let known = longest.entry(mark).or_default();
                known.push(*content);
                known.sort_by_key(|known| std::cmp::Reverse(known.sketch.bytes));
                let first = known[0].owner;
                let other = known.iter().position(|known| known.owner != first);
                *known = [Some(0), other].into_iter().flatten().map(|at| known[at]).collect();
            }
        }
    }
    long.iter().find_map(|&part| {
        let wholes = longest.get(&last_mark(&part)?)?;
        let is_longer = |whole: &&NamedContent<'a>| {
            whole.owner != part.owner && whole.sketch.bytes > part.sketch.bytes
        };
        Some((part, *wholes.iter().find(is_longer)?))
    })
}

/// Equal ones are copies if their names agree.
fn repeated_short(short: Vec<NamedContent<'_>>) -> RepeatedContents<'_> {
    let mut repeated = RepeatedContents::default();
    let mut first_of: BTreeMap<_, NamedContent<'_>> = BTreeMap::new();
    let mut first_named: BTreeMap<_, NamedContent<'_>> = BTreeMap::new();
    for content in short {
        let key = (content.sketch.bytes, content.sketch.end);
        let named = (key, lasting_name(content.name));
        let first = *first_of.entry(key).or_insert(content);
        let namesake = *first_named.entry(named).or_insert(content);
        if namesake.owner != content.owner {
            repeated.certain = repeated.certain.or(Some((content, namesake)));
        } else if first.owner != content.owner {
            let [name, of] = [content.name, first.name].map(str::to_owned);
            repeated.alike.push(AlikeLogs { name, of });
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::content_hash::Sketcher;

    fn sketch(bytes: &[u8]) -> ContentSketch {
        let mut sketcher = Sketcher::default();
        sketcher.absorb(bytes);
        sketcher.sketch().unwrap()
    }

    /// The inputs of `tallies`, each a name and a content.
    #[track_caller]
    fn check(tallies: &[&[(&str, &str)]], certain: Option<&str>, alike: &[&str]) {
        let sketches: Vec<(usize, &str, ContentSketch)> = (0..)
            .zip(tallies)
            .flat_map(|(owner, inputs)| {
                inputs.iter().map(move |(name, text)| (owner, *name, sketch(text.as_bytes())))
            })
            .collect();
        let contents = sketches.iter();
        let contents =
            contents.map(|&(owner, name, ref sketch)| NamedContent { owner, name, sketch });
        let forwards: Vec<_> = contents.collect();
        let backwards: Vec<_> = forwards.iter().rev().copied().collect();
        for contents in [forwards, backwards] {
            let found = repeated_contents(contents);
            let pair = found.certain.map(|(part, whole)| format!("{}={}", part.name, whole.name));
            assert_eq!(pair.as_deref(), certain);
            let pairs: Vec<String> =
                found.alike.iter().map(|pair| format!("{}={}", pair.name, pair.of)).collect();
            assert_eq!(pairs, alike);
        }
    }

    #[test]
    fn contents_of_several_tallies_are_compared() {
        let long = |lines: usize| (0..lines).map(|n| format!("line {n}\n")).collect::<String>();
        let (a, longer, other) = (long(2_000), long(3_000), long(2_000).replace('1', "2"));
        check(&[&[("a", &a)], &[("a.gz", &a)]], Some("a.gz=a"), &[]);
        check(&[&[("a", &a)], &[("b", &longer)]], Some("a=b"), &[]);
        check(&[&[("a", &a)], &[("b", &other)]], None, &[]);
        // They were compared before.
        check(&[&[("a", &a), ("b", &longer)], &[("c", &other)]], None, &[]);
        check(&[&[("a", &a), ("c", &longer)], &[("b", &longer), ("d", &other)]], Some("c=b"), &[]);
        // The longest log that begins as "a" does is of the same tally.
        let longest = a.clone() + &long(4_000);
        check(&[&[("a", &a), ("c", &longest)], &[("b", &longer)]], Some("a=b"), &[]);
        // Equal lengths and beginnings, another end.
        let end = format!("{}y\n", &a[..a.len() - 2]);
        check(&[&[("a", &a)], &[("b", &end)]], None, &[]);
    }

    #[test]
    fn short_ones_are_copies_by_their_names() {
        check(&[&[("a", "one\n")], &[("a.1.gz", "one\n")]], Some("a.1.gz=a"), &[]);
        check(&[&[("a", "one\n")], &[("b", "one\n")]], None, &["b=a"]);
        check(&[&[("a", "one\n")], &[("a.1", "two\n")]], None, &[]);
    }
}
