//! The times at which somebody saw something that an operator publishes, and what it says of the times
//! between them.

use crate::time::DAY_SECONDS;

use super::identity::CONTRADICTING_DAYS;

/// What it says at a time about something that it does not contain then.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Absence {
    /// It was not the operator's.
    Contradicts,
    /// It may have been: no sighting is near enough.
    OfOtherTime,
    /// It may have been: part of the content could not be read.
    Undecided,
}

/// Times from one until before another, in seconds since the epoch, between which an answer does not change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Period {
    pub from: i64,
    pub until: i64,
}

impl Period {
    /// All times but the very last.
    pub(crate) const ALWAYS: Period = Period { from: i64::MIN, until: i64::MAX };

    /// This time alone.
    pub(crate) fn at(time: i64) -> Period {
        Period { from: time, until: time.saturating_add(1) }
    }

    /// The times that are in both.
    #[must_use]
    pub(crate) fn and(self, other: Period) -> Period {
        Period { from: self.from.max(other.from), until: self.until.min(other.until) }
    }

    /// The part on the side of `border` that has `time`.
    #[must_use]
    pub(crate) fn beside(self, border: i64, time: i64) -> Period {
        match border <= time {
            true => Period { from: self.from.max(border), ..self },
            false => Period { until: self.until.min(border), ..self },
        }
    }

    /// Whether `time` is in it.
    #[cfg(test)]
    pub(crate) fn contains(self, time: i64) -> bool {
        self.from <= time && time < self.until
    }
}

/// All that was seen at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// In seconds since the epoch; `None` if nobody knows.
    pub at: Option<i64>,
    /// Equal for neighbours if the same was seen.
    pub version: usize,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

/// The last of `moments`, which are in order, before `time`, and the first one after it; at that very
/// time, this one alone, because it leaves nothing open.
pub(crate) fn around(moments: &[Moment], time: i64) -> (Option<&Moment>, Option<&Moment>) {
    let after = moments.partition_point(|moment| moment.at.is_none_or(|at| at < time));
    let next = moments.get(after);
    let last = after.checked_sub(1).map(|before| &moments[before]);
    (last.filter(|_| next.is_none_or(|next| next.at != Some(time))), next)
}

/// What `moments` say at `time` about something that neither of those around it contains.
pub(crate) fn absence(moments: &[Moment], time: i64) -> Absence {
    let (last, next) = around(moments, time);
    let both = || last.into_iter().chain(next);
    let is_near = |moment: &Moment| {
        moment.at.is_some_and(|at| at.abs_diff(time) <= (CONTRADICTING_DAYS * DAY_SECONDS) as u64)
    };
    let is_same = matches!((last, next), (Some(last), Some(next))
        if last.version == next.version);
    if both().next().is_none() || !both().all(|moment| moment.is_whole) {
        Absence::Undecided
    } else if both().all(is_near) || (is_same && both().any(is_near)) {
        Absence::Contradicts
    } else {
        Absence::OfOtherTime
    }
}
