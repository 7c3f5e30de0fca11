//! Converts the outcome of a fetch into a snapshot of an archive.

use crate::net::fetch::Fetched;
use crate::net::outcome::{self, FailureKind};
use crate::url::origin::Origin;

use super::snapshot::{Failure, Fetch, Hop, SnapshotOutcome};
use super::writer::NewSnapshot;

/// The snapshot for a fetch of the robots.txt of `origin`, with `source`; `None` if no request was
/// sent or its answer was not awaited, which says nothing about the site.
///
/// A redirect that was not followed keeps its status: it counts as a 404.
pub(crate) fn snapshot_of(origin: &Origin, fetched: Fetched, source: &str) -> Option<NewSnapshot> {
    let outcome = match fetched.outcome {
        outcome::FetchOutcome::Status(status) => SnapshotOutcome::Status(status),
        outcome::FetchOutcome::Failure(kind) => SnapshotOutcome::Failure(failure(kind)),
        outcome::FetchOutcome::NotAsked | outcome::FetchOutcome::GivenUp => return None,
    };
    let hop = |hop: outcome::Redirect| Hop { status: hop.status, location: hop.location };
    Some(NewSnapshot {
        origin: origin.clone(),
        fetch: Fetch {
            fetched_at: fetched.fetched_at,
            outcome,
            max_age_seconds: fetched.max_age_seconds,
            chain: fetched.chain.into_iter().map(hop).collect(),
        },
        source: source.to_owned(),
        body: fetched.body.into(),
    })
}

fn failure(kind: FailureKind) -> Failure {
    match kind {
        FailureKind::Dns => Failure::Dns,
        FailureKind::Connect => Failure::Connect,
        FailureKind::Tls => Failure::Tls,
        FailureKind::Timeout => Failure::Timeout,
        FailureKind::Interrupted => Failure::Interrupted,
        FailureKind::InvalidResponse | FailureKind::BadChunking | FailureKind::BadEncoding => {
            Failure::InvalidResponse
        }
    }
}
