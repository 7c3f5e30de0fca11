//! Identities: address ranges from a directory, names from a name server on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use simple_dns::rdata::{A, AAAA, CNAME, PTR, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, RCODE, ResourceRecord};

use crate::program::{Ran, Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
pub const GOOGLEBOT: &str =
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const BYTESPIDER: &str = "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)";

/// A line of `client` with `user_agent` for a disallowed page.
fn request(client: &str, user_agent: &str) -> String {
    line(10, "/private/", 200, user_agent).replacen("192.0.2.7", client, 1)
}

fn sandbox(log: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    sandbox.write("access.log", log.concat());
    sandbox
}

fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!(
        "audit --robots robots.txt --origin https://example.com -o report {arguments} access.log"
    ))
}

fn identities(sandbox: &Sandbox) -> Vec<String> {
    sandbox.table("report/summary.csv").cells("crawler identity requests violations")
}

/// Downloaded in the month of the log, so that there is no warning about its age.
const MANIFEST: &str = r#"{"schema_version": 1, "lists": [
    {"url": "https://openai.com/gptbot.json", "file": "gptbot.json", "fetched_at_utc": "2026-03-02T00:00:00Z", "size_bytes": 58}]}"#;
const GPTBOT_LIST: &str = r#"{"prefixes": [{"ipv4Prefix": "20.171.206.0/24"}]}         "#;

#[test]
fn lists_distinguish_a_crawler_from_its_imitations() {
    let log = [
        request("20.171.206.7", GPTBOT),
        request("::ffff:20.171.206.7", GPTBOT),
        request("203.0.113.5", GPTBOT),
        request("203.0.113.6", GPTBOT),
        request("203.0.113.7", GPTBOT),
        request("10.0.0.5", GPTBOT),
        request("crawler.example", GPTBOT),
        request("203.0.113.5", BINGBOT),
    ];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/gptbot.json", GPTBOT_LIST);
    sandbox.write("ranges/manifest.json", MANIFEST);
    let ran = audit(&sandbox, "--ip-ranges ranges --evidence report/evidence.csv").exits(0);
    assert_eq!(
        identities(&sandbox),
        [
            "GPTBot | verified | 2 | 2",
            "GPTBot | spoofed | 3 | 3",
            "GPTBot | unverified | 2 | 2",
            "bingbot | unverified | 1 | 1",
        ]
    );
    let evidence = sandbox.table("report/evidence.csv").cells("line identity");
    assert_eq!(evidence[..3], ["1 | verified", "2 | verified", "3 | spoofed"]);
    // Spoofed requests are not in the sums.
    let expected = "8 lines, 5 requests of known crawlers, 5 violations (100.0 % of those judged), 0 lines rejected\n  \
                    verified:   2 requests, 2 violations (100.0 % of those judged)\n  \
                    unverified: 3 requests, 3 violations (100.0 % of those judged)\n  \
                    spoofed:    3 requests, left out\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(!ran.stdout.contains("(spoofed)"), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "warning: --ip-ranges has no list for bingbot; missing: https://www.bing.com/toolbox/bingbot.json\n"
    );
    let run = sandbox.json("report/run.json");
    assert_eq!(run["requests_by_identity"]["spoofed"]["violations"], 3);
    let page = sandbox.text("report/report.html");
    for part in [
        "3 requests only claimed to come from crawlers, as their addresses show.",
        "<code>--ip full --evidence evidence.csv</code>",
        "id=\"by-spoofed\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(run["options"]["ip_ranges"], "ranges");
}

#[test]
fn without_lists_the_report_says_that_nobody_was_checked() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    let ran = audit(&sandbox, "").exits(0);
    assert!(ran.stdout.contains("  note: identities were not verified"), "{}", ran.stdout);
    assert_eq!(
        (identities(&sandbox), ran.stderr.as_str()),
        (vec!["GPTBot | unverified | 1 | 1".to_owned()], "")
    );
    let notes = &sandbox.json("report/run.json")["notes"];
    assert!(notes[0].as_str().unwrap().ends_with(
        "identities were not verified: any client can \
         claim to be a crawler; use --ip-ranges or --verify-dns"
    ));
}

#[test]
fn spoofed_requests_never_fail_a_run() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    sandbox.write("ranges/gptbot.json", GPTBOT_LIST);
    sandbox.write("ranges/manifest.json", MANIFEST);
    audit(&sandbox, "--ip-ranges ranges --fail-on-violations").exits(0);
    audit(&sandbox, "--fail-on-violations").exits(1);
}

#[test]
fn a_broken_or_outdated_list_is_reported() {
    let log = [
        request("203.0.113.5", GPTBOT),
        request("203.0.113.5", BINGBOT),
        request("203.0.113.5", GOOGLEBOT),
    ];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/gptbot.json", "20.171.206.0/24\n<html>\n");
    let bingbot = r#"{"creationTime": "2024-01-03T10:00:00.121331", "prefixes": [{"ipv4Prefix": "157.55.39.0/24"}]}"#;
    sandbox.write("ranges/bingbot.json", bingbot);
    sandbox.write("ranges/googlebot.txt", "66.249.64.0/19");
    let manifest = MANIFEST
        .replace("gptbot.json", "bingbot.json")
        .replace("openai.com", "www.bing.com/toolbox")
        .replace("2026-03-02", "2024-05-01")
        .replace("58", &bingbot.len().to_string());
    sandbox.write("ranges/manifest.json", manifest);
    let ran = audit(&sandbox, "--ip-ranges ranges --quiet").exits(0);
    assert_eq!(
        identities(&sandbox),
        [
            "GPTBot | unverified | 1 | 1",
            "Googlebot | unverified | 1 | 1",
            "bingbot | spoofed | 1 | 1"
        ]
    );
    ran.complains(
        "--ip-ranges: gptbot.json is not used to find spoofed requests of GPTBot: line \
                   2: '<html>': not an address or network",
    )
    .complains(
        "--ip-ranges: bingbot.json is more than 90 days older than the last request \
                    (2026-03-01T00:00:10Z)",
    )
    .complains("--ip-ranges: gptbot.json is more than 90 days newer than the first request")
    .complains("--ip-ranges: googlebot.txt is not a list of a known crawler");
}

#[test]
fn a_directory_that_is_none_stops_the_run() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    audit(&sandbox, "--ip-ranges nowhere").exits(2).complains("cannot list --ip-ranges nowhere");
    sandbox.write("ranges/x", "");
    audit(&sandbox, "--ip-ranges ranges")
        .exits(2)
        .complains("contains no list of a known crawler; name each file like the URL of its list:");
    sandbox.write("ranges/manifest.json", "{");
    audit(&sandbox, "--ip-ranges ranges").exits(2).complains("manifest.json: EOF while parsing");
}

#[test]
fn the_log_of_a_proxy_is_noticed() {
    let log = [
        request("203.0.113.5", GPTBOT),
        request("203.0.113.5", BINGBOT),
        request("203.0.113.5", GOOGLEBOT),
    ];
    let sandbox = sandbox(&log);
    for name in ["gptbot.json", "bingbot.json", "common-crawlers.json"] {
        sandbox.write(&format!("ranges/{name}"), "66.249.64.0/19");
    }
    audit(&sandbox, "--ip-ranges ranges")
        .exits(0)
        .complains("3 crawlers look spoofed and none is verified");
}

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

pub fn log_of_names() -> Vec<String> {
    vec![
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
    ]
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
fn a_list_that_contains_the_address_decides_before_names() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let sandbox = sandbox(&[request("203.0.113.2", GOOGLEBOT), request("203.0.113.1", GOOGLEBOT)]);
    sandbox.write("ranges/common-crawlers.json", "203.0.113.2");
    let flags = format!("--ip-ranges ranges --verify-dns --dns-server {}", server.address);
    audit(&sandbox, &flags).exits(0);
    assert_eq!(identities(&sandbox), ["Googlebot | verified | 2 | 2"]);
    // Only the other one was looked up.
    assert_eq!(server.asked(), 2);
}

#[test]
fn answers_are_remembered() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let sandbox = sandbox(&[request("203.0.113.1", GOOGLEBOT), request("203.0.113.5", GOOGLEBOT)]);
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
fn no_more_than_so_many_are_looked_up() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let mut log = log_of_names();
    log.push(request("203.0.113.2", GOOGLEBOT));
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
