//! Downloads one file over FTP (RFC 959, RFC 2428): anonymous login, passive mode, binary. Replies (RFC 959 section 4.2)
//! are read within limits.
//!
//! The six commands are implemented here, because `suppaftp` has only a timeout for each read, so
//! that a server that sends single bytes outlasts the deadline of the fetch.
//!
//! FTP replies are translated to HTTP statuses (section 4.2.1 of RFC 959): a complete file is 200;
//! a permanent refusal (5yz) is 404 for the file and 401 for the login, so there is no robots.txt;
//! a temporary refusal (4yz) is 503, and so is 421, which an overloaded server may send at any
//! time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use percent_encoding::percent_decode_str;
use url::Url;

use super::outcome::{FailureKind, Problem, ServerResponse, excerpt};
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
pub(super) fn retrieve(
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

/// The longest line of a reply; servers send less than 1,000 bytes.
const LINE_BYTES_MAX: usize = 4096;

/// The most lines of a reply; greetings can be long.
const LINES_MAX: usize = 512;

/// The class of a reply: the first digit of its code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Class {
    /// 1yz: another reply follows.
    Preliminary,
    /// 2yz: done.
    Completed,
    /// 3yz: the server expects another command.
    Intermediate,
    /// 4yz: temporary refusal.
    Transient,
    /// 5yz: permanent refusal.
    Permanent,
}

/// One reply.
#[derive(Debug)]
pub struct Reply {
    /// Three digits.
    pub code: u16,
    /// Its last line, without the end of the line.
    pub line: Vec<u8>,
}

impl Reply {
    /// `None` outside 1yz to 5yz.
    fn new(line: Vec<u8>) -> Option<Reply> {
        let digits = line.get(..3)?;
        if !(matches!(digits[0], b'1'..=b'5') && digits.iter().all(u8::is_ascii_digit)) {
            return None;
        }
        let code = digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
        Some(Reply { code, line })
    }

    /// The first digit.
    pub(crate) fn class(&self) -> Class {
        match self.code / 100 {
            1 => Class::Preliminary,
            2 => Class::Completed,
            3 => Class::Intermediate,
            4 => Class::Transient,
            _ => Class::Permanent,
        }
    }

    /// The text for a message.
    pub(crate) fn text(&self) -> String {
        excerpt(&String::from_utf8_lossy(&self.line))
    }
}

/// The control connection.
#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    deadline: Deadline,
    /// Bytes that were read but belong to later lines.
    pending: Vec<u8>,
}

impl Control {
    /// Takes over a connection.
    pub fn new(stream: TcpStream, deadline: Deadline) -> Control {
        Control { stream, deadline, pending: Vec::new() }
    }

    /// Sends `command` and reads the reply.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Reply, Problem> {
        self.deadline.arm(&self.stream)?;
        let sent = self.stream.write_all(format!("{command}\r\n").as_bytes());
        sent.map_err(|err| Problem::of_io(&err))?;
        self.reply()
    }

    /// Reads a reply; of several lines (`123-` to `123 `), the last one is kept.
    pub fn reply(&mut self) -> Result<Reply, Problem> {
        let first = self.line()?;
        let is_last = first.get(3) != Some(&b'-');
        let Some(reply) = Reply::new(first) else { return Err(no_reply()) };
        if is_last {
            return Ok(reply);
        }
        for _ in 1..LINES_MAX {
            let line = self.line()?;
            let is_same = line.get(..3) == reply.line.get(..3);
            if is_same && line.get(3) != Some(&b'-') {
                return Ok(Reply { code: reply.code, line });
            }
        }
        Err(no_reply())
    }

    /// Reads up to LF; a CR before it is dropped.
    fn line(&mut self) -> Result<Vec<u8>, Problem> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.pending) {
                let mut line: Vec<u8> = self.pending.drain(..=end).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
            if self.pending.len() > LINE_BYTES_MAX {
                return Err(no_reply());
            }
            let mut buf = [0; 1024];
            self.deadline.arm(&self.stream)?;
            match self.stream.read(&mut buf) {
                Ok(0) => {
                    let why = "the server closed the control connection";
                    return Err(Problem::new(FailureKind::Interrupted, why));
                }
                Ok(read) => self.pending.extend_from_slice(&buf[..read]),
                Err(err) if err.kind() == std::io::ErrorKind::Interrupted => {}
                Err(err) => return Err(Problem::of_io(&err)),
            }
        }
    }
}

fn no_reply() -> Problem {
    Problem::new(FailureKind::InvalidResponse, "the server does not speak FTP")
}

/// The port in a reply to EPSV (RFC 2428): `229 text (|||6446|)`, with any visible character for
/// `|`.
pub fn extended_port(line: &[u8]) -> Option<u16> {
    let open = memchr::memchr(b'(', line)?;
    let [mark, second, third, rest @ ..] = &line[open + 1..] else { return None };
    if !(mark.is_ascii_graphic() && mark == second && mark == third) {
        return None;
    }
    let end = memchr::memchr(*mark, rest)?;
    port_number(&rest[..end])
}

/// The port in a reply to PASV: the last two of six numbers. The address before them is ignored: a
/// server that names another one would make this program connect to a third party.
pub fn passive_port(line: &[u8]) -> Option<u16> {
    let text = line.get(4..)?;
    let start = text.iter().position(u8::is_ascii_digit)?;
    let end = text[start..]
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b',')
        .map_or(text.len(), |len| start + len);
    let numbers = text[start..end].split(|&byte| byte == b',');
    let numbers: Option<Vec<u8>> =
        numbers.map(|digits| std::str::from_utf8(digits).ok()?.parse::<u8>().ok()).collect();
    let [_, _, _, _, high, low] = numbers?[..] else { return None };
    Some(u16::from_be_bytes([high, low])).filter(|port| *port != 0)
}

fn port_number(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|port| *port != 0)
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

    #[test]
    fn reads_the_port_of_both_kinds_of_reply() {
        let extended = |line: &str| extended_port(line.as_bytes());
        assert_eq!(extended("229 Entering Extended Passive Mode (|||6446|)"), Some(6446));
        assert_eq!(extended("229 (!!!21!)"), Some(21));
        for line in
            ["229 ok", "229 (|||0|)", "229 (|||65536|)", "229 (|1|::1|5|)", "229 (|||5", "("]
        {
            assert_eq!(extended(line), None, "{line}");
        }
        let passive = |line: &str| passive_port(line.as_bytes());
        assert_eq!(passive("227 Entering Passive Mode (127,0,0,1,25,46)."), Some(6446));
        assert_eq!(passive("227 =10,9,8,7,0,80"), Some(80));
        for line in ["227 ok", "227", "227 (1,2,3,4,5)", "227 (1,2,3,4,256,1)", "227 (1,2,3,4,0,0)"]
        {
            assert_eq!(passive(line), None, "{line}");
        }
    }

    #[test]
    fn a_code_is_three_digits_of_five_classes() {
        let class = |line: &str| Reply::new(line.as_bytes().to_vec()).map(|reply| reply.class());
        assert_eq!(class("150 here it comes"), Some(Class::Preliminary));
        assert_eq!(class("226"), Some(Class::Completed));
        assert_eq!(class("331 who"), Some(Class::Intermediate));
        assert_eq!(class("421 later"), Some(Class::Transient));
        assert_eq!(class("550-no"), Some(Class::Permanent));
        for line in ["", "22", "600 x", "HTTP/1.1 400", "x20 y"] {
            assert_eq!(class(line), None, "{line}");
        }
    }
}
