//! The rows of a batch by where their URLs lead.
//!
//! An origin is looked up once a batch, however its rows are strewn over it. Rows that follow one
//! another to the same origin, as in sorted lists, are told by one comparison.

use std::collections::HashMap;

use super::address::Address;
use super::rows::Rows;

/// Rows whose URLs begin with the same scheme and authority, as they are written.
#[derive(Debug)]
pub struct Group<'a> {
    /// Scheme and authority; without the scheme where that is not written.
    pub key: &'a [u8],
    /// The first of its URLs.
    pub address: Address<'a>,
    /// The rows, in order.
    pub rows: &'a [u32],
}

/// All rows of a batch.
#[derive(Debug, Default)]
pub struct Groups<'a> {
    heads: Vec<(&'a [u8], Address<'a>)>,
    /// Where in `order` the rows of each group begin; the last ones lead nowhere.
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl<'a> Groups<'a> {
    /// Groups `rows` by the URL in the cell `url_cell` of each.
    pub fn of(rows: &'a Rows, url_cell: usize, default_scheme: Option<&'a str>) -> Groups<'a> {
        let mut heads: Vec<(&[u8], Address<'_>)> = Vec::new();
        let mut by_key: HashMap<&[u8], u32> = HashMap::new();
        let mut group_of: Vec<u32> = Vec::with_capacity(rows.len());
        let (mut last_key, mut last) = (&b""[..], 0);
        for row in rows.iter() {
            let url = row.cell(url_cell).trim_ascii();
            let Ok(address) = Address::of(url, default_scheme) else {
                group_of.push(u32::MAX);
                continue;
            };
            let key = &url[..url.len() - address.rest.len()];
            if key != last_key {
                last_key = key;
                last = *by_key.entry(key).or_insert_with(|| {
                    heads.push((key, address));
                    u32::try_from(heads.len() - 1).expect("a batch is far below 4 GiB")
                });
            }
            group_of.push(last);
        }
        let (starts, order) = counting_sort(&group_of, heads.len());
        Groups { heads, starts, order }
    }

    /// Those whose URLs lead somewhere, or may.
    pub fn iter(&self) -> impl Iterator<Item = Group<'_>> {
        self.heads.iter().enumerate().map(|(index, &(key, address))| {
            let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
            Group { key, address, rows: &self.order[rows] }
        })
    }

    /// The rows whose URLs are none.
    pub fn strays(&self) -> &[u32] {
        &self.order[self.starts[self.heads.len()] as usize..]
    }
}

/// The rows by group, those of no group last, and where each group begins.
fn counting_sort(group_of: &[u32], groups: usize) -> (Vec<u32>, Vec<u32>) {
    let place = |group: u32| (group as usize).min(groups);
    let mut starts = vec![0_u32; groups + 1];
    group_of.iter().for_each(|&group| starts[place(group)] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    let mut next = starts.clone();
    let mut order = vec![0_u32; group_of.len()];
    for (row, &group) in (0..).zip(group_of) {
        let at = &mut next[place(group)];
        order[*at as usize] = row;
        *at += 1;
    }
    (starts, order)
}

#[cfg(test)]
mod tests {
    use super::super::form::Form;
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[(&str, &[u32])], strays: &[u32]) {
        let rows = Rows::read(&Form::Lines, list.as_bytes().to_vec());
        let groups = Groups::of(&rows, 0, Some("https"));
        let found: Vec<(&str, &[u32])> = groups
            .iter()
            .map(|group| (std::str::from_utf8(group.key).unwrap(), group.rows))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(groups.strays(), strays);
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
