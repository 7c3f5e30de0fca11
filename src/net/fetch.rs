//! Fetches a robots.txt and determines the outcome as Google's documentation defines it.
//!
//! It sends an unconditional GET of `/robots.txt` (RETR over FTP), follows at least five redirects,
//! and reads the first 500 KiB. The answer applies to the requested origin, whichever origin gave
//! it. Each redirect is checked before it is followed. One to a URL that the robots.txt of its own
//! host disallows for `*` is not followed, so it counts as 404. Only HTTP redirects count: frames, scripts
//! and `meta refresh` are bodies.

use std::{net::SocketAddr, path::Path, time::Instant};

use url::Url;

use crate::error::Error;
use crate::matcher::robots_txt::RobotsTxt;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::address::{is_public, lookup};
use super::outcome::{FailureKind, FetchOutcome, Problem, Redirect, ServerResponse, excerpt};
use super::settings::{Deadline, Ports, Reach, Settings, USUAL_PORTS};
use super::{ftp, http};

/// The longest target of a redirect that is followed, in bytes.
const LOCATION_BYTES_MAX: usize = 8192;

/// The note on a fetch that was given up.
const OUT_OF_TIME: &str = "the time for fetches is over; see --fetch-budget";

/// A fetched file with its outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetched {
    /// The time of the request.
    pub fetched_at: UtcTime,
    /// The last requested URL.
    pub final_url: String,
    /// The followed redirects, in order.
    pub chain: Vec<Redirect>,
    /// The outcome.
    pub outcome: FetchOutcome,
    /// `Cache-Control: max-age` of the last answer, in seconds, at most 2^31.
    pub max_age_seconds: Option<u64>,
    /// The decoded bytes of a success, at most as many as the settings allow: by default one more
    /// than count, so that a cut file is recognised. Otherwise empty.
    pub body: Vec<u8>,
    /// Details of the outcome: a server's refusal, an error of the system.
    pub note: String,
}

/// Why there is no answer.
enum Stop {
    Failed(Problem),
    /// No request was sent, because the settings forbid it; why, and what allows it.
    Forbidden(String),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Failed(problem)
    }
}

/// What an answer means for the next request.
enum Following {
    End,
    To(Url),
    /// A redirect that is not followed, and why.
    Stuck(String),
}

/// Fetches the robots.txt of `origin`.
pub fn fetch(origin: &Origin, settings: &Settings) -> Fetched {
    match Walk::to(origin, settings, None) {
        Ok(walk) => walk.end(settings),
        Err(fetched) => *fetched,
    }
}

/// Fetches `url` and follows its redirects.
pub(super) fn follow(url: Url, settings: &Settings) -> Fetched {
    Box::new(Walk::new(url, settings, None)).end(settings)
}

fn robots_url(origin: &Origin) -> Result<Url, String> {
    if !matches!(origin.scheme(), "http" | "https" | "ftp") {
        return Err(format!("robots.txt does not exist for {} URLs", origin.scheme()));
    }
    Url::parse(&format!("{origin}/robots.txt")).map_err(|err| err.to_string())
}

/// A fetch before one of its requests: the first one, or one for a redirect.
#[derive(Debug)]
pub(super) struct Walk {
    way: Fetched,
    asked: Vec<Url>,
    target: Url,
    hop: Option<Redirect>,
    private: Option<Private>,
    deadline: Deadline,
    /// The end of the time for all fetches.
    until: Option<Instant>,
    waiting_since: Instant,
    follows: Follows,
}

/// Which redirects are followed.
#[derive(Debug)]
enum Follows {
    /// All that the settings allow.
    All,
    /// Those to URLs that the robots.txt of their host allows.
    Allowed,
    /// The same; the robots.txt of the host of the next request is fetched first.
    After(Box<Walk>),
}

/// The state of a fetch after a request.
pub(super) enum Step {
    Done(Box<Fetched>),
    /// Another request follows, perhaps to another host.
    Next(Box<Walk>),
}

impl Walk {
    /// The fetch of the robots.txt of `origin`, or its outcome if it cannot have one.
    pub(crate) fn to(
        origin: &Origin,
        settings: &Settings,
        until: Option<Instant>,
    ) -> Result<Box<Walk>, Box<Fetched>> {
        match robots_url(origin) {
            Ok(url) => {
                let walk = Walk::new(url, settings, until);
                Ok(Box::new(Walk { follows: Follows::Allowed, ..walk }))
            }
            Err(why) => Err(Box::new(Fetched::not_asked(origin, why))),
        }
    }

    fn new(url: Url, settings: &Settings, until: Option<Instant>) -> Walk {
        Walk {
            way: Fetched::before(url.to_string()),
            asked: Vec::new(),
            target: url,
            hop: None,
            private: None,
            deadline: Deadline::new(settings.total_timeout, settings.read_timeout),
            until,
            waiting_since: Instant::now(),
            follows: Follows::All,
        }
    }

    /// The host of the next request.
    pub(crate) fn host(&self) -> &str {
        match &self.follows {
            Follows::After(first) => first.host(),
            Follows::All | Follows::Allowed => self.target.host_str().unwrap_or_default(),
        }
    }

    /// Sends all requests.
    fn end(self: Box<Walk>, settings: &Settings) -> Fetched {
        let mut walk = self;
        loop {
            match walk.ask(settings) {
                Step::Next(next) => walk = next,
                Step::Done(fetched) => return *fetched,
            }
        }
    }

    /// Sends the next request.
    pub(crate) fn ask(mut self: Box<Walk>, settings: &Settings) -> Step {
        if self.is_out_of_time() {
            return self.given_up();
        }
        if let Follows::After(first) = self.follows {
            self.follows = Follows::Allowed;
            return self.after(first.ask(settings));
        }
        self.deadline.extend(self.waiting_since.elapsed());
        if self.asked.is_empty() {
            self.way.fetched_at = jiff::Timestamp::now().into();
        }
        let deadline = self.deadline.capped(self.until);
        let answer = ask(&self.target, &mut self.private, settings, &deadline);
        let is_timeout =
            matches!(&answer, Err(Stop::Failed(problem)) if problem.kind == FailureKind::Timeout);
        if is_timeout && self.is_out_of_time() {
            return self.given_up();
        }
        let Walk { mut way, mut asked, target, hop, private, deadline, until, follows, .. } = *self;
        let answer = match answer {
            Ok(answer) => Ok(answer),
            Err(Stop::Failed(problem)) => Err(problem),
            Err(Stop::Forbidden(note)) => return way.turned_away(hop, note),
        };
        way.chain.extend(hop);
        way.final_url = target.to_string();
        asked.push(target);
        let answer = match answer {
            Ok(answer) => answer,
            Err(problem) => return way.failed(&problem),
        };
        let outcome = FetchOutcome::Status(answer.status);
        match following(&answer, &asked, settings.redirects_max) {
            Following::To(target) => {
                let hop = Some(Redirect { status: answer.status, location: target.to_string() });
                let waiting_since = Instant::now();
                let walk = Walk {
                    way,
                    asked,
                    target,
                    hop,
                    private,
                    deadline,
                    until,
                    waiting_since,
                    follows,
                };
                Step::Next(Box::new(walk.checked_first(settings)))
            }
            Following::Stuck(why) => Step::Done(Box::new(way.end(outcome, why))),
            Following::End => {
                way.max_age_seconds = answer.max_age_seconds;
                way.body = answer.body;
                Step::Done(Box::new(way.end(outcome, answer.note)))
            }
        }
    }

    /// The same after a fetch of the robots.txt of the target's host, if that decides about the
    /// target. A target on the host whose robots.txt is being fetched cannot be decided by it.
    fn checked_first(self, settings: &Settings) -> Walk {
        let of_host = self.target.join("/robots.txt");
        let of_host = of_host.ok().filter(|url| *url != self.target && !self.asked.contains(url));
        let (Follows::Allowed, Some(url)) = (&self.follows, of_host) else { return self };
        let first = Walk::new(url, settings, self.until);
        let first = Walk { private: self.private, deadline: self.deadline, ..first };
        Walk { follows: Follows::After(Box::new(first)), ..self }
    }

    /// The state after a request for the robots.txt of the target's host.
    fn after(mut self: Box<Walk>, step: Step) -> Step {
        let found = match step {
            Step::Next(first) => {
                self.follows = Follows::After(first);
                return Step::Next(self);
            }
            Step::Done(found) => found,
        };
        let target = self.target.as_str();
        let (outcome, why) = match found.outcome {
            FetchOutcome::Status(200..=299) if !is_allowed(&found.body, target) => {
                let status = self.hop.as_ref().map_or(404, |hop| hop.status);
                (
                    FetchOutcome::Status(status),
                    "a redirect to a URL that robots.txt disallows there",
                )
            }
            FetchOutcome::Status(429 | 500..) => {
                (found.outcome, "a redirect to a host whose robots.txt is unreachable")
            }
            // If the host cannot be reached, the request for the target shows it, too.
            FetchOutcome::Status(_) | FetchOutcome::Failure(_) | FetchOutcome::NotAsked => {
                self.waiting_since = Instant::now();
                return Step::Next(self);
            }
            FetchOutcome::GivenUp => return self.given_up(),
        };
        let note = format!("{why}: {}", excerpt(target));
        Step::Done(Box::new(self.way.end(outcome, note)))
    }

    fn is_out_of_time(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    fn given_up(self) -> Step {
        Step::Done(Box::new(self.way.end(FetchOutcome::GivenUp, OUT_OF_TIME.to_owned())))
    }
}

impl Fetched {
    /// The outcome for `origin` if no request is sent, and why.
    pub(crate) fn not_asked(origin: &Origin, why: String) -> Fetched {
        let nobody = Fetched::before(format!("{origin}/robots.txt"));
        nobody.end(FetchOutcome::NotAsked, why)
    }

    /// The state before the first request.
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

    /// The end of a fetch whose next target may not be asked, behind the redirect `hop` if there was one.
    fn turned_away(self, hop: Option<Redirect>, note: String) -> Step {
        let outcome = hop.map_or(FetchOutcome::NotAsked, |hop| FetchOutcome::Status(hop.status));
        Step::Done(Box::new(self.end(outcome, note)))
    }

    /// The end of a fetch without an answer.
    fn failed(self, problem: &Problem) -> Step {
        let outcome = FetchOutcome::Failure(problem.kind);
        Step::Done(Box::new(self.end(outcome, excerpt(&problem.why))))
    }

    fn end(mut self, outcome: FetchOutcome, note: String) -> Fetched {
        self.outcome = outcome;
        self.note = note;
        self
    }
}

/// Looks up the host, checks whether it may be requested, and sends the request.
fn ask(
    url: &Url,
    private: &mut Option<Private>,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<ServerResponse, Stop> {
    let port = url.port_or_known_default().unwrap_or_default();
    if settings.ports == Ports::Usual && !USUAL_PORTS.contains(&port) {
        let why =
            format!("port {port} is not usual for web sites: not fetched; see --fetch-any-port");
        return Err(Stop::Forbidden(why));
    }
    let patience = deadline.left(settings.connect_timeout)?;
    let found = lookup(url.host_str().unwrap_or_default(), port, patience)?;
    let forbidden = |address: SocketAddr| {
        Stop::Forbidden(format!(
            "{} is a private address: not fetched; see --allow-private-addresses",
            address.ip()
        ))
    };
    let addresses = within_reach(found, private, settings.reach).map_err(forbidden)?;
    let ask = if url.scheme() == "ftp" { ftp::retrieve } else { http::get };
    Ok(ask(url, &addresses, settings, deadline)?)
}

/// Whether private addresses are allowed; the first host decides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Private {
    Allowed,
    Refused,
}

/// The allowed addresses of `found`: the public ones, if there are any. If there are only forbidden
/// private addresses, one of them is the error.
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

/// Whether the robots.txt `body` allows `url` to `*`.
fn is_allowed(body: &[u8], url: &str) -> bool {
    let nobody: [&str; 0] = [];
    RobotsTxt::parse(body).matcher(nobody).is_ok_and(|rules| rules.is_allowed(url))
}

/// What follows `answer`, which is from the last URL of `asked`.
fn following(answer: &ServerResponse, asked: &[Url], redirects_max: usize) -> Following {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Following::End;
    }
    let Some(location) = &answer.location else {
        return Following::Stuck("a redirect without a Location".to_owned());
    };
    if location.len() > LOCATION_BYTES_MAX {
        return Following::Stuck(format!("a redirect to a URL of {} bytes", location.len()));
    }
    let stuck = |why: &str| Following::Stuck(format!("{why}: {}", excerpt(location)));
    let base = asked.last().expect("somebody gave the answer");
    match target_of(base, location) {
        None => stuck("a redirect to a URL that is not http, https or ftp"),
        // Without cookies, the same request gets the same answer.
        Some(target) if asked.contains(&target) => stuck("a redirect loop"),
        Some(_) if asked.len() > redirects_max => stuck("too many redirects"),
        Some(target) => Following::To(target),
    }
}

/// The URL of `location` relative to `base`, without user, password and fragment.
fn target_of(base: &Url, location: &str) -> Option<Url> {
    let mut url = base.join(location).ok()?;
    if !matches!(url.scheme(), "http" | "https" | "ftp") || url.host_str().is_none() {
        return None;
    }
    url.set_fragment(None);
    // These calls cannot fail for a URL with a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url)
}

/// Downloads a published file, such as the address ranges of a crawler, completely or not at all;
/// follows redirects as the settings allow.
///
/// # Errors
/// If the file does not exist, or it has `body_bytes_max` bytes or more.
pub fn download(url: &str, settings: &Settings) -> Result<Vec<u8>, Error> {
    let invalid = |why: String| Error::invalid_file(Path::new(url), why);
    let parsed = Url::parse(url).map_err(|err| invalid(err.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https" | "ftp") || parsed.host_str().is_none() {
        return Err(invalid("not an http, https or ftp URL".to_owned()));
    }
    let followed = follow(parsed, settings);
    match followed.outcome {
        FetchOutcome::Status(200) if followed.body.len() < settings.body_bytes_max => {
            Ok(followed.body)
        }
        FetchOutcome::Status(200) => {
            Err(invalid(format!("too large: {} bytes or more", settings.body_bytes_max)))
        }
        outcome if followed.note.is_empty() => Err(invalid(format!("download failed: {outcome}"))),
        outcome => Err(invalid(format!("download failed: {outcome} ({})", followed.note))),
    }
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
        // Also if an IPv6 address contains the private address.
        for carrier in ["[::ffff:0.0.0.0]:80", "[64:ff9b:1::a00:1]:80", "[2606::5efe:a00:1]:80"] {
            check(Reach::AsAsked, &[&[public], &[address(carrier)]], &[Some(&[public]), None]);
        }
        // A name with both kinds is a public host, and only its public addresses are used.
        check(Reach::AsAsked, &[&[private, public], &[private]], &[Some(&[public]), None]);
    }
}
