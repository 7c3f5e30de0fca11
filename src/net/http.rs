//! Sends one GET over HTTP/1.1, with TLS for https: to checked addresses only, and with a reset as an
//! error.

use std::{io, net::SocketAddr, time::Duration};

use ureq::http::{HeaderMap, HeaderName, Response, Uri, header};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport,
};
use ureq::{Agent, Body, Error, config::Config, tls::TlsConfig};
use url::Url;

use super::coding::{self, read_body};
use super::outcome::{FailureKind, Problem, ServerResponse, excerpt};
use super::settings::{Deadline, Settings};

/// The most bytes from the status line to the body; Chrome allows 256 KiB, most servers send 1.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Requests `url` from the first of `addresses` that can be reached. A redirect is an answer.
pub(super) fn get(
    url: &Url,
    addresses: &[SocketAddr],
    settings: &Settings,
    deadline: &Deadline,
) -> Result<ServerResponse, Problem> {
    let uri = Uri::try_from(url[..url::Position::AfterQuery].as_bytes())
        .map_err(|err| Problem::new(FailureKind::InvalidResponse, err.to_string()))?;
    let client = client(addresses, settings, deadline)?;
    let request = client
        .get(uri)
        .header(header::USER_AGENT, settings.user_agent.as_str())
        .header(header::ACCEPT, "text/plain, */*;q=0.5")
        .header(header::ACCEPT_ENCODING, coding::OFFERED)
        .header(header::CONNECTION, "close");
    let response = request.call().map_err(problem_of_head)?;
    answer(response, settings)
}

/// One client per request, with the addresses and the remaining time of this request.
fn client(
    addresses: &[SocketAddr],
    settings: &Settings,
    deadline: &Deadline,
) -> Result<Agent, Problem> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .max_idle_connections(0)
        .max_response_header_size(HEAD_BYTES_MAX)
        .input_buffer_size(HEAD_BYTES_MAX * 2)
        .timeout_global(Some(deadline.left(Duration::MAX)?))
        .timeout_connect(Some(settings.connect_timeout))
        .timeout_per_read(Some(settings.read_timeout))
        .timeout_per_write(Some(settings.read_timeout))
        .tls_config(TlsConfig::builder().root_certs(settings.trust.roots()).build())
        .build();
    Ok(Agent::with_parts(config, connector(), Pinned(addresses.to_vec())))
}

fn answer(response: Response<Body>, settings: &Settings) -> Result<ServerResponse, Problem> {
    let status = response.status().as_u16();
    let (parts, body) = response.into_parts();
    let mut answer = ServerResponse { status, ..ServerResponse::default() };
    answer.location = values(&parts.headers, header::LOCATION)
        .next()
        .map(|location| String::from_utf8_lossy(location).into_owned());
    answer.max_age_seconds = max_age_seconds(values(&parts.headers, header::CACHE_CONTROL));
    if (200..300).contains(&status) {
        let codings: Vec<&[u8]> = values(&parts.headers, header::CONTENT_ENCODING).collect();
        answer.body =
            read_body(body.into_reader(), &codings, settings.body_bytes_max, problem_of_body)?;
    }
    Ok(answer)
}

fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    headers.get_all(name).into_iter().map(|value| value.as_bytes())
}

fn problem_of_head(err: Error) -> Problem {
    problem_of(err, FailureKind::InvalidResponse)
}

/// After the start of a body, only its chunks can violate the protocol.
fn problem_of_body(err: io::Error) -> Problem {
    problem_of(Error::from(err), FailureKind::BadChunking)
}

fn problem_of(err: Error, broken_protocol: FailureKind) -> Problem {
    let kind = match &err {
        Error::Timeout(_) => FailureKind::Timeout,
        Error::Io(err) => return Problem::of_io(err),
        Error::HostNotFound | Error::BadUri(_) => FailureKind::Dns,
        Error::ConnectionFailed => FailureKind::Connect,
        Error::Tls(_) | Error::Rustls(_) | Error::TlsRequired | Error::Pem(_) => FailureKind::Tls,
        Error::Protocol(_) => broken_protocol,
        _ => FailureKind::InvalidResponse,
    };
    Problem::new(kind, excerpt(&err.to_string()))
}

/// Resolves to addresses that were looked up and checked before, whatever a name server answers
/// later.
#[derive(Debug)]
struct Pinned(pub Vec<SocketAddr>);

impl Resolver for Pinned {
    fn resolve(
        &self,
        _uri: &Uri,
        _config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let mut found = self.empty();
        for address in &self.0 {
            if found.try_push(*address).is_err() {
                break;
            }
        }
        if found.is_empty() { Err(Error::HostNotFound) } else { Ok(found) }
    }
}

/// The client's own connections, with TLS for https, on which a reset is an error.
fn connector() -> impl Connector {
    DefaultConnector::new().chain(StrictConnector)
}

#[derive(Debug)]
struct StrictConnector;

impl<In: Transport> Connector<In> for StrictConnector {
    type Out = Strict<In>;

    fn connect(
        &self,
        _details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Strict<In>>, Error> {
        Ok(chained.map(Strict))
    }
}

/// Without a length and chunks, the client would take a reset for the end of the body.
#[derive(Debug)]
struct Strict<T>(T);

impl<T: Transport> Transport for Strict<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.0.await_input(timeout).map_err(|err| match err {
            Error::Io(err) if is_reset(&err) => {
                Error::Io(io::Error::new(io::ErrorKind::BrokenPipe, err))
            }
            err => err,
        })
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

fn is_reset(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted)
}

/// The cap of all ages in seconds: 2^31, as the standard requires.
const SECONDS_MAX: u64 = 1 << 31;

/// The first numeric `max-age` in the values of `Cache-Control` (RFC 9111 sections 1.2.2 and 5.2), in
/// seconds. Other directives are ignored.
pub(crate) fn max_age_seconds<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<u64> {
    let mut directives = values.flat_map(|value| value.split(|&byte| byte == b','));
    directives.find_map(|directive| {
        let equals = memchr::memchr(b'=', directive)?;
        let (name, age) = (directive[..equals].trim_ascii(), directive[equals + 1..].trim_ascii());
        let digits = age.strip_prefix(b"\"").and_then(|age| age.strip_suffix(b"\""));
        let digits = digits.unwrap_or(age);
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !name.eq_ignore_ascii_case(b"max-age") || !is_number {
            return None;
        }
        let seconds = std::str::from_utf8(digits).ok()?.parse().unwrap_or(SECONDS_MAX);
        Some(seconds.min(SECONDS_MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_max_age() {
        let check = |values: &[&str], expected: Option<u64>| {
            let found = max_age_seconds(values.iter().map(|value| value.as_bytes()));
            assert_eq!(found, expected, "{values:?}");
        };
        check(&[], None);
        check(&["max-age=60"], Some(60));
        check(&["public, MAX-AGE = 3600 , must-revalidate"], Some(3600));
        check(&["max-age=\"7\""], Some(7));
        check(&["no-cache", "max-age=0"], Some(0));
        check(&["s-maxage=5"], None);
        check(&["max-age=5, max-age=9"], Some(5));
        check(&["max-age"], None);
        check(&["max-age=", "max-age=-1", "max-age=1.5"], None);
        check(&["max-age=99999999999999999999999"], Some(1 << 31));
        check(&["max-age=2147483649"], Some(1 << 31));
        check(&["max-age=, Max-Age = \"5\", max-age=6"], Some(5));
    }
}
