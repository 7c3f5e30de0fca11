//! Sends one question to a name server and parses the answer.
//!
//! It uses UDP, and TCP if the answer is truncated. The server must be recursive, such as those of
//! `/etc/resolv.conf`. Its answer is untrusted all the same.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use std::{fs, path::Path};

use botaudit_robots::named_enum;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, RCODE, TYPE, rdata::RData};

use crate::error::{Error, Result};

/// The system's list of name servers.
const RESOLV_CONF: &str = "/etc/resolv.conf";

/// The most servers that are tried, as in the C library.
const SERVERS_MAX: usize = 3;

/// How often a question is sent, each time to the next server.
const TRIES: u32 = 2;

/// The most CNAME records that are followed within one answer.
const ALIASES_MAX: usize = 16;

named_enum! {
    /// The type of a record.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum RecordKind {
        /// Address to name.
        Ptr = "PTR",
        /// Name to IPv4 address.
        A = "A",
        /// Name to IPv6 address.
        Aaaa = "AAAA",
    }
}

impl RecordKind {
    fn wire(self) -> TYPE {
        match self {
            RecordKind::Ptr => TYPE::PTR,
            RecordKind::A => TYPE::A,
            RecordKind::Aaaa => TYPE::AAAA,
        }
    }
}

/// A question.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Question {
    /// Lower-case, without the last dot.
    pub name: String,
    /// The kind of records.
    pub kind: RecordKind,
}

impl Question {
    /// The question for the names of `address`.
    pub(crate) fn names_of(address: IpAddr) -> Question {
        let name = match address.to_canonical() {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                format!("{d}.{c}.{b}.{a}.in-addr.arpa")
            }
            IpAddr::V6(address) => {
                let nibbles = address.octets().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
                let labels: String = nibbles.rev().map(|nibble| format!("{nibble:x}.")).collect();
                labels + "ip6.arpa"
            }
        };
        Question { name, kind: RecordKind::Ptr }
    }

    /// The question for the addresses of `name`, of the same family as `like`.
    pub(crate) fn addresses_of(name: &str, like: IpAddr) -> Question {
        let kind = if like.to_canonical().is_ipv4() { RecordKind::A } else { RecordKind::Aaaa };
        Question { name: plain_name(name), kind }
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsFailure(pub String);

/// The records that answer a question, or the reason why there is no answer.
type Records = std::result::Result<Vec<String>, DnsFailure>;

/// A client with its servers and timeout.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    servers: Vec<SocketAddr>,
    timeout: Duration,
}

impl Resolver {
    /// A client of `server` with `timeout` for each question.
    pub(crate) fn new(server: SocketAddr, timeout: Duration) -> Resolver {
        Resolver { servers: vec![server], timeout }
    }

    /// A client of the system's servers.
    ///
    /// # Errors
    /// If the system names no server.
    pub(crate) fn of_system(timeout: Duration) -> Result<Resolver> {
        let path = Path::new(RESOLV_CONF);
        let text = fs::read(path).map_err(|err| Error::io("cannot read", path, err))?;
        let servers = servers_of(&text);
        if servers.is_empty() {
            let why = "names no server; add --dns-server 192.0.2.53:53";
            return Err(Error::invalid_file(path, why));
        }
        Ok(Resolver { servers, timeout })
    }

    /// The names or addresses that answer `question`, as text; empty if the name does not exist or
    /// does not have such records.
    ///
    /// # Errors
    /// If no server gave a valid answer: no reply in time, a refusal, a malformed reply.
    pub(crate) fn ask(&self, question: &Question) -> Records {
        let mut failure = DnsFailure("no server".to_owned());
        for (attempt, server) in (0..TRIES).zip(self.servers.iter().cycle()) {
            let id = random_id(attempt);
            let query = query(question, id)?;
            let reply = exchange(*server, &query, id, self.timeout / TRIES);
            match reply
                .map_err(|err| DnsFailure(err.to_string()))
                .and_then(|reply| read(&reply, question, id))
            {
                Ok(records) => return Ok(records),
                Err(reason) => failure = DnsFailure(format!("{server}: {}", reason.0)),
            }
        }
        Err(failure)
    }
}

/// The addresses after `nameserver`, at most [`SERVERS_MAX`].
fn servers_of(text: &[u8]) -> Vec<SocketAddr> {
    let text = String::from_utf8_lossy(text);
    let words = text.lines().map(str::split_whitespace);
    let servers = words.filter_map(|mut words| {
        let address = (words.next()? == "nameserver").then(|| words.next())??;
        Some(SocketAddr::new(address.parse().ok()?, 53))
    });
    servers.take(SERVERS_MAX).collect()
}

/// Lower-case, without the last dot.
pub fn plain_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether `name` is one of `suffixes` or a subdomain of one.
pub(crate) fn is_within(name: &str, suffixes: &[String]) -> bool {
    let name = plain_name(name);
    suffixes.iter().any(|suffix| {
        let suffix = plain_name(suffix.trim_start_matches('.'));
        let head = name.strip_suffix(suffix.as_str());
        !suffix.is_empty() && head.is_some_and(|head| head.is_empty() || head.ends_with('.'))
    })
}

fn query(question: &Question, id: u16) -> std::result::Result<Vec<u8>, DnsFailure> {
    let invalid =
        |err: simple_dns::SimpleDnsError| DnsFailure(format!("'{}': {err}", question.name));
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(simple_dns::Question::new(
        Name::new(&question.name).map_err(invalid)?,
        QTYPE::TYPE(question.kind.wire()),
        QCLASS::CLASS(CLASS::IN),
        false,
    ));
    packet.build_bytes_vec().map_err(invalid)
}

/// Sends `query` to `server` and returns the whole reply. Only its id is checked.
fn exchange(server: SocketAddr, query: &[u8], id: u16, timeout: Duration) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + timeout;
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // The system then drops packets from other addresses.
    socket.connect(server)?;
    socket.send(query)?;
    let mut buffer = [0; 4096];
    let reply = loop {
        socket.set_read_timeout(Some(remaining(deadline)?))?;
        let length = socket.recv(&mut buffer).map_err(in_words)?;
        if buffer[..length].starts_with(&id.to_be_bytes()) {
            break &buffer[..length];
        }
    };
    if is_cut_short(reply) { exchange_tcp(server, query, deadline) } else { Ok(reply.to_vec()) }
}

fn exchange_tcp(server: SocketAddr, query: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&server, remaining(deadline)?).map_err(in_words)?;
    stream.set_write_timeout(Some(remaining(deadline)?))?;
    let length = u16::try_from(query.len()).expect("a question has at most some 300 bytes");
    stream.write_all(&[&length.to_be_bytes(), query].concat()).map_err(in_words)?;
    let mut length = [0; 2];
    read_until(&mut stream, &mut length, deadline)?;
    let mut reply = vec![0; u16::from_be_bytes(length).into()];
    read_until(&mut stream, &mut reply, deadline)?;
    Ok(reply)
}

/// Fills `buffer` by `deadline`, however slowly the bytes arrive.
fn read_until(stream: &mut TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        match stream.read(&mut buffer[filled..]).map_err(in_words)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => filled += more,
        }
    }
    Ok(())
}

/// At least one millisecond, because zero means no timeout to a socket.
fn remaining(deadline: Instant) -> io::Result<Duration> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.as_millis() == 0 {
        Err(in_words(io::ErrorKind::TimedOut.into()))
    } else {
        Ok(remaining)
    }
}

fn in_words(err: io::Error) -> io::Error {
    match err.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, "no answer in time")
        }
        _ => err,
    }
}

/// Whether the TC bit is set. It is read from the bytes, because a truncated packet may not parse.
fn is_cut_short(reply: &[u8]) -> bool {
    reply.get(2).is_some_and(|flags| flags & 0x02 != 0)
}

/// The records of `reply` that answer `question`.
pub fn read(reply: &[u8], question: &Question, id: u16) -> Records {
    let failure = |why: &str| DnsFailure(why.to_owned());
    let packet = Packet::parse(reply).map_err(|err| {
        DnsFailure(format!(
            "not a valid DNS reply: \
         {err}"
        ))
    })?;
    let asked = packet.questions.first();
    let is_ours = asked.is_some_and(|asked| {
        plain_name(&asked.qname.to_string()) == question.name
            && asked.qtype == QTYPE::TYPE(question.kind.wire())
    });
    if packet.id() != id || !packet.has_flags(PacketFlag::RESPONSE) || !is_ours {
        return Err(failure("a reply to another query"));
    }
    match packet.rcode() {
        RCODE::NoError => {}
        RCODE::NameError => return Ok(Vec::new()),
        refusal => return Err(DnsFailure(format!("{refusal:?}"))),
    }
    let is_final = packet.has_flags(PacketFlag::RECURSION_AVAILABLE)
        || packet.has_flags(PacketFlag::AUTHORITATIVE_ANSWER);
    if packet.answers.is_empty() && !is_final {
        return Err(failure("the server only refers to other servers"));
    }
    let mut name = question.name.clone();
    for _ in 0..ALIASES_MAX {
        let of_name =
            || packet.answers.iter().filter(|record| plain_name(&record.name.to_string()) == name);
        let found: Vec<String> =
            of_name().filter_map(|record| text(&record.rdata, question.kind)).collect();
        let alias = of_name().find_map(|record| match &record.rdata {
            RData::CNAME(alias) => Some(plain_name(&alias.0.to_string())),
            _ => None,
        });
        match alias {
            Some(alias) if found.is_empty() => name = alias,
            _ if found.is_empty() && name != question.name => break,
            _ => return Ok(found),
        }
    }
    Err(failure("the answer ends in an alias"))
}

fn text(data: &RData<'_>, kind: RecordKind) -> Option<String> {
    match (data, kind) {
        (RData::PTR(name), RecordKind::Ptr) => Some(plain_name(&name.0.to_string())),
        (RData::A(a), RecordKind::A) => Some(Ipv4Addr::from_bits(a.address).to_string()),
        (RData::AAAA(aaaa), RecordKind::Aaaa) => {
            Some(Ipv6Addr::from_bits(aaaa.address).to_string())
        }
        _ => None,
    }
}

/// An id that is hard to guess for an attacker who forges replies.
fn random_id(attempt: u32) -> u16 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(attempt);
    hasher.finish() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, kind: RecordKind) -> Question {
        Question { name: name.to_owned(), kind }
    }

    #[test]
    fn addresses_are_asked_for_backwards() {
        let check = |address: &str, expected: &str| {
            assert_eq!(Question::names_of(address.parse().unwrap()).name, expected);
        };
        check("192.0.2.7", "7.2.0.192.in-addr.arpa");
        check("::ffff:192.0.2.7", "7.2.0.192.in-addr.arpa");
        let zeros = "0.".repeat(23);
        check("2001:db8::1", &format!("1.{zeros}8.b.d.0.1.0.0.2.ip6.arpa"));
    }

    #[test]
    fn servers_of_a_system() {
        let text =
            b"# nameserver 192.0.2.1\nsearch x\nnameserver 192.0.2.2\nnameserver\nnameserver x\n\
                     \tnameserver 2001:db8::1 \nnameserver 192.0.2.3\nnameserver 192.0.2.4\n";
        let servers: Vec<String> = servers_of(text).iter().map(SocketAddr::to_string).collect();
        assert_eq!(servers, ["192.0.2.2:53", "[2001:db8::1]:53", "192.0.2.3:53"]);
    }

    #[test]
    fn any_bytes_are_a_reply() {
        let question = question("a.example", RecordKind::A);
        let mut reply = query(&question, 7).unwrap();
        assert_eq!(
            read(&reply, &question, 7),
            Err(DnsFailure("a reply to another query".to_owned()))
        );
        reply[2] |= 0x80;
        reply[3] |= 0x80;
        assert_eq!(read(&reply, &question, 7), Ok(Vec::new()));
        assert!(read(&reply, &question, 8).is_err());
        // An answer that refers to itself, and replies that are cut or changed at each position.
        reply[7] = 1;
        reply.extend(b"\xc0\x1b\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\xc0\x00\x02\x07");
        for at in 0..reply.len() {
            let _ = read(&reply[..at], &question, 7);
            for byte in 0..=255 {
                let mut changed = reply.clone();
                changed[at] = byte;
                let _ = read(&changed, &question, 7);
            }
        }
    }
}
