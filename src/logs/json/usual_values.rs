//! The values that lines of browsers are counted by, which are most lines.
//!
//! They are all that is looked at of such a line. Any other line is read in full.

use crate::logs::field_kind::{LogField, first_client};
use crate::logs::json::keys::ValueSlot;
use crate::logs::time::LastMinute;
use crate::logs::{host::client_without_port, sample::is_in_sample, time::Time};
use crate::time::Zone;

/// Which parts of a template have them.
#[derive(Clone, Debug)]
pub(super) struct UsualParts {
    time: usize,
    /// Of the request, the most original first.
    request: [Option<usize>; 4],
    client: Option<usize>,
    user_agent: Option<usize>,
    referer: Option<usize>,
}

/// The values as written in the line, without escapes; empty if unset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UsualValues<'a> {
    time: &'a [u8],
    /// The most original field of it.
    request: &'a [u8],
    client: &'a [u8],
    user_agent: &'a [u8],
    referer: &'a [u8],
}

impl UsualParts {
    /// Those of a template whose parts have these places for values, and are texts or not. `None` if it lacks one, or
    /// if its lines need more to be counted.
    pub(super) fn of(parts: &[(Option<ValueSlot>, bool)]) -> Option<UsualParts> {
        let is_of = |part: &(Option<ValueSlot>, bool), field: LogField| {
            part.0.is_some_and(|value| value.slot == field as u8)
        };
        let count = |field: LogField| parts.iter().filter(|part| is_of(part, field)).count();
        let find = |field: LogField| parts.iter().position(|part| is_of(part, field));
        let others = [LogField::Date, LogField::SignatureInput, LogField::EdgeSignature];
        if LogField::ALL.into_iter().any(|field| count(field) > 1)
            || others.into_iter().any(|field| count(field) > 0)
        {
            return None;
        }
        let time = find(LogField::Time).filter(|at| parts[*at].1)?;
        let request = [LogField::Request, LogField::Target, LogField::Url, LogField::Path];
        Some(UsualParts {
            time,
            request: request.map(find),
            client: find(LogField::Client),
            user_agent: find(LogField::UserAgent),
            referer: find(LogField::Referer),
        })
    }

    /// The values of a line, of which `part` gives each; `None` if it needs more to be counted.
    #[inline(always)]
    pub(super) fn values<'a>(&self, part: impl Fn(usize) -> &'a [u8]) -> Option<UsualValues<'a>> {
        let value = |at: Option<usize>| match at.map_or(&b""[..], &part) {
            b"-" => b"",
            value => value,
        };
        let time = value(Some(self.time));
        let mut request = self.request.iter().map(|at| value(*at));
        let request = request.find(|value| !value.is_empty())?;
        if matches!(time, [] | [b'[', ..]) {
            return None;
        }
        let [client, user_agent, referer] = [self.client, self.user_agent, self.referer].map(value);
        Some(UsualValues { time, request, client: first_client(client), user_agent, referer })
    }
}

impl<'a> UsualValues<'a> {
    /// As [`Fields::is_of_minute`](crate::logs::record::Fields::is_of_minute); `zone` is that of times without one.
    #[inline(always)]
    pub(crate) fn is_of_minute(&self, zone: &Zone, last: &mut LastMinute) -> bool {
        last.is_of(Time::Local(self.time, zone))
    }

    /// As [`Fields::user_agent`](crate::logs::record::Fields::user_agent).
    #[inline(always)]
    pub(crate) fn user_agent(&self) -> &'a [u8] {
        if self.user_agent.is_empty() { b"-" } else { self.user_agent }
    }

    /// As [`Fields::raw_referer`](crate::logs::record::Fields::raw_referer).
    #[inline(always)]
    pub(crate) fn raw_referer(&self) -> &'a [u8] {
        self.referer
    }

    /// As [`Fields::client`](crate::logs::record::Fields::client).
    #[inline(always)]
    pub(crate) fn client(&self) -> &'a [u8] {
        client_without_port(self.client)
    }

    /// As [`Fields::is_sampled`](crate::logs::record::Fields::is_sampled).
    #[inline(always)]
    pub(crate) fn is_sampled(&self) -> bool {
        is_in_sample(self.client, self.time, self.request)
    }
}
