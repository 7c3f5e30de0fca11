//! Whether the fields of a format look like themselves: lines can have another layout whose columns are as many.

use memchr::memchr;

use super::field::RawField;
use super::format::Format;
use super::host::is_address_list;
use super::record::{Fields, Record, Scratch};
use super::reject::Reject;
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
            self.date_orders[0] |= first > 12;
            self.date_orders[1] |= second > 12;
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

/// Whether a line that was read has the values of a request. A server logs what is no HTTP as a request without a user
/// agent.
pub(super) fn is_plausible(read: Result<Record<'_>, Reject>, has_user_agent: bool) -> bool {
    match read {
        Ok(record) => record.status == 0 || (100..600).contains(&record.status),
        Err(reason) => reason == Reject::BadRequest && !has_user_agent,
    }
}

/// Whether it is neither unset nor a number or an address.
pub(crate) fn may_be_user_agent(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphabetic) && !is_address_list(text)
        || text.iter().any(|byte| !byte.is_ascii())
}

/// Whether it begins with a name and a version, as `curl/8.5.0` does.
fn has_version(text: &[u8]) -> bool {
    let Some(slash) = memchr(b'/', text) else { return false };
    let (name, version) = (&text[..slash], &text[slash + 1..]);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b" ._-".contains(byte);
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(is_of_name)
        && name != b"HTTP"
        && version.first().is_some_and(u8::is_ascii_digit)
}

/// The quoted fields of the text after the user agent.
fn quoted(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (field, rest) = RawField::take_quoted(&text[memchr(b'"', text)?..])?;
        text = rest;
        Some(field.raw)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agents_look_like_themselves() {
        for text in ["curl/8.5.0", "Mozilla/5.0 (X11)", "Sogou web spider/4.0", "a-b_c.d/1"] {
            assert!(has_version(text.as_bytes()) && may_be_user_agent(text.as_bytes()), "{text}");
        }
        for text in ["Wget", "\u{e9}", "a=b", "https://a.example/1"] {
            assert!(!has_version(text.as_bytes()) && may_be_user_agent(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "404", "0.005", "192.0.2.1", "2001:db8::1, 192.0.2.1", "unknown"] {
            assert_eq!(may_be_user_agent(text.as_bytes()), text == "unknown", "{text}");
            assert!(!has_version(text.as_bytes()), "{text}");
        }
        assert!(!has_version(b"HTTP/1.1") && !has_version(b"/1") && !has_version(b"x/"));
    }
}
