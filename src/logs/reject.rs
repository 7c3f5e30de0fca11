//! Why a line is no record.

use crate::named_enum::named_enum;

named_enum! {
    /// What is wrong with a line that should have been a record. The first five are
    /// told by its structure, before anybody asks whose user agent it has; so are the
    /// last three. The others only where a crawler's line is read in full.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Reject {
        /// Longer than the longest line that is looked at.
        TooLong = "too-long",
        /// No time in brackets, or nothing in quotes after it.
        NoTime = "no-time",
        /// Too few columns before the time, or an address in the wrong one.
        NoClient = "no-client",
        /// The quoted request does not end, or something clings to its end.
        NoRequest = "no-request",
        /// The quoted user agent is missing or does not end.
        NoUserAgent = "no-user-agent",
        /// The time is none, or none of the calendar.
        BadTime = "bad-time",
        /// Not HTTP: a TLS hello, another protocol, a single word.
        BadRequest = "bad-request",
        /// The status is no number of three digits.
        BadStatus = "bad-status",
        /// The size of the answer is no number.
        BadBytes = "bad-bytes",
        /// No line of the chosen format, whatever else it is.
        OtherFormat = "other-format",
        /// Columns, and nothing before them says what they hold; or not as many as were promised.
        BadColumns = "bad-columns",
        /// It begins like a JSON object and is none: cut off, or glued to another.
        BadJson = "bad-json",
    }
}

named_enum! {
    /// Why a line was never meant to be a record. Such lines count in no rate.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Skip {
        /// Nothing but white space.
        Blank = "blank",
        /// It starts with `#`.
        Comment = "comment",
        /// Damage to the file cut it in two.
        Partial = "partial",
        /// An envelope cut it in two: a container's runtime does so past 16 KiB.
        EnvelopePartial = "wrapper-partial",
        /// A request that the server made to itself, in answer to another one.
        Subrequest = "subrequest",
        /// Of another logger that writes to the same stream.
        NotAccess = "not-access",
        /// It says how the lines after it are to be read.
        Directive = "directive",
        /// Its time is not in the stretch that was asked for.
        OutsideTime = "outside-time",
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
