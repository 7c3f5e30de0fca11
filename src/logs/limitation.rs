//! What a format cannot tell, however well its lines are read.

use serde::{Deserialize, Serialize};

/// A reason for which verdicts on a log are no better than the log.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limitation {
    /// No crawler can be told from a browser.
    NoUserAgent,
    /// Paths as the server understood them, not as they were sent.
    DecodedTargets,
    /// Some rules look at what is missing.
    NoQuery,
    /// Some requests were never logged, by choice.
    Sampled,
    /// The server cuts long fields or lines.
    Truncated,
    /// The service does not promise to log every request.
    BestEffort,
    /// Times are taken for those of `--timezone`.
    NoZone,
    /// The address is that of whoever stands in between.
    NoClient,
}

impl Limitation {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Limitation; 8] = [
        Limitation::NoUserAgent,
        Limitation::DecodedTargets,
        Limitation::NoQuery,
        Limitation::Sampled,
        Limitation::Truncated,
        Limitation::BestEffort,
        Limitation::NoZone,
        Limitation::NoClient,
    ];

    /// What the user should know, after `the log format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Limitation::NoUserAgent => {
                "has no user agent, so no crawler can be told from a browser"
            }
            Limitation::DecodedTargets => {
                "has decoded paths, so rules that look at percent-encodings may be judged wrongly"
            }
            Limitation::NoQuery => {
                "has no query strings, so rules that look at them are not judged"
            }
            Limitation::Sampled => "may be sampled: rates hold, counts are too low",
            Limitation::Truncated => {
                "cuts long fields, so crawlers and paths past the cut are not recognized"
            }
            Limitation::BestEffort => "may lack requests: its service promises no complete log",
            Limitation::NoZone => "has no time zone; its times are taken for those of --timezone",
            Limitation::NoClient => "has no address of the client, so crawlers cannot be verified",
        }
    }
}
