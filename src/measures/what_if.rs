//! What if: past requests judged by a draft of a robots.txt, compared with the rules in force.
//!
//! Only requests that rules in force decided are compared: the draft decides the same, or newly
//! disallows or newly allows them. Requests for robots.txt itself, and those of crawlers that are
//! not bound, are the same under any rules.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::RuleRef;
use crate::merge::{Merge, merge_fields};
use botaudit_robots::named_enum;

use super::example::Example;
use super::short_map::ShortMap;
use super::sums::Span;

/// The effect of a draft on a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compared {
    /// Nothing.
    Same,
    /// The effect.
    Changes(ChangeKey),
}

/// A change, and the rules that make it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ChangeKey {
    /// The change.
    pub change: WhatIfChange,
    /// The deciding line of the draft; `None` if no rule of it decides.
    pub draft_line: Option<u32>,
    /// The rule that decided; `None` if none did.
    pub present: Option<RuleRef>,
}

named_enum! {
    /// The change of a request.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum WhatIfChange {
        /// It was allowed, and would be disallowed.
        NewlyDisallowed = "newly-disallowed",
        /// It was disallowed, and would be allowed.
        NewlyAllowed = "newly-allowed",
    }
}

/// The changes of a draft for one crawler at one origin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct WhatIfTally {
    /// Requests that were compared.
    pub judged: u64,
    /// Requests with the same decision.
    pub unchanged: u64,
    /// The other requests: at most one sum for each pair of a rule in force and a rule of the
    /// draft.
    pub changes: ShortMap<ChangeKey, ChangeTally>,
}

/// Requests that change by the same rules.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ChangeTally {
    /// The number of requests.
    pub requests: u64,
    /// When.
    pub span: Span,
    /// The earliest request.
    pub example: Example,
}

impl WhatIfTally {
    /// Counts a request that was compared; `example` is that request.
    pub fn count(&mut self, compared: Compared, example: impl FnOnce() -> Example) {
        self.judged += 1;
        match compared {
            Compared::Same => self.unchanged += 1,
            Compared::Changes(key) => {
                let example = example();
                let change = ChangeTally { requests: 1, span: Span::at(example.time), example };
                match self.changes.get_mut(&key) {
                    Some(sum) => sum.absorb(change),
                    None => drop(self.changes.entry_or_insert_with(key, || change)),
                }
            }
        }
    }
}

merge_fields!(WhatIfTally { judged, unchanged, changes });

merge_fields!(ChangeTally { requests, span, example });
