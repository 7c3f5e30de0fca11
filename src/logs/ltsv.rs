//! Labelled tab-separated values (ltsv.org), as nginx and Apache write them with a format of labels.
//!
//! ```text
//! time:[17/Apr/2025:05:10:56 +0000]<tab>host:192.0.2.7<tab>req:GET / HTTP/1.1<tab>status:200
//! ```
//!
//! The labels are those that ltsv.org recommends, or keys of JSON logs. `host` is the client, as
//! ltsv.org has it, unless another label is.

use memchr::memchr;

use crate::logs::csv::field_named;
use crate::time::Zone;

use super::field_kind::{LogField, fields};
use super::reject::{Limitation, Reject};
use super::{LineContent, escape::Escaping, field::RawField};

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
