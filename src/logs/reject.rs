//! Why a line is no record.

/// What is wrong with a line that should have been a record. The first five are
/// told by its structure, before anybody asks whose user agent it has; the rest
/// only where a crawler's line is read in full.
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
}

impl Reject {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Reject; 9] = [
        Reject::TooLong,
        Reject::NoTime,
        Reject::NoClient,
        Reject::NoRequest,
        Reject::NoUserAgent,
        Reject::BadTime,
        Reject::BadRequest,
        Reject::BadStatus,
        Reject::BadBytes,
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
}

impl Skip {
    /// Every kind, in the order of the declaration.
    pub const ALL: [Skip; 3] = [Skip::Blank, Skip::Comment, Skip::Partial];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Skip::Blank => "blank",
            Skip::Comment => "comment",
            Skip::Partial => "partial",
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
