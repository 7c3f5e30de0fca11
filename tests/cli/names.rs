//! Identities by DNS: names from a name server on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jiff::Timestamp;
use simple_dns::rdata::{A, AAAA, CNAME, PTR, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, RCODE, ResourceRecord};

use super::identity::{
    self, BINGBOT, BYTESPIDER, GOOGLEBOT, GPTBOT, identities, on, proofs, request, sandbox,
};
use super::program::{Ran, Sandbox};

/// A name server on loopback. `zone` has a line for each question: its name, then the records,
/// `REFUSED`, or `SILENCE`; other names do not exist. Counts questions.
pub struct NameServer {
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

/// Whether UDP answers are truncated, so that the question must be sent over TCP.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Udp {
    Whole,
    CutShort,
}

impl NameServer {
    pub fn start(zone: &str, udp: Udp) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let listener = TcpListener::bind(address).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let zone: Arc<str> = zone.into();
        let (zone_udp, counter) = (Arc::clone(&zone), Arc::clone(&asked));
        // Both threads end with the test program.
        thread::spawn(move || {
            let mut buffer = [0; 512];
            loop {
                let (length, client) = socket.recv_from(&mut buffer).unwrap();
                counter.fetch_add(1, Ordering::Relaxed);
                if let Some(mut reply) = reply(&zone_udp, &buffer[..length]) {
                    if udp == Udp::CutShort {
                        reply[2] |= 0x02;
                        reply.truncate(20);
                    }
                    // A forged answer first, which must be ignored.
                    let mut forged = reply.clone();
                    forged[0] ^= 0xff;
                    socket.send_to(&forged, client).unwrap();
                    socket.send_to(&reply, client).unwrap();
                }
            }
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut length = [0; 2];
                stream.read_exact(&mut length).unwrap();
                let mut query = vec![0; u16::from_be_bytes(length).into()];
                stream.read_exact(&mut query).unwrap();
                let reply = reply(&zone, &query).unwrap();
                stream.write_all(&(reply.len() as u16).to_be_bytes()).unwrap();
                stream.write_all(&reply).unwrap();
            }
        });
        NameServer { address, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn reply(zone: &str, query: &[u8]) -> Option<Vec<u8>> {
    let packet = Packet::parse(query).unwrap();
    let question = packet.questions[0].clone();
    let name = question.qname.to_string();
    let line =
        zone.lines().map(str::split_whitespace).find(|words| words.clone().next() == Some(&name));
    let mut reply = packet.into_reply();
    reply.set_flags(PacketFlag::RECURSION_AVAILABLE);
    let Some(words) = line else {
        *reply.rcode_mut() = RCODE::NameError;
        return Some(reply.build_bytes_vec().unwrap());
    };
    let mut owner = name;
    for word in words.skip(1) {
        let data = match word {
            "SILENCE" => return None,
            "REFUSED" => {
                *reply.rcode_mut() = RCODE::Refused;
                continue;
            }
            _ if word.starts_with("alias=") => {
                RData::CNAME(CNAME(Name::new(&word[6..]).unwrap().into_owned()))
            }
            _ => match word.parse() {
                Ok(std::net::IpAddr::V4(address)) => RData::A(A { address: address.to_bits() }),
                Ok(std::net::IpAddr::V6(address)) => {
                    RData::AAAA(AAAA { address: address.to_bits() })
                }
                Err(_) => RData::PTR(PTR(Name::new(word).unwrap().into_owned())),
            },
        };
        let record =
            ResourceRecord::new(Name::new(&owner).unwrap().into_owned(), CLASS::IN, 60, data);
        reply.answers.push(record);
        if let Some(alias) = word.strip_prefix("alias=") {
            owner = alias.to_owned();
        }
    }
    Some(reply.build_bytes_vec().unwrap())
}

pub const ZONE: &str = "\
    1.113.0.203.in-addr.arpa crawl-203-0-113-1.googlebot.com\n\
    crawl-203-0-113-1.googlebot.com 203.0.113.1\n\
    2.113.0.203.in-addr.arpa crawl-203-0-113-1.googlebot.com\n\
    3.113.0.203.in-addr.arpa REFUSED\n\
    4.113.0.203.in-addr.arpa SILENCE\n\
    6.113.0.203.in-addr.arpa alias=6.sub.example c.bytedance.com\n\
    c.bytedance.com alias=d.bytedance.com 203.0.113.6\n\
    1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa six.search.msn.com\n\
    six.search.msn.com 2001:db8::1\n";

/// Requests of today: what DNS says today contradicts only requests near it.
pub fn log_of_names() -> Vec<String> {
    let requests = [
        request("203.0.113.1", GOOGLEBOT),
        request("203.0.113.2", GOOGLEBOT),
        request("203.0.113.3", GOOGLEBOT),
        request("203.0.113.4", GOOGLEBOT),
        request("203.0.113.5", GOOGLEBOT),
        request("203.0.113.1", BINGBOT),
        request("2001:db8::1", BINGBOT),
        request("203.0.113.6", BYTESPIDER),
        request("203.0.113.1", GPTBOT),
        request("127.0.0.1", BYTESPIDER),
    ];
    requests.iter().map(|line| today(line)).collect()
}

fn today(line: &str) -> String {
    on(&Timestamp::now().strftime("%d/%b/%Y").to_string(), line)
}

/// Without the address lists that come with the program: whether they are of the time of a request depends on today.
fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    identity::audit(sandbox, &format!("{arguments} --no-bundled-ranges"))
}

const NAMED: [&str; 8] = [
    "Bytespider | verified | 1 | 1",
    "Bytespider | unverified | 1 | 1",
    "GPTBot | unverified | 1 | 1",
    "Googlebot | verified | 1 | 1",
    "Googlebot | spoofed | 2 | 2",
    "Googlebot | unverified | 2 | 2",
    "bingbot | verified | 1 | 1",
    "bingbot | spoofed | 1 | 1",
];

#[test]
fn names_that_lead_back_verify() {
    for udp in [Udp::Whole, Udp::CutShort] {
        let server = NameServer::start(ZONE, udp);
        let sandbox = sandbox(&log_of_names());
        let flags = format!("--verify-dns --dns-server {} --dns-timeout 0.4", server.address);
        let ran = audit(&sandbox, &flags).exits(0);
        assert_eq!(identities(&sandbox), NAMED);
        ran.complains(
            "--verify-dns: lookups without an answer: 2 of 8; these addresses stay unverified: ",
        );
        for threads in [1, 3] {
            audit(&sandbox, &format!("{flags} --threads {threads}")).exits(0);
            assert_eq!(identities(&sandbox), NAMED);
        }
    }
}

#[test]
fn names_of_today_do_not_contradict_requests_of_another_time() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let today = Timestamp::now().strftime("%d/%b/%Y").to_string();
    let log: Vec<String> =
        log_of_names().iter().map(|line| line.replace(&today, "01/Jan/2020")).collect();
    let sandbox = sandbox(&log);
    let flags = format!("--verify-dns --dns-server {} --dns-timeout 0.4", server.address);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(
        identities(&sandbox),
        [
            "Bytespider | verified | 1 | 1",
            "Bytespider | unverified | 1 | 1",
            "GPTBot | unverified | 1 | 1",
            "Googlebot | verified | 1 | 1",
            "Googlebot | unverified | 4 | 4",
            "bingbot | verified | 1 | 1",
            "bingbot | unverified | 1 | 1",
        ]
    );
    let run = sandbox.json("report/run.json");
    assert_eq!(run["requests_contradicted_at_other_time"], 3);
    let today = Timestamp::now().to_string()[..10].to_owned();
    let note = run["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
    let expected = format!("days of their own time (addresses were looked up on {today})");
    assert!(note.contains(&expected), "{note}");
}

#[test]
fn a_list_that_contains_the_address_decides_before_names() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let sandbox = sandbox(&[request("203.0.113.2", GOOGLEBOT), request("203.0.113.1", GOOGLEBOT)]);
    sandbox.write("ranges/common-crawlers.json", "203.0.113.2");
    let flags = format!("--ip-ranges ranges --verify-dns --dns-server {}", server.address);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(identities(&sandbox), ["Googlebot | verified | 2 | 2"]);
    assert_eq!(proofs(&sandbox), ["verified | address-list | 1", "verified | dns | 1"]);
    // Only the other one was looked up.
    assert_eq!(server.asked(), 2);
}

#[test]
fn answers_are_remembered() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let log = ["203.0.113.1", "203.0.113.5"].map(|client| today(&request(client, GOOGLEBOT)));
    let sandbox = sandbox(&log);
    let flags = format!("--verify-dns --dns-server {} --dns-cache dns.json", server.address);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(server.asked(), 3);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(server.asked(), 3);
    assert_eq!(
        identities(&sandbox),
        ["Googlebot | verified | 1 | 1", "Googlebot | spoofed | 1 | 1"]
    );
    sandbox.write("dns.json", "no cache");
    audit(&sandbox, &flags).exits(2).complains("dns.json: expected ident");
}

#[test]
fn confirmed_names_are_kept_for_requests_of_their_time() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let clients = ["203.0.113.1", "203.0.113.5"];
    let sandbox = sandbox(&clients.map(|client| today(&request(client, GOOGLEBOT))));
    let missing =
        "dns.csv: the file does not exist; an audit with --verify-dns and --dns-archive writes it";
    audit(&sandbox, "--dns-archive dns.csv").exits(2).complains(missing);
    let flags = format!("--verify-dns --dns-server {} --dns-archive dns.csv", server.address);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(proofs(&sandbox), ["verified | dns | 1", "spoofed | dns | 1"]);
    let kept = sandbox.text("dns.csv");
    let kept: Vec<&str> = kept.lines().skip(1).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].starts_with("203.0.113.1,"), "{kept:?}");
    // Later, and without a network: what contradicted is not known any more.
    let asked = server.asked();
    audit(&sandbox, "--dns-archive dns.csv").exits(0);
    assert_eq!(proofs(&sandbox), ["verified | archived-dns | 1", "unverified | nothing | 1"]);
    assert_eq!(server.asked(), asked);
    assert!(!sandbox.text("report/report.html").contains("identities were not verified"));
    // Another crawler, and another time.
    sandbox.write(
        "access.log",
        today(&request("203.0.113.1", BINGBOT)) + &request(clients[0], GOOGLEBOT),
    );
    audit(&sandbox, "--dns-archive dns.csv").exits(0);
    assert_eq!(proofs(&sandbox), ["unverified | nothing | 1", "unverified | nothing | 1"]);
    sandbox.write("dns.csv", "no archive");
    audit(&sandbox, "--dns-archive dns.csv")
        .exits(2)
        .complains("dns.csv:1: the first line must be");
}

#[test]
fn no_more_than_so_many_are_looked_up() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let mut log = log_of_names();
    log.push(today(&request("203.0.113.2", GOOGLEBOT)));
    let sandbox = sandbox(&log);
    let flags = format!("--verify-dns --dns-server {} --dns-max 1", server.address);
    let ran = audit(&sandbox, &flags).exits(0);
    ran.complains(
        "looked up the busiest addresses only (1); not looked up: at least 7; increase --dns-max",
    );
    let googlebot: Vec<String> =
        identities(&sandbox).into_iter().filter(|row| row.starts_with("Googlebot")).collect();
    assert_eq!(googlebot, ["Googlebot | spoofed | 2 | 2", "Googlebot | unverified | 4 | 4"]);
}

#[test]
fn a_pipe_cannot_be_read_twice() {
    let sandbox = sandbox(&[]);
    let arguments = "audit --robots robots.txt --verify-dns --dns-server 127.0.0.1:9 -";
    sandbox
        .run_with_input(arguments, b"")
        .exits(2)
        .complains("'-' can be read only once; save it to a file first");
    let arguments = "audit --robots robots.txt --dns-max 7 access.log";
    sandbox.run(arguments).exits(2).complains("--verify-dns");
}
