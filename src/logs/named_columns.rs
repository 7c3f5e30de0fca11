//! Logs whose columns have names: CSV with a header, as dashboards and databases export it, and labelled tab-separated
//! values (LTSV, ltsv.org), as nginx and Apache write them with a format of labels.
//!
//! The header of CSV has the keys of JSON logs, in any case. Columns are separated by commas, semicolons
//! or tabs, and values may be quoted (RFC 4180).
//!
//! ```text
//! time:[17/Apr/2025:05:10:56 +0000]<tab>host:192.0.2.7<tab>req:GET / HTTP/1.1<tab>status:200
//! ```
//!
//! The labels of LTSV are those that ltsv.org recommends, or keys of JSON logs. `host` is the client, as
//! ltsv.org has it, unless another label is.

use memchr::memchr;

use crate::time::Zone;

use super::field_kind::{LogField, fields};
use super::reject::{Limitation, Reject, Skip};
use super::w3c::take_doubled;
use super::{LineContent, escape::Escaping, field::RawField, json::dialect::JsonDialect};

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

/// The most labels; a hostile log may have any number.
const LABELS_MAX: usize = 256;

/// The labels that ltsv.org recommends.
const RECOMMENDED: &[u8] = b"time:\thost:\tforwardedfor:\treq:\tmethod:\turi:\tstatus:\tsize:\t\
                             referer:\tua:\tvhost:";

/// The labels of a file, each with its field; `None` if it is not needed.
#[derive(Clone, Debug, Default)]
pub struct Ltsv(Vec<(Box<[u8]>, Option<LogField>)>);

impl Ltsv {
    /// The labels of a file that begins with the lines of `head`; `None` if no line has labels for
    /// a time and a target.
    pub(crate) fn detected(head: &[&[u8]]) -> Option<Ltsv> {
        let head: &[&[u8]] = if head.is_empty() { &[RECOMMENDED] } else { head };
        let mut names: Vec<&[u8]> = Vec::new();
        for line in head {
            let Some(labels) = labels_of(line) else { continue };
            for name in labels {
                if names.len() < LABELS_MAX && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let has_client = names.iter().any(|name| named(name, true) == Some(LogField::Client));
        let mut labels: Vec<(Box<[u8]>, Option<LogField>)> = Vec::new();
        for name in names {
            let field = named(name, has_client);
            let is_first = !labels.iter().any(|(_, known)| *known == field);
            labels.push((name.into(), field.filter(|_| is_first)));
        }
        let ltsv = Ltsv(labels);
        let is_log = ltsv.has(LogField::Time) && LogField::OF_TARGET.iter().any(|f| ltsv.has(*f));
        is_log.then_some(ltsv)
    }

    fn has(&self, field: LogField) -> bool {
        self.0.iter().any(|(_, known)| *known == Some(field))
    }

    /// The limitations of these labels.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        let whole = [LogField::Request, LogField::Target, LogField::Url];
        let is_path_alone = !whole.into_iter().any(|field| self.has(field));
        Limitation::those_of([
            (Limitation::NoUserAgent, !self.has(LogField::UserAgent)),
            (Limitation::NoClient, !self.has(LogField::Client)),
            (Limitation::NoQuery, is_path_alone && !self.has(LogField::Query)),
        ])
    }

    /// Finds the fields of `line`.
    pub(crate) fn line<'a>(&self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        self.fields(line, zone)
    }

    fn fields<'a>(&self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        let mut parts = [RawField::plain(b""); LogField::COUNT];
        for (at, column) in line.split(|&byte| byte == b'\t').enumerate() {
            let Some(colon) = memchr(b':', column) else {
                return LineContent::Reject(Reject::OtherFormat);
            };
            let (name, raw) = (&column[..colon], &column[colon + 1..]);
            // Nearly all lines have the same labels in the same order.
            let label = match self.0.get(at).filter(|(label, _)| **label == *name) {
                Some(label) => Some(label),
                None => self.0.iter().find(|(label, _)| **label == *name),
            };
            if let Some((_, Some(field))) = label {
                parts[*field as usize] = RawField { raw, escaping: Escaping::Backslash };
            }
        }
        fields(|field| parts[field as usize], zone)
    }
}

/// The labels of a line; `None` if a column has none, or there is only one.
fn labels_of(line: &[u8]) -> Option<Vec<&[u8]>> {
    let columns = line.split(|&byte| byte == b'\t');
    let labels: Option<Vec<&[u8]>> = columns
        .map(|column| {
            let name = &column[..memchr(b':', column)?];
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-@".contains(byte);
            (!name.is_empty() && name.iter().all(is_name)).then_some(name)
        })
        .collect();
    labels.filter(|labels| labels.len() > 1)
}

/// The field of a label.
fn named(label: &[u8], has_client: bool) -> Option<LogField> {
    match label {
        b"host" if !has_client => Some(LogField::Client),
        b"forwardedfor" => Some(LogField::ForwardedFor),
        b"req" => Some(LogField::Request),
        _ => field_named(std::str::from_utf8(label).ok()?),
    }
}
