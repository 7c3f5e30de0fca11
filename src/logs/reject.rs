//! Why a line is no record.

/// What is wrong with a line that should have been a record. The first five are
/// told by its structure, before anybody asks whose user agent it has; so are the
/// last three. The others only where a crawler's line is read in full.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reject {
    /// Longer than the longest line that is looked at.
    TooLong,
    /// No time in brackets, or nothing in quotes after it.
    NoTime,
    /// Too few columns before the time, or an address in the wrong one.
    NoClient,
    /// The quoted request does not end, or something clings to its end.
    NoRequest,
    /// The quoted user agent is missing or does not end.
    NoUserAgent,
    /// The time is none, or none of the calendar.
    BadTime,
    /// Not HTTP: a TLS hello, another protocol, a single word.
    BadRequest,
    /// The status is no number of three digits.
    BadStatus,
    /// The size of the answer is no number.
    BadBytes,
    /// No line of the chosen format, whatever else it is.
    OtherFormat,
    /// Columns, and nothing before them says what they hold; or not as many as were promised.
    BadColumns,
    /// It begins like a JSON object and is none: cut off, or glued to another.
    BadJson,
}

impl Reject {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Reject; 12] = [
        Reject::TooLong,
        Reject::NoTime,
        Reject::NoClient,
        Reject::NoRequest,
        Reject::NoUserAgent,
        Reject::BadTime,
        Reject::BadRequest,
        Reject::BadStatus,
        Reject::BadBytes,
        Reject::OtherFormat,
        Reject::BadColumns,
        Reject::BadJson,
    ];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Reject::TooLong => "too-long",
            Reject::NoTime => "no-time",
            Reject::NoClient => "no-client",
            Reject::NoRequest => "no-request",
            Reject::NoUserAgent => "no-user-agent",
            Reject::BadTime => "bad-time",
            Reject::BadRequest => "bad-request",
            Reject::BadStatus => "bad-status",
            Reject::BadBytes => "bad-bytes",
            Reject::OtherFormat => "other-format",
            Reject::BadColumns => "bad-columns",
            Reject::BadJson => "bad-json",
        }
    }
}

/// Why a line was never meant to be a record. Such lines count in no rate.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Skip {
    /// Nothing but white space.
    Blank,
    /// It starts with `#`.
    Comment,
    /// Damage to the file cut it in two.
    Partial,
    /// An envelope cut it in two: a container's runtime does so past 16 KiB.
    EnvelopePartial,
    /// A request that the server made to itself, in answer to another one.
    Subrequest,
    /// Of another logger that writes to the same stream.
    NotAccess,
    /// It says how the lines after it are to be read.
    Directive,
    /// Its time is not in the stretch that was asked for.
    OutsideTime,
}

impl Skip {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Skip; 8] = [
        Skip::Blank,
        Skip::Comment,
        Skip::Partial,
        Skip::EnvelopePartial,
        Skip::Subrequest,
        Skip::NotAccess,
        Skip::Directive,
        Skip::OutsideTime,
    ];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Skip::Blank => "blank",
            Skip::Comment => "comment",
            Skip::Partial => "partial",
            Skip::EnvelopePartial => "wrapper-partial",
            Skip::Subrequest => "subrequest",
            Skip::NotAccess => "not-access",
            Skip::Directive => "directive",
            Skip::OutsideTime => "outside-time",
        }
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
