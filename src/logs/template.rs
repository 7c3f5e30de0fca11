//! Formats from server configurations, compiled to literals and fields.
//!
//! Each field ends where the literal after it begins. Inside quotes, an escaped quote does not end
//! a field; elsewhere the first position counts. Two fields without text in between cannot be
//! separated, except a host and the path after it.

use memchr::{memchr, memmem};

use crate::error::{Error, Result};
use crate::time::Zone;

use super::record::{Fields, RequestFields};
use super::reject::{Limitation, Reject};
use super::signature::SignatureFields;
use super::time::{Time, written};
use super::{LineContent, escape::Escaping, field::RawField, response::ResponseFields};

/// A compiled format.
#[derive(Clone, Debug)]
pub struct Template {
    /// The text before the first field.
    start: Box<[u8]>,
    steps: Box<[Step]>,
    limitations: Vec<Limitation>,
}

#[derive(Clone, Debug)]
struct Step {
    slot: Slot,
    escaping: Escaping,
    end: End,
}

/// The end of a field.
#[derive(Clone, Debug)]
enum End {
    /// Before a literal, which is skipped; the number is how often the literal occurs in the field
    /// itself.
    Literal(Box<[u8]>, usize),
    /// Before an unescaped quote, with which the literal begins.
    Quote(Box<[u8]>),
    /// Before a slash, with which the next field begins.
    Slash,
    /// At the end of the line.
    Line,
}

pub(super) fn compile(pieces: Vec<TemplateToken>, escaping: Escaping) -> Result<Template> {
    let pieces = joined(pieces);
    let limitations = limitations(&pieces)?;
    let mut start = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut before: &[u8] = b"";
    for (at, piece) in pieces.iter().enumerate() {
        let (slot, name) = match piece {
            TemplateToken::Literal(literal) => {
                before = literal;
                if at == 0 {
                    start.clone_from(literal);
                }
                continue;
            }
            TemplateToken::Field(slot, name) => (slot, name),
        };
        let end = match pieces.get(at + 1) {
            None => End::Line,
            Some(TemplateToken::Literal(literal)) => {
                let is_quoted = before.ends_with(b"\"") && literal.starts_with(b"\"");
                match escaping {
                    Escaping::Backslash | Escaping::Json if is_quoted => {
                        End::Quote(literal.clone().into())
                    }
                    _ => End::Literal(literal.clone().into(), count_within(slot, name, literal)),
                }
            }
            Some(TemplateToken::Field(
                Slot::Target | Slot::DecodedPath | Slot::DecodedTarget,
                _,
            )) => End::Slash,
            Some(TemplateToken::Field(_, next)) => {
                return Err(Error::usage(format!(
                    "the log format has nothing between {name} and {next}, so they cannot be \
                     separated; put a space or quotes between them"
                )));
            }
        };
        before = b"";
        let slot = if is_best(&pieces, at) { slot.clone() } else { Slot::Ignored };
        steps.push(Step { slot, escaping, end });
    }
    Ok(Template { start: start.into(), steps: steps.into(), limitations })
}

/// How often `literal` occurs in the field; for example, a time and a request contain spaces.
fn count_within(slot: &Slot, name: &str, literal: &[u8]) -> usize {
    let sample = match slot {
        Slot::TimeOf(pattern) => written(pattern).unwrap_or_default(),
        Slot::Time if name == "$time_local" => "17/Apr/2025:05:10:56 +0000".to_owned(),
        Slot::Request => "GET / HTTP/1.1".to_owned(),
        _ => String::new(),
    };
    memmem::find_iter(sample.as_bytes(), literal).count()
}

/// Joins adjacent literals, and fields that are a target only together.
fn joined(pieces: Vec<TemplateToken>) -> Vec<TemplateToken> {
    let mut joined: Vec<TemplateToken> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(TemplateToken::Literal(last)), TemplateToken::Literal(literal)) => {
                last.extend(literal)
            }
            (
                Some(TemplateToken::Field(slot @ Slot::DecodedPath, _)),
                TemplateToken::Field(Slot::Query, _),
            ) => {
                *slot = Slot::DecodedTarget;
            }
            (
                Some(TemplateToken::Field(Slot::DecodedTarget, _)),
                TemplateToken::Field(Slot::Query, _),
            ) => {}
            (_, TemplateToken::Literal(literal)) if literal.is_empty() => {}
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// The field of a token, if it is one.
fn slot_of(piece: &TemplateToken) -> Option<&Slot> {
    match piece {
        TemplateToken::Field(slot, _) => Some(slot),
        TemplateToken::Literal(_) => None,
    }
}

/// Whether the field is the best of its kind: the first, and a host before a server name.
fn is_best(pieces: &[TemplateToken], at: usize) -> bool {
    let Some(slot) = slot_of(&pieces[at]) else { return false };
    let kind = |slot: &Slot| match slot {
        Slot::TimeOf(_) => Slot::Time,
        Slot::DecodedPath | Slot::DecodedTarget => Slot::Target,
        slot => slot.clone(),
    };
    let has = |wanted: &[Slot]| pieces.iter().filter_map(slot_of).any(|slot| wanted.contains(slot));
    let is_raw = |slot: &Slot| !matches!(slot, Slot::DecodedPath | Slot::DecodedTarget);
    let is_outdone = match slot {
        Slot::ServerName => has(&[Slot::Host]),
        Slot::DecodedPath | Slot::DecodedTarget => has(&[Slot::Target, Slot::Request]),
        Slot::Query => has(&[Slot::Target, Slot::DecodedTarget]),
        _ => false,
    };
    let is_same = |other: &Slot| kind(other) == kind(slot) && is_raw(other) == is_raw(slot);
    !is_outdone && !pieces[..at].iter().filter_map(slot_of).any(is_same)
}

/// The limitations of a format with these fields.
fn limitations(pieces: &[TemplateToken]) -> Result<Vec<Limitation>> {
    let slots = || pieces.iter().filter_map(slot_of);
    let has = |wanted: &[Slot]| slots().any(|slot| wanted.contains(slot));
    if !slots().any(|slot| matches!(slot, Slot::Time | Slot::TimeOf(_))) {
        return Err(Error::usage(
            "the log format has no time; add $time_local, $time_iso8601 or $msec (nginx) or %t \
             (Apache)",
        ));
    }
    let is_raw = has(&[Slot::Request, Slot::Target]);
    if !is_raw && !has(&[Slot::DecodedPath, Slot::DecodedTarget]) {
        return Err(Error::usage(
            "the log format has no request; add $request or $request_uri (nginx) or %r (Apache)",
        ));
    }
    Ok(Limitation::those_of([
        (Limitation::NoUserAgent, !has(&[Slot::UserAgent])),
        (Limitation::DecodedTargets, !is_raw),
        (Limitation::NoQuery, !is_raw && !has(&[Slot::DecodedTarget, Slot::Query])),
        (Limitation::NoZone, !has(&[Slot::Time]) && !slots().any(names_zone)),
        (Limitation::NoClient, !has(&[Slot::Client, Slot::ForwardedFor])),
    ]))
}

/// Whether it is a time with a zone.
fn names_zone(slot: &Slot) -> bool {
    let Slot::TimeOf(pattern) = slot else { return false };
    ["%z", "%:z", "%s"].iter().any(|directive| pattern.contains(directive))
}

impl Template {
    /// The limitations of this format.
    pub(crate) fn limitations(&self) -> Vec<Limitation> {
        self.limitations.clone()
    }

    /// Finds the fields of a line.
    pub(crate) fn line<'a>(&'a self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        self.fields(line, zone).ok_or(Reject::OtherFormat).into()
    }

    fn fields<'a>(&'a self, line: &'a [u8], zone: &'a Zone) -> Option<Fields<'a>> {
        let mut found = TemplateFields::default();
        let mut rest = line.strip_prefix(&*self.start)?;
        for step in &self.steps {
            let (raw, after) = step.end.take(rest)?;
            rest = after;
            found.put(&step.slot, RawField { raw, escaping: step.escaping }, zone);
        }
        rest.trim_ascii().is_empty().then(|| found.fields())
    }
}

impl End {
    #[inline]
    fn take<'a>(&self, rest: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        match self {
            End::Literal(literal, within) => {
                let mut at = 0;
                for _ in 0..*within {
                    at += find(&rest[at..], literal)? + literal.len();
                }
                at += find(&rest[at..], literal)?;
                Some((&rest[..at], &rest[at + literal.len()..]))
            }
            End::Quote(literal) => {
                let (field, after) = RawField::until_quote(rest, Escaping::Backslash)?;
                Some((field.raw, after.strip_prefix(&**literal)?))
            }
            End::Slash => Some(rest.split_at(memchr(b'/', rest)?)),
            End::Line => Some((rest, b"")),
        }
    }
}

#[inline]
fn find(rest: &[u8], literal: &[u8]) -> Option<usize> {
    match *literal {
        [byte] => memchr(byte, rest),
        _ => memmem::find(rest, literal),
    }
}

/// The fields of one line.
#[derive(Default)]
struct TemplateFields<'a> {
    fields: Fields<'a>,
    request: Option<RawField<'a>>,
    method: RawField<'a>,
    target: RawField<'a>,
    query: RawField<'a>,
    status: &'a [u8],
    bytes: &'a [u8],
    signature: SignatureFields<'a>,
}

impl<'a> TemplateFields<'a> {
    #[inline]
    fn put(&mut self, slot: &'a Slot, field: RawField<'a>, zone: &'a Zone) {
        match slot {
            Slot::Ignored => {}
            Slot::Client => self.fields.client = field.raw,
            Slot::ForwardedFor => self.fields.forwarded_for = field,
            Slot::Time => self.fields.time = Time::Local(field.raw, zone),
            Slot::TimeOf(pattern) => {
                self.fields.time = Time::Pattern(field.raw, pattern, zone);
            }
            Slot::Request => self.request = Some(field),
            Slot::Method => self.method = field,
            Slot::Target | Slot::DecodedPath | Slot::DecodedTarget => self.target = field,
            Slot::Query => {
                let raw = field.raw.strip_prefix(b"?").unwrap_or(field.raw);
                self.query = RawField { raw, ..field };
            }
            Slot::Status => self.status = field.raw,
            Slot::Bytes => self.bytes = field.raw,
            Slot::UserAgent => self.fields.user_agent = field,
            Slot::Referer => self.fields.referer = field,
            Slot::Host | Slot::ServerName => self.fields.host = field,
            Slot::Port => self.fields.port = field.raw,
            Slot::Scheme => self.fields.scheme = field.raw,
            Slot::SignatureAgent => self.signature.agent = field,
            Slot::SignatureInput => self.signature.input = field,
            Slot::Signature => self.signature.signature = field,
        }
    }

    #[inline]
    fn fields(self) -> Fields<'a> {
        let request = match self.request {
            Some(line) => RequestFields::Line(line),
            // A target as sent includes its query.
            None => {
                RequestFields::Parts { method: self.method, target: self.target, query: self.query }
            }
        };
        let outcome = ResponseFields::Fields { status: self.status, bytes: self.bytes };
        let client = if self.fields.client.is_empty() { b"-" } else { self.fields.client };
        Fields { request, outcome, client, rest: self.signature.of(), ..self.fields }
    }
}

/// The content of a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Slot {
    /// Not needed.
    Ignored,
    /// The address of the client.
    Client,
    /// X-Forwarded-For.
    ForwardedFor,
    /// A time in one of the usual forms.
    Time,
    /// A time with this strftime pattern.
    TimeOf(Box<str>),
    /// The whole request line.
    Request,
    /// The method.
    Method,
    /// Path and query as sent.
    Target,
    /// The path as decoded by the server, without the query.
    DecodedPath,
    /// The decoded path with the query.
    DecodedTarget,
    /// The query, with or without its `?`.
    Query,
    /// The status.
    Status,
    /// The size of the answer.
    Bytes,
    /// The user agent.
    UserAgent,
    /// The Referer header.
    Referer,
    /// The requested host.
    Host,
    /// The server's configured name.
    ServerName,
    /// The port of the server.
    Port,
    /// `http` or `https`.
    Scheme,
    /// The Signature-Agent header.
    SignatureAgent,
    /// The Signature-Input header.
    SignatureInput,
    /// The Signature header.
    Signature,
}

/// A token of a format.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum TemplateToken {
    /// Literal text.
    Literal(Vec<u8>),
    /// A field, with the name that the user gave it.
    Field(Slot, String),
}
