//! Which events were in the mail of a night, so that each is mailed once.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::error::Result;
use crate::report::nights::EventRow;
use crate::time::Day;

use super::State;

/// What a night did for one site.
#[derive(Clone, Debug)]
pub(crate) struct SiteDays {
    /// The site.
    pub site: String,
    /// The requested day.
    pub requested: Day,
    /// The days whose reports were written; empty if the site could not be audited.
    pub reported: BTreeSet<Day>,
}

impl State {
    /// Those of `events` that the night of `of` has to mail: the events of the requested day, and those that no night
    /// has mailed, of days that changed and of days since the last night.
    ///
    /// # Errors
    /// If the state cannot be read.
    pub(crate) fn news(&self, of: &SiteDays, events: &[EventRow]) -> Result<Vec<EventRow>> {
        let SiteDays { site, requested, reported } = of;
        let query = "SELECT day FROM nights WHERE site = ?";
        let last = self.select(query, [site], |row| row.get::<_, String>(0))?;
        let last = last.first().and_then(|day| Day::parse(day)).unwrap_or(requested.plus(-1));
        let mut news = Vec::new();
        for event in events.iter().filter(|event| event.site == *site) {
            let is_due =
                reported.contains(&event.day) || (last < event.day && event.day < *requested);
            if event.day == *requested || (is_due && !self.is_mailed(event)?) {
                news.push(event.clone());
            }
        }
        Ok(news)
    }

    fn is_mailed(&self, event: &EventRow) -> Result<bool> {
        let query = "SELECT 1 FROM mailed WHERE site = ? AND day = ? AND kind = ? AND crawler = ? \
                     AND identity = ? AND source = ?";
        let (crawler, identity) = crawler_of(event);
        let (day, source) = (event.day.to_string(), &event.source);
        let values = params![event.site, day, event.kind, crawler, identity, source];
        Ok(!self.select(query, values, |_| Ok(()))?.is_empty())
    }

    /// Remembers that `events` were mailed, and that the night of `of` is over.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn mailed(&self, of: &[SiteDays], events: &[EventRow]) -> Result<()> {
        let stored = self.connection.unchecked_transaction().and_then(|transaction| {
            for event in events {
                let insert = "INSERT OR IGNORE INTO mailed VALUES (?, ?, ?, ?, ?, ?)";
                let (crawler, identity) = crawler_of(event);
                let (day, source) = (event.day.to_string(), &event.source);
                let values = params![event.site, day, event.kind, crawler, identity, source];
                transaction.execute(insert, values)?;
            }
            // A site that could not be audited is due again.
            for SiteDays { site, requested, .. } in of.iter().filter(|of| !of.reported.is_empty()) {
                let insert = "INSERT INTO nights VALUES (?, ?) ON CONFLICT (site) \
                              DO UPDATE SET day = max(day, excluded.day)";
                transaction.execute(insert, params![site, requested.to_string()])?;
            }
            transaction.commit()
        });
        stored.map_err(|err| self.failed(&err))
    }
}

fn crawler_of(event: &EventRow) -> (&str, &str) {
    event.crawler.as_ref().map_or(("", ""), |(crawler, identity)| (crawler, identity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nightly::events::of_site;

    #[test]
    fn each_event_is_mailed_once_but_those_of_the_requested_day() {
        let day = |number: i32| Day::parse("2026-03-01").unwrap().plus(number);
        let state = State::in_memory().unwrap();
        let event = |number| {
            of_site(
                "shop",
                day(number),
                "log-silent",
                (String::new(), String::new()),
                String::new(),
            )
        };
        let events: Vec<EventRow> = (0..9).map(event).collect();
        let check = |requested, reported: &[i32], expected: &[i32]| {
            let reported = reported.iter().map(|&number| day(number)).collect();
            let of = SiteDays { site: "shop".to_owned(), requested: day(requested), reported };
            let news = state.news(&of, &events).unwrap();
            let days: Vec<Day> = news.iter().map(|event| event.day).collect();
            assert_eq!(days, expected.iter().map(|&number| day(number)).collect::<Vec<_>>());
            state.mailed(&[of], &news).unwrap();
        };
        // What was before the first night is not news, unless it was read now.
        check(3, &[1, 3], &[1, 3]);
        check(3, &[3], &[3]);
        // Nights were missed, and an earlier day changed.
        check(6, &[0, 1, 6], &[0, 4, 5, 6]);
        // The site could not be audited.
        check(7, &[], &[7]);
        check(8, &[8], &[8]);
        check(2, &[2], &[2]);
        check(8, &[2, 8], &[8]);
    }
}
