//! Fetches a robots.txt, and tells what came of it in the terms of Google's documentation.
//!
//! An unconditional GET of `/robots.txt` (RETR over FTP), at least five redirects, the first
//! 500 KiB. The answer binds the origin that was asked, whichever gave it. Redirects are followed
//! by hand, each looked at first. Only what HTTP calls a redirect is one: frames, scripts and `meta
//! refresh` are bodies.

use std::{net::SocketAddr, time::Instant};

use url::Url;

use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::address::{is_public, lookup};
use super::outcome::{FetchOutcome, Problem, Redirect, ServerResponse, excerpt};
use super::settings::{Reach, Settings};
use super::{ftp, http, rate_limit::RateLimit, timeout::Deadline};

/// Longest target of a redirect that is followed, in bytes.
const LOCATION_BYTES_MAX: usize = 8192;

/// A robots.txt, or another file, as it was got, or why it was not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetched {
    /// When it was asked for.
    pub fetched_at: UtcTime,
    /// The last URL that was asked.
    pub final_url: String,
    /// The redirects that were followed, in order.
    pub chain: Vec<Redirect>,
    /// What came of it.
    pub outcome: FetchOutcome,
    /// `Cache-Control: max-age` of the last answer, in seconds, at most 2^31.
    pub max_age_seconds: Option<u64>,
    /// The bytes of a success, decoded, at most those of the settings: by default one more than
    /// count, so that a file that was cut can be told. Empty for everything else.
    pub body: Vec<u8>,
    /// The outcome in words where there is more to say: a server's refusal, a system's error.
    pub note: String,
}

/// Why a server gives no answer.
enum Stop {
    Failed(Problem),
    /// It was not asked: it has private addresses only.
    Private(SocketAddr),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Failed(problem)
    }
}

/// What follows an answer.
enum Step {
    End,
    To(Url),
    /// A redirect that is not followed, and why.
    Stuck(String),
}

/// Fetches the robots.txt of `origin`. Whoever shares `rate_limit` is polite to the same hosts.
pub fn fetch(origin: &Origin, settings: &Settings, rate_limit: &RateLimit) -> Fetched {
    match robots_url(origin) {
        Ok(url) => follow(url, settings, rate_limit),
        Err(why) => {
            let nobody = Fetched::before(format!("{origin}/robots.txt"));
            nobody.end(FetchOutcome::NotAsked, why)
        }
    }
}

fn robots_url(origin: &Origin) -> Result<Url, String> {
    if !matches!(origin.scheme(), "http" | "https" | "ftp") {
        return Err(format!("robots.txt does not exist for {} URLs", origin.scheme()));
    }
    Url::parse(&format!("{origin}/robots.txt")).map_err(|err| err.to_string())
}

/// Asks for `url`, and for what it redirects to.
pub(super) fn follow(url: Url, settings: &Settings, rate_limit: &RateLimit) -> Fetched {
    let mut deadline = Deadline::new(settings.total_timeout, settings.read_timeout);
    let mut way = Fetched::before(url.to_string());
    let mut asked = Vec::new();
    let mut target = url;
    let mut hop = None;
    let mut private = None;
    loop {
        let waiting_since = Instant::now();
        let pass = rate_limit.enter(target.host_str().unwrap_or_default());
        deadline.extend(waiting_since.elapsed());
        if asked.is_empty() {
            way.fetched_at = jiff::Timestamp::now().into();
        }
        let answer = ask(&target, &mut private, settings, &deadline);
        drop(pass);
        let answer = match answer {
            Ok(answer) => Ok(answer),
            Err(Stop::Failed(problem)) => Err(problem),
            Err(Stop::Private(address)) => {
                let note = format!(
                    "{} is a private address: not fetched; see \
                                    --allow-private-addresses",
                    address.ip()
                );
                let turned_away = |hop: Redirect| FetchOutcome::Status(hop.status);
                return way.end(hop.map_or(FetchOutcome::NotAsked, turned_away), note);
            }
        };
        way.chain.extend(hop.take());
        way.final_url = target.to_string();
        asked.push(target);
        let answer = match answer {
            Ok(answer) => answer,
            Err(problem) => {
                return way.end(FetchOutcome::Failure(problem.kind), excerpt(&problem.why));
            }
        };
        let outcome = FetchOutcome::Status(answer.status);
        match step(&answer, &asked, settings.redirects_max) {
            Step::To(url) => {
                hop = Some(Redirect { status: answer.status, location: url.to_string() });
                target = url;
            }
            Step::Stuck(why) => return way.end(outcome, why),
            Step::End => {
                way.max_age_seconds = answer.max_age_seconds;
                way.body = answer.body;
                return way.end(outcome, answer.note);
            }
        }
    }
}

impl Fetched {
    /// What is known of it before anybody was asked.
    fn before(final_url: String) -> Fetched {
        Fetched {
            fetched_at: jiff::Timestamp::now().into(),
            final_url,
            chain: Vec::new(),
            outcome: FetchOutcome::NotAsked,
            max_age_seconds: None,
            body: Vec::new(),
            note: String::new(),
        }
    }

    fn end(mut self, outcome: FetchOutcome, note: String) -> Fetched {
        self.outcome = outcome;
        self.note = note;
        self
    }
}

/// Finds the host, sees whether it may be asked, and asks it.
fn ask(
    url: &Url,
    private: &mut Option<Private>,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<ServerResponse, Stop> {
    let port = url.port_or_known_default().unwrap_or_default();
    let patience = deadline.left(settings.connect_timeout)?;
    let found = lookup(url.host_str().unwrap_or_default(), port, patience)?;
    let addresses = within_reach(found, private, settings.reach).map_err(Stop::Private)?;
    let ask = if url.scheme() == "ftp" { ftp::retrieve } else { http::get };
    Ok(ask(url, &addresses, settings, deadline)?)
}

/// Whether private addresses may be asked; decided by the first host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Private {
    Allowed,
    Refused,
}

/// The addresses of `found` that may be asked: the public ones, if there are any.
/// An error is one of the private ones where nothing else was found.
fn within_reach(
    found: Vec<SocketAddr>,
    private: &mut Option<Private>,
    reach: Reach,
) -> Result<Vec<SocketAddr>, SocketAddr> {
    let public = found.iter().copied().filter(|address| is_public(address.ip()));
    let public: Vec<SocketAddr> = public.collect();
    let private = *private.get_or_insert(match reach {
        Reach::AsAsked if public.is_empty() => Private::Allowed,
        Reach::AsAsked | Reach::Public => Private::Refused,
    });
    match (public.is_empty(), private) {
        (false, _) => Ok(public),
        (true, Private::Allowed) => Ok(found),
        (true, Private::Refused) => Err(found[0]),
    }
}

/// What follows `answer`, which the last of `asked` gave.
fn step(answer: &ServerResponse, asked: &[Url], redirects_max: usize) -> Step {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Step::End;
    }
    let Some(location) = &answer.location else {
        return Step::Stuck("a redirect without a Location".to_owned());
    };
    if location.len() > LOCATION_BYTES_MAX {
        return Step::Stuck(format!("a redirect to a URL of {} bytes", location.len()));
    }
    let stuck = |why: &str| Step::Stuck(format!("{why}: {}", excerpt(location)));
    let base = asked.last().expect("somebody gave the answer");
    match target_of(base, location) {
        None => stuck("a redirect to a URL that is not http, https or ftp"),
        // Without cookies the same question gets the same answer.
        Some(target) if asked.contains(&target) => stuck("a redirect loop"),
        Some(_) if asked.len() > redirects_max => stuck("too many redirects"),
        Some(target) => Step::To(target),
    }
}

/// What `location` means at `base`, without the parts that no server is to see.
fn target_of(base: &Url, location: &str) -> Option<Url> {
    let mut url = base.join(location).ok()?;
    if !matches!(url.scheme(), "http" | "https" | "ftp") || url.host_str().is_none() {
        return None;
    }
    url.set_fragment(None);
    // Neither can fail for a URL that has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_where_it_was_given() {
        let check = |location: &str, expected: Option<&str>| {
            let base = Url::parse("https://example.com/a/robots.txt").unwrap();
            assert_eq!(
                target_of(&base, location).as_ref().map(Url::as_str),
                expected,
                "{location}"
            );
        };
        check("/robots.txt", Some("https://example.com/robots.txt"));
        check("b.txt", Some("https://example.com/a/b.txt"));
        check("//www.example.com/robots.txt", Some("https://www.example.com/robots.txt"));
        check("http://example.org", Some("http://example.org/"));
        check(" http://user:pass@example.org/x#y ", Some("http://example.org/x"));
        check("ftp://example.org/robots.txt", Some("ftp://example.org/robots.txt"));
        check("", Some("https://example.com/a/robots.txt"));
        for location in [
            "mailto:a@b",
            "javascript:1",
            "file:///etc/passwd",
            "data:,x",
            "http://",
            "http://[::1",
        ] {
            check(location, None);
        }
    }

    #[test]
    fn only_a_private_host_may_lead_to_a_private_one() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (private, public) = (address("10.0.0.1:80"), address("8.8.8.8:80"));
        let check = |reach: Reach, hosts: &[&[SocketAddr]], expected: &[Option<&[SocketAddr]>]| {
            let mut may = None;
            let found =
                hosts.iter().map(|found| within_reach(found.to_vec(), &mut may, reach).ok());
            let found: Vec<Option<Vec<SocketAddr>>> = found.collect();
            let found: Vec<Option<&[SocketAddr]>> = found.iter().map(|f| f.as_deref()).collect();
            assert_eq!(found, expected, "{reach:?} {hosts:?}");
        };
        check(Reach::AsAsked, &[&[public], &[private]], &[Some(&[public]), None]);
        check(Reach::AsAsked, &[&[private], &[private]], &[Some(&[private]), Some(&[private])]);
        check(Reach::Public, &[&[private]], &[None]);
        // Also where IPv6 carries the private address.
        for carrier in ["[::ffff:0.0.0.0]:80", "[64:ff9b:1::a00:1]:80", "[2606::5efe:a00:1]:80"] {
            check(Reach::AsAsked, &[&[public], &[address(carrier)]], &[Some(&[public]), None]);
        }
        // A name with both kinds is a public host, and only that side of it is asked.
        check(Reach::AsAsked, &[&[private, public], &[private]], &[Some(&[public]), None]);
    }
}
