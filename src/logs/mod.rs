//! Log formats: a line becomes a record, or a reject with a reason.
//!
//! Nothing here fails: hostile lines give a [`reject::Reject`], which is counted. A format is a
//! named [`parser::LineParser`]; [`registry`] lists the built-in formats.

pub mod detect;
pub mod format;
pub mod named_columns;
pub mod own_format;
pub mod registry;

pub mod parser;

mod envelope;
pub(crate) mod pieces;

mod apache_format;
mod nginx_format;
pub(crate) mod plausible;
mod shown;
pub mod template;

mod cdx;

mod aws;
mod combined;
pub mod json;
pub mod proxies;
mod w3c;

pub mod field_kind;
pub mod record;
pub(crate) mod sample;

mod host;
pub mod request;
mod response;
pub mod time;

mod escape;
mod field;
mod signature;
pub(crate) mod usual;

pub mod reject;

use crate::time::UtcTime;

use record::Fields;
use reject::{Reject, Skip};

/// Longer lines are rejected: servers limit request lines to some kilobytes. A cut line keeps one
/// more byte, so that it is recognised as too long.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The result of parsing a line.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "a box would allocate for each line")]
pub enum LineContent<'a> {
    /// The line is well formed up to the user agent.
    Fields(Fields<'a>),
    /// The line is not meant to be a record.
    Skip(Skip),
    /// The line should be a record and is not.
    Reject(Reject),
}

impl LineContent<'_> {
    /// The time of the request; `None` if there is none, or it is not valid.
    pub(crate) fn time(&self) -> Option<UtcTime> {
        match self {
            LineContent::Fields(fields) => fields.time(),
            LineContent::Skip(_) | LineContent::Reject(_) => None,
        }
    }
}

impl<'a> From<Result<Fields<'a>, Reject>> for LineContent<'a> {
    #[inline]
    fn from(fields: Result<Fields<'a>, Reject>) -> LineContent<'a> {
        fields.map_or_else(LineContent::Reject, LineContent::Fields)
    }
}

/// Why a line has no fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoRecord {
    Skip(Skip),
    Reject(Reject),
}

impl From<NoRecord> for LineContent<'_> {
    fn from(why: NoRecord) -> Self {
        match why {
            NoRecord::Skip(skip) => LineContent::Skip(skip),
            NoRecord::Reject(reject) => LineContent::Reject(reject),
        }
    }
}

impl<'a> From<Result<Fields<'a>, NoRecord>> for LineContent<'a> {
    #[inline]
    fn from(fields: Result<Fields<'a>, NoRecord>) -> LineContent<'a> {
        fields.map_or_else(LineContent::from, LineContent::Fields)
    }
}
