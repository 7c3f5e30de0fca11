//! Logs as CSV with a header, as dashboards and databases export them.
//!
//! The header has the keys of JSON logs, in any case. Columns are separated by commas, semicolons
//! or tabs, and values may be quoted (RFC 4180).

use crate::time::Zone;

use super::field_kind::{LogField, fields};
use super::reject::{Limitation, Reject, Skip};
use super::{LineContent, field::RawField, json::dialect::JsonDialect, w3c::take_doubled};

/// The most columns; a hostile header may name any number.
const COLUMNS_MAX: usize = 256;

/// The layout of a file.
#[derive(Clone, Debug, Default)]
pub struct Csv {
    header: Box<[u8]>,
    delimiter: u8,
    /// The field of each column; `None` if it is not needed.
    columns: Vec<Option<LogField>>,
}

impl Csv {
    /// The layout of a file that begins with the lines of `head`; `None` if the first line is not a
    /// header with a time and a target.
    pub(crate) fn detected(head: &[&[u8]]) -> Option<Csv> {
        let Some(header) = head.first() else { return Some(Csv::default()) };
        let header = without_mark(header);
        [b',', b';', b'\t'].into_iter().find_map(|delimiter| {
            let columns = columns(header, delimiter)?;
            let has = |field| columns.contains(&Some(field));
            let is_log = has(LogField::Time) && LogField::OF_TARGET.into_iter().any(has);
            let csv = || Csv { header: header.into(), delimiter, columns: columns.clone() };
            is_log.then(csv)
        })
    }

    /// The limitations of these columns.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        let lacks = |field| !self.columns.contains(&Some(field));
        let has_whole_target = [LogField::Request, LogField::Target, LogField::Url];
        let is_path_alone = has_whole_target.into_iter().all(lacks);
        Limitation::those_of([
            (Limitation::NoUserAgent, lacks(LogField::UserAgent)),
            (Limitation::NoClient, lacks(LogField::Client)),
            (Limitation::NoQuery, is_path_alone && lacks(LogField::Query)),
        ])
    }

    /// Finds the fields of `line`.
    pub(crate) fn line<'a>(&self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        if !self.header.is_empty() && without_mark(line) == &*self.header {
            return LineContent::Skip(Skip::Directive);
        }
        self.fields(line, zone)
    }

    fn fields<'a>(&self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        let mut parts = [RawField::plain(b""); LogField::COUNT];
        let mut columns = self.columns.iter();
        let mut rest = Some(line);
        while let Some(text) = rest {
            let taken = columns.next().zip(take(text, self.delimiter));
            let Some((column, (value, after))) = taken else {
                return LineContent::Reject(Reject::BadColumns);
            };
            rest = after;
            if let Some(field) = *column {
                parts[field as usize] = value;
            }
        }
        if columns.next().is_some() {
            return LineContent::Reject(Reject::BadColumns);
        }
        fields(|field| parts[field as usize], zone)
    }
}

/// Without a byte-order mark.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
}

/// The fields of the columns that `header` names; `None` if it is not a header. The first column of
/// a field counts.
fn columns(header: &[u8], delimiter: u8) -> Option<Vec<Option<LogField>>> {
    let mut names = Vec::new();
    let mut rest = Some(header);
    while let Some(text) = rest {
        let value;
        (value, rest) = take(text, delimiter)?;
        names.push(String::from_utf8_lossy(value.raw.trim_ascii()).into_owned());
    }
    let has_time = names.iter().any(|name| name.eq_ignore_ascii_case("time"));
    let mut columns: Vec<Option<LogField>> = Vec::new();
    for name in names.iter().take(COLUMNS_MAX) {
        let is_date = has_time && name.eq_ignore_ascii_case("date");
        let field = if is_date { Some(LogField::Date) } else { field_named(name) };
        columns.push(field.filter(|field| !columns.contains(&Some(*field))));
    }
    Some(columns)
}

/// The field of a key of JSON logs, in any case.
pub(crate) fn field_named(name: &str) -> Option<LogField> {
    let paths = JsonDialect::CommonNames.paths().iter();
    let mut named =
        paths.filter(|(_, names)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name)));
    named.next().map(|(field, _)| *field)
}

/// The first value of `text`, and the text after its delimiter, if there is one.
fn take(text: &[u8], delimiter: u8) -> Option<(RawField<'_>, Option<&[u8]>)> {
    let (value, rest) = match text.first() {
        Some(b'"') => take_doubled(text)?,
        _ => {
            let end = memchr::memchr(delimiter, text).unwrap_or(text.len());
            (RawField::plain(&text[..end]), &text[end..])
        }
    };
    match rest {
        [] => Some((value, None)),
        [first, rest @ ..] if *first == delimiter => Some((value, Some(rest))),
        _ => None,
    }
}
