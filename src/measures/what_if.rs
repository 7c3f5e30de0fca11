//! What if: past requests judged by a draft of a robots.txt, compared with the rules in force.
//!
//! Only requests that rules in force decided are compared: the draft decides the same, or newly
//! disallows or newly allows them. Requests for robots.txt itself, and those of crawlers that are
//! not bound, are the same under any rules.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::judge::robots::RobotsId;
use crate::merge::{Merge, merge_fields};

use super::draft_effect::{ChangeKey, Compared};
use super::request::{JudgedRequest, Measure};
use super::sums::{Span, is_default};
use super::{example::Example, renumbering::Renumbering, short_map::ShortMap};

/// The changes of a draft for one crawler at one origin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct WhatIfTally {
    /// Requests that were compared.
    pub judged: u64,
    /// Requests with the same decision.
    pub unchanged: u64,
    /// Requests that were not compared, because several groups of the draft may bind the crawler.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ambiguous: u64,
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
    /// Counts a request that rules decided; `example` is that request.
    pub(crate) fn count(&mut self, compared: Compared, example: impl FnOnce() -> Example) {
        self.judged += u64::from(compared != Compared::Ambiguous);
        match compared {
            Compared::Ambiguous => self.ambiguous += 1,
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

merge_fields!(WhatIfTally { judged, unchanged, ambiguous, changes });

merge_fields!(ChangeTally { requests, span, example });

impl Measure for Option<Box<WhatIfTally>> {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        if let Some(compared) = request.compared {
            self.get_or_insert_default().count(compared, || request.example());
        }
    }

    fn quoted_robots(&self, quote: &mut dyn FnMut(RobotsId)) {
        let changes = self.iter().flat_map(|simulated| &simulated.changes);
        changes.filter_map(|(key, _)| key.present).for_each(|rule| quote(rule.robots));
    }

    fn renumbered(self, numbers: &Renumbering) -> Result<Option<Box<WhatIfTally>>> {
        let Some(mut simulated) = self else { return Ok(None) };
        let changes = std::mem::take(&mut simulated.changes).into_iter();
        let changes = changes.map(|(mut key, mut change)| {
            key.present = key.present.map(|rule| numbers.rule(rule)).transpose()?;
            change.example.file = numbers.input(change.example.file)?;
            Ok((key, change))
        });
        simulated.changes = changes.collect::<Result<_>>()?;
        Ok(Some(simulated))
    }
}
