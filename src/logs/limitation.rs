//! What a format cannot tell, however well its lines are read.

/// A reason for which verdicts on a log are no better than the log.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Caveat {
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

impl Caveat {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Caveat; 8] = [
        Caveat::NoUserAgent,
        Caveat::DecodedTargets,
        Caveat::NoQuery,
        Caveat::Sampled,
        Caveat::Truncated,
        Caveat::BestEffort,
        Caveat::NoZone,
        Caveat::NoClient,
    ];

    /// What the user should know, after `the log format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Caveat::NoUserAgent => "has no user agent, so no crawler can be told from a browser",
            Caveat::DecodedTargets => {
                "has decoded paths, so rules that look at percent-encodings may be judged wrongly"
            }
            Caveat::NoQuery => "has no query strings, so rules that look at them are not judged",
            Caveat::Sampled => "may be sampled: rates hold, counts are too low",
            Caveat::Truncated => {
                "cuts long fields, so crawlers and paths past the cut are not recognized"
            }
            Caveat::BestEffort => "may lack requests: its service promises no complete log",
            Caveat::NoZone => "has no time zone; its times are taken for those of --timezone",
            Caveat::NoClient => "has no address of the client, so crawlers cannot be verified",
        }
    }
}
