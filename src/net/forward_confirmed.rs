//! Forward-confirmed reverse DNS: whether an address belongs to an operator; and a file cache of its answers.
//!
//! The address must have a name in one of the operator's domains, and that name must resolve to the
//! address. The first step alone proves nothing, because the owner of an address can give it any
//! name.
//!
//! The cache is one JSON document, which is replaced as a whole. Answers are kept for seven days,
//! negative answers for one day, whatever the server's TTL: an audit asks who used an address, not
//! where to connect. Failures are not kept.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{collections::BTreeMap, io, net::IpAddr, path::Path, thread};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{self, Error};
use crate::files::read_up_to;
use crate::mutex::{lock, unpoisoned};
use crate::staged::replace;
use crate::time::UtcTime;

use super::dns::{DnsFailure, Question, RecordKind, Resolver, is_within, plain_name};
use super::dns_archive::ConfirmedName;

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

/// The lifetime of an answer with records, in seconds.
const ANSWER_SECONDS_MAX: i64 = 7 * 86_400;

/// The lifetime of a negative answer, in seconds.
const NOTHING_SECONDS_MAX: i64 = 86_400;

/// The largest file that is read, about a million answers.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Increased when a field changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// An answer and its time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DnsAnswer {
    /// The time of the question.
    pub asked_at: UtcTime,
    /// Names or addresses; empty for a negative answer.
    pub records: Vec<String>,
}

/// Answers by question.
#[derive(Clone, Debug, Default)]
pub(crate) struct DnsCache {
    answers: BTreeMap<Question, DnsAnswer>,
}

#[derive(Deserialize, Serialize)]
struct WireCache {
    botaudit_dns_cache: u32,
    answers: Vec<WireAnswer>,
}

#[derive(Deserialize, Serialize)]
struct WireAnswer {
    name: String,
    kind: String,
    asked_at_utc: String,
    records: Vec<String>,
}

impl DnsCache {
    /// Reads the file at `path`, without answers that are too old at `now`. A missing or empty file
    /// gives an empty cache.
    ///
    /// # Errors
    /// If it cannot be read, or is not a DNS cache.
    pub(crate) fn open(path: &Path, now: UtcTime) -> error::Result<DnsCache> {
        let failed = |err| Error::io("cannot read --dns-cache", path, err);
        let wrong = |why: String| {
            Error::invalid_file(
                path,
                format!("{why}: not a DNS cache; delete it or name another file"),
            )
        };
        let text = match read_up_to(path, FILE_BYTES_MAX) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(DnsCache::default()),
            text => text.map_err(failed)?,
        };
        let too_large = || wrong(format!("larger than {} MiB", FILE_BYTES_MAX >> 20));
        let text = text.ok_or_else(too_large)?;
        if text.is_empty() {
            return Ok(DnsCache::default());
        }
        let wire: WireCache =
            serde_json::from_slice(&text).map_err(|err| wrong(err.to_string()))?;
        if wire.botaudit_dns_cache != SCHEMA_VERSION {
            return Err(wrong(format!("of version {}", wire.botaudit_dns_cache)));
        }
        let read = wire.answers.into_iter().filter_map(WireAnswer::read);
        let answers = read.filter(|(_, answer)| answer.is_fresh(now)).collect();
        Ok(DnsCache { answers })
    }

    /// Replaces the file at `path` in one step.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self, path: &Path) -> error::Result<()> {
        let answers = self.answers.iter().map(|(question, answer)| WireAnswer {
            name: question.name.clone(),
            kind: question.kind.as_str().to_owned(),
            asked_at_utc: answer.asked_at.to_string(),
            records: answer.records.clone(),
        });
        let wire = WireCache { botaudit_dns_cache: SCHEMA_VERSION, answers: answers.collect() };
        let text = serde_json::to_vec_pretty(&wire).expect("strings and numbers are JSON");
        replace(path, &text)
    }

    /// The answer to `question`, if it is known.
    pub(crate) fn get(&self, question: &Question) -> Option<&DnsAnswer> {
        self.answers.get(question)
    }

    /// Adds an answer.
    pub(crate) fn put(&mut self, question: Question, answer: DnsAnswer) {
        self.answers.insert(question, answer);
    }
}

impl DnsAnswer {
    fn is_fresh(&self, now: UtcTime) -> bool {
        let kept = if self.records.is_empty() { NOTHING_SECONDS_MAX } else { ANSWER_SECONDS_MAX };
        (0..=kept).contains(&(now.unix_seconds() - self.asked_at.unix_seconds()))
    }
}

impl WireAnswer {
    /// `None` if the entry is not one of ours.
    fn read(self) -> Option<(Question, DnsAnswer)> {
        let kind = RecordKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind)?;
        let asked_at: Timestamp = self.asked_at_utc.parse().ok()?;
        let answer = DnsAnswer { asked_at: asked_at.into(), records: self.records };
        Some((Question { name: self.name, kind }, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    const NOW: i64 = 1_772_323_200;

    fn time(seconds: i64) -> UtcTime {
        UtcTime::from_unix_seconds(seconds).unwrap()
    }

    #[test]
    fn what_is_saved_is_known_until_it_is_old() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dns.json");
        let question = |name: &str| Question { name: name.to_owned(), kind: RecordKind::Ptr };
        let mut cache = DnsCache::open(&path, time(NOW)).unwrap();
        let some = DnsAnswer { asked_at: time(NOW), records: vec!["x".to_owned()] };
        cache.put(question("some"), some.clone());
        cache.put(question("none"), DnsAnswer { asked_at: time(NOW), records: Vec::new() });
        cache.save(&path).unwrap();
        cache.save(&path).unwrap();
        for (later, some_is_known, none_is_known) in [
            (0, true, true),
            (86_401, true, false),
            (7 * 86_400 + 1, false, false),
            (-1, false, false),
        ] {
            let cache = DnsCache::open(&path, time(NOW + later)).unwrap();
            assert_eq!(cache.get(&question("some")), some_is_known.then_some(&some), "{later}");
            assert_eq!(cache.get(&question("none")).is_some(), none_is_known, "{later}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dns.json");
        // An empty file holds nothing that could be lost.
        fs::write(&path, "").unwrap();
        assert!(DnsCache::open(&path, time(NOW)).is_ok());
        for text in ["{}", "[1]", r#"{"botaudit_dns_cache": 2, "answers": []}"#] {
            fs::write(&path, text).unwrap();
            let error = DnsCache::open(&path, time(NOW)).unwrap_err().to_string();
            assert!(error.contains(": not a DNS cache; delete it or name another file"), "{error}");
        }
        assert!(DnsCache::default().save(Path::new("/")).is_err());
        assert!(DnsCache::default().save(&directory.path().join("no/where")).is_err());
    }
}
