//! Origins: the scope of a robots.txt (RFC 9309 section 2.3), in canonical form.

use std::{fmt, str::FromStr};

use url::Host;

use super::path::{SCHEME_BYTES_MAX, split_scheme};

/// The longest host that is accepted, in bytes, before and after encoding. DNS allows 253; an IDN
/// may be several times longer before it is encoded.
const HOST_BYTES_MAX: usize = 1024;

/// `scheme://host[:port]`: scheme and host in lower case, one trailing dot of the
/// host dropped, IDNA to ASCII, default port dropped, IPv6 in brackets.
///
/// ```
/// use botaudit::Origin;
/// let origin = Origin::parse("HTTPS://WWW.Müller.example.:443/page".as_bytes());
/// assert_eq!(origin.ok_or("no origin")?.as_str(), "https://www.xn--mller-kva.example");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Origin {
    text: Box<str>,
    scheme_len: u8,
}

impl Origin {
    /// The origin of `host` and `port` under `scheme`; `None` if the host is invalid. The default
    /// port of the scheme is omitted.
    pub fn new(scheme: &[u8], host: &[u8], port: Option<u16>) -> Option<Origin> {
        let scheme = canonical_scheme(scheme)?;
        let host = canonical_host(host)?;
        let text = match port {
            Some(port) if default_port(&scheme) != Some(port) => {
                format!("{scheme}://{host}:{port}")
            }
            _ => format!("{scheme}://{host}"),
        };
        Some(Origin { text: text.into(), scheme_len: scheme.len() as u8 })
    }

    /// The origin of an absolute URL; the part after the authority is ignored. `None` without
    /// scheme and `://`, or if the authority is not a host and port.
    pub fn parse(url: &[u8]) -> Option<Origin> {
        let (scheme, rest) = split_scheme(url)?;
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        Origin::from_authority(scheme, &rest[..end])
    }

    /// The origin of `scheme` and an authority, `[user@]host[:port]`.
    pub fn from_authority(scheme: &[u8], authority: &[u8]) -> Option<Origin> {
        let host_port = match memchr::memrchr(b'@', authority) {
            Some(at) => &authority[at + 1..],
            None => authority,
        };
        let (host, port) = split_port(host_port)?;
        Origin::new(scheme, host, port)
    }

    /// The canonical form.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.text[..usize::from(self.scheme_len)]
    }

    /// The same host under https instead of http, or the reverse; `None` with a port.
    pub(crate) fn other_scheme(&self) -> Option<Origin> {
        let other: &[u8] = match self.scheme() {
            "http" => b"https",
            "https" => b"http",
            _ => return None,
        };
        let origin = Origin::new(other, self.host().as_bytes(), None);
        origin.filter(|_| self.port().is_none())
    }

    /// The host, and the port unless it is the default: the part after `://`.
    pub fn host_and_port(&self) -> &str {
        &self.text[usize::from(self.scheme_len) + 3..]
    }

    /// The host in canonical form; IPv6 with its brackets.
    pub fn host(&self) -> &str {
        let host_port = self.host_and_port();
        match host_port.rfind(':') {
            Some(colon) if !host_port[colon..].contains(']') => &host_port[..colon],
            _ => host_port,
        }
    }

    /// The port; `None` if it is the default of the scheme.
    pub fn port(&self) -> Option<u16> {
        self.host_and_port()[self.host().len()..].strip_prefix(':')?.parse().ok()
    }
}

/// Parses the text of a user; unlike [`Origin::parse`], it refuses a path.
impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let example = "not a valid origin; write one as https://example.com";
        let origin = Origin::parse(text.as_bytes()).ok_or(example)?;
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        match rest.find(['/', '?', '#']) {
            Some(end) if rest[end..] != *"/" => {
                Err(format!("an origin has no path; write {origin}"))
            }
            _ => Ok(origin),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Splits `host[:port]`. An empty port counts as no port; a port that is not a number up to 65,535
/// is an error.
pub(crate) fn split_port(host_port: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let colon = match memchr::memrchr(b':', host_port) {
        Some(colon) if !host_port[colon..].contains(&b']') => colon,
        _ => return Some((host_port, None)),
    };
    let (host, digits) = (&host_port[..colon], &host_port[colon + 1..]);
    if digits.is_empty() {
        return Some((host, None));
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let port = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((host, Some(port)))
}

/// A host in canonical form: lower case, one trailing dot removed, IDNA to ASCII. `None` with
/// several trailing dots, because no name has an empty label.
pub fn canonical_host(host: &[u8]) -> Option<String> {
    if host.is_empty() || host.len() > HOST_BYTES_MAX {
        return None;
    }
    match Host::parse(std::str::from_utf8(host).ok()?).ok()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let is_host = !name.is_empty() && !name.ends_with('.') && name.len() <= HOST_BYTES_MAX;
            is_host.then(|| name.to_owned())
        }
        address => Some(address.to_string()),
    }
}

fn canonical_scheme(scheme: &[u8]) -> Option<String> {
    if scheme.is_empty() || scheme.len() > SCHEME_BYTES_MAX {
        return None;
    }
    Some(std::str::from_utf8(scheme).ok()?.to_ascii_lowercase())
}

/// The default ports of schemes, as Google documents them.
pub(crate) fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        let origin = Origin::parse(url.as_bytes());
        assert_eq!(origin.as_ref().map(Origin::as_str), Some(expected), "{url}");
    }

    #[test]
    fn has_one_form_for_each_origin() {
        check("HTTP://WWW.Example.COM/x", "http://www.example.com");
        check("http://example.com.:80/", "http://example.com");
        check("https://example.com:443", "https://example.com");
        check("https://example.com:80", "https://example.com:80");
        check("http://example.com:8181/", "http://example.com:8181");
        check("http://example.com:/", "http://example.com");
        check("ftp://example.com:21/", "ftp://example.com");
        check("http://www.exämple.com/", "http://www.xn--exmple-cua.com");
        check("http://www.müller.eu/", "http://www.xn--mller-kva.eu");
        check("http://212.96.82.21/", "http://212.96.82.21");
        check("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080");
        check("http://[2001:db8::1]/", "http://[2001:db8::1]");
        check("http://user:pass@example.com:81/x@y", "http://example.com:81");
        check("http://a_b.example.com/", "http://a_b.example.com");
        check("http://example.com?x", "http://example.com");
    }

    #[test]
    fn refuses_what_is_no_origin() {
        for url in [
            "",
            "/x",
            "example.com/x",
            "http:/x",
            "http://",
            "http:///x",
            "http://a b/",
            "http://[::1/",
            "http://./",
            "http://a../",
            "http://a.../",
            "http://a.\u{3002}/",
            "http://1.2.3.4.../",
        ] {
            assert_eq!(Origin::parse(url.as_bytes()), None, "{url}");
        }
        assert_eq!(Origin::parse(b"http://a:99999/"), None);
        assert_eq!(Origin::parse(b"http://a:8x/"), None);
        assert_eq!(Origin::parse(b"http://\xff\xfe/"), None);
        assert_eq!(Origin::parse(format!("http://{}/", "a.".repeat(9000)).as_bytes()), None);
        // It is four times as long after encoding.
        assert_eq!(Origin::parse(format!("http://{}a/", "ü.".repeat(300)).as_bytes()), None);
    }

    #[test]
    fn gives_its_parts() {
        let origin = Origin::parse(b"https://Example.com:8443/").unwrap();
        assert_eq!(
            (origin.scheme(), origin.host(), origin.port()),
            ("https", "example.com", Some(8443))
        );
        let origin = Origin::parse(b"http://[::1]/").unwrap();
        assert_eq!((origin.host(), origin.port()), ("[::1]", None));
    }
}
