//! The distinct URLs of crawlers.

use std::borrow::Cow;

use memchr::memchr;

use crate::bounded::StableHash;
use crate::url::without_query::without_query;

use super::super::distinct::Distinct;
use super::super::origin_key::{OriginKey, OriginRank};
use super::section_counts::push_origin;

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
