//! Log formats: one line to one record, or the reason why it is none.
//!
//! Nothing here fails: hostile lines give a [`Reject`], which is
//! counted.

pub mod detect;

pub mod record;

mod combined;
mod request;
mod time;

mod escape;
mod field;

pub mod reject;

use record::Fields;
use reject::{Reject, Skip};

/// A longer line is no record: servers limit request lines to some kilobytes.
/// Whoever cuts lines leaves one byte more, so that it shows.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The formats that are known.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LogFormat {
    /// Combined, with `host:port` or `host` in front.
    VhostCombined,
    /// nginx's default and Apache's `combined`, with any more fields behind.
    Combined,
    /// Apache's `common`, with any more fields behind: there is no user agent.
    Common,
}

/// What a line is.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// Well formed as far as the user agent.
    Fields(Fields<'a>),
    /// Not meant to be a record.
    Skip(Skip),
    /// Meant to be one, and none.
    Reject(Reject),
}

impl LogFormat {
    /// Every format; of two that read a line, the one that explains more first.
    pub const ALL: [LogFormat; 3] =
        [LogFormat::VhostCombined, LogFormat::Combined, LogFormat::Common];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            LogFormat::VhostCombined => "vhost_combined",
            LogFormat::Combined => "combined",
            LogFormat::Common => "common",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<LogFormat> {
        LogFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// A line of this format.
    pub fn sample(self) -> &'static str {
        match self {
            LogFormat::VhostCombined => {
                r#"example.com:443 192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#
            }
            LogFormat::Combined => {
                r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#
            }
            LogFormat::Common => {
                r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353"#
            }
        }
    }

    /// Finds the fields of `line`, which has no line ending.
    #[inline]
    pub fn line(self, line: &[u8]) -> Line<'_> {
        if line.len() > LINE_BYTES_MAX {
            return Line::Reject(Reject::TooLong);
        }
        if line.trim_ascii_start().is_empty() {
            return Line::Skip(Skip::Blank);
        }
        if line.starts_with(b"#") {
            return Line::Skip(Skip::Comment);
        }
        let fields = match self {
            LogFormat::VhostCombined => combined::vhost_combined(line),
            LogFormat::Combined => combined::combined(line),
            LogFormat::Common => combined::common(line),
        };
        fields.map_or_else(Line::Reject, Line::Fields)
    }
}
