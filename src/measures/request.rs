//! A judged request, and what a measure does with it.

use std::{net::IpAddr, sync::Arc};

use crate::error::Result;
use crate::judge::robots::{Robots, RobotsId};
use crate::judge::verdict::DatedVerdict;
use crate::judge::{origin_history::RuleChange, policy_files::PolicyFile, usage::StatedPreference};
use crate::logs::record::Record;
use crate::merge::Merge;
use crate::url::path::PathQuery;

use super::example::{Example, Position};
use super::sums::{Span, Sums};
use super::{draft_effect::Compared, fetch_answer::FetchAnswer, reactions::ReactionLimits};
use super::{renumbering::Renumbering, request_kind::RequestsOfKind};

/// A request of a crawler, with all that more than one measure needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedRequest<'a> {
    /// The line of the log.
    pub record: &'a Record<'a>,
    /// Where the line is.
    pub position: Position,
    /// The path and query, prepared for comparison with rules; `None` if the target has none.
    pub path: Option<PathQuery<'a>>,
    /// The verdict, and what it depends on.
    pub dated: DatedVerdict<'a>,
    /// Whether the robots.txt in force has a Crawl-delay for the crawler.
    pub has_delay: bool,
    /// The preferences about use that applied to the request.
    pub stated: &'a [StatedPreference],
    /// The changes of the rules for the crawler, and which requests count for them; `None` if
    /// robots.txt has no history.
    pub changes: Option<(&'a [RuleChange], ReactionLimits)>,
    /// The effect of a draft, if the request was compared with one.
    pub compared: Option<Compared>,
    /// For violations, the address of the client, and the name of its network; `None` if the log has
    /// none, and if the user did not name that.
    pub client: (Option<IpAddr>, Option<&'a Arc<str>>),
    /// How it was answered, if it is a request for robots.txt.
    pub fetch: Option<FetchAnswer>,
    /// Which file beside robots.txt it asks for, if it asks for one.
    pub policy_file: Option<PolicyFile>,
    /// Whether it has a valid signature.
    pub is_signed: bool,
}

impl<'a> JudgedRequest<'a> {
    /// The robots.txt in force.
    pub(crate) fn robots(&self) -> Option<&'a Robots> {
        self.dated.robots.map(|robots| &**robots)
    }

    /// The request as a report shows it.
    pub(crate) fn example(&self) -> Example {
        Example::of(self.record, self.position, self.dated.snapshot)
    }
}

/// What is counted of the requests of one crawler at one origin.
pub(crate) trait Measure: Merge + Sized {
    /// Counts one request. The loop calls this for each request of a crawler, so it makes no text,
    /// and searches for nothing that another measure needs, too: that is in [`JudgedRequest`].
    fn count(&mut self, _request: &JudgedRequest<'_>) {}

    /// Counts requests of one kind. A measure that needs nothing but their kind, number, bytes and times
    /// has this instead of `count`, because the loop calls it once for many requests.
    fn add(&mut self, _requests: &RequestsOfKind) {}

    /// Gives the versions of robots.txt that its tables quote to `quote`.
    fn quoted_robots(&self, _quote: &mut dyn FnMut(RobotsId)) {}

    /// The same counts with the numbers of another tally.
    ///
    /// # Errors
    /// If the tally is damaged and lacks a number.
    fn renumbered(self, _numbers: &Renumbering) -> Result<Self> {
        Ok(self)
    }

    /// Whether the counts agree with all requests of their row. A file may have been written by
    /// anybody.
    fn holds(&self, _all: &AllRequests) -> bool {
        true
    }
}

/// All requests of one crawler at one origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllRequests {
    /// By verdict.
    pub total: Sums,
    /// When they were made.
    pub span: Option<Span>,
    /// Whether their minutes and hours are known.
    pub has_times: bool,
}
