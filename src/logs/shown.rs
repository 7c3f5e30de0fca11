//! What some lines of a file show about a format that can read them.

use super::format::Format;
use super::plausible::{has_version, may_be_user_agent, quoted};
use super::record::{Fields, Scratch};
use super::time::numeric_date;
use super::{LineContent, reject::Limitation};

/// This many records without a single user agent are not a coincidence.
const RECORDS_WITHOUT_USER_AGENT_MIN: usize = 10;

/// What the lines of a file show about a format that can read them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Shown {
    records: usize,
    /// Those whose user agent may be one.
    with_user_agent: usize,
    /// Those whose user agent has a name and a version.
    with_version: usize,
    /// Those with a later quoted field that has a name and a version.
    with_later_version: usize,
    /// Whether a date in digits can only have the day first, and whether one can only have the month first.
    date_orders: [bool; 2],
}

impl Shown {
    /// What `lines` show about `format`.
    pub(super) fn by(format: &Format, lines: &[&[u8]]) -> Shown {
        let (mut reader, mut scratch, mut shown) =
            (format.reader(), Scratch::default(), Shown::default());
        for line in lines {
            if let LineContent::Fields(fields) = reader.line(line) {
                shown.add(&fields, &mut scratch);
            }
        }
        shown
    }

    fn add(&mut self, fields: &Fields<'_>, scratch: &mut Scratch) {
        self.records += 1;
        let user_agent = fields.user_agent(scratch);
        self.with_user_agent += usize::from(may_be_user_agent(user_agent));
        self.with_version += usize::from(has_version(user_agent));
        self.with_later_version += usize::from(quoted(fields.tail()).any(has_version));
        let date = fields.time_text().and_then(numeric_date);
        if let Some((first, second)) = date {
            self.date_orders[0] |= first > 12 && second <= 12;
            self.date_orders[1] |= second > 12 && first <= 12;
        }
    }

    /// Why the lines may have another layout, if so.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        let is_other_column = self.with_later_version * 2 > self.records
            && self.with_later_version > self.with_version * 2;
        if is_other_column {
            return Some(
                "but a later quoted field looks more like a user agent than the one in its place",
            );
        }
        (self.date_orders == [true; 2])
            .then_some("but some of its dates have the day first, and others the month")
    }

    /// The format with what the lines show: user agents that are all missing, because some servers write them only if
    /// they are configured to; and dates with the month first.
    pub(super) fn complete(&self, format: Format) -> Format {
        let format = match self.date_orders {
            [false, true] => format.with_month_first(),
            _ => format,
        };
        let is_known = format.limitations().contains(&Limitation::NoCrawlUserAgent);
        let lacks_user_agent =
            self.with_user_agent == 0 && self.records >= RECORDS_WITHOUT_USER_AGENT_MIN;
        match lacks_user_agent && !is_known {
            true => format.with_limitations(&[Limitation::NoUserAgent]),
            false => format,
        }
    }
}
