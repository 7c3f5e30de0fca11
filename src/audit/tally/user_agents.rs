//! Requests of unknown user agents that look automated.

use serde::{Deserialize, Serialize};

use crate::measures::sums::{Span, Sums};
use crate::merge::merge_fields;

/// Requests of one unknown user agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct UserAgentTally {
    /// Counts by the decision of the groups of its declared name, or else of the `*` groups.
    pub sums: Sums,
    /// `None` while no request had a time that could be read.
    pub span: Option<Span>,
}

merge_fields!(UserAgentTally { sums, span });
