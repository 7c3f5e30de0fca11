//! Which ruling was in force when: what the snapshots of one origin amount to over time.
//!
//! A snapshot stays in force until the next one that amounts to a ruling, however old it gets. An
//! origin that cannot be reached is closed for the time being; after 30 days of that the last copy
//! counts again. Crawlers keep copies, so a ruling may be held for a while after a newer one is seen.

use crate::store::snapshot::Outcome;
use crate::time::UtcTime;

const DAY_SECONDS: i64 = 86_400;

/// How long an unbroken run of failures closes an origin, from its first one, in seconds.
pub const UNREACHABLE_SECONDS_MAX: i64 = 30 * DAY_SECONDS;

/// How long a crawler may keep a copy for which no `max-age` was given, in seconds.
pub const LIFETIME_SECONDS: i64 = DAY_SECONDS;

/// How long a crawler may keep a copy, whatever `max-age` says, in seconds.
pub const LIFETIME_SECONDS_MAX: i64 = 7 * DAY_SECONDS;

/// One of the bodies that an origin gave, by its place in the caller's list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Version(pub u32);

/// What a timeline needs to know of a snapshot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// When it was fetched.
    pub at: UtcTime,
    /// What came of it.
    pub outcome: Outcome,
    /// `Cache-Control: max-age`, in seconds.
    pub max_age_seconds: Option<u64>,
    /// What was given, where the outcome is a success.
    pub version: Option<Version>,
}

/// What a snapshot says for as long as it is in force.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ruling {
    /// The rules of this body.
    Rules(Version),
    /// Everything is allowed.
    AllowAll(AllowAll),
    /// Nothing is, for the time being: 429, 5xx, or no answer.
    Unreachable,
}

/// Why everything is allowed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AllowAll {
    /// 4xx but for 429: there is no robots.txt.
    NoFile,
    /// Redirects that lead nowhere, or on and on, count as no robots.txt.
    Redirects,
    /// Unreachable for more than 30 days, and there is no copy from before.
    UnreachableWithoutCopy,
}

/// What is in force at one time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standing {
    /// What counts.
    pub ruling: Ruling,
    /// Which snapshot says so, by its place in the caller's list.
    pub decided_by: usize,
    /// The first of an unbroken run of failures that lasts; also where, after 30 days of it, an
    /// older snapshot decides.
    pub unreachable_since: Option<UtcTime>,
    /// Seconds since that snapshot was fetched; below 0 where it was fetched later and nothing is
    /// known from before it; `None` for a file given by hand.
    pub age_seconds: Option<i64>,
    run: usize,
}

/// What to make of times before the first snapshot that amounts to a ruling.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BeforeFirst {
    /// It counted already.
    AsFirst,
    /// Nothing is known.
    Unknown,
}

/// The rulings of one origin, from the earliest to the latest.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Timeline {
    stretches: Vec<Stretch>,
    runs: Vec<Run>,
}

/// From one snapshot that amounts to a ruling to the next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stretch {
    /// `None`: since ever.
    from: Option<UtcTime>,
    sighting: usize,
    lifetime_seconds: i64,
    run: usize,
}

/// Stretches of the same ruling, one after the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Run {
    ruling: Ruling,
    first_stretch: usize,
    /// Of the runs before this one, the last that is no failure.
    copy: Option<usize>,
    /// Past this nobody holds a copy of it; nothing where it is not over yet.
    held_until: Option<i64>,
}

/// What a snapshot does to the ruling before it.
enum Effect {
    Sets(Ruling),
    /// 304: what was last given still counts.
    Confirms,
    Nothing,
}

impl Timeline {
    /// The timeline of `sightings`, which are in order of their times.
    pub fn new(sightings: &[Sighting]) -> Timeline {
        let mut timeline = Timeline::default();
        for (index, sighting) in sightings.iter().enumerate() {
            timeline.add(index, sighting);
        }
        timeline.settle();
        timeline
    }

    /// One body that counts at all times.
    pub fn always(version: Version) -> Timeline {
        let stretch =
            Stretch { from: None, sighting: 0, lifetime_seconds: LIFETIME_SECONDS, run: 0 };
        let ruling = Ruling::Rules(version);
        let run = Run { ruling, first_stretch: 0, copy: None, held_until: None };
        Timeline { stretches: vec![stretch], runs: vec![run] }
    }

    /// What is in force at `time`; `None` where nothing is known.
    pub fn at(&self, time: UtcTime, before: BeforeFirst) -> Option<Standing> {
        let started = |stretch: &Stretch| stretch.from.is_none_or(|from| from <= time);
        let (stretch, now) = match self.stretches.partition_point(started).checked_sub(1) {
            Some(last) => (&self.stretches[last], time),
            None => {
                let first = self.stretches.first().filter(|_| before == BeforeFirst::AsFirst)?;
                (first, first.from.unwrap_or(time))
            }
        };
        Some(self.standing(stretch, now, time))
    }

    /// Other rulings that a crawler may have held at `time`, at which `standing` was in force; the
    /// latest first.
    pub fn held(&self, standing: &Standing, time: UtcTime) -> impl Iterator<Item = Ruling> + '_ {
        let seconds = time.unix_seconds();
        let current = standing.run;
        let earlier = self.runs[..current].iter().enumerate().rev();
        let recent = earlier.take_while(move |(index, _)| {
            self.end(*index).is_some_and(|end| seconds - end <= LIFETIME_SECONDS_MAX)
        });
        recent.filter(move |(_, run)| run.held_until.is_some_and(|until| seconds <= until)).map(
            |(_, run)| match run.ruling {
                // Only those that lasted over 30 days are held by anybody, as what they became.
                Ruling::Unreachable => self.copy(run).0,
                ruling => ruling,
            },
        )
    }

    fn standing(&self, stretch: &Stretch, now: UtcTime, time: UtcTime) -> Standing {
        let run = &self.runs[stretch.run];
        let failing_since = match run.ruling {
            Ruling::Unreachable => self.stretches[run.first_stretch].from,
            _ => None,
        };
        let is_over = failing_since.is_some_and(|since| is_past_the_limit(since, now));
        let (ruling, decided_by) = match is_over {
            false => (run.ruling, stretch),
            true => {
                let (ruling, copy) = self.copy(run);
                (ruling, copy.unwrap_or(stretch))
            }
        };
        Standing {
            ruling,
            decided_by: decided_by.sighting,
            unreachable_since: failing_since,
            age_seconds: decided_by.from.map(|from| time.unix_seconds() - from.unix_seconds()),
            run: stretch.run,
        }
    }

    /// What counts after 30 days of failures, and the last snapshot that says so.
    fn copy(&self, run: &Run) -> (Ruling, Option<&Stretch>) {
        match run.copy {
            None => (Ruling::AllowAll(AllowAll::UnreachableWithoutCopy), None),
            Some(copy) => {
                let next = self.runs[copy + 1].first_stretch;
                (self.runs[copy].ruling, Some(&self.stretches[next - 1]))
            }
        }
    }

    fn add(&mut self, index: usize, sighting: &Sighting) {
        let before = self.runs.len().checked_sub(1);
        let copy = before.and_then(|last| match self.runs[last].ruling {
            Ruling::Unreachable => self.runs[last].copy,
            _ => Some(last),
        });
        let ruling = match effect(sighting) {
            Effect::Nothing => return,
            Effect::Sets(ruling) => ruling,
            Effect::Confirms => match copy {
                Some(copy) => self.runs[copy].ruling,
                None => return,
            },
        };
        let stretch = self.stretches.len();
        if before.is_none_or(|last| self.runs[last].ruling != ruling) {
            self.runs.push(Run { ruling, first_stretch: stretch, copy, held_until: None });
        }
        self.stretches.push(Stretch {
            from: Some(sighting.at),
            sighting: index,
            lifetime_seconds: lifetime_seconds(sighting),
            run: self.runs.len() - 1,
        });
    }

    /// Says of each run how long copies of it may be held.
    fn settle(&mut self) {
        for next in 1..self.stretches.len() {
            let Some(end) = self.stretches[next].from else { continue };
            let stretch = self.stretches[next - 1];
            let since = self.stretches[self.runs[stretch.run].first_stretch].from;
            let run = &mut self.runs[stretch.run];
            let became_a_copy = since.is_some_and(|since| is_past_the_limit(since, end));
            if run.ruling != Ruling::Unreachable || became_a_copy {
                let until = end.unix_seconds() + stretch.lifetime_seconds;
                run.held_until = run.held_until.max(Some(until));
            }
        }
    }

    /// When the first snapshot after a run was seen.
    fn end(&self, run: usize) -> Option<i64> {
        let next = self.runs.get(run + 1)?.first_stretch;
        self.stretches[next].from.map(UtcTime::unix_seconds)
    }
}

fn effect(sighting: &Sighting) -> Effect {
    match (sighting.outcome, sighting.version) {
        (Outcome::Status(200..=299), Some(version)) => Effect::Sets(Ruling::Rules(version)),
        // What was given was not kept.
        (Outcome::Status(200..=299), None) | (Outcome::Unfollowed, _) => Effect::Nothing,
        (Outcome::Status(304), _) => Effect::Confirms,
        (Outcome::Status(300..=399), _) => Effect::Sets(Ruling::AllowAll(AllowAll::Redirects)),
        (Outcome::Status(429), _) => Effect::Sets(Ruling::Unreachable),
        (Outcome::Status(400..=499), _) => Effect::Sets(Ruling::AllowAll(AllowAll::NoFile)),
        // Statuses that no final answer has are invalid responses.
        (Outcome::Status(_) | Outcome::Failure(_), _) => Effect::Sets(Ruling::Unreachable),
    }
}

fn is_past_the_limit(since: UtcTime, now: UtcTime) -> bool {
    now.unix_seconds() - since.unix_seconds() > UNREACHABLE_SECONDS_MAX
}

fn lifetime_seconds(sighting: &Sighting) -> i64 {
    let given = sighting.max_age_seconds.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    given.unwrap_or(LIFETIME_SECONDS).min(LIFETIME_SECONDS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `2d`, `2d+1` (a second later), `3h`, `-1h`, `5`.
    fn seconds(text: &str) -> i64 {
        let (text, more) = match text.rsplit_once('+') {
            Some((text, more)) => (text, more.parse().unwrap()),
            None => (text, 0),
        };
        let (number, unit) = match text.strip_suffix('d') {
            Some(days) => (days, DAY_SECONDS),
            None => text.strip_suffix('h').map_or((text, 1), |hours| (hours, 3600)),
        };
        number.parse::<i64>().unwrap() * unit + more
    }

    fn time(text: &str) -> UtcTime {
        UtcTime::from_unix_seconds(seconds(text)).unwrap()
    }

    /// `0 200A; 1h 503; 2h 200B max 60`: snapshots and what they gave.
    fn sightings(text: &str) -> Vec<Sighting> {
        let sighting = |text: &str| {
            let (text, max_age) = match text.split_once(" max ") {
                Some((text, max_age)) => (text, Some(seconds(max_age).unsigned_abs())),
                None => (text, None),
            };
            let (at, outcome) = text.split_once(' ').unwrap();
            let name = outcome.strip_prefix("200").and_then(|name| name.bytes().next());
            let version = name.map(|name| Version(u32::from(name)));
            let outcome = outcome.trim_end_matches(|c: char| c.is_ascii_uppercase());
            let outcome = Outcome::parse(outcome).unwrap();
            Sighting { at: time(at), outcome, max_age_seconds: max_age, version }
        };
        text.split("; ").filter(|text| !text.is_empty()).map(sighting).collect()
    }

    fn word(ruling: Ruling) -> String {
        match ruling {
            Ruling::Rules(Version(name)) => char::from_u32(name).unwrap().to_string(),
            Ruling::AllowAll(AllowAll::NoFile) => "no file".to_owned(),
            Ruling::AllowAll(AllowAll::Redirects) => "redirects".to_owned(),
            Ruling::AllowAll(AllowAll::UnreachableWithoutCopy) => "no copy".to_owned(),
            Ruling::Unreachable => "unreachable".to_owned(),
        }
    }

    /// `expected` is the ruling in force, the index of the snapshot that says so, and what else
    /// may be held.
    #[track_caller]
    fn check(history: &str, at: &str, expected: &str) {
        let sightings = sightings(history);
        let timeline = Timeline::new(&sightings);
        let time = time(at);
        let standing = timeline.at(time, BeforeFirst::Unknown);
        let said = standing.map_or("unknown".to_owned(), |standing| {
            let age = time.unix_seconds() - sightings[standing.decided_by].at.unix_seconds();
            assert_eq!(standing.age_seconds, Some(age));
            let held =
                timeline.held(&standing, time).map(|ruling| format!(", held {}", word(ruling)));
            let held: String = held.collect();
            format!("{} by {}{held}", word(standing.ruling), standing.decided_by)
        });
        assert_eq!(said, expected, "{history} at {at}");
    }

    #[test]
    fn each_outcome_is_a_ruling_or_none() {
        for (outcome, expected) in [
            ("200A", "A by 0"),
            ("204", "unknown"),
            ("301", "redirects by 0"),
            ("302", "redirects by 0"),
            ("304", "unknown"),
            ("308", "redirects by 0"),
            ("400", "no file by 0"),
            ("401", "no file by 0"),
            ("403", "no file by 0"),
            ("404", "no file by 0"),
            ("410", "no file by 0"),
            ("428", "no file by 0"),
            ("429", "unreachable by 0"),
            ("430", "no file by 0"),
            ("451", "no file by 0"),
            ("499", "no file by 0"),
            ("500", "unreachable by 0"),
            ("503", "unreachable by 0"),
            ("599", "unreachable by 0"),
            ("100", "unreachable by 0"),
            ("600", "unreachable by 0"),
            ("999", "unreachable by 0"),
            ("dns", "unreachable by 0"),
            ("connect", "unreachable by 0"),
            ("tls", "unreachable by 0"),
            ("timeout", "unreachable by 0"),
            ("interrupted", "unreachable by 0"),
            ("invalid-response", "unreachable by 0"),
            ("network", "unreachable by 0"),
            ("unfollowed", "unknown"),
        ] {
            check(&format!("0 {outcome}"), "1h", expected);
        }
    }

    #[test]
    fn the_newest_snapshot_counts_however_old() {
        let history = "0 200A; 10d 200B; 20d 404; 30d 200A";
        check(history, "-1", "unknown");
        check(history, "0", "A by 0");
        check(history, "10d+-1", "A by 0");
        check(history, "10d", "B by 1, held A");
        check(history, "19d", "B by 1");
        check(history, "25d", "no file by 2");
        check(history, "9000d", "A by 3");
        check("", "1h", "unknown");
    }

    #[test]
    fn what_says_nothing_leaves_the_ruling_as_it_was() {
        check("0 200A; 1h unfollowed; 2h 304", "3h", "A by 2");
        check("0 404; 1h 304", "3h", "no file by 1");
        check("0 unfollowed; 1h 304; 2h 200A", "3h", "A by 2");
        check("0 200A; 1h 503; 2h 304", "3h", "A by 2, held A");
        check("0 503; 1h 304", "3h", "unreachable by 0");
        check("0 200A; 1h 200B; 1h 200C", "1h", "C by 2, held B, held A");
    }

    #[test]
    fn failures_close_an_origin_until_the_last_copy_counts_again() {
        let history = "0 200A; 10d 503; 20d timeout; 39d 429";
        check(history, "10d", "unreachable by 1, held A");
        check(history, "25d", "unreachable by 2");
        check(history, "40d", "unreachable by 3");
        check(history, "40d+1", "A by 0");
        check(history, "9000d", "A by 0");
        // One failure and no word since is a run, too.
        check("0 200A; 10d 503", "40d", "unreachable by 1");
        check("0 200A; 10d 503", "40d+1", "A by 0");
    }

    #[test]
    fn without_a_copy_everything_is_allowed_in_the_end() {
        check("0 503", "30d", "unreachable by 0");
        check("0 503", "30d+1", "no copy by 0");
        check("0 503; 31d timeout", "31d", "no copy by 1");
        check("0 404; 1d 503", "31d+1", "no file by 0");
        check("0 unfollowed; 1d 503", "31d+1", "no copy by 1");
    }

    #[test]
    fn any_answer_breaks_a_run_of_failures() {
        check("0 200A; 1d 503; 20d 200A; 21d 503", "50d", "unreachable by 3");
        check("0 200A; 1d 503; 20d 404; 21d 503", "52d", "no file by 2");
        check("0 200A; 1d 503; 20d 304; 21d 503", "50d", "unreachable by 3");
        check("0 200A; 1d 503; 20d unfollowed; 21d 503", "31d+1", "A by 0");
        // Past the 30 days a failure more changes nothing.
        check("0 200A; 1d 503; 40d 503", "40d", "A by 0");
    }

    #[test]
    fn copies_are_held_for_their_lifetime() {
        let history = "0 200A; 10d 200B";
        check(history, "11d", "B by 1, held A");
        check(history, "11d+1", "B by 1");
        let history = "0 200A max 60; 10d 200B";
        check(history, "10d+60", "B by 1, held A");
        check(history, "10d+61", "B by 1");
        let history = "0 200A max 0; 10d 200B";
        check(history, "10d", "B by 1, held A");
        check(history, "10d+1", "B by 1");
        for max in ["7d", "8d", "9000000d"] {
            let history = format!("0 200A max {max}; 10d 200B");
            check(&history, "17d", "B by 1, held A");
            check(&history, "17d+1", "B by 1");
        }
    }

    #[test]
    fn each_ruling_has_its_own_lifetime() {
        let history = "0 200A max 7d; 10d 404; 11d 200B; 12d 200C max 60";
        check(history, "12d", "C by 3, held B, held no file, held A");
        check(history, "12d+1", "C by 3, held B, held A");
        check(history, "13d+1", "C by 3, held A");
        check(history, "17d+1", "C by 3");
        // The longest lifetime of equal snapshots counts, from when each was superseded.
        check("0 200A max 3d; 10d 200A max 60; 11d 200B", "13d", "B by 2, held A");
        check("0 200A max 3d; 10d 200A max 60; 11d 200B", "13d+1", "B by 2");
        check("0 200A; 1d 200B; 2d 200A", "2d", "A by 2, held B, held A");
    }

    #[test]
    fn nobody_holds_a_failure_but_what_it_became_in_the_end() {
        check("0 503; 1d 200A", "1d", "A by 1");
        check("0 200A; 1d 503; 2d 200B", "2d", "B by 2, held A");
        check("0 200A; 1d 503; 2d 200B", "2d+1", "B by 2");
        check("0 503; 31d 200A", "32d", "A by 1, held no copy");
        check("0 503; 31d 200A", "32d+1", "A by 1");
        check("0 200A; 1d 503; 40d 200B", "41d", "B by 2, held A");
        check("0 503; 30d 200A", "30d", "A by 1");
    }

    #[test]
    fn the_first_ruling_may_count_before_it_was_seen() {
        let timeline = Timeline::new(&sightings("0 unfollowed; 10d 200A"));
        assert_eq!(timeline.at(time("9d"), BeforeFirst::Unknown), None);
        let standing = timeline.at(time("9d"), BeforeFirst::AsFirst).unwrap();
        assert_eq!((word(standing.ruling).as_str(), standing.decided_by), ("A", 1));
        assert_eq!(standing.age_seconds, Some(-DAY_SECONDS));
        assert_eq!(timeline.held(&standing, time("9d")).count(), 0);
        assert_eq!(Timeline::new(&[]).at(time("0"), BeforeFirst::AsFirst), None);
    }

    #[test]
    fn a_file_given_by_hand_counts_always_and_has_no_age() {
        let timeline = Timeline::always(Version(7));
        for at in ["-9000d", "0", "9000d"] {
            let standing = timeline.at(time(at), BeforeFirst::Unknown).unwrap();
            assert_eq!((standing.ruling, standing.age_seconds), (Ruling::Rules(Version(7)), None));
            assert_eq!(timeline.held(&standing, time(at)).count(), 0);
        }
    }
}
