//! Sends one GET over HTTP/1.1, with TLS for https.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use ureq::http::{HeaderMap, HeaderName, Response, Uri, header};
use ureq::{Agent, Body, Error, tls::TlsConfig};
use url::Url;

use super::coding::{self, read_body};
use super::outcome::{FailureKind, Problem, ServerResponse, excerpt};
use super::transport::{Pinned, connector};
use super::{cache_control::max_age_seconds, settings::Settings, timeout::Deadline};

/// The most bytes from the status line to the body; Chrome allows 256 KiB, most servers send 1.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Requests `url` from the first of `addresses` that can be reached. A redirect is an answer.
pub(crate) fn get(
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
