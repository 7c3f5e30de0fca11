//! The effect of a draft of a robots.txt on a request.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::RuleRef;
use botaudit_robots::named_enum;

/// The effect of a draft on a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Compared {
    /// Several groups of the draft may bind the crawler, and they decide differently.
    Ambiguous,
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
