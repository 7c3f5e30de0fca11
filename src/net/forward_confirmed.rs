//! Forward-confirmed reverse DNS: whether an address belongs to an operator.
//!
//! The address must have a name in one of the operator's domains, and that name must resolve to the
//! address. The first step alone proves nothing, because the owner of an address can give it any
//! name.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{net::IpAddr, thread};

use crate::mutex::{lock, unpoisoned};
use crate::time::UtcTime;

use super::dns::{DnsFailure, Question, Resolver, is_within, plain_name};
use super::dns_archive::ConfirmedName;
use super::dns_cache::{DnsAnswer, DnsCache};

/// The most names of one address that are checked; no honest address has more.
const NAMES_MAX: usize = 8;

/// The most questions at the same time.
const QUESTIONS_AT_ONCE: usize = 16;

/// After this many unanswered questions, if none was answered, no more are sent: the server is not
/// reachable.
const FAILURES_MAX: usize = 64;

/// The result of the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Confirmation {
    /// The address belongs to the operator.
    Confirmed,
    /// All questions were answered, and it does not.
    Contradicted,
    /// A question was not answered.
    NoAnswer,
}

/// A claim that `address` belongs to the owner of the domains `suffixes`.
#[derive(Clone, Debug)]
pub(crate) struct DomainClaim<'a> {
    /// The address.
    pub address: IpAddr,
    /// The operator's domains.
    pub suffixes: &'a [String],
}

/// The results of checks.
#[derive(Debug)]
pub(crate) struct CheckedClaims {
    /// The result of each claim.
    pub confirmations: Vec<Confirmation>,
    /// The names of the confirmed, in order.
    pub confirmed: Vec<ConfirmedName>,
    /// The last reason for an unanswered question.
    pub failure: Option<DnsFailure>,
}

/// Checks all `claims`, some in parallel, at the time `now`. Questions that are not in `cache` are
/// sent, and their answers added to it.
pub(crate) fn check_all(
    claims: &[DomainClaim<'_>],
    resolver: &Resolver,
    now: UtcTime,
    cache: &mut DnsCache,
) -> CheckedClaims {
    let cached_resolver = CachedResolver {
        resolver,
        now,
        cache: Mutex::new(std::mem::take(cache)),
        answers: AtomicUsize::new(0),
        failures: AtomicUsize::new(0),
        failure: Mutex::new(None),
    };
    let next = AtomicUsize::new(0);
    let confirmations = Mutex::new(vec![Confirmation::NoAnswer; claims.len()]);
    let confirmed = Mutex::new(Vec::new());
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(claim) = claims.get(at)
        {
            let (confirmation, name) = check(claim, |question| cached_resolver.ask(question));
            lock(&confirmations)[at] = confirmation;
            lock(&confirmed).extend(name);
        }
    };
    thread::scope(|scope| {
        for _ in 1..claims.len().min(QUESTIONS_AT_ONCE) {
            // Fewer threads ask the same.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    *cache = unpoisoned(cached_resolver.cache.into_inner());
    let mut confirmed = unpoisoned(confirmed.into_inner());
    confirmed.sort_unstable();
    CheckedClaims {
        confirmations: unpoisoned(confirmations.into_inner()),
        confirmed,
        failure: unpoisoned(cached_resolver.failure.into_inner()),
    }
}

/// Checks `claim`; `ask` queries a name server. Gives the name that confirms it, too.
pub(crate) fn check(
    claim: &DomainClaim<'_>,
    ask: impl Fn(&Question) -> Result<DnsAnswer, DnsFailure>,
) -> (Confirmation, Option<ConfirmedName>) {
    let Ok(names) = ask(&Question::names_of(claim.address)) else {
        return (Confirmation::NoAnswer, None);
    };
    let address = claim.address.to_canonical();
    let mut is_answered = true;
    let named = names.records.iter().filter(|name| is_within(name, claim.suffixes));
    for (name, followed) in named.zip(0..) {
        if followed == NAMES_MAX {
            return (Confirmation::NoAnswer, None);
        }
        match ask(&Question::addresses_of(name, address)) {
            Ok(found) if found.records.iter().any(|found| found.parse() == Ok(address)) => {
                // Both answers were true at the time of the older one.
                let at = names.asked_at.min(found.asked_at);
                let name = ConfirmedName { address, name: plain_name(name), at };
                return (Confirmation::Confirmed, Some(name));
            }
            Ok(_) => {}
            Err(_) => is_answered = false,
        }
    }
    let outcome = if is_answered { Confirmation::Contradicted } else { Confirmation::NoAnswer };
    (outcome, None)
}

/// Answers questions from the cache or by a server.
struct CachedResolver<'a> {
    resolver: &'a Resolver,
    now: UtcTime,
    cache: Mutex<DnsCache>,
    answers: AtomicUsize,
    failures: AtomicUsize,
    failure: Mutex<Option<DnsFailure>>,
}

impl CachedResolver<'_> {
    fn ask(&self, question: &Question) -> Result<DnsAnswer, DnsFailure> {
        if let Some(answer) = lock(&self.cache).get(question) {
            return Ok(answer.clone());
        }
        if self.is_hopeless() {
            return Err(DnsFailure("too many lookups failed before".to_owned()));
        }
        match self.resolver.ask(question) {
            Ok(records) => {
                self.answers.fetch_add(1, Ordering::Relaxed);
                let answer = DnsAnswer { asked_at: self.now, records };
                lock(&self.cache).put(question.clone(), answer.clone());
                Ok(answer)
            }
            Err(failure) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                *lock(&self.failure) = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn is_hopeless(&self) -> bool {
        self.answers.load(Ordering::Relaxed) == 0
            && self.failures.load(Ordering::Relaxed) >= FAILURES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::net::dns::RecordKind;

    const SUFFIXES: &str = "googlebot.com .geo.Googlebot.com.";

    /// `zone` has lines with `question answer ...`; `?` means no answer at all.
    #[track_caller]
    fn confirms(zone: &str, address: &str, expected: Confirmation) {
        let suffixes: Vec<String> = SUFFIXES.split(' ').map(str::to_owned).collect();
        let claim = DomainClaim { address: address.parse().unwrap(), suffixes: &suffixes };
        let found = check(&claim, |question| {
            let line = zone.lines().find(|line| line.split(' ').next() == Some(&question.name));
            let records: Vec<String> =
                line.unwrap_or("").split(' ').skip(1).map(str::to_owned).collect();
            let is_address = question.kind != RecordKind::Ptr;
            assert_eq!(is_address, !question.name.ends_with(".arpa"));
            // Names were asked for later than addresses.
            let asked_at = UtcTime::from_unix_seconds(7 + i64::from(!is_address)).unwrap();
            let answer = DnsAnswer { asked_at, records };
            if answer.records == ["?"] { Err(DnsFailure(String::new())) } else { Ok(answer) }
        });
        let (found, name) = found;
        assert_eq!(found, expected, "{zone}");
        assert_eq!(name.is_some(), expected == Confirmation::Confirmed);
        if let Some(name) = name {
            assert_eq!((name.address, name.at.unix_seconds()), (claim.address.to_canonical(), 7));
            assert!(is_within(&name.name, &suffixes) && name.name.ends_with("googlebot.com"));
        }
    }

    #[test]
    fn a_name_counts_only_where_it_leads_back() {
        use Confirmation::*;
        let arpa = "7.2.0.192.in-addr.arpa";
        let check =
            |zone: &str, expected| confirms(&zone.replace("ARPA", arpa), "192.0.2.7", expected);
        check("ARPA c.googlebot.com\nc.googlebot.com 192.0.2.7", Confirmed);
        check("ARPA C.GoogleBot.com\nc.googlebot.com 192.0.2.6 192.0.2.7", Confirmed);
        check("ARPA x.example c.geo.googlebot.com\nc.geo.googlebot.com 192.0.2.7", Confirmed);
        // The owner of the address chose a name in a foreign domain.
        check("ARPA c.googlebot.com\nc.googlebot.com 192.0.2.8", Contradicted);
        check("ARPA c.googlebot.com", Contradicted);
        check("", Contradicted);
        check("ARPA x.example\nx.example 192.0.2.7", Contradicted);
        check("ARPA c.notgooglebot.com\nc.notgooglebot.com 192.0.2.7", Contradicted);
        check(
            "ARPA googlebot.com.evil.example\ngooglebot.com.evil.example 192.0.2.7",
            Contradicted,
        );
        check("ARPA ?", NoAnswer);
        check("ARPA c.googlebot.com\nc.googlebot.com ?", NoAnswer);
        check(
            "ARPA a.googlebot.com c.googlebot.com\na.googlebot.com ?\nc.googlebot.com 192.0.2.7",
            Confirmed,
        );
        let many = format!("ARPA{}", " c.googlebot.com".repeat(100));
        check(&many, NoAnswer);
        confirms(
            "7.2.0.192.in-addr.arpa c.googlebot.com\nc.googlebot.com 192.0.2.7",
            "::ffff:192.0.2.7",
            Confirmed,
        );
    }
}
