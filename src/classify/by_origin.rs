//! The rows of a batch by where their URLs lead.
//!
//! An origin is looked up once a batch, however its rows are strewn over it. Rows that follow one
//! another to the same origin, as in sorted lists, are told by one comparison.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::hash_table::{Entry, HashTable};

use super::rows::Rows;
use super::url_parts::{Address, rest_after};

/// Rows whose URLs begin with the same scheme and authority, as they are written.
#[derive(Debug)]
pub struct Group<'a> {
    /// Scheme and authority; without the scheme where that is not written.
    pub key: &'a [u8],
    /// The first of its URLs.
    pub address: Address<'a>,
    /// The rows, in order.
    pub places: &'a [Place],
}

/// A row, and where in its batch stands what follows the authority of its URL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Place {
    /// Its index.
    pub row: u32,
    /// Into the text of the batch.
    pub rest_start: u32,
    /// Into the text of the batch.
    pub rest_end: u32,
}

impl Place {
    /// Of the row at `row`, whose URL ends at `end`, and with `rest`.
    fn new(row: u32, rest: &[u8], end: u32) -> Place {
        let bytes = u32::try_from(rest.len()).expect("a URL is not that long");
        Place { row, rest_start: end - bytes, rest_end: end }
    }
}

/// All rows of a batch.
#[derive(Debug, Default)]
pub struct Groups<'a> {
    heads: Vec<(&'a [u8], Address<'a>)>,
    /// Where in `places` the rows of each group begin; the last ones lead nowhere.
    starts: Vec<u32>,
    places: Vec<Place>,
}

impl<'a> Groups<'a> {
    /// Groups `rows` by the URL in the cell `url_cell` of each.
    pub fn of(rows: &'a Rows, url_cell: usize, default_scheme: Option<&'a str>) -> Groups<'a> {
        let mut heads = Heads::default();
        // Group and place of each row.
        let mut found: Vec<(u32, Place)> = Vec::with_capacity(rows.len());
        let (mut last_key, mut last) = (&b""[..], 0);
        for (index, row) in (0..).zip(rows.iter()) {
            let (url, url_end) = row.trimmed(url_cell);
            let rest = match rest_after(last_key, url) {
                Some(rest) => rest,
                None => {
                    let Ok(address) = Address::of(url, default_scheme) else {
                        found.push((u32::MAX, Place::new(index, b"", url_end)));
                        continue;
                    };
                    last_key = &url[..url.len() - address.rest.len()];
                    last = heads.index_of(last_key, address);
                    address.rest
                }
            };
            found.push((last, Place::new(index, rest, url_end)));
        }
        let heads = heads.list;
        let (starts, places) = counting_sort(&found, heads.len());
        Groups { heads, starts, places }
    }

    /// Those whose URLs lead somewhere, or may.
    pub fn iter(&self) -> impl Iterator<Item = Group<'_>> {
        self.heads.iter().enumerate().map(|(index, &(key, address))| {
            let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
            Group { key, address, places: &self.places[rows] }
        })
    }

    /// The rows whose URLs are none.
    pub fn strays(&self) -> &[Place] {
        &self.places[self.starts[self.heads.len()] as usize..]
    }
}

/// Groups by their keys.
#[derive(Default)]
struct Heads<'a> {
    list: Vec<(&'a [u8], Address<'a>)>,
    /// All keys once more, one after the other: where they came from they are strewn over the whole
    /// batch, and each look at one would wait for memory.
    keys: Vec<u8>,
    /// By group, where its key ends.
    ends: Vec<usize>,
    by_key: HashTable<u32>,
    hasher: RandomState,
}

impl<'a> Heads<'a> {
    /// The group of `key`; a new one, of `address`, where there is none yet.
    fn index_of(&mut self, key: &'a [u8], address: Address<'a>) -> u32 {
        let Heads { list, keys, ends, by_key, hasher } = self;
        let key_of = |index: u32| {
            let index = index as usize;
            &keys[index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]]
        };
        let is_same = |&index: &u32| key_of(index) == key;
        match by_key.entry(hasher.hash_one(key), is_same, |&index| hasher.hash_one(key_of(index))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let index = u32::try_from(list.len()).expect("a batch is far below 4 GiB");
                place.insert(index);
                list.push((key, address));
                keys.extend_from_slice(key);
                ends.push(keys.len());
                index
            }
        }
    }
}

/// The places by group, those of no group last, and where each group begins.
fn counting_sort(found: &[(u32, Place)], groups: usize) -> (Vec<u32>, Vec<Place>) {
    let index = |group: u32| (group as usize).min(groups);
    let mut starts = vec![0_u32; groups + 1];
    found.iter().for_each(|(group, _)| starts[index(*group)] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    let mut next = starts.clone();
    let mut places = vec![Place::default(); found.len()];
    for &(group, place) in found {
        let at = &mut next[index(group)];
        places[*at as usize] = place;
        *at += 1;
    }
    (starts, places)
}

#[cfg(test)]
mod tests {
    use super::super::input_format::Form;
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[(&str, &[u32])], strays: &[u32]) {
        let rows = Rows::read(&Form::Lines, list.as_bytes().to_vec());
        let groups = Groups::of(&rows, 0, Some("https"));
        let rows_of = |places: &[Place]| places.iter().map(|place| place.row).collect::<Vec<_>>();
        let found: Vec<(&str, Vec<u32>)> = groups
            .iter()
            .map(|group| (std::str::from_utf8(group.key).unwrap(), rows_of(group.places)))
            .collect();
        let expected: Vec<(&str, Vec<u32>)> =
            expected.iter().map(|(key, rows)| (*key, rows.to_vec())).collect();
        assert_eq!(found, expected);
        assert_eq!(rows_of(groups.strays()), strays);
        for group in groups.iter() {
            for place in group.places {
                let rest = rows.text(place.rest_start, place.rest_end);
                let url = [group.key, rest].concat();
                assert_eq!(url, rows.get(place.row as usize).cell(0));
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
