//! The parts of a request that formats with named or listed fields give, and how a record is made
//! of them.

use memchr::{memchr, memmem};

use crate::logs::field::Field;
use crate::logs::record::{Fields, Outcome, Request};
use crate::logs::reject::Reject;
use crate::logs::time::Time;
use crate::time::Zone;

/// What a field says of the request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// When; with the date, unless that stands elsewhere.
    Time,
    /// The day, where it has a field of its own.
    Date,
    /// The address that asked.
    Client,
    /// X-Forwarded-For.
    ForwardedFor,
    /// The host that was asked for, maybe with a port.
    Host,
    /// The port that was asked.
    Port,
    /// `http`, `https`, `on` and the like; or anything that is there only for encrypted requests.
    Scheme,
    /// The method.
    Method,
    /// Method, target and version in one.
    Request,
    /// Path and query as sent.
    Target,
    /// The absolute URL, which is our own.
    Url,
    /// The path, often without its query and decoded.
    Path,
    /// The query without its `?`.
    Query,
    /// Status of the answer.
    Status,
    /// Size of the answer.
    Bytes,
    /// The user agent.
    UserAgent,
    /// Which logger wrote the line, or what caused the request.
    Source,
}

impl Part {
    /// How many there are.
    pub const COUNT: usize = Part::Source as usize + 1;

    /// Those that say what was requested.
    pub const OF_TARGET: [Part; 5] =
        [Part::Request, Part::Target, Part::Url, Part::Path, Part::Query];

    /// Those that a user can name a field for.
    pub const NAMED: [(&'static str, Part); 15] = [
        ("time", Part::Time),
        ("client", Part::Client),
        ("forwarded-for", Part::ForwardedFor),
        ("host", Part::Host),
        ("port", Part::Port),
        ("scheme", Part::Scheme),
        ("method", Part::Method),
        ("request", Part::Request),
        ("target", Part::Target),
        ("url", Part::Url),
        ("path", Part::Path),
        ("query", Part::Query),
        ("status", Part::Status),
        ("bytes", Part::Bytes),
        ("user-agent", Part::UserAgent),
    ];
}

/// The fields that say nothing about the target's form.
///
/// `part` gives a part as it stands in the line; nothing, or `-`, is unset.
#[inline]
pub fn fields<'a>(part: impl Fn(Part) -> Field<'a>, zone: &'a Zone) -> Result<Fields<'a>, Reject> {
    let (date, time) = (part(Part::Date), part(Part::Time));
    let time = match (date.is_unset(), time.is_unset()) {
        (_, true) => return Err(Reject::NoTime),
        (true, false) => Time::Local(without_brackets(time.raw), zone),
        (false, false) => Time::Columns(date.raw, time.raw, zone),
    };
    Ok(Fields {
        host: part(Part::Host),
        port: part(Part::Port).raw,
        scheme: part(Part::Scheme).raw,
        client: first_client(part(Part::Client).raw),
        forwarded_for: part(Part::ForwardedFor),
        time,
        request: request(&part).ok_or(Reject::NoRequest)?,
        outcome: Outcome::Fields { status: part(Part::Status).raw, bytes: part(Part::Bytes).raw },
        tail: b"",
        user_agent: part(Part::UserAgent),
    })
}

/// What was requested, from the part that has most of it as it was sent. `None` where no part
/// says anything of it.
#[inline]
fn request<'a>(part: &impl Fn(Part) -> Field<'a>) -> Option<Request<'a>> {
    let method = part(Part::Method);
    let request = part(Part::Request);
    if !request.is_unset() {
        // Some log a target under this name.
        return Some(match request.raw.first() {
            Some(b'/') if memchr(b' ', request.raw).is_none() => {
                Request::Parts { method, target: request, query: Field::UNSET }
            }
            _ => Request::Line(request),
        });
    }
    let target = part(Part::Target);
    if !target.is_unset() {
        return Some(with_query(part, method, target));
    }
    let url = part(Part::Url);
    if !url.is_unset() {
        return Some(if memmem::find(url.raw, b"//").is_some_and(|at| at > 0) {
            Request::Url { method, url }
        } else {
            Request::Parts { method, target: url, query: Field::UNSET }
        });
    }
    let path = part(Part::Path);
    if !path.is_unset() {
        return Some(with_query(part, method, path));
    }
    // A connection without a request, which some log with all else in place.
    (!method.is_unset() || !part(Part::Status).is_unset()).then_some(Request::Line(Field::UNSET))
}

/// The target with the query that stands apart, if it has none itself.
#[inline]
fn with_query<'a>(
    part: &impl Fn(Part) -> Field<'a>,
    method: Field<'a>,
    target: Field<'a>,
) -> Request<'a> {
    let has_query = memchr(b'?', target.raw).is_some();
    let query = if has_query { Field::UNSET } else { part(Part::Query) };
    Request::Parts { method, target, query }
}

/// Apache's `%t` comes with them.
#[inline]
fn without_brackets(time: &[u8]) -> &[u8] {
    match time {
        [b'[', time @ .., b']'] => time,
        _ => time,
    }
}

/// Of a list of addresses (X-Forwarded-For) its first, whoever that is.
#[inline]
fn first_client(client: &[u8]) -> &[u8] {
    match memchr(b',', client) {
        Some(comma @ 1..) => &client[..comma],
        _ if client.is_empty() => b"-",
        _ => client,
    }
}
