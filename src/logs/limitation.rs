//! Information that a format lacks, even if its lines are read correctly.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// A reason why verdicts on a log are incomplete.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Limitation {
        /// Crawlers cannot be recognised.
        NoUserAgent = "has no user agents, so crawlers cannot be recognised",
        /// The crawl does not say who asked.
        NoCrawlUserAgent = "has no user agents; name that of the crawl with --user-agent",
        /// Paths were decoded by the server.
        DecodedTargets = "has decoded paths, so rules with percent-encodings may be judged \
                          wrongly",
        /// Rules about queries cannot be judged.
        NoQuery = "has no query strings, so rules about them are not judged",
        /// Some requests are deliberately not logged.
        Sampled = "may be sampled: rates are right, but counts are too low",
        /// The server cuts long fields or lines.
        Truncated = "cuts long fields, so crawlers and paths after the cut are not recognised",
        /// The service does not promise to log every request.
        BestEffort = "may lack requests: the service does not guarantee complete logs",
        /// Times are read in the zone of `--timezone`.
        NoZone = "has no time zone; its times are read in the zone of --timezone",
        /// Nothing in it is a request.
        ErrorLog = "is not an access log; all its lines were skipped",
        /// The address is that of whoever stands in between.
        NoClient = "has no client addresses, so crawlers cannot be verified",
        /// Statuses and sizes of answers are not logged.
        NoAnswers = "has neither statuses nor sizes of most answers, so fetches of robots.txt do not \
                     count as successful",
    }
}

impl Limitation {
    /// The limitations whose condition is true.
    pub(crate) fn those_of<const N: usize>(claims: [(Limitation, bool); N]) -> Vec<Limitation> {
        claims.into_iter().filter(|(_, is_so)| *is_so).map(|(limitation, _)| limitation).collect()
    }
}
