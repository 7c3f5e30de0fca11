//! One origin, and what is known about it.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge, origin_history::OriginHistory};
use crate::url::{origin::Origin, path::PathQuery};

use super::answer::{Reason, RowVerdict, VerdictWord};
use super::url_parts::{InvalidUrl, UrlParts};

/// The approximate size of an origin without its name, in bytes.
const ORIGIN_BYTES: usize = 512;

/// The approximate size of a snapshot of an archive, in bytes.
const SNAPSHOT_BYTES: usize = 192;

/// An origin.
#[derive(Debug)]
pub(crate) struct KnownOrigin {
    /// The origin in canonical form; `None` if it is not valid.
    pub origin: Option<Arc<str>>,
    /// What is known about it.
    pub known: Known,
}

/// What is known about an origin.
#[derive(Debug)]
pub(crate) enum Known {
    /// The origin is not valid.
    Nowhere,
    /// Nothing.
    Nothing,
    /// It has a robots.txt, but that cannot be read.
    Unreadable,
    /// The history of its robots.txt.
    History(OriginHistory),
}

impl KnownOrigin {
    /// The origin of text that is not a URL.
    pub(crate) fn nowhere() -> KnownOrigin {
        KnownOrigin { origin: None, known: Known::Nowhere }
    }

    /// Looks up the origin of `address` in the judge.
    pub(crate) fn open(judge: &Judge, address: &UrlParts<'_>) -> KnownOrigin {
        match Origin::from_authority(address.scheme, address.authority) {
            None => KnownOrigin::nowhere(),
            Some(origin) => KnownOrigin::of(judge, &origin),
        }
    }

    /// Looks up `origin` in the judge.
    pub(crate) fn of(judge: &Judge, origin: &Origin) -> KnownOrigin {
        let known = match judge.read_history(origin, HostSource::Own) {
            Ok(Some(history)) => Known::History(history),
            Ok(None) if !judge.is_named(origin) => Known::Nothing,
            Ok(None) | Err(_) => Known::Unreadable,
        };
        KnownOrigin { origin: Some(origin.as_str().into()), known }
    }

    /// Its approximate size without shared data, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        let snapshots = match &self.known {
            Known::History(history) => history.snapshot_count(),
            Known::Nowhere | Known::Nothing | Known::Unreadable => 0,
        };
        let name = self.origin.as_ref().map_or(0, |origin| origin.len());
        ORIGIN_BYTES + name + snapshots * SNAPSHOT_BYTES
    }
}

impl Known {
    /// Decides whether `crawler` may request `path` at `at`. `at` is `None` if the row lacks a time
    /// that it should have.
    pub(crate) fn verdict(
        &self,
        judge: &Judge,
        crawler: u16,
        path: PathQuery<'_>,
        at: Option<JudgedAt>,
    ) -> RowVerdict<'_> {
        let (history, nothing_known) = match self {
            Known::Nowhere => return RowVerdict::invalid(InvalidUrl::BadHost),
            Known::Nothing => (None, Reason::NothingKnown),
            Known::Unreadable => (None, Reason::Unreadable),
            Known::History(history) => (Some(history), Reason::BeforeFirst),
        };
        // Without a history, the time does not matter.
        let at = match (history, at) {
            (_, Some(at)) => at,
            (Some(_), None) => return RowVerdict::unknown(Reason::BadTime),
            (None, None) => JudgedAt::Newest,
        };
        let found = judge.verdict(history, CrawlerId(crawler), Some(path), at);
        match found.verdict {
            // None of its snapshots gave a ruling.
            Verdict::Unknown if history.is_some() && at == JudgedAt::Newest => {
                RowVerdict::without_rule(VerdictWord::Allowed, Reason::NoRobotsTxt)
            }
            _ => RowVerdict::new(found, nothing_known),
        }
    }
}
