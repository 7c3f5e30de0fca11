//! Keys of paths at origins: requests by section, in order, and the distinct URLs of crawlers.

use std::borrow::Cow;

use memchr::memchr;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::audit::distinct::Distinct;
use crate::audit::origin_key::{OriginKey, OriginRank};
use crate::bounded::StableHash;
use crate::crawlers::identity::Actor;
use crate::measures::{short_map::ShortMap, sums::Statuses};
use crate::merge::merge_fields;
use crate::url::without_query::without_query;

/// One more than the most URLs that are counted exactly.
const URLS_MAX: usize = 4097;

/// Distinct URLs.
pub(crate) type Urls = Distinct<URLS_MAX>;

/// Which part of a URL makes it distinct.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UrlPart {
    /// Its path and query.
    Whole,
    /// Only its path, because reports have no queries.
    Path,
}

impl UrlPart {
    /// The part of `path`, which may have a query, that is counted.
    pub(crate) fn of(self, path: &[u8]) -> Cow<'_, [u8]> {
        match self {
            UrlPart::Whole => Cow::Borrowed(path),
            UrlPart::Path => without_query(path),
        }
    }
}

/// The hash of a URL by which all tables count it. `scratch` is used for its text.
pub(crate) fn url_hash(
    origin: (&OriginKey, OriginRank),
    path: &[u8],
    part: UrlPart,
    scratch: &mut Vec<u8>,
) -> u64 {
    let path = part.of(path);
    let end = match part {
        UrlPart::Whole => path.len(),
        UrlPart::Path => memchr(b'?', &path).unwrap_or(path.len()),
    };
    push_origin(origin, scratch);
    scratch.extend_from_slice(&path[..end]);
    scratch.as_slice().stable_hash()
}

/// The first byte of a key at an origin that the user did not name.
const STRANGER: u8 = b'?';

/// The same at a named one.
pub(crate) const NAMED: u8 = b'!';

/// Requests for one section.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SectionTally {
    /// The statuses of the answers.
    pub statuses: Statuses,
    /// The bytes of the answers.
    pub bytes: u64,
}

merge_fields!(SectionTally { statuses, bytes });

impl SectionTally {
    /// These requests without `part`; `None` if it is larger. Sums of bytes may have reached their
    /// limit.
    pub(crate) fn without(&self, part: &SectionTally) -> Option<SectionTally> {
        let mut statuses = self.statuses.counts();
        for (all, part) in statuses.iter_mut().zip(part.statuses.counts()) {
            *all = all.checked_sub(part)?;
        }
        let statuses = Statuses::of_counts(statuses);
        Some(SectionTally { statuses, bytes: self.bytes.saturating_sub(part.bytes) })
    }
}

/// Requests for one section by crawler.
pub(crate) type SectionTallies = ShortMap<Actor, SectionTally>;

/// The directories of each level, ascending: an origin, whether it was named, a space and the path.
pub(crate) type SectionCounts = [Vec<(ByteBuf, SectionTallies)>; 2];

/// Begins a key of a path at an origin.
#[inline]
pub(crate) fn push_origin((origin_key, rank): (&OriginKey, OriginRank), key: &mut Vec<u8>) {
    key.clear();
    key.push(if rank == OriginRank::Named { NAMED } else { STRANGER });
    key.extend_from_slice(origin_key.as_str().as_bytes());
    key.push(b' ');
}

/// The origin and the path in `key`; `None` in a damaged tally.
pub(crate) fn origin_and_path(key: &[u8]) -> Option<(&str, &[u8])> {
    let space = memchr(b' ', key)?;
    Some((std::str::from_utf8(key.get(1..space)?).ok()?, &key[space + 1..]))
}

/// The key of the first level of a directory.
pub(crate) fn first_level(key: &[u8]) -> Option<&[u8]> {
    let root = memchr(b' ', key)? + 1;
    let end = memchr(b'/', key.get(root + 1..)?)?;
    Some(&key[..root + end + 2])
}
