//! A file of confirmed DNS names: which addresses belonged to which domains, and when.
//!
//! A confirmed lookup is of its time, and DNS forgets it. The file keeps it, so that later runs can use it for
//! requests of that time, also without a network. Lookups that contradict are not kept: they would
//! accuse a client by an answer of another time.
//!
//! Each line is an address, a name that led back to it, and the times of the first and the last lookup that
//! confirmed it, between which no gap is longer than twice [`PROOF_DAYS`].

use std::{collections::BTreeMap, io, net::IpAddr, path::Path};

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::staged::replace;
use crate::time::{DAY_SECONDS, UtcTime};

use super::dns::is_within;

/// How many days before or after a request a confirmed lookup may be to verify it. Addresses of a
/// cloud get new tenants.
const PROOF_DAYS: i64 = 30;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The most lines of a file that is written: those that were confirmed last.
const LINES_MAX: usize = if cfg!(test) { 4 } else { 400_000 };

/// The longest name in DNS, in bytes.
const NAME_BYTES_MAX: usize = 255;

const HEADER: &str = "address,name,first_confirmed_utc,last_confirmed_utc";

/// An address that had a name which led back to it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct ConfirmedName {
    /// In canonical form.
    pub address: IpAddr,
    /// Lower-case, without the last dot.
    pub name: String,
    /// The time of the lookup.
    pub at: UtcTime,
}

/// Times from the first to the last.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct ConfirmedSpan {
    pub first: UtcTime,
    pub last: UtcTime,
}

/// The confirmed names of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DnsArchive {
    /// The spans of each are in order, and more than twice `PROOF_DAYS` apart.
    names: BTreeMap<(IpAddr, String), Vec<ConfirmedSpan>>,
}

impl ConfirmedSpan {
    /// Whether a lookup of it verifies a request at `time`.
    pub(crate) fn proves(self, time: UtcTime) -> bool {
        let distance = PROOF_DAYS * DAY_SECONDS;
        let from = self.first.unix_seconds().saturating_sub(distance);
        let until = self.last.unix_seconds().saturating_add(distance);
        (from..=until).contains(&time.unix_seconds())
    }

    /// Whether the proofs of both reach all times until `later` begins.
    fn is_near(self, later: ConfirmedSpan) -> bool {
        let gap = later.first.unix_seconds() - self.last.unix_seconds();
        gap <= 2 * PROOF_DAYS * DAY_SECONDS
    }
}

impl DnsArchive {
    /// Reads the file at `path`; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not such a file: the first wrong line.
    pub(crate) fn open(path: &Path) -> Result<Option<DnsArchive>> {
        let failed = |err| Error::io("cannot read --dns-archive", path, err);
        let text = match read_up_to(path, FILE_BYTES_MAX) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(failed)?,
        };
        let too_large = || {
            let why = format!("larger than {} MiB: not a DNS archive", FILE_BYTES_MAX >> 20);
            Error::invalid_file(path, why)
        };
        let text = text.ok_or_else(too_large)?;
        let text = str::from_utf8(&text)
            .map_err(|_| Error::invalid_file(path, "not UTF-8: not a DNS archive"))?;
        DnsArchive::parse(text)
            .map(Some)
            .map_err(|(line, why)| Error::invalid(path, line, format!("{why}: not a DNS archive")))
    }

    fn parse(text: &str) -> std::result::Result<DnsArchive, (u64, String)> {
        let mut archive = DnsArchive::default();
        for (line, number) in text.lines().zip(1..) {
            match number {
                1 if line == HEADER => {}
                1 => return Err((1, format!("the first line must be {HEADER}"))),
                _ => {
                    let (key, span) = read_line(line).map_err(|why| (number, why))?;
                    archive.names.entry(key).or_default().push(span);
                }
            }
        }
        archive.names.values_mut().for_each(join);
        Ok(archive)
    }

    /// Adds a confirmed lookup. A name with other characters than those of host names is left out.
    pub(crate) fn add(&mut self, confirmed: ConfirmedName) {
        let ConfirmedName { address, name, at } = confirmed;
        if is_host_name(&name) {
            let spans = self.names.entry((address.to_canonical(), name)).or_default();
            spans.push(ConfirmedSpan { first: at, last: at });
            join(spans);
        }
    }

    /// Adds what another run wrote to the file at `path` in the meantime, and replaces it in one step.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn save(&mut self, path: &Path) -> Result<()> {
        for (key, others) in DnsArchive::open(path)?.unwrap_or_default().names {
            let spans = self.names.entry(key).or_default();
            spans.extend(others);
            join(spans);
        }
        replace(path, self.text().as_bytes())
    }

    fn text(&self) -> String {
        let mut lines: Vec<(&(IpAddr, String), &ConfirmedSpan)> = self
            .names
            .iter()
            .flat_map(|(key, spans)| spans.iter().map(move |of| (key, of)))
            .collect();
        if lines.len() > LINES_MAX {
            lines.sort_by_key(|(key, span)| (std::cmp::Reverse(span.last), *key));
            lines.truncate(LINES_MAX);
            lines.sort_unstable();
        }
        let mut text = format!("{HEADER}\n");
        for ((address, name), ConfirmedSpan { first, last }) in lines {
            text += &format!("{address},{name},{first},{last}\n");
        }
        text
    }

    /// Whether a lookup near `time` confirmed that `address` has a name within `domains`.
    pub(crate) fn proves(&self, address: IpAddr, domains: &[String], time: UtcTime) -> bool {
        let address = address.to_canonical();
        let names = self.names.range((address, String::new())..);
        names.take_while(|((of, _), _)| *of == address).any(|((_, name), spans)| {
            spans.iter().any(|span| span.proves(time)) && is_within(name, domains)
        })
    }

    /// Each address with a name and the times at which that led back to it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (IpAddr, &str, &[ConfirmedSpan])> {
        self.names.iter().map(|((address, name), spans)| (*address, &**name, &**spans))
    }
}

/// Puts spans in order, and joins those without a gap that proves nothing.
fn join(spans: &mut Vec<ConfirmedSpan>) {
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let is_one = earlier.is_near(*later);
        if is_one {
            earlier.last = earlier.last.max(later.last);
        }
        is_one
    });
}

type Line = ((IpAddr, String), ConfirmedSpan);

fn read_line(line: &str) -> std::result::Result<Line, String> {
    let cells: Vec<&str> = line.split(',').collect();
    let &[address, name, first, last] = cells.as_slice() else {
        return Err(format!("expected 4 cells, found {}", cells.len()));
    };
    let no_address = || format!("'{address}' is not an address");
    let address: IpAddr = address.parse().map_err(|_| no_address())?;
    if !is_host_name(name) {
        return Err(format!("'{}' is not a host name", name.escape_debug()));
    }
    let time = |text: &str| -> std::result::Result<UtcTime, String> {
        let time: std::result::Result<Timestamp, _> = text.parse();
        time.map(UtcTime::from).map_err(|_| format!("'{}' is not a time", text.escape_debug()))
    };
    let span = ConfirmedSpan { first: time(first)?, last: time(last)? };
    match span.first <= span.last {
        true => Ok(((address.to_canonical(), name.to_owned()), span)),
        false => Err(format!("{first} is later than {last}")),
    }
}

fn is_host_name(name: &str) -> bool {
    let is_usual = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    fn day(day: i64) -> UtcTime {
        UtcTime::from_unix_seconds(day * DAY_SECONDS).unwrap()
    }

    fn confirmed(last: u8, name: &str, at: i64) -> ConfirmedName {
        ConfirmedName { address: [192, 0, 2, last].into(), name: name.to_owned(), at: day(at) }
    }

    #[test]
    fn lookups_near_each_other_are_one_span() {
        let mut archive = DnsArchive::default();
        for at in [100, 10, 40, 161, 222] {
            archive.add(confirmed(1, "c.example", at));
        }
        let spans: Vec<(i64, i64)> = archive
            .iter()
            .flat_map(|(_, _, spans)| spans)
            .map(|span| {
                (span.first.unix_seconds() / DAY_SECONDS, span.last.unix_seconds() / DAY_SECONDS)
            })
            .collect();
        // From 40 to 100 are 60 days; from 100 to 161 one more.
        assert_eq!(spans, [(10, 100), (161, 161), (222, 222)]);
        let (_, _, spans) = archive.iter().next().unwrap();
        for (at, expected) in [
            (-21, false),
            (-20, true),
            (70, true),
            (130, true),
            (131, true),
            (252, true),
            (253, false),
        ] {
            assert_eq!(spans.iter().any(|span| span.proves(day(at))), expected, "{at}");
        }
    }

    #[test]
    fn a_gap_between_spans_proves_nothing() {
        let mut archive = DnsArchive::default();
        [10, 100].into_iter().for_each(|at| archive.add(confirmed(1, "c.example", at)));
        let (_, _, spans) = archive.iter().next().unwrap();
        let proves = |at| spans.iter().any(|span| span.proves(day(at)));
        assert!(proves(40) && !proves(41) && !proves(69) && proves(70));
    }

    /// One name of the address is enough. Names elsewhere, of others and of another time prove nothing.
    #[test]
    fn a_name_within_the_domains_proves_its_address_at_its_time() {
        let mut archive = DnsArchive::default();
        for (last, name, at) in [
            (1, "a.other.example", 10_000),
            (1, "crawl-1.bot.example", 10_000),
            (1, "z.other.example", 10_000),
            (2, "b.other.example", 10_000),
            (3, "crawl-3.bot.example", 10_000),
            (3, "c.other.example", 19_000),
        ] {
            archive.add(confirmed(last, name, at));
        }
        let domains = ["bot.example".to_owned()];
        let proves = |address: IpAddr, at: i64| archive.proves(address, &domains, day(at));
        let of = |last: u8| IpAddr::from([192, 0, 2, last]);
        let mapped = "::ffff:192.0.2.1".parse().unwrap();
        assert!(proves(of(1), 10_000) && proves(mapped, 10_000));
        assert!(!proves(of(1), 19_000) && !proves(of(3), 19_000));
        assert!(!proves(of(0), 10_000) && !proves(of(2), 10_000));
        assert!(!archive.proves(of(1), &[], day(10_000)));
    }

    #[test]
    fn what_is_saved_is_read_and_added_to_what_others_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dns.csv");
        assert_eq!(DnsArchive::open(&path).unwrap(), None);
        let (mut one, mut other) = (DnsArchive::default(), DnsArchive::default());
        one.add(confirmed(1, "a.example", 5));
        one.add(confirmed(9, "a,b.example", 5));
        one.add(confirmed(9, "", 5));
        one.save(&path).unwrap();
        other.add(confirmed(1, "a.example", 7));
        other.add(ConfirmedName {
            address: "::ffff:192.0.2.2".parse().unwrap(),
            name: "b.example".to_owned(),
            at: day(6),
        });
        other.save(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let expected = format!(
            "{HEADER}\n192.0.2.1,a.example,1970-01-06T00:00:00Z,1970-01-08T00:00:00Z\n\
             192.0.2.2,b.example,1970-01-07T00:00:00Z,1970-01-07T00:00:00Z\n"
        );
        assert_eq!(text, expected);
        assert_eq!(DnsArchive::open(&path).unwrap(), Some(other));
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dns.csv");
        let mut archive = DnsArchive::default();
        for last in 1..=6 {
            archive.add(confirmed(last, "c.example", 100 - i64::from(last)));
        }
        archive.save(&path).unwrap();
        let kept = DnsArchive::open(&path).unwrap().unwrap();
        let kept: Vec<String> = kept.iter().map(|(address, ..)| address.to_string()).collect();
        assert_eq!(kept, ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
    }

    #[test]
    fn another_file_is_refused_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dns.csv");
        let times = "1970-01-06T00:00:00Z,1970-01-08T00:00:00Z";
        for (text, why) in [
            (&b"a,b\n"[..], "dns.csv:1: the first line must be address,name"),
            (b"\xff", "not UTF-8"),
            (
                format!("{HEADER}\n192.0.2.1,a.example\n").as_bytes(),
                "dns.csv:2: expected 4 cells, found 2",
            ),
            (
                format!("{HEADER}\nx,a.example,{times}\n").as_bytes(),
                "dns.csv:2: 'x' is not an address",
            ),
            (
                format!("{HEADER}\n::1,A.example,{times}\n").as_bytes(),
                "'A.example' is not a host name",
            ),
            (
                format!("{HEADER}\n::1,{},{times}\n", "a".repeat(256)).as_bytes(),
                "is not a host name",
            ),
            (format!("{HEADER}\n::1,a,{times}Z\n").as_bytes(), "is not a time"),
            (
                format!("{HEADER}\n::1,a,1970-01-09T00:00:00Z,1970-01-08T00:00:00Z\n").as_bytes(),
                "is later than",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let error = DnsArchive::open(&path).unwrap_err().to_string();
            assert!(error.contains(why) && error.ends_with("not a DNS archive"), "{error}");
        }
        fs::write(&path, "").unwrap();
        assert_eq!(DnsArchive::open(&path).unwrap(), Some(DnsArchive::default()));
    }
}
