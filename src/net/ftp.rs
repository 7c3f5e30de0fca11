//! Downloads one file over FTP (RFC 959, RFC 2428): anonymous login, passive mode, binary.
//!
//! The six commands are implemented here, because `suppaftp` has only a timeout for each read, so
//! that a server that sends single bytes outlasts the deadline of the fetch.
//!
//! FTP replies are translated to HTTP statuses (section 4.2.1 of RFC 959): a complete file is 200;
//! a permanent refusal (5yz) is 404 for the file and 401 for the login, so there is no robots.txt;
//! a temporary refusal (4yz) is 503, and so is 421, which an overloaded server may send at any
//! time.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};

use percent_encoding::percent_decode_str;
use url::Url;

use super::ftp_reply::{Class, Control, Reply, extended_port, passive_port};
use super::outcome::{FailureKind, Problem, ServerResponse};
use super::settings::{Deadline, Settings};

/// A refusal is an answer, a fault is not.
enum Stop {
    Refused(ServerResponse),
    Failed(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Failed(problem)
    }
}

/// Downloads the file that `url` names from the first of `addresses` that can be reached.
pub(crate) fn retrieve(
    url: &Url,
    addresses: &[SocketAddr],
    settings: &Settings,
    deadline: &Deadline,
) -> Result<ServerResponse, Problem> {
    let path = path_of(url)?;
    let stream = connect(addresses, settings, deadline)?;
    let data_address = stream.peer_addr().map_err(|err| Problem::of_io(&err))?;
    let mut control = Control::new(stream, *deadline);
    let done = login(&mut control, settings)
        .and_then(|()| transfer(&mut control, &path, data_address, settings, deadline));
    match done {
        Ok(answer) | Err(Stop::Refused(answer)) => Ok(answer),
        Err(Stop::Failed(problem)) => Err(problem),
    }
}

fn login(control: &mut Control, settings: &Settings) -> Result<(), Stop> {
    let mut greeting = control.reply()?;
    if greeting.class() == Class::Preliminary {
        // 120: ready in some minutes.
        greeting = control.reply()?;
    }
    accept(&greeting, 401)?;
    let mut reply = control.ask("USER anonymous")?;
    if reply.code == 331 {
        reply = control.ask(&format!("PASS {}", settings.user_agent.as_str()))?;
    }
    accept(&reply, 401)?;
    // Binary mode; a server without other modes may refuse the command.
    let reply = control.ask("TYPE I")?;
    if reply.class() == Class::Transient { accept(&reply, 503) } else { Ok(()) }
}

fn transfer(
    control: &mut Control,
    path: &str,
    address: SocketAddr,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<ServerResponse, Stop> {
    let port = passive_mode(control, address)?;
    let mut data = connect(&[SocketAddr::new(address.ip(), port)], settings, deadline)?;
    let reply = control.ask(&format!("RETR {path}"))?;
    let is_pending = reply.class() == Class::Preliminary;
    if !is_pending {
        accept(&reply, 404)?;
    }
    let body = read_data(&mut data, settings.body_bytes_max, deadline)?;
    drop(data);
    // At the limit, the connection is closed in the middle of the transfer.
    if is_pending && body.len() < settings.body_bytes_max {
        let end = control.reply()?;
        if end.class() != Class::Completed {
            return Err(Problem::new(FailureKind::Interrupted, end.text()).into());
        }
    }
    Ok(ServerResponse { status: 200, body, ..ServerResponse::default() })
}

/// The data port: EPSV, or PASV for servers without EPSV.
fn passive_mode(control: &mut Control, address: SocketAddr) -> Result<u16, Stop> {
    let mut reply = control.ask("EPSV")?;
    let port_in = if reply.class() == Class::Permanent && address.is_ipv4() {
        reply = control.ask("PASV")?;
        passive_port
    } else {
        extended_port
    };
    if reply.class() == Class::Transient {
        accept(&reply, 503)?;
    }
    let port = port_in(&reply.line).filter(|_| reply.class() == Class::Completed);
    let no_port = || Problem::new(FailureKind::InvalidResponse, reply.text());
    port.ok_or_else(|| no_port().into())
}

fn connect(
    addresses: &[SocketAddr],
    settings: &Settings,
    deadline: &Deadline,
) -> Result<TcpStream, Problem> {
    let mut problem = Problem::new(FailureKind::Connect, "the host has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, deadline.left(settings.connect_timeout)?) {
            Ok(stream) => return Ok(stream),
            Err(err) => problem = Problem::of_io(&err),
        }
    }
    Err(problem)
}

fn read_data(
    data: &mut TcpStream,
    bytes_max: usize,
    deadline: &Deadline,
) -> Result<Vec<u8>, Problem> {
    let mut body = Vec::new();
    let mut buf = vec![0; 32 << 10];
    while body.len() < bytes_max {
        deadline.arm(data)?;
        let len = buf.len().min(bytes_max - body.len());
        match data.read(&mut buf[..len]) {
            Ok(0) => break,
            Ok(read) => body.extend_from_slice(&buf[..read]),
            Err(err) if err.kind() == std::io::ErrorKind::Interrupted => {}
            Err(err) => return Err(Problem::of_io(&err)),
        }
    }
    Ok(body)
}

/// Continues after 2yz; `refused` is the status of a permanent refusal.
fn accept(reply: &Reply, refused: u16) -> Result<(), Stop> {
    let status = match reply.class() {
        Class::Completed => return Ok(()),
        Class::Transient => 503,
        // 332 asks for an account, which refuses an anonymous login.
        Class::Permanent | Class::Intermediate => refused,
        Class::Preliminary => {
            return Err(Problem::new(FailureKind::InvalidResponse, reply.text()).into());
        }
    };
    Err(Stop::Refused(ServerResponse { status, note: reply.text(), ..ServerResponse::default() }))
}

/// The path for a command: decoded, and without line breaks.
fn path_of(url: &Url) -> Result<String, Problem> {
    match percent_decode_str(url.path()).decode_utf8() {
        Ok(path) if !path.contains(['\r', '\n', '\0']) => Ok(path.into_owned()),
        _ => Err(Problem::new(
            FailureKind::InvalidResponse,
            "the path is not a valid FTP file \
             name",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_line() {
        let path = |url: &str| path_of(&Url::parse(url).unwrap()).map_err(|problem| problem.kind);
        assert_eq!(path("ftp://a/robots.txt"), Ok("/robots.txt".to_owned()));
        assert_eq!(path("ftp://a/%7Eb/%c3%bc%2"), Ok("/~b/ü%2".to_owned()));
        let refused = Err(FailureKind::InvalidResponse);
        assert_eq!(path("ftp://a/x%0d%0aDELE%20y"), refused);
        assert_eq!(path("ftp://a/%00"), refused);
        assert_eq!(path("ftp://a/%ff"), refused);
    }
}
