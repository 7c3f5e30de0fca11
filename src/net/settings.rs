//! The settings of fetches: limits, timeouts, identification; and the deadline of one fetch.

use std::time::{Duration, Instant};
use std::{fs, net::TcpStream, path::Path, sync::Arc};

use ureq::http::HeaderValue;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use crate::error::{Error, Result};

use super::outcome::Problem;

/// The most bytes of a robots.txt that are read: the 512,000 that count, and one more to recognise
/// a longer file.
pub const ROBOTS_BYTES_MAX: usize = 512_001;

/// The settings of a fetch, without the origin.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The `User-Agent` header; over FTP, the password of the anonymous login.
    pub user_agent: UserAgent,
    /// The timeout for the lookup, and again for the connection with TLS.
    pub connect_timeout: Duration,
    /// The timeout between two reads.
    pub read_timeout: Duration,
    /// The timeout for the whole fetch with its redirects; without the wait for a busy host.
    pub total_timeout: Duration,
    /// The most redirects that are followed; the next one is the outcome. Google follows at least
    /// five.
    pub redirects_max: usize,
    /// The most bytes of a decoded body; the connection is then closed.
    pub body_bytes_max: usize,
    /// The allowed addresses.
    pub reach: Reach,
    /// The allowed ports, also of redirects.
    pub ports: Ports,
    /// The trusted certificate authorities.
    pub trust: Trust,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            user_agent: UserAgent::default(),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(30),
            redirects_max: 5,
            body_bytes_max: ROBOTS_BYTES_MAX,
            reach: Reach::AsAsked,
            ports: Ports::Any,
            trust: Trust::BuiltIn,
        }
    }
}

/// The allowed addresses. Private addresses are those that only their own network can reach:
/// loopback, link-local, RFC 1918 and similar.
///
/// Hosts in a log and targets of redirects are untrusted. Without this limit, they could make this
/// program send requests to hosts behind the user's firewall.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// A private host if the user named it; a public one cannot redirect to a private one.
    AsAsked,
    /// Public addresses only.
    Public,
}

/// The allowed ports.
///
/// A host in a log with a port is untrusted, too: a client could make this program send requests to
/// any service of any host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ports {
    /// Each.
    Any,
    /// [`USUAL_PORTS`].
    Usual,
}

/// The ports at which web sites are usual.
pub(crate) const USUAL_PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// The trusted certificate authorities.
#[derive(Clone, Debug)]
pub enum Trust {
    /// The authorities that Mozilla trusted when this program was built. They are the same on every
    /// machine and need no file.
    BuiltIn,
    /// Only these.
    Only(Arc<Vec<Certificate<'static>>>),
}

impl Trust {
    /// Trusts only the certificates in the PEM file `path`.
    ///
    /// # Errors
    /// If it cannot be read or contains no certificate.
    pub fn from_pem_file(path: &Path) -> Result<Trust> {
        let pem = fs::read(path).map_err(|err| Error::io("cannot read", path, err))?;
        let mut certificates = Vec::new();
        for item in parse_pem(&pem) {
            match item {
                Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
                Ok(_) => {}
                Err(err) => {
                    return Err(Error::invalid_file(path, format!("not a PEM file: {err}")));
                }
            }
        }
        if certificates.is_empty() {
            let why = "contains no certificate; name a PEM file with BEGIN CERTIFICATE";
            return Err(Error::invalid_file(path, why));
        }
        Ok(Trust::Only(Arc::new(certificates)))
    }

    pub(super) fn roots(&self) -> RootCerts {
        match self {
            Trust::BuiltIn => RootCerts::WebPki,
            Trust::Only(certificates) => RootCerts::new_with_certs(certificates),
        }
    }
}

/// A valid value of the `User-Agent` header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserAgent(String);

impl UserAgent {
    /// # Errors
    /// If `text` is empty or has characters other than visible ASCII and spaces.
    pub fn new(text: &str) -> Result<UserAgent> {
        let is_text = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if text.trim().is_empty() || !is_text || HeaderValue::from_str(text).is_err() {
            return Err(Error::usage(format!(
                "'{text}' is not a valid user agent; use ASCII, such as 'ExampleAudit/1.0 \
                 (+https://example.com/audit)'"
            )));
        }
        Ok(UserAgent(text.to_owned()))
    }

    /// The value.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// `botaudit/VERSION` and a URL with information.
impl Default for UserAgent {
    fn default() -> UserAgent {
        let about = "(+https://crates.io/crates/botaudit)";
        UserAgent(format!("botaudit/{} {about}", env!("CARGO_PKG_VERSION")))
    }
}

/// The time limits of one fetch: for the whole, and between two reads.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    read_timeout: Duration,
}

impl Deadline {
    /// Starts with `total` for the fetch, and `read_timeout` for each read.
    pub fn new(total: Duration, read_timeout: Duration) -> Deadline {
        let now = Instant::now();
        let century = Duration::from_secs(100 * 365 * 86_400);
        let end = now.checked_add(total).unwrap_or(now + century);
        Deadline { end, read_timeout }
    }

    /// Extends the deadline by time that the server did not cause.
    pub(crate) fn extend(&mut self, waited: Duration) {
        self.end += waited;
    }

    /// The same, but not after `until`.
    pub(crate) fn capped(self, until: Option<Instant>) -> Deadline {
        Deadline { end: until.map_or(self.end, |until| until.min(self.end)), ..self }
    }

    /// The remaining time, at most `most`; never zero, because that means no timeout to a socket.
    pub(crate) fn left(&self, most: Duration) -> std::result::Result<Duration, Problem> {
        let left = self.end.saturating_duration_since(Instant::now()).min(most);
        if left.is_zero() { Err(Problem::timeout("the time limit was exceeded")) } else { Ok(left) }
    }

    /// Sets the timeout of the next read of `stream`.
    pub(crate) fn arm(&self, stream: &TcpStream) -> std::result::Result<(), Problem> {
        let left = Some(self.left(self.read_timeout)?);
        let armed = stream.set_read_timeout(left).and_then(|()| stream.set_write_timeout(left));
        armed.map_err(|err| Problem::of_io(&err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_fits_in_a_header() {
        assert!(UserAgent::default().as_str().starts_with("botaudit/"));
        assert!(UserAgent::new(UserAgent::default().as_str()).is_ok());
        for text in ["", "  ", "a\r\nHost: b", "ü", "a\0"] {
            assert!(UserAgent::new(text).is_err(), "{text:?}");
        }
    }
}
