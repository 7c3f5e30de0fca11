//! How far, how long and in whose name is asked.

use std::{fs, path::Path, sync::Arc, time::Duration};

use ureq::http::HeaderValue;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

use crate::error::{Error, Result};

/// Bytes of a robots.txt that are read: the 512,000 that count, and one that tells
/// a file of that size from a longer one.
pub const ROBOTS_BYTES_MAX: usize = 512_001;

/// All that a fetch depends on but the origin.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The `User-Agent` header, and over FTP the password of the anonymous login.
    pub user_agent: UserAgent,
    /// To find a host, and again to connect to it, TLS included.
    pub connect_timeout: Duration,
    /// Between two arrivals of bytes.
    pub read_timeout: Duration,
    /// For all of it, redirects and body included; not the waiting at [`rate_limit`](super::rate_limit).
    pub total_timeout: Duration,
    /// Redirects that are followed; the next one is the outcome. Google follows at least five.
    pub redirects_max: usize,
    /// Bytes of a decoded body that are read; the connection is closed at that point.
    pub body_bytes_max: usize,
    /// Which addresses may be asked.
    pub reach: Reach,
    /// Who vouches for a certificate.
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
            trust: Trust::BuiltIn,
        }
    }
}

/// Which addresses may be asked. Private are those that only their own network can reach:
/// loopback, link-local, RFC 1918 and the like.
///
/// Hosts in a log are strangers' text, and so is the target of a redirect: without this,
/// either could make this program ask what stands behind its user's firewall.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// A private host if it was asked for; a public one cannot redirect to a private one.
    AsAsked,
    /// Public addresses only.
    Public,
}

/// Who vouches for a certificate.
#[derive(Clone, Debug)]
pub enum Trust {
    /// The authorities that Mozilla trusts, as they were when this program was built: the
    /// same on every machine, and there without any file.
    BuiltIn,
    /// These and no others.
    Only(Arc<Vec<Certificate<'static>>>),
}

impl Trust {
    /// Trusts the certificates of the PEM file `path`, and no others.
    ///
    /// # Errors
    /// Where it cannot be read or holds no certificate.
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

/// What this program calls itself; a value that a header can hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserAgent(String);

impl UserAgent {
    /// # Errors
    /// Where `text` is empty or has other characters than visible ASCII and spaces.
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
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `botaudit/VERSION` and where to read about it.
impl Default for UserAgent {
    fn default() -> UserAgent {
        let about = "(+https://crates.io/crates/botaudit)";
        UserAgent(format!("botaudit/{} {about}", env!("CARGO_PKG_VERSION")))
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
