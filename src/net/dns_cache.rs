//! A file cache of DNS answers.
//!
//! The cache is one JSON document, which is replaced as a whole. Answers are kept for seven days,
//! negative answers for one day, whatever the server's TTL: an audit asks who used an address, not
//! where to connect. Failures are not kept.

use std::{collections::BTreeMap, io, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::staged::replace;
use crate::time::UtcTime;

use super::dns::{Question, RecordKind};

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
    pub(crate) fn open(path: &Path, now: UtcTime) -> Result<DnsCache> {
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
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
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
    use std::fs;

    use super::*;

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
