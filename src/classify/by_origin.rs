//! The rows of a batch, grouped by origin.
//!
//! An origin is looked up once per batch, wherever its rows are. Consecutive rows of one origin, as
//! in sorted lists, are recognised by one comparison.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::hash_table::{Entry, HashTable};

use super::rows::InputRows;
use super::url_parts::{UrlParts, rest_after};

/// Rows whose URLs begin with the same scheme and authority, as they are written.
#[derive(Debug)]
pub(crate) struct RowsOfOrigin<'a> {
    /// Scheme and authority; only the authority if the URL has no scheme.
    pub key: &'a [u8],
    /// The first of its URLs.
    pub address: UrlParts<'a>,
    /// The rows, in order.
    pub targets: &'a [RowTarget],
}

/// A row, and the position of the part after the authority of its URL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RowTarget {
    /// Its index.
    pub row: u32,
    /// A position in the text of the batch.
    pub rest_start: u32,
    /// A position in the text of the batch.
    pub rest_end: u32,
}

impl RowTarget {
    /// The target of the row at `row`, whose URL ends at `end` with `rest`.
    fn new(row: u32, rest: &[u8], end: u32) -> RowTarget {
        let bytes = u32::try_from(rest.len()).expect("a URL is not that long");
        RowTarget { row, rest_start: end - bytes, rest_end: end }
    }
}

/// All rows of a batch.
#[derive(Debug, Default)]
pub(crate) struct ByOrigin<'a> {
    heads: Vec<(&'a [u8], UrlParts<'a>)>,
    /// The start of each group in `targets`. The rows without a valid URL come last.
    starts: Vec<u32>,
    targets: Vec<RowTarget>,
}

impl<'a> ByOrigin<'a> {
    /// Groups `rows` by the URL in the cell `url_cell` of each.
    pub(crate) fn of(
        rows: &'a InputRows,
        url_cell: usize,
        scheme: Option<&'a str>,
    ) -> ByOrigin<'a> {
        let mut heads = OriginIndex::default();
        // The group and the target of each row.
        let mut found: Vec<(u32, RowTarget)> = Vec::with_capacity(rows.len());
        let (mut last_key, mut last) = (&b""[..], 0);
        for (index, row) in (0..).zip(rows.iter()) {
            let (url, url_end) = row.trimmed(url_cell);
            let rest = match rest_after(last_key, url) {
                Some(rest) => rest,
                None => {
                    let Ok(address) = UrlParts::of(url, scheme) else {
                        found.push((u32::MAX, RowTarget::new(index, b"", url_end)));
                        continue;
                    };
                    last_key = &url[..url.len() - address.rest.len()];
                    last = heads.index_of(last_key, address);
                    address.rest
                }
            };
            found.push((last, RowTarget::new(index, rest, url_end)));
        }
        let heads = heads.list;
        let (starts, targets) = counting_sort(&found, heads.len());
        ByOrigin { heads, starts, targets }
    }

    /// The groups with URLs that may be valid.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RowsOfOrigin<'_>> {
        self.heads.iter().enumerate().map(|(index, &(key, address))| {
            let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
            RowsOfOrigin { key, address, targets: &self.targets[rows] }
        })
    }

    /// The rows without a valid URL.
    pub(crate) fn strays(&self) -> &[RowTarget] {
        &self.targets[self.starts[self.heads.len()] as usize..]
    }
}

/// Groups by their keys.
#[derive(Default)]
struct OriginIndex<'a> {
    list: Vec<(&'a [u8], UrlParts<'a>)>,
    /// A copy of all keys in one place. In the batch they are far apart, and each comparison would
    /// wait for memory.
    keys: Vec<u8>,
    /// The end of each group's key.
    ends: Vec<usize>,
    by_key: HashTable<u32>,
    hasher: RandomState,
}

impl<'a> OriginIndex<'a> {
    /// The group of `key`; a new one with `address` if there is none yet.
    fn index_of(&mut self, key: &'a [u8], address: UrlParts<'a>) -> u32 {
        let OriginIndex { list, keys, ends, by_key, hasher } = self;
        let key_of = |index: u32| {
            let index = index as usize;
            &keys[index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]]
        };
        let is_same = |&index: &u32| key_of(index) == key;
        match by_key.entry(hasher.hash_one(key), is_same, |&index| hasher.hash_one(key_of(index))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let index = u32::try_from(list.len()).expect("a batch is far below 4 GiB");
                vacant.insert(index);
                list.push((key, address));
                keys.extend_from_slice(key);
                ends.push(keys.len());
                index
            }
        }
    }
}

/// The targets by group, those without a group last, and the start of each group.
fn counting_sort(found: &[(u32, RowTarget)], groups: usize) -> (Vec<u32>, Vec<RowTarget>) {
    let index = |group: u32| (group as usize).min(groups);
    let mut starts = vec![0_u32; groups + 1];
    found.iter().for_each(|(group, _)| starts[index(*group)] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    let mut next = starts.clone();
    let mut targets = vec![RowTarget::default(); found.len()];
    for &(group, target) in found {
        let at = &mut next[index(group)];
        targets[*at as usize] = target;
        *at += 1;
    }
    (starts, targets)
}

#[cfg(test)]
mod tests {
    use super::super::input_format::InputFormat;
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[(&str, &[u32])], strays: &[u32]) {
        let rows = InputRows::read(&InputFormat::Lines, list.as_bytes().to_vec());
        let groups = ByOrigin::of(&rows, 0, Some("https"));
        let rows_of =
            |targets: &[RowTarget]| targets.iter().map(|target| target.row).collect::<Vec<_>>();
        let found: Vec<(&str, Vec<u32>)> = groups
            .iter()
            .map(|group| (std::str::from_utf8(group.key).unwrap(), rows_of(group.targets)))
            .collect();
        let expected: Vec<(&str, Vec<u32>)> =
            expected.iter().map(|(key, rows)| (*key, rows.to_vec())).collect();
        assert_eq!(found, expected);
        assert_eq!(rows_of(groups.strays()), strays);
        for group in groups.iter() {
            for target in group.targets {
                let rest = rows.text(target.rest_start, target.rest_end);
                let url = [group.key, rest].concat();
                assert_eq!(url, rows.get(target.row as usize).cell(0));
            }
        }
    }

    #[test]
    fn rows_find_their_origins() {
        check("", &[], &[]);
        check("/a", &[], &[0]);
        check(
            "http://a/1\nhttp://b\nhttp://a\n/x\nhttp://a?2\nb/\nmailto:x\nhttp://A/\n//b",
            &[
                ("http://a", &[0, 2, 4]),
                ("http://b", &[1]),
                ("b", &[5]),
                ("http://A", &[7]),
                ("//b", &[8]),
            ],
            &[3, 6],
        );
    }
}
