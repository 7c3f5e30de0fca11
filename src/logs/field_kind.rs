//! The fields of formats with named or listed fields, and how they make a record.

use botaudit_robots::named_enum;
use memchr::memchr;

use crate::bytes::any;
use crate::time::Zone;

use super::field::RawField;
use super::record::{Fields, RequestFields};
use super::signature::{Rest, SignatureFields};
use super::{LineContent, reject::Reject, response::ResponseFields, time::Time};

named_enum! {
    /// A field of a request.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum LogField {
        /// The time; with the date, unless that is a separate field.
        Time = "time",
        /// The date, if it is a separate field.
        Date = "date",
        /// The client address.
        Client = "client",
        /// X-Forwarded-For.
        ForwardedFor = "forwarded-for",
        /// The requested host, possibly with a port.
        Host = "host",
        /// The requested port.
        Port = "port",
        /// `http`, `https`, `on` and similar; or any value that exists only for encrypted requests.
        Scheme = "scheme",
        /// The method.
        Method = "method",
        /// Method, target and version in one field.
        Request = "request",
        /// Path and query as sent.
        Target = "target",
        /// The absolute URL; its origin is our own.
        Url = "url",
        /// The path, often without its query and decoded.
        Path = "path",
        /// The query without its `?`.
        Query = "query",
        /// The status of the answer.
        Status = "status",
        /// The size of the answer in bytes.
        Bytes = "bytes",
        /// The user agent.
        UserAgent = "user-agent",
        /// The Referer header.
        Referer = "referer",
        /// The logger that wrote the line, or the cause of the request.
        Source = "source",
        /// The Signature-Agent header.
        SignatureAgent = "signature-agent",
        /// The Signature-Input header.
        SignatureInput = "signature-input",
        /// The Signature header.
        Signature = "signature",
        /// What a server in front said of the signature.
        EdgeSignature = "edge-signature",
    }
}

impl LogField {
    /// The number of fields.
    pub(crate) const COUNT: usize = LogField::ALL.len();

    /// The fields of the target.
    pub(crate) const OF_TARGET: [LogField; 5] =
        [LogField::Request, LogField::Target, LogField::Url, LogField::Path, LogField::Query];

    /// Whether a user can assign a key to this field.
    pub(crate) fn can_be_named(&self) -> bool {
        !matches!(self, LogField::Date | LogField::Source | LogField::EdgeSignature)
    }
}

/// The fields other than the target.
///
/// `part` returns a field as written in the line; empty or `-` is unset.
#[inline]
pub(crate) fn fields<'a>(
    part: impl Fn(LogField) -> RawField<'a>,
    zone: &'a Zone,
) -> LineContent<'a> {
    let (date, time) = (part(LogField::Date), part(LogField::Time));
    let time = match (date.is_unset(), time.is_unset()) {
        (_, true) => return LineContent::Reject(Reject::NoTime),
        (true, false) => Time::Local(without_brackets(time.raw), zone),
        (false, false) => Time::Columns(date.raw, time.raw, zone),
    };
    let Some(request) = request(&part) else { return LineContent::Reject(Reject::NoRequest) };
    // Made where it stays: it is large.
    LineContent::Fields(Fields {
        host: part(LogField::Host),
        port: part(LogField::Port).raw,
        scheme: part(LogField::Scheme).raw,
        client: client_or_unset(part(LogField::Client).raw),
        forwarded_for: part(LogField::ForwardedFor),
        time,
        request,
        outcome: ResponseFields::Fields {
            status: part(LogField::Status).raw,
            bytes: part(LogField::Bytes).raw,
        },
        rest: signature(&part),
        user_agent: part(LogField::UserAgent),
        referer: part(LogField::Referer),
    })
}

/// The headers of a signature, if there was one.
#[inline]
fn signature<'a>(part: &impl Fn(LogField) -> RawField<'a>) -> Rest<'a> {
    let (input, edge) = (part(LogField::SignatureInput), part(LogField::EdgeSignature));
    if input.is_unset() && edge.is_unset() {
        return Rest::Tail(b"");
    }
    let (agent, signature) = (part(LogField::SignatureAgent), part(LogField::Signature));
    Rest::Signature(SignatureFields { agent, input, signature, edge })
}

/// The request, from the most original field. `None` if no field contains any of it.
#[inline]
fn request<'a>(part: &impl Fn(LogField) -> RawField<'a>) -> Option<RequestFields<'a>> {
    let method = part(LogField::Method);
    let request = part(LogField::Request);
    if !request.is_unset() {
        // Some servers log a whole target in this field.
        return Some(match request.raw.first() {
            Some(b'/') if memchr(b' ', request.raw).is_none() => {
                RequestFields::Parts { method, target: request, query: RawField::UNSET }
            }
            _ => RequestFields::Line(request),
        });
    }
    let target = part(LogField::Target);
    if !target.is_unset() {
        return Some(with_query(part, method, target));
    }
    let url = part(LogField::Url);
    if !url.is_unset() {
        return Some(RequestFields::Url { method, url });
    }
    let path = part(LogField::Path);
    if !path.is_unset() {
        return Some(with_query(part, method, path));
    }
    // A connection without a request, for which some servers log all other fields.
    (!method.is_unset() || !part(LogField::Status).is_unset())
        .then_some(RequestFields::Line(RawField::UNSET))
}

/// The target, with the separate query if it has none itself.
#[inline]
fn with_query<'a>(
    part: &impl Fn(LogField) -> RawField<'a>,
    method: RawField<'a>,
    target: RawField<'a>,
) -> RequestFields<'a> {
    let has_query = any(target.raw, |byte| byte == b'?');
    let query = if has_query { RawField::UNSET } else { part(LogField::Query) };
    RequestFields::Parts { method, target, query }
}

/// Apache's `%t` includes the brackets.
#[inline]
fn without_brackets(time: &[u8]) -> &[u8] {
    match time {
        [b'[', time @ .., b']'] => time,
        _ => time,
    }
}

/// The client as logged, which may be a list of addresses (X-Forwarded-For); `-` if it is empty.
#[inline]
pub(super) fn client_or_unset(client: &[u8]) -> &[u8] {
    if client.is_empty() { b"-" } else { client }
}
