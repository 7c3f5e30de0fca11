//! Why a line is not a record, and what a format lacks even if its lines are read correctly.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Why a line that should be a record is not one. The first five and the last four are found
    /// from the structure of a line, before its user agent is known; the others only in lines of
    /// crawlers, which are parsed completely.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Reject {
        /// Longer than the limit.
        TooLong = "too-long",
        /// No time in brackets, or no quoted field after it.
        NoTime = "no-time",
        /// Too few columns before the time, or an address in the wrong column.
        NoClient = "no-client",
        /// The quoted request does not end, or text follows its quote directly.
        NoRequest = "no-request",
        /// The quoted user agent is missing or does not end.
        NoUserAgent = "no-user-agent",
        /// The time is malformed, or not in the calendar.
        BadTime = "bad-time",
        /// Not HTTP: a TLS hello, another protocol, a single word.
        BadRequest = "bad-request",
        /// The status is not a number of three digits.
        BadStatus = "bad-status",
        /// The size of the answer is not a number.
        BadBytes = "bad-bytes",
        /// The line does not have the chosen format.
        OtherFormat = "other-format",
        /// Columns without a declaration, or another number of columns than declared.
        BadColumns = "bad-columns",
        /// It begins like a JSON object but is invalid: cut off, or merged with another line.
        BadJson = "bad-json",
        /// A piece of a line that a container runtime cut, and the others are missing, or too many.
        Incomplete = "incomplete",
    }
}

named_enum! {
    /// Why a line is not meant to be a record. Skipped lines do not count in parse rates.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Skip {
        /// Only white space.
        Blank = "blank",
        /// It starts with `#`, in a format with directives.
        Comment = "comment",
        /// Damage to the file cut the line.
        Partial = "partial",
        /// A piece of a line that a container runtime cut; it was joined with the first piece.
        EnvelopePartial = "wrapper-partial",
        /// A request of the server to itself, caused by another request.
        Subrequest = "subrequest",
        /// A line of another logger that writes to the same stream.
        NotAccess = "not-access",
        /// A directive on how to read later lines.
        Directive = "directive",
        /// Its time is outside `--since` and `--until`.
        OutsideTime = "outside-time",
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_the_order_of_the_declaration() {
        assert!(Reject::ALL.iter().enumerate().all(|(at, &kind)| kind as usize == at));
        assert!(Skip::ALL.iter().enumerate().all(|(at, &kind)| kind as usize == at));
    }
}
