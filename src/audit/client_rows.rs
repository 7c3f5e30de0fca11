//! All lines of the logs by the class of their client.

use std::collections::BTreeMap;

use botaudit_robots::named_enum;

use crate::crawlers::identity::{Actor, Identity};
use crate::error::{Error, Result};
use crate::measures::clients::{ClientTally, Sampled};
use crate::measures::sums::Sums;
use crate::merge::{Merge, sum};
use crate::time::Day;

use super::{input_tally::Input, model::ReportModel};

named_enum! {
    /// The class of a client. Each line has one.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum ClientClass {
        /// A known crawler whose address is the operator's.
        VerifiedCrawler = "crawler-verified",
        /// A known crawler with a valid signature of its own agent.
        SignedCrawler = "crawler-signed",
        /// A known crawler by its user agent, which could not be checked.
        UnverifiedCrawler = "crawler-unverified",
        /// A known crawler by its user agent, whose address is not on a list of the time.
        CrawlerNotOnList = "crawler-not-on-list",
        /// A client that takes the name of a crawler.
        SpoofedCrawler = "crawler-spoofed",
        /// A known client that is not a crawler, such as a monitor or a library.
        Tool = "tool",
        /// A client that is not in the registry, and does not look like a browser.
        Automated = "automated",
        /// A browser's user agent, or none, from an address of an operator's crawlers or with a valid
        /// signature of an agent.
        Disguised = "disguised",
        /// No user agent.
        NoUserAgent = "no-user-agent",
        /// A browser or an app, as far as its user agent tells.
        Browser = "browser",
        /// A line that could not be read.
        Rejected = "rejected",
        /// A line that is not a request, or not one of this audit.
        Skipped = "skipped",
    }
}

impl ClientClass {
    /// Of a known crawler or tool.
    fn of_known(audit: &ReportModel, (crawler, identity): Actor) -> ClientClass {
        match identity {
            _ if audit.is_tool(crawler) => ClientClass::Tool,
            Identity::Verified => ClientClass::VerifiedCrawler,
            Identity::Unverified => ClientClass::UnverifiedCrawler,
            Identity::NotOnList => ClientClass::CrawlerNotOnList,
            Identity::Spoofed => ClientClass::SpoofedCrawler,
        }
    }

    /// Whether its lines are requests of this audit.
    pub(crate) fn is_request(self) -> bool {
        !matches!(self, ClientClass::Rejected | ClientClass::Skipped)
    }

    /// Whether only a sample of its requests is judged.
    pub(crate) fn is_sampled(self) -> bool {
        matches!(self, ClientClass::NoUserAgent | ClientClass::Browser)
    }
}

/// The class of a client, and of one in disguise the operator and what shows it.
pub(crate) type ClientKey<'a> = (ClientClass, &'a str, &'static str);

/// The operator of a client in disguise is known by its address.
pub(crate) const BY_ADDRESS: &str = "address-list";

/// The operator of a client in disguise is known by its signature.
pub(crate) const BY_SIGNATURE: &str = "signature";

/// Lines by class and day; `None` is for lines without a time that was read.
pub(crate) fn client_days(audit: &ReportModel) -> BTreeMap<(ClientKey<'_>, Option<Day>), Sampled> {
    let mut rows: BTreeMap<_, Sampled> = BTreeMap::new();
    let mut add = |key: ClientKey<'static>, day: Option<Day>, sampled: Sampled| {
        if sampled.requests > 0 {
            rows.entry((key, day)).or_default().absorb(sampled);
        }
    };
    for row in audit.rows() {
        let class = ClientClass::of_known(audit, row.actor);
        for (&day, sums) in &row.tally.days {
            let signed = match class {
                ClientClass::VerifiedCrawler => row.tally.signed_days.of(day),
                _ => Sums::default(),
            };
            for (class, sums) in
                [(ClientClass::SignedCrawler, signed), (class, sums.without(signed))]
            {
                let sampled = Sampled { requests: sums.requests, judged: sums };
                add((class, "", ""), Some(day), sampled);
            }
        }
    }
    for (class, days) in [
        (ClientClass::Automated, &audit.clients.automated),
        (ClientClass::NoUserAgent, &audit.clients.no_user_agent),
        (ClientClass::Browser, &audit.clients.browsers),
    ] {
        days.parts().for_each(|(day, sampled)| add((class, "", ""), day, sampled));
    }
    let lines = |of: fn(&Input) -> u64| {
        let requests = sum(audit.inputs.iter().map(of));
        Sampled { requests, judged: Sums::default() }
    };
    add((ClientClass::Rejected, "", ""), None, lines(|input| input.tally.rejected_lines()));
    add((ClientClass::Skipped, "", ""), None, lines(|input| input.tally.skipped_lines()));
    let ClientTally { disguised, signed, .. } = &audit.clients;
    for (by, operators) in [(BY_ADDRESS, disguised), (BY_SIGNATURE, signed)] {
        for (operator, days) in operators {
            for (day, sampled) in days.parts().filter(|(_, sampled)| sampled.requests > 0) {
                rows.insert(((ClientClass::Disguised, operator, by), day), sampled);
            }
        }
    }
    rows
}

/// Lines by class, of all days.
pub(crate) fn clients(audit: &ReportModel) -> BTreeMap<ClientKey<'_>, Sampled> {
    let mut rows: BTreeMap<_, Sampled> = BTreeMap::new();
    for ((key, _), sampled) in client_days(audit) {
        rows.entry(key).or_default().absorb(sampled);
    }
    rows
}

/// `clients` with all requests of clients that are not known: older tallies have only the sums of
/// automated ones. `others` is how many there are, `automated` the sums of those.
///
/// # Errors
/// If `clients` has more.
pub(super) fn with_older(
    mut clients: ClientTally,
    others: u64,
    automated: Sums,
) -> Result<ClientTally> {
    let counted = clients.automated.total();
    let missing = automated.requests.checked_sub(counted.requests);
    let rest =
        missing.and_then(|missing| others.checked_sub(clients.requests())?.checked_sub(missing));
    let (Some(missing), Some(rest), true) = (missing, rest, clients.holds()) else {
        return Err(Error::inconsistent(format!(
            "{others} lines of other clients, but {} requests of them",
            clients.requests()
        )));
    };
    if missing > 0 {
        let judged = automated.without(counted.judged);
        clients.automated.add(None, Sampled { requests: missing, judged });
    }
    if rest > 0 {
        clients.browsers.add(None, Sampled { requests: rest, judged: Sums::default() });
    }
    Ok(clients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::verdict::Verdict;

    fn allowed(requests: u64) -> Sums {
        Sums { requests, allowed: requests, ..Sums::default() }
    }

    #[test]
    fn what_older_tallies_lack_is_undated() {
        let clients = with_older(ClientTally::default(), 100, allowed(30)).unwrap();
        assert_eq!(clients.automated.total(), Sampled { requests: 30, judged: allowed(30) });
        assert_eq!(clients.browsers.total(), Sampled { requests: 70, judged: Sums::default() });
        // Merged with a new one, which has counted 10 of them.
        let mut clients = ClientTally::default();
        (0..4).for_each(|_| {
            clients.automated.add(None, Sampled::of_judged(Verdict::Allowed(None), 0))
        });
        (0..6)
            .for_each(|_| clients.no_user_agent.add(None, Sampled::of_judged(Verdict::NoPath, 0)));
        let all = with_older(clients.clone(), 100, allowed(30)).unwrap();
        assert_eq!(all.automated.total(), Sampled { requests: 30, judged: allowed(30) });
        assert_eq!(all.browsers.total().requests, 64);
        assert_eq!(all.requests(), 100);
        assert_eq!(with_older(clients.clone(), 10, allowed(4)).unwrap(), clients);
        assert!(with_older(clients.clone(), 9, allowed(4)).is_err());
        assert!(with_older(clients, 10, allowed(3)).is_err());
    }
}
