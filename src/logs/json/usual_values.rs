//! The values that lines of browsers are counted by, which are most lines.
//!
//! They are all that is looked at of such a line. Any other line is read in full.

use crate::logs::field_kind::{LogField, client_or_unset};
use crate::logs::json::keys::ValueSlot;
use crate::logs::time::LastMinute;
use crate::logs::{host::client_without_port, sample::is_in_sample, time::Time};
use crate::time::Zone;

/// Which parts of a template have the fields, if each has one at most.
#[derive(Clone, Debug)]
pub(super) struct FieldParts {
    /// By [`LogField`].
    parts: [Option<u8>; LogField::COUNT],
    /// Whether lines of browsers can be counted by the usual values alone.
    is_usual: bool,
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

impl FieldParts {
    /// Those of a template whose parts have these places for values, and are texts or not.
    pub(super) fn of(template: &[(Option<ValueSlot>, bool)]) -> Option<FieldParts> {
        let mut parts = [None; LogField::COUNT];
        for (at, (value_slot, _)) in template.iter().enumerate() {
            let Some(ValueSlot { slot, .. }) = value_slot else { continue };
            if parts[usize::from(*slot)].replace(u8::try_from(at).ok()?).is_some() {
                return None;
            }
        }
        let part = |field: LogField| parts[field as usize];
        let has_text_time = part(LogField::Time).is_some_and(|time| template[usize::from(time)].1);
        let others = [LogField::Date, LogField::SignatureInput, LogField::EdgeSignature];
        let is_usual = has_text_time && others.into_iter().all(|field| part(field).is_none());
        Some(FieldParts { parts, is_usual })
    }

    /// The part that has `field`.
    #[inline(always)]
    pub(super) fn part(&self, field: LogField) -> Option<usize> {
        self.parts[field as usize].map(usize::from)
    }

    /// The usual values of a line, of which `part` gives each; `None` if it needs more to be counted.
    #[inline(always)]
    pub(super) fn usual<'a>(&self, part: impl Fn(usize) -> &'a [u8]) -> Option<UsualValues<'a>> {
        let value = |field: LogField| match self.part(field).map_or(&b""[..], &part) {
            b"-" => b"",
            value => value,
        };
        let time = value(LogField::Time);
        if !self.is_usual || matches!(time, [] | [b'[', ..]) {
            return None;
        }
        let requests = [LogField::Request, LogField::Target, LogField::Url, LogField::Path];
        let request = requests.into_iter().map(value).find(|value| !value.is_empty())?;
        let client = client_or_unset(value(LogField::Client));
        let (user_agent, referer) = (value(LogField::UserAgent), value(LogField::Referer));
        Some(UsualValues { time, request, client, user_agent, referer })
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
