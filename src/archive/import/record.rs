//! Parses one record of a WARC file: a response, a revisit or a resource.

use std::io::{self, BufRead, Read};

use url::Url;

use crate::archive::snapshot::{Failure, SnapshotOutcome};
use crate::archive::writer::{Body, KEPT_BYTES_MAX};
use crate::digest::Digest;
use crate::error::Error;
use crate::input::warc_head::{Head, NoHead, line_into, status};
use crate::net::http::max_age_seconds;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::coding::{BodyExtent, RAW_BYTES_MAX, decode, unchunk};
use super::warc_memory::{Payloads, WarcMemory, robots_txt_of};
use super::{Import, time_named};

/// The most bytes of a URL, a location or a first line.
pub(crate) const URL_BYTES_MAX: usize = 8 << 10;

/// The most interim responses (1xx) that are skipped.
const INTERIM_MAX: usize = 8;

/// Why a record was not read.
pub(super) enum Stop {
    /// It is malformed, from this offset on; other records may be readable.
    Record(u64, String),
    /// The rest of the file is unreadable.
    File(String),
    /// The archive cannot be written.
    Archive(Error),
}

impl From<io::Error> for Stop {
    fn from(err: io::Error) -> Stop {
        Stop::File(err.to_string())
    }
}

/// A record with its parsed head.
pub(crate) struct WarcRecord<'a> {
    /// Its fields.
    pub head: &'a Head,
    /// Its offset.
    pub start: u64,
}

/// A parsed record.
pub(crate) struct RobotsRecord {
    /// Its URL.
    pub url: String,
    /// The origin, if the URL is that of a robots.txt.
    pub origin: Option<Origin>,
    /// The time of the request.
    pub fetched_at: UtcTime,
    /// The recorded answer.
    pub answer: RecordedResponse,
    /// The payload digest in the record.
    pub payload: Option<Box<[u8]>>,
}

/// The answer in a record.
pub(crate) struct RecordedResponse {
    /// Its outcome.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age`.
    pub max_age_seconds: Option<u64>,
    /// The target of a redirect.
    pub location: Option<String>,
    /// The body.
    pub body: Body,
}

/// A body, and whether its end is missing; or the failure.
type ReadBody = std::result::Result<(Vec<u8>, BodyExtent), Failure>;

impl WarcRecord<'_> {
    /// Parses a record of a robots.txt, or of a URL to which one was redirected; `None` for other
    /// records.
    pub(crate) fn read(
        &self,
        block: &mut impl BufRead,
        memory: &WarcMemory,
        import: &mut Import<'_>,
    ) -> std::result::Result<Option<RobotsRecord>, Stop> {
        let kind = self.head.field("warc-type").unwrap_or_default().to_ascii_lowercase();
        if !matches!(kind.as_slice(), b"response" | b"revisit" | b"resource") {
            return Ok(None);
        }
        let url = self
            .head
            .text("warc-target-uri")
            .ok_or_else(|| self.bad("it has no WARC-Target-URI"))?;
        let url = url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url);
        let origin = robots_txt_of(url);
        if origin.is_none() && !memory.redirects.waits_for(url) {
            return Ok(None);
        }
        let date = self.head.text("warc-date").and_then(time_named);
        let fetched_at = date.ok_or_else(|| self.bad("its WARC-Date is not a valid time"))?;
        let answer = match kind.as_slice() {
            b"revisit" => self.revisit(block, &memory.payloads, import)?,
            b"response" if !url.starts_with("ftp:") => self.response(url, block)?,
            _ => {
                let body = self.body(block)?.map(|(body, _)| body);
                RecordedResponse::of(SnapshotOutcome::Status(200)).with(body)
            }
        };
        let payload = self.head.field("warc-payload-digest").map(Into::into);
        Ok(Some(RobotsRecord { url: url.to_owned(), origin, fetched_at, answer, payload }))
    }

    fn response(&self, url: &str, block: &mut impl BufRead) -> io::Result<RecordedResponse> {
        let Some((status, head)) = http_head(block)? else {
            return Ok(RecordedResponse::of(SnapshotOutcome::Failure(Failure::InvalidResponse)));
        };
        let answer = RecordedResponse::of_head(url, status, &head);
        if !answer.outcome.is_success() {
            return Ok(answer);
        }
        let coding = |name| head.field(name).unwrap_or_default();
        let body = self.body(block)?.and_then(|(raw, extent)| {
            let joined = unchunk(raw, coding("transfer-encoding"), extent)?;
            decode(joined, coding("content-encoding"), extent, KEPT_BYTES_MAX)
        });
        Ok(answer.with(body))
    }

    /// Parses a record that refers to an earlier one with the same content.
    fn revisit(
        &self,
        block: &mut impl BufRead,
        payloads: &Payloads,
        import: &mut Import<'_>,
    ) -> std::result::Result<RecordedResponse, Stop> {
        let url = self.head.text("warc-target-uri").unwrap_or_default();
        let profile = self.head.text("warc-profile").unwrap_or_default();
        let (status, head) = http_head(block)?.unwrap_or((200, Head::default()));
        let is_unmodified = profile.ends_with("/server-not-modified");
        let status = if is_unmodified { 304 } else { status };
        let mut answer = RecordedResponse::of_head(url, status, &head);
        if answer.outcome.is_success() {
            let known = payloads.find(self.head.field("warc-payload-digest"));
            let digest = match known {
                Some(digest) => Some(digest),
                None => self.referred(import)?,
            };
            answer.body = Body::Known(digest.ok_or_else(|| {
                self.bad(
                    "it refers to a record that was not imported; import the file with that \
                     record first",
                )
            })?);
        }
        Ok(answer)
    }

    /// The body of the record that this one names by URL and date, if the archive has it.
    fn referred(&self, import: &mut Import<'_>) -> std::result::Result<Option<Digest>, Stop> {
        let origin = self.head.text("warc-refers-to-target-uri").and_then(robots_txt_of);
        let date = self.head.text("warc-refers-to-date").and_then(time_named);
        let (Some(origin), Some(date)) = (origin, date) else { return Ok(None) };
        let nearest = import.writer.nearest(&origin, date, 0).map_err(Stop::Archive)?;
        Ok(nearest.and_then(|entry| entry.body).map(|key| key.digest))
    }

    /// Reads the rest of the block.
    fn body(&self, block: &mut impl BufRead) -> io::Result<ReadBody> {
        let truncated = self.head.field("warc-truncated").map(<[u8]>::to_ascii_lowercase);
        match truncated.as_deref() {
            Some(b"disconnect") => return Ok(Err(Failure::Interrupted)),
            Some(b"time") => return Ok(Err(Failure::Timeout)),
            _ => {}
        }
        let mut raw = Vec::new();
        block.take(RAW_BYTES_MAX as u64).read_to_end(&mut raw)?;
        let is_cut = truncated.is_some() || raw.len() == RAW_BYTES_MAX;
        Ok(Ok((raw, if is_cut { BodyExtent::Cut } else { BodyExtent::Whole })))
    }

    fn bad(&self, why: &str) -> Stop {
        Stop::Record(self.start, why.to_owned())
    }
}

impl RecordedResponse {
    fn of(outcome: SnapshotOutcome) -> RecordedResponse {
        let body = Body::Bytes(Vec::new());
        RecordedResponse { outcome, max_age_seconds: None, location: None, body }
    }

    fn of_head(url: &str, status: u16, head: &Head) -> RecordedResponse {
        let mut answer = RecordedResponse::of(SnapshotOutcome::Status(status));
        answer.max_age_seconds = max_age_seconds(head.all("cache-control"));
        answer.location = location(url, status, head);
        answer
    }

    /// The answer with `body` or a failure.
    fn with(self, body: std::result::Result<Vec<u8>, Failure>) -> RecordedResponse {
        match body {
            Ok(body) => RecordedResponse { body: kept(body), ..self },
            Err(failure) => RecordedResponse::of(SnapshotOutcome::Failure(failure)),
        }
    }
}

/// The status and fields of an HTTP response, after interim ones; `None` if there are none.
fn http_head(block: &mut impl BufRead) -> io::Result<Option<(u16, Head)>> {
    for _ in 0..INTERIM_MAX {
        let mut first = Vec::new();
        line_into(block, URL_BYTES_MAX, &mut first)?;
        let Some(status) = status(first.trim_ascii_end()) else { return Ok(None) };
        match Head::read(first, block) {
            Ok(_) if matches!(status, 100 | 102..=199) => {}
            Ok(head) => return Ok(Some((status, head))),
            Err(NoHead::Io(err)) => return Err(err),
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// The target of a redirect: an absolute URL without fragment.
fn location(url: &str, status: u16, head: &Head) -> Option<String> {
    let is_redirect = matches!(status, 300..=303 | 305..=399);
    let given = head.field("location").filter(|_| is_redirect)?;
    let given = std::str::from_utf8(given).ok().filter(|url| url.len() <= URL_BYTES_MAX)?;
    let mut location = Url::parse(url).ok()?.join(given).ok()?;
    location.set_fragment(None);
    Some(location.into())
}

fn kept(mut body: Vec<u8>) -> Body {
    body.truncate(KEPT_BYTES_MAX);
    body.shrink_to_fit();
    Body::Bytes(body)
}
