//! One origin, and what is known of it.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge, origin_history::OriginHistory};
use crate::url::{origin::Origin, path::PathQuery};

use super::answer::{Reason, RowVerdict, VerdictWord};
use super::url_parts::{InvalidUrl, UrlParts};

/// Bytes that an origin takes, about, besides its name.
const ORIGIN_BYTES: usize = 512;

/// Bytes that a snapshot of an archive takes, about.
const SNAPSHOT_BYTES: usize = 192;

/// An origin.
#[derive(Debug)]
pub struct KnownOrigin {
    /// In canonical form; `None` where there can be no such origin.
    pub origin: Option<Arc<str>>,
    /// What is known of it.
    pub known: Known,
}

/// What is known of an origin.
#[derive(Debug)]
pub enum Known {
    /// There can be no such origin.
    Nowhere,
    /// Nothing.
    Nothing,
    /// There is something, but it cannot be read.
    Unreadable,
    /// What was in force when, and what is now.
    History(OriginHistory),
}

impl KnownOrigin {
    /// Where URLs lead that are none.
    pub fn nowhere() -> KnownOrigin {
        KnownOrigin { origin: None, known: Known::Nowhere }
    }

    /// Looks up what the judge knows of the origin of `address`.
    pub fn open(judge: &Judge, address: &UrlParts<'_>) -> KnownOrigin {
        let Some(origin) = Origin::from_authority(address.scheme, address.authority) else {
            return KnownOrigin::nowhere();
        };
        let known = match judge.read_history(&origin, HostSource::Own) {
            Ok(Some(history)) => Known::History(history),
            Ok(None) if !judge.is_named(&origin) => Known::Nothing,
            Ok(None) | Err(_) => Known::Unreadable,
        };
        KnownOrigin { origin: Some(origin.as_str().into()), known }
    }

    /// Bytes that it takes, about, but for what it shares with others.
    pub fn size_bytes(&self) -> usize {
        let snapshots = match &self.known {
            Known::History(history) => history.snapshot_count(),
            Known::Nowhere | Known::Nothing | Known::Unreadable => 0,
        };
        let name = self.origin.as_ref().map_or(0, |origin| origin.len());
        ORIGIN_BYTES + name + snapshots * SNAPSHOT_BYTES
    }
}

impl Known {
    /// May `crawler` request `path`? At `at`, which is `None` where the row should name a time and
    /// does not.
    pub fn verdict(
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
        // What is always so, or nowhere known, is so at any time.
        let at = match (history, at) {
            (_, Some(at)) => at,
            (Some(_), None) => return RowVerdict::unknown(Reason::BadTime),
            (None, None) => JudgedAt::Newest,
        };
        let found = judge.verdict(history, CrawlerId(crawler), Some(path), at);
        match found.verdict {
            // None of its snapshots ever amounted to anything.
            Verdict::Unknown if history.is_some() && at == JudgedAt::Newest => {
                RowVerdict::without_rule(VerdictWord::Allowed, Reason::NoRobotsTxt)
            }
            _ => RowVerdict::new(found, nothing_known),
        }
    }
}
